"""Answers that are right but for their last digits: less exact than the table of functions, and by how much.

ONNX states no accuracy. Where what a case allows rests on the published table of functions (docs/bounds.md),
an answer beyond that is told by the arithmetic whose errors it has, and is not called wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conformance.judging.expectation_trials import ExpectationTrial
from conformance.judging.patterns.elements import Floats
from conformance.suite.cases import Case, Expectation
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

_NARROWER: dict[str, tuple[tuple[str, int], ...]] = {
    "float": (("tf32", 11), ("bfloat16", 8)),
    "double": (),
}
"""By element type the arithmetics that programs take in its place, with the bits of their significands.

Of no other type: what is asked for in 16 bits is asked for exactly, with the sums beside it in float.
"""
_SHORT = {"float16", "bfloat16"}
_KEPT = 0.5
"""An element that is off by more than this part of what is expected has no digit left that is right."""
_UNITS_OF_ONE = 4
"""An absolute error is one of so many units in the last place of 1 at most."""


def describe_inexact(case: Case, expectation: Expectation, trial: ExpectationTrial) -> str | None:
    """How exact an answer is that is no more than inexact; None where it is wrong.

    Wrong is whatever has another shape or type, a NaN, infinity, zero or sign that is not expected, no right
    digit, an error in a type that has no rounding, or in one of 64 bits more than an absolute one; and what
    comes of numbers of 16 bits, for a call says itself whether these are summed up in more.
    """
    if not expectation.functions or any(
        given is not None and given.element_type.name in _SHORT for _, given in case.inputs
    ):
        return None
    found = [
        _Errors.of(wanted.expected, got, comparison.wrong, wanted.allowed)
        for wanted, got, comparison in zip(expectation.outputs, trial.outputs, trial.comparisons, strict=True)
        if comparison is not None and comparison.difference is not None
    ]
    errors = [each for each in found if each is not None]
    if not errors or len(errors) < len(found) or any(each is None for each in trial.comparisons):
        return None
    how, names = _told(errors), ", ".join(expectation.functions)
    return None if how is None else f"{how}, where the table of functions allows less ({names})"


class _Errors:
    """How far the wrong elements of one output are off, and what each is allowed."""

    def __init__(self, kind: ElementType, apart: Floats, allowed: Floats) -> None:
        self.kind = kind
        self.apart = apart
        self.allowed = allowed

    @classmethod
    def of(
        cls, expected: Tensor, got: object, wrong: NDArray[np.bool_] | None, allowed: Floats | None
    ) -> _Errors | None:
        """None where an element has lost more than digits."""
        kind = expected.element_type
        if not isinstance(got, Tensor) or wrong is None or allowed is None or kind.name not in _NARROWER:
            return None
        had, wanted = (decode_floats(kind, each.array[wrong]) for each in (got, expected))
        limits = allowed[wrong]
        with np.errstate(all="ignore"):
            apart = np.abs(had - wanted)
            kept = np.isfinite(had) & np.isfinite(wanted) & (apart <= _KEPT * np.abs(wanted)) & (limits > 0)
        return cls(kind, apart, limits) if kept.all() else None


def _told(errors: Sequence[_Errors]) -> str | None:
    if all(each.apart.max() <= _absolute(each.kind) for each in errors):
        worst = max(float(each.apart.max()) for each in errors)
        return f"exact to an absolute error of {worst:.2g}"
    arithmetics = [_NARROWER[each.kind.name] for each in errors]
    for name, bits in arithmetics[0]:
        if all((name, bits) in known for known in arithmetics) and all(_holds(each, bits) for each in errors):
            return f"as exact as {name}"
    return None


def _absolute(kind: ElementType) -> float:
    assert kind.layout is not None
    return math.ldexp(_UNITS_OF_ONE, -kind.layout.precision)


def _holds(errors: _Errors, bits: int) -> bool:
    """Whether every error is within what is allowed when each rounding is one of so many bits."""
    assert errors.kind.layout is not None
    return bool((errors.apart <= np.ldexp(errors.allowed, errors.kind.layout.precision - bits)).all())

"""A response held against one expectation of its case, and the difference in words.

ONNX states no accuracy. Where what a case allows rests on the table of functions (docs/why-believe.md),
an answer beyond that is told by the arithmetic whose errors it has, and is not called wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conformance.judging.output_comparison import Comparison, Worst, compare_output
from conformance.judging.patterns import find_pattern
from conformance.judging.patterns.elements import Floats
from conformance.judging.responses import Answered, ReturnedOther
from conformance.suite.cases import Case, Expectation, Unordered
from conformance.suite.flat_values import leaves_of
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import words_of

Outputs = tuple[Tensor | ReturnedOther, ...]


def put_in_order(expectation: Expectation, outputs: Outputs) -> Outputs:
    """The outputs, each group of an open order in the order that finds most of the expected elements.

    Elements are found bit for bit, jointly in all outputs of a group; what is found nowhere takes the places
    that are left. An output that does not fit its expectation, or is in order, stays the same object.
    """
    found = list(outputs)
    places = {output.name: place for place, output in enumerate(expectation.outputs)}
    for group in expectation.unordered:
        at = [places[name] for name in group.outputs]
        wanted = [expectation.outputs[place].expected for place in at]
        got = [found[place] for place in at]
        tensors = [tensor for tensor in got if isinstance(tensor, Tensor)]
        if len(tensors) < len(got) or any(
            one.shape != other.shape or one.element_type is not other.element_type
            for one, other in zip(tensors, wanted, strict=True)
        ):
            continue
        for place, moved in zip(at, _ordered(group, tensors, wanted), strict=True):
            found[place] = moved
    return tuple(found)


def _ordered(group: Unordered, got: Sequence[Tensor], wanted: Sequence[Tensor]) -> list[Tensor]:
    mine = [_lanes(group, tensor.array) for tensor in got]
    theirs = [_lanes(group, tensor.array) for tensor in wanted]
    orders = [
        _order([each[lane] for each in mine], [other[lane] for other in theirs])
        for lane in range(len(mine[0]))
    ]
    if all(order == sorted(order) for order in orders):
        return list(got)
    moved = []
    for tensor, lanes in zip(got, mine, strict=True):
        array = np.stack([lane[order] for lane, order in zip(lanes, orders, strict=True)])
        moved.append(Tensor(tensor.element_type, _without_lanes(group, array, tensor.shape)))
    return moved


def _order(mine: Sequence[NDArray[Any]], theirs: Sequence[NDArray[Any]]) -> list[int]:
    """For each expected element the place of the one that was got."""
    waiting: dict[bytes, list[int]] = {}
    for place in reversed(range(len(mine[0]))):
        waiting.setdefault(_key(mine, place), []).append(place)
    order: list[int | None] = []
    for place in range(len(theirs[0])):
        known = waiting.get(_key(theirs, place))
        order.append(known.pop() if known else None)
    left = iter(sorted(set(range(len(mine[0]))) - {each for each in order if each is not None}))
    return [next(left) if each is None else each for each in order]


def _key(arrays: Sequence[NDArray[Any]], place: int) -> bytes:
    if any(array.dtype == np.object_ for array in arrays):
        return repr([array[place].tolist() for array in arrays]).encode()
    return b"".join(array[place].tobytes() for array in arrays)


def _lanes(group: Unordered, array: NDArray[Any]) -> NDArray[Any]:
    """Lanes, elements of each, and what an element holds: a number, or a whole slice."""
    length = array.shape[group.axis]
    if not array.size:
        return np.zeros((0, length, 1) if group.lanes else (1, length, 0), array.dtype)
    if group.lanes:
        return np.moveaxis(array, group.axis, -1).reshape(-1, length, 1)
    return np.moveaxis(array, group.axis, 0).reshape(1, length, -1)


def _without_lanes(group: Unordered, lanes: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    rest = tuple(extent for axis, extent in enumerate(shape) if axis != group.axis)
    if group.lanes:
        return np.ascontiguousarray(np.moveaxis(lanes.reshape(*rest, shape[group.axis]), -1, group.axis))
    return np.ascontiguousarray(np.moveaxis(lanes.reshape(shape[group.axis], *rest), 0, group.axis))


DifferenceKind = Literal["count", "type", "shape", "value", "property", "memory"]
_MOST_ULPS = 1_000_000


@dataclass(frozen=True, eq=False)
class ExpectationTrial:
    """What came of it; `comparisons` is empty where the number of outputs differs.

    `wrong` and `elements` count in all outputs; `worst` is the worst of the wrong elements, or, where none is
    wrong, of those that used some of their allowance.
    """

    comparisons: tuple[Comparison | None, ...]
    right: bool
    outputs: tuple[Tensor | ReturnedOther, ...] = ()
    """What was compared: the outputs, where their order is left open in that of the expectation."""

    @cached_property
    def wrong(self) -> int:
        return sum(comparison.wrong_elements for comparison in self.comparisons if comparison)

    @cached_property
    def elements(self) -> int:
        return sum(comparison.elements for comparison in self.comparisons if comparison)

    @cached_property
    def worst(self) -> Worst | None:
        found = [comparison.worst for comparison in self.comparisons if comparison and comparison.worst]
        wrong = [
            comparison.worst
            for comparison in self.comparisons
            if comparison and comparison.worst and comparison.difference
        ]
        return max(wrong or found, key=_severity, default=None)

    @cached_property
    def ulps(self) -> int:
        """The greatest distance of a right element, in steps of its type."""
        return max((comparison.ulps for comparison in self.comparisons if comparison), default=0)

    @property
    def distance(self) -> tuple[int, float, float]:
        """How far off, for the choice of the closest expectation: kind of difference, share wrong, ratio."""
        kinds = [_KIND_RANK[comparison.difference] if comparison else 3 for comparison in self.comparisons]
        return (
            max(kinds, default=4),
            self.wrong / max(self.elements, 1),
            _severity(self.worst) if self.worst else 0.0,
        )


_KIND_RANK = {None: 0, "value": 1, "shape": 2, "type": 3}


def _severity(worst: Worst) -> float:
    return float("inf") if worst.ratio is None else worst.ratio


def try_expectation(expectation: Expectation, response: Answered) -> ExpectationTrial:
    """Compare every output with what one expectation says of it."""
    if len(response.outputs) != len(expectation.outputs):
        return ExpectationTrial((), right=False)
    outputs = put_in_order(expectation, response.outputs)
    comparisons = tuple(
        compare_output(wanted, got, position) if isinstance(got, Tensor) else None
        for position, (wanted, got) in enumerate(zip(expectation.outputs, outputs, strict=True))
    )
    right = all(comparison is not None and comparison.difference is None for comparison in comparisons)
    # What was put into another order is not bit for bit what the record would then say it is.
    kept = tuple(
        replace(comparison, same_bits=comparison.same_bits and moved is got)
        if comparison is not None
        else None
        for comparison, moved, got in zip(comparisons, outputs, response.outputs, strict=True)
    )
    return ExpectationTrial(kept if expectation.unordered else comparisons, right, outputs)


def match_bits(tried: Sequence[ExpectationTrial], outputs: int) -> tuple[int | None, ...]:
    """For each output the number of the first expectation that it equals bit for bit, or None."""
    return tuple(
        next((number for number, trial in enumerate(tried) if _is_matched(trial, position)), None)
        for position in range(outputs)
    )


def _is_matched(trial: ExpectationTrial, position: int) -> bool:
    comparison = trial.comparisons[position] if position < len(trial.comparisons) else None
    return comparison is not None and comparison.same_bits


@dataclass(frozen=True)
class MismatchWords:
    """A mismatch in words."""

    reason: str
    difference: DifferenceKind
    pattern: str | None = None


def describe_trial(
    case: Case, expectation: Expectation, trial: ExpectationTrial, response: Answered
) -> MismatchWords:
    """Say how a response differs from an expectation that it does not meet."""
    if not trial.comparisons:
        return _describe_count(case, expectation, response)
    pairs = zip(expectation.outputs, trial.outputs, trial.comparisons, strict=True)
    for place, (wanted, got, comparison) in enumerate(pairs):
        if isinstance(got, ReturnedOther):
            return MismatchWords(_other(case, expectation, place, got), "type")
        assert comparison is not None
        if comparison.difference == "type":
            reason = f"output {wanted.name} is {got.element_type} instead of {wanted.expected.element_type}"
            return MismatchWords(reason, "type")
        if comparison.difference == "shape":
            reason = f"output {wanted.name} is {list(got.shape)} instead of {list(wanted.expected.shape)}"
            return MismatchWords(reason, "shape", find_pattern(wanted, got, None, _present(case)))
    return _describe_values(case, expectation, trial)


def _describe_count(case: Case, expectation: Expectation, response: Answered) -> MismatchWords:
    """The first output that says of itself that it holds more or less, or that it is something else; else how
    many outputs there are."""
    outputs = response.outputs if case.output_types else ()
    for place, (wanted, got) in enumerate(zip(expectation.outputs, outputs, strict=False)):
        if isinstance(got, ReturnedOther):
            return MismatchWords(_other(case, expectation, place, got), "type")
        if got == wanted.expected:
            continue
        if got.shape == () and got.element_type is wanted.expected.element_type:
            told = f"output {wanted.name} is {got.array.item()} instead of {wanted.expected.array.item()}"
            return MismatchWords(told, "count")
    return MismatchWords(f"{len(response.outputs)} outputs instead of {len(expectation.outputs)}", "count")


def _other(case: Case, expectation: Expectation, place: int, got: ReturnedOther) -> str:
    """That what stands at a place of the expectation is no tensor, or no sequence, optional or map."""
    name, kind = expectation.outputs[place].name, "tensor"
    if case.output_types:
        tensors = [output.expected for output in expectation.outputs]
        leaf = leaves_of(case.wanted, case.output_types, tensors)[place]
        if leaf.type is not None and leaf.place == 0:
            name, kind = leaf.output, next(words_of(leaf.type), kind)
    article = "an" if got.kind.startswith("optional") else "a"
    return f"output {name} is no {kind} but {article} {got.kind}: {got.text}"


def _describe_values(case: Case, expectation: Expectation, trial: ExpectationTrial) -> MismatchWords:
    worst = trial.worst
    assert worst is not None
    wanted, got = expectation.outputs[worst.output], trial.outputs[worst.output]
    comparison = trial.comparisons[worst.output]
    assert isinstance(got, Tensor)
    assert comparison is not None
    reason = f"{trial.wrong} of {trial.elements} elements wrong; worst {wanted.name}{list(worst.index)}: "
    reason += f"got {worst.got}, expected {worst.expected}"
    if worst.ratio is not None:
        reason += f", {_print_ratio(worst.ratio)} times the allowed error of {worst.allowed:.3g}"
    if worst.ulps is not None and worst.ulps <= _MOST_ULPS:
        reason += f", {worst.ulps} ulp"
    pattern = find_pattern(wanted, got, comparison.wrong, _present(case))
    return MismatchWords(reason, "value", pattern)


def _print_ratio(ratio: float) -> str:
    """At least 1.01 for what is over the limit: a failure must not print as exactly on it."""
    return f"{max(ratio, 1.01):.3g}"


def _present(case: Case) -> list[tuple[str, Tensor]]:
    return [(name, tensor) for name, tensor in case.inputs if tensor is not None]


_NARROWER: dict[str, tuple[tuple[str, int], ...]] = {
    "float": (("tf32", 11), ("bfloat16", 8)),
    "double": (),
}
"""By element type the arithmetics that programs take in its place, with the bits of their significands.

Of no other type: what is asked for in 16 bits is asked for exactly, with the sums beside it in float.
"""
_OF_PRODUCTS = {"tf32"}
"""Arithmetics that hardware has for the factors of products that are summed up."""
_SHORT = {"float16", "bfloat16"}
_KEPT = 0.5
"""An element that is off by more than this part of what is expected has no digit left that is right."""
_UNITS_OF_ONE = 4
"""An absolute error is one of so many units in the last place of 1 at most."""
_MOST_OF_TABLE = 16
"""The table of functions allows so many units in the last place at most; what is more comes of sums."""
_FEWEST_TERMS = 2
"""A sum has so many terms at least, and as many roundings: no terms of it are greater than these explain."""


def describe_inexact(case: Case, expectation: Expectation, trial: ExpectationTrial) -> str | None:
    """How exact an answer is that is no more than inexact; None where it is wrong.

    Wrong is whatever has another shape or type, a NaN, infinity, zero or sign that is not expected, no right
    digit, an error in a type that has no rounding, or in one of 64 bits more than an absolute one; what
    comes of numbers of 16 bits, for a call says itself whether these are summed up in more; and what is off
    by more than a unit in the last place of the shorter arithmetic, for its sums are in float.
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
    if not errors or len(errors) < len(found) or any(comparison is None for comparison in trial.comparisons):
        return None
    how, names = _told(errors, _may_multiply(case)), ", ".join(expectation.functions)
    return None if how is None else f"{how}, where the table of functions allows less ({names})"


def _may_multiply(case: Case) -> bool:
    """Whether products of two inputs' elements may be summed up: whether two have several numbers each."""
    several = [
        given
        for _, given in case.inputs
        if given is not None and given.element_type.is_float and given.array.size > 1
    ]
    return len(several) > 1


class _Errors:
    """How far the wrong elements of one output are off, what each is allowed, and how great its terms are.

    An element whose allowance the table of functions explains is as great as its terms. What is allowed more
    is a sum, and may be what is left of greater ones: so much greater, and at most the output's greatest. Of
    products of two inputs a few terms are a sum as well: `products` is how great these may be, beside which
    what is left may have no right digit. Of all other elements each has one where they are `kept`.
    """

    def __init__(
        self, kind: ElementType, apart: Floats, allowed: Floats, sizes: Floats, products: Floats, kept: bool
    ) -> None:
        self.kind = kind
        self.apart = apart
        self.allowed = allowed
        self.sizes = sizes
        self.products = products
        self.kept = kept

    @classmethod
    def of(
        cls,
        expected: Tensor,
        got: object,
        wrong: NDArray[np.bool_] | None,
        allowed: Floats | None,
    ) -> _Errors | None:
        """None where an element is no number, or has no allowance."""
        kind = expected.element_type
        if not isinstance(got, Tensor) or wrong is None or allowed is None or kind.name not in _NARROWER:
            return None
        assert kind.layout is not None
        had, values = decode_floats(kind, got.array[wrong]), np.abs(decode_floats(kind, expected.array))
        wanted, limits = decode_floats(kind, expected.array[wrong]), allowed[wrong]
        with np.errstate(all="ignore"):
            apart, own = np.abs(had - wanted), values[wrong]
            numbers = np.isfinite(had) & np.isfinite(wanted) & (limits > 0)
            kept = bool((apart <= _KEPT * own).all())
            terms = np.ldexp(limits, kind.layout.precision - 1) / _MOST_OF_TABLE
            greatest = np.max(values[np.isfinite(values)], initial=0.0)
            sizes = np.maximum(own, np.minimum(terms, greatest))
            few = np.ldexp(limits, kind.layout.precision) / _FEWEST_TERMS
            products = np.maximum(own, np.minimum(few, greatest))
        return cls(kind, apart, limits, sizes, products, kept) if numbers.all() else None


def _told(errors: Sequence[_Errors], multiplies: bool) -> str | None:
    """The longest of the shorter arithmetics that every error is within, whatever the operator does."""
    kept = all(error.kept for error in errors)
    if kept and all(error.apart.max() <= _absolute(error.kind) for error in errors):
        worst = max(float(error.apart.max()) for error in errors)
        return f"exact to an absolute error of {worst:.2g}"
    arithmetics = [_NARROWER[error.kind.name] for error in errors]
    for name, bits in arithmetics[0]:
        of_factors = multiplies and name in _OF_PRODUCTS
        if (
            (kept or of_factors)
            and all((name, bits) in known for known in arithmetics)
            and all(_holds(error, bits, error.products if of_factors else error.sizes) for error in errors)
        ):
            return f"as exact as {name}"
    return None


def _absolute(kind: ElementType) -> float:
    assert kind.layout is not None
    return math.ldexp(_UNITS_OF_ONE, -kind.layout.precision)


def _holds(errors: _Errors, bits: int, sizes: Floats) -> bool:
    """Whether every error is within what is allowed when each rounding is one of so many bits.

    But sums are in float all the same, however many roundings of theirs the allowance knows: beside them no
    element is off by more than two factors' roundings, which is a unit in the last place of so many bits.
    """
    assert errors.kind.layout is not None
    rounded = np.ldexp(errors.allowed, errors.kind.layout.precision - bits)
    factors = np.ldexp(sizes, 1 - bits)
    return bool((errors.apart <= np.minimum(rounded, errors.allowed + factors)).all())

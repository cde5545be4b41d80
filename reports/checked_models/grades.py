"""How much failing cases say of a model: on ordinary data, special values alone, other constants alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reports.checked_models.call_evidence import CheckedCall
from reports.results.case_results import CaseResult, Results

Grade = Literal["ordinary", "special", "constant", "inexact"]
ORDINARY = 1 << 24
"""Numbers from here on are extreme: floats of 32 bits do not count on."""
_MOST_DIGITS = 24
_FEW_BITS = 16


def grade_of(failing: Sequence[CaseResult], checked: CheckedCall, results: Results) -> Grade:
    """What failing cases of one cause show.

    `inexact`: wrong by few steps of the type and no more. `special`: each has NaN, an infinity, a number that
    is subnormal or beyond 2^24, or no element, among what it gives. `constant`: so each has, and only in the
    place of what is a constant of the model, which has other values. Else `ordinary`.
    """
    steps = inexact_by(failing)
    if steps is not None:
        return "inexact"
    fed = False
    for each in failing:
        places = _special_places(each, checked, results)
        if not places:
            return "ordinary"
        fed = fed or not all(_is_constant(checked, place) for place in places)
    return "special" if fed else "constant"


def inexact_by(failing: Sequence[CaseResult]) -> int | None:
    """By how many steps of their type cases are wrong, where that is a few; None where it is more.

    A few are what a quarter of the digits of the type can count.
    """
    most = 0
    for each in failing:
        worst = None if each.row is None else each.row.worst
        ulps = None if worst is None else worst.get("ulps")
        if each.verdict != "mismatch" or type(ulps) is not int:
            return None
        most = max(most, ulps)
    return most if failing and most <= min(map(_few, failing)) else None


def _few(case: CaseResult) -> int:

    kind = ELEMENT_TYPES.get(case.element_type)
    digits = kind.layout.precision if kind is not None and kind.layout is not None else _MOST_DIGITS
    return 1 << min(digits, _MOST_DIGITS) // 4


def _special_places(case: CaseResult, checked: CheckedCall, results: Results) -> list[int]:
    """The places of inputs that are not ordinary; what the model's own constant is, is none."""
    inputs = results.suite.case(str(case.id), call_alone=True).inputs
    return [
        place
        for place, (_, given) in enumerate(inputs)
        if given is not None and _is_special(given) and not _is_models_own(checked, place, given)
    ]


def _is_constant(checked: CheckedCall, place: int) -> bool:
    values = checked.call.first.inputs
    value = values[place] if place < len(values) else None
    return value is not None and value.is_constant


def _is_models_own(checked: CheckedCall, place: int, given: Tensor) -> bool:
    values = checked.call.first.inputs
    value = values[place] if place < len(values) else None
    return value is not None and value.constant is not None and value.constant == given


def _is_special(given: Tensor) -> bool:
    kind, array = given.element_type, given.array
    if not array.size:
        return True
    if kind.kind == "complex":
        return any(_is_special_float(kind.component, part) for part in (array.real, array.imag))
    if kind.is_float:
        return _is_special_float(kind, array)
    if not kind.is_integer or kind.bits <= _FEW_BITS:
        return False
    far = array >= ORDINARY
    return bool((far | (array <= -ORDINARY)).any() if array.dtype.kind == "i" else far.any())


def _is_special_float(kind: ElementType, array: NDArray[Any]) -> bool:
    sizes = np.abs(decode_floats(kind, array))
    least = 0.0 if kind.layout is None else math.ldexp(1.0, kind.layout.least_exponent)
    return bool((~np.isfinite(sizes) | (sizes >= ORDINARY) | ((sizes > 0) & (sizes < least))).any())

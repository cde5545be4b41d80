"""What there is to hold answers to a model's calls against, and what failing cases say of the model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conformance.checked_models.model_calls import Extent, ModelCall, ModelNode, ModelValue
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor
from reports.results.case_results import CaseResult, Results
from reports.text.phrasing import listed, plural

Evidence = Literal["reference", "node_tests", "none"]
"""Cases of that very call with exact expectations; ONNX's node tests of it, which are weaker; nothing."""


@dataclass(frozen=True, eq=False)
class CheckedCall:
    """A distinct call of a model, its number (from 1, in the order of the model) and its cases.

    `cases` are ids in the suite of the check. `reason` is a word and `why` a sentence for why there is no
    stronger evidence; empty where there is none to be had. `varied` are the dimensions in which the cases
    differ, with their levels; `given_up` says in sentences what of the node they do not keep.
    """

    number: int
    call: ModelCall
    evidence: Evidence
    cases: tuple[str, ...] = ()
    reason: str = ""
    why: str = ""
    varied: Mapping[str, Sequence[str]] = field(default_factory=dict)
    given_up: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        """How many nodes make the call."""
        return len(self.call.nodes)


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
    for result in failing:
        places = _special_places(result, checked, results)
        if not places:
            return "ordinary"
        fed = fed or not all(_value_at(checked, place).is_constant for place in places)
    return "special" if fed else "constant"


def inexact_by(failing: Sequence[CaseResult]) -> int | None:
    """By how many steps of their type cases are wrong, where that is a few; None where it is more.

    A few are what a quarter of the digits of the type can count.
    """
    most = 0
    for result in failing:
        worst = None if result.row is None else result.row.worst
        ulps = None if worst is None else worst.get("ulps")
        if result.verdict != "mismatch" or type(ulps) is not int:
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
        if given is not None and _is_special(given) and _value_at(checked, place).constant != given
    ]


def _value_at(checked: CheckedCall, place: int) -> ModelValue:
    values = checked.call.first.inputs
    return (values[place] if place < len(values) else None) or ModelValue("")


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


EXTENTS, DATA = "extents", "data"
"""The dimensions of which shapes the inputs have, and what values."""
SHAPES = "shapes"
"""The dimension of what a case's model says of extents."""
FIXED, OPEN = "fixed", "open"
_OTHER: Mapping[str, str] = {FIXED: OPEN, OPEN: FIXED}
_SAID: Mapping[str, str] = {
    OPEN: "only where the model leaves dimensions open, as yours does; "
    "the same cases pass where it states them",
    FIXED: "only where the model states all dimensions; the same cases pass where they are open, as in yours",
}
_LENGTHS: Mapping[str, str] = {"own": "as the model has them", "ones": "of 1", "none": "of 0"}
"""What dimensions are at the levels of calls; at the others they are made up."""
_MOST_LEVELS = 4
_LONGEST = 60


def factor_name(name: str) -> str:
    """What is varied, as a reader calls it."""
    return "dimensions" if name == EXTENTS else one_line(name, _LONGEST)


def level_remarks(
    failing: Sequence[CaseResult], asked: Sequence[CaseResult], checked: CheckedCall, results: Results
) -> Iterator[str]:
    """Sentences on the levels of failing cases beside those of all cases of the call that were asked.

    A dimension is told of where the cases fail at some of its levels, and at others pass.
    """
    yield from open_remark(failing, asked)
    for name in checked.varied:
        if name == SHAPES:
            continue
        bad = {_level(name, result) for result in failing if name in result.features}
        good = {
            _level(name, result) for result in asked if result.verdict == "pass" and name in result.features
        }
        left = len(good - bad)
        if bad and left and len(bad) <= _MOST_LEVELS:
            levels = listed([one_line(each, _LONGEST) for each in sorted(bad)], "or")
            verb = "passes" if left == 1 else "pass"
            yield f"only with {factor_name(name)} {levels}; {plural(left, 'other level')} {verb}"
    if states_extents(checked):
        alike = [result for result in asked if has_stated_extents(result, checked, results)]
        if not alike:
            yield "no case has the dimensions that the model states"
        elif not any(result in alike for result in failing):
            yield f"no case with the dimensions that the model states fails so, of {len(alike)}"


def _level(name: str, result: CaseResult) -> str:
    level = result.features[name]
    return _LENGTHS.get(level, "made up") if name == EXTENTS else level


def at_other_extents(
    failing: Sequence[CaseResult], asked: Sequence[CaseResult], checked: CheckedCall, results: Results
) -> bool:
    """Whether cases fail at extents that the model does not have, and hang on these.

    They do where the model states extents that none of them has, and beside each stands a case of more
    elements, with the same data and other dimensions, that passes. Where the larger one fails it may be the
    luck of its values.
    """
    if not states_extents(checked) or any(has_stated_extents(result, checked, results) for result in failing):
        return False
    passing = [result for result in asked if result.verdict == "pass"]
    return all(any(_is_larger_sister(one, result, failing) for one in passing) for result in failing)


def _is_larger_sister(case: CaseResult, of: CaseResult, failing: Sequence[CaseResult]) -> bool:
    levels = ((result.features.get(EXTENTS), result.features.get(DATA)) for result in (case, of))
    (extents, data), (other, same) = levels
    # What fails where extents are open alone does not hang on how long they are.
    alike = case.features.get(SHAPES) == of.features.get(SHAPES) or twin_of(of, failing) is not None
    return alike and extents != other and data == same and case.size[0] > of.size[0]


def states_extents(checked: CheckedCall) -> bool:
    """Whether the model states some extent of what the call takes."""
    shapes = stated_shapes(checked.call.first)
    return any(isinstance(extent, int) for shape in shapes for extent in shape or ())


def has_stated_extents(case: CaseResult, checked: CheckedCall, results: Results) -> bool:
    """Whether a case has every extent that the model states."""
    own = stated_shapes(checked.call.first)
    inputs = results.suite.case(str(case.id), call_alone=True).inputs
    shapes = _without_end([None if tensor is None else tensor.shape for _, tensor in inputs])
    return len(shapes) == len(own) and all(map(_is_of, shapes, own))


def stated_shapes(node: ModelNode) -> list[tuple[Extent, ...] | None]:
    """The shapes of what a node takes, as far as its model states them; None for what is left out."""
    return _without_end([None if value is None else value.shape or () for value in node.inputs])


def _without_end(shapes: list[tuple[Extent, ...] | None]) -> list[tuple[Extent, ...] | None]:
    while shapes and shapes[-1] is None:
        shapes.pop()
    return shapes


def _is_of(shape: tuple[Extent, ...] | None, stated: tuple[Extent, ...] | None) -> bool:
    """Whether a shape has every extent that is stated as a number."""
    if shape is None or not stated:
        return (shape is None) == (stated is None)
    return len(shape) == len(stated) and all(
        not isinstance(wanted, int) or extent == wanted for extent, wanted in zip(shape, stated, strict=True)
    )


def open_remark(failing: Sequence[CaseResult], asked: Sequence[CaseResult]) -> Iterator[str]:
    """A sentence where cases fail in one of the two alone, and none of them in the other.

    Each of them that has a twin has one that passes, and one has.
    """
    kinds = {result.features.get(SHAPES) for result in failing}
    (kind,) = kinds if len(kinds) == 1 else (None,)
    said = _SAID.get(kind or "")
    twins = [twin for result in failing if (twin := twin_of(result, asked)) is not None]
    # Without a twin that passes it may be the luck of their values.
    if said is not None and twins and all(twin.verdict == "pass" for twin in twins):
        yield said


def twin_of(case: CaseResult, among: Sequence[CaseResult]) -> CaseResult | None:
    """The same case under the other level; None where there is none."""
    other = _OTHER.get(case.features.get(SHAPES, ""))
    if other is None:
        return None
    wanted = {**case.features, SHAPES: other}
    return next((result for result in among if result.features == wanted), None)

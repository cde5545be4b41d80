"""At which levels of what a call's cases vary a cause shows, and at which none of them fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.checked_models.model_calls import Extent, ModelNode
from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_evidence import CheckedCall
from reports.results.case_results import CaseResult, Results
from reports.text.phrasing import listed, plural

EXTENTS, DATA = "extents", "data"
"""The dimensions of which shapes the inputs have, and what values."""
SHAPES = "shapes"
"""The dimension of what a case's model says of extents."""
FIXED, OPEN = "fixed", "open"
_OTHER: Mapping[str, str] = {FIXED: OPEN, OPEN: FIXED}
_SAID: Mapping[str, str] = {
    OPEN: "only where the model leaves extents open, as yours does; the same cases pass where it states them",
    FIXED: "only where the model states all extents; the same cases pass where they are open, as in yours",
}
_MOST_LEVELS = 4
_LONGEST = 60


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
        bad = {each.features[name] for each in failing if name in each.features}
        good = {each.features[name] for each in asked if each.verdict == "pass" and name in each.features}
        left = len(good - bad)
        if bad and left and len(bad) <= _MOST_LEVELS:
            levels = listed([one_line(each, _LONGEST) for each in sorted(bad)], "or")
            verb = "passes" if left == 1 else "pass"
            yield f"only with {one_line(name, _LONGEST)} {levels}; {plural(left, 'other level')} {verb}"
    if states_extents(checked):
        alike = [each for each in asked if has_stated_extents(each, checked, results)]
        if not alike:
            yield "no case has the extents that the model states"
        elif not any(each in alike for each in failing):
            yield f"no case with the extents that the model states fails so, of {len(alike)}"


def at_other_extents(
    failing: Sequence[CaseResult], asked: Sequence[CaseResult], checked: CheckedCall, results: Results
) -> bool:
    """Whether cases fail at extents that the model does not have, and hang on these.

    They do where the model states extents that none of them has, and beside each stands a case of more
    elements, with the same data and other extents, that passes. Where the larger one fails it may be the
    luck of its values.
    """
    if not states_extents(checked) or any(has_stated_extents(each, checked, results) for each in failing):
        return False
    passing = [each for each in asked if each.verdict == "pass"]
    return all(any(_is_larger_sister(one, each, failing) for one in passing) for each in failing)


def _is_larger_sister(case: CaseResult, of: CaseResult, failing: Sequence[CaseResult]) -> bool:
    levels = ((each.features.get(EXTENTS), each.features.get(DATA)) for each in (case, of))
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
    shapes = _without_end([None if each is None else each.shape for _, each in inputs])
    return len(shapes) == len(own) and all(map(_is_of, shapes, own))


def stated_shapes(node: ModelNode) -> list[tuple[Extent, ...] | None]:
    """The shapes of what a node takes, as far as its model states them; None for what is left out."""
    return _without_end([None if each is None else each.shape or () for each in node.inputs])


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
    kinds = {each.features.get(SHAPES) for each in failing}
    (kind,) = kinds if len(kinds) == 1 else (None,)
    said = _SAID.get(kind or "")
    twins = [twin for each in failing if (twin := twin_of(each, asked)) is not None]
    # Without a twin that passes it may be the luck of their values.
    if said is not None and twins and all(each.verdict == "pass" for each in twins):
        yield said


def twin_of(case: CaseResult, among: Sequence[CaseResult]) -> CaseResult | None:
    """The same case under the other level; None where there is none."""
    other = _OTHER.get(case.features.get(SHAPES, ""))
    if other is None:
        return None
    wanted = {**case.features, SHAPES: other}
    return next((each for each in among if each.features == wanted), None)

"""Cases that are asked twice: with extents that a model states, and in one that leaves them open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reports.results.case_results import CaseResult

SHAPES = "shapes"
"""The dimension of what a case's model says of extents."""
FIXED, OPEN = "fixed", "open"
_OTHER: Mapping[str, str] = {FIXED: OPEN, OPEN: FIXED}
_SAID: Mapping[str, str] = {
    OPEN: "only where the model leaves extents open, as yours does; the same cases pass where it states them",
    FIXED: "only where the model states all extents; the same cases pass where they are open, as in yours",
}


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

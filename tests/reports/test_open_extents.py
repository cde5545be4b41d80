"""What is said of cases that fail with open extents alone, or with stated ones alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.judging.responses import Response
from conformance.suite.cases import Case
from reports.checked_models.call_evidence import open_remark, twin_of
from reports.results.case_results import CaseResult, put_together
from tests.reports.checked_models import right, wrong
from tests.reports.sample import RESIZE_18, Maker, make_case

KINDS = [(data, shapes) for data in ("random", "huge") for shapes in ("fixed", "open")]
CASES = [make_case(RESIZE_18, "cover", {"data": data, "shapes": shapes}, side=2) for data, shapes in KINDS]
ALONE = make_case(RESIZE_18, "cover", {"data": "ties", "shapes": "fixed"}, side=2)


def results(folder: Path, failing: set[tuple[str, str]]) -> tuple[CaseResult, ...]:
    def respond(case: Case) -> Response:
        return wrong(case) if (case.levels["data"], case.levels["shapes"]) in failing else right(case)

    made = Maker(folder).make([*CASES, ALONE], respond, close=True)
    return tuple(put_together(made.suite, made.record, "suite").cases)


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        ({("huge", "open")}, "leaves dimensions open, as yours does; the same cases pass"),
        ({("huge", "open"), ("random", "open")}, "leaves dimensions open, as yours does"),
        ({("huge", "fixed"), ("ties", "fixed")}, "states all dimensions; the same cases pass"),
        ({("huge", "fixed"), ("huge", "open")}, ""),
        ({("ties", "fixed")}, ""),
        ({("huge", "open"), ("random", "fixed")}, ""),
    ],
)
def test_a_level_is_blamed_where_the_same_case_passes_under_the_other(
    tmp_path: Path, failing: set[tuple[str, str]], told: str
) -> None:
    cases = results(tmp_path, failing)
    bad = [each for each in cases if each.verdict != "pass"]
    assert len(bad) == len(failing)
    said = list(open_remark(bad, cases))
    assert len(said) == bool(told)
    assert all(told in each for each in said)


def test_some_that_fail_under_both_are_no_matter_of_open_extents(tmp_path: Path) -> None:
    """Of one cause the cases with open extents, whose twins fail for another."""
    cases = results(tmp_path, {("huge", "fixed"), ("huge", "open")})
    bad = [result for result in cases if result.features["shapes"] == "open" and result.verdict != "pass"]
    assert bad
    assert not list(open_remark(bad, cases))
    assert twin_of(bad[0], cases) is not None
    (alone,) = (result for result in cases if result.features["data"] == "ties")
    assert twin_of(alone, cases) is None

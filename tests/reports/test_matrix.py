"""The matrix: every case is counted once in its row, its column and the sums."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings

from reports.case_results import CaseResult
from reports.failure_classes import find_classes
from reports.matrix import build_matrix
from reports.verdicts import FAILING, GROUPS, WORST_FIRST
from tests.reports.test_failure_classes import runs


@settings(max_examples=60, deadline=None)
@given(runs())
def test_totals_add_up(cases: list[CaseResult]) -> None:
    matrix = build_matrix(cases, find_classes(cases))
    rows = [row for _, rows in matrix.domains for row in rows]
    assert matrix.total == len(cases) == sum(row.all.total for row in rows) == sum(matrix.column_totals)
    whole: Counter[str] = Counter()
    for row in rows:
        parts: Counter[str] = Counter()
        for cell in row.cells:
            if cell is not None:
                parts.update(cell.counts)
        assert parts == Counter(row.all.counts)
        whole.update(parts)
    assert whole == Counter(each.verdict for each in cases)


@settings(max_examples=60, deadline=None)
@given(runs())
def test_a_cell_shows_every_case_that_does_not_pass(cases: list[CaseResult]) -> None:
    matrix = build_matrix(cases, find_classes(cases))
    for _, rows in matrix.domains:
        for row in rows:
            lines = [row.all.first, *row.all.rest]
            shown = sum(line.number for line in lines)
            hidden = row.all.counts.get("pass", 0) if row.all.fails else 0
            assert shown + hidden == row.all.total
            assert all(line.number for line in row.all.rest)


@settings(max_examples=60, deadline=None)
@given(runs())
def test_a_cell_is_named_for_its_worst_verdict_and_has_the_notes_of_its_failures(
    cases: list[CaseResult],
) -> None:
    classes = find_classes(cases)
    for _, rows in build_matrix(cases, classes).domains:
        for row in rows:
            own = [each for each in cases if each.operator == row.operator]
            failing = [each for each in FAILING if any(case.verdict == each for case in own)]
            assert row.all.fails == bool(failing)
            if failing:
                assert row.all.verdict == failing[0]
            noted = {each.number for each in classes if row.operator in each.operators}
            assert set(row.all.notes) == noted


def test_groups_hold_every_verdict_once() -> None:
    assert sorted(each for group in GROUPS for each in group.verdicts) == sorted(WORST_FIRST)

"""The matrix: every case is counted once in its row, its column and the sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings

from conformance.judging.verdicts import FAILING, GROUPS, WORST_FIRST
from opcert.vocabulary.names import CaseId, OperatorName
from reports.causes.failure_classes import find_classes
from reports.overview.matrix import MOST_NOTES, build_matrix
from reports.results.case_results import OTHERS, CaseResult
from tests.reports.test_failure_classes import case_result, runs


@settings(max_examples=60, deadline=None)
@given(runs())
def test_totals_add_up(cases: list[CaseResult]) -> None:
    matrix = build_matrix(cases, find_classes(cases))
    rows = matrix.rows
    columns = sum(column.total for column in matrix.columns)
    assert matrix.total == len(cases) == sum(row.all.total for row in rows) == columns
    whole: Counter[str] = Counter()
    for row in rows:
        parts: Counter[str] = Counter()
        for cell in row.cells:
            if cell is not None:
                parts.update(cell.counts)
        assert parts == Counter(row.all.counts)
        whole.update(parts)
    assert whole == Counter(each.verdict for each in cases)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(runs())
def test_a_cell_is_what_passes_of_all_marked_with_the_worst_verdict(cases: list[CaseResult]) -> None:
    classes = find_classes(cases)
    for row in build_matrix(cases, classes).rows:
        own = [each for each in cases if each.operator == row.operator]
        assert (row.all.passing, row.all.total) == (sum(each.verdict == "pass" for each in own), len(own))
        failing = [each for each in FAILING if any(case.verdict == each for case in own)]
        assert row.all.fails == bool(failing)
        if failing:
            assert row.all.verdict == failing[0]
        noted = {each.number for each in classes if row.operator in each.operators}
        assert set(row.all.notes) == noted
        marks = len(row.all.shown_notes) + bool(row.all.more_notes[0])
        assert marks == min(len(noted), MOST_NOTES)
        assert len(row.all.shown_notes) + row.all.more_notes[0] == len(noted)
        assert not noted or row.all.full.endswith(f"notes {', '.join(map(str, sorted(noted)))}")


@settings(max_examples=60, deadline=None)
@given(runs())
def test_what_fails_stands_first(cases: list[CaseResult]) -> None:
    for group in build_matrix(cases, find_classes(cases)).groups:
        fails = [row.all.fails for row in group.rows]
        assert fails == sorted(fails, reverse=True)
        assert group.failing == sum(fails)


def made_up(names: Iterable[str], element_types: Sequence[str], verdict: str = "pass") -> list[CaseResult]:
    """A case of each operator and element type."""
    return [
        replace(
            case_result(number, 13, {}, verdict),
            id=CaseId(OperatorName("ai.onnx", name, 13), "cover", None, f"{number:012x}"),
            element_type=element_type,
        )
        for name in names
        for number, element_type in enumerate(element_types)
    ]


def test_many_rows_stand_in_groups_and_the_groups_that_fail_first() -> None:
    passing = [f"Example{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVW"]
    cases = [*made_up(["Abs", *passing], ["float"]), *made_up(["Tile", "Add"], ["float"], "timeout")]
    headings = {"Abs": "Arithmetic", "Add": "Arithmetic", "Tile": "Moving elements"}
    groups = build_matrix(
        cases, find_classes(cases), group_of=lambda operator: headings.get(operator.name, OTHERS)
    ).groups
    assert [(group.name, group.says) for group in groups[:2]] == [
        ("Arithmetic", "1 of 2 fails"),
        ("Moving elements", ""),
    ]
    assert [row.operator.name for row in groups[0].rows] == ["Add", "Abs"]
    assert (groups[2].name, len(groups[2].rows), groups[2].failing) == (OTHERS, len(passing), 0)


def test_operators_without_a_group_stand_behind_groups_that_fail() -> None:
    passing = [f"Example{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVW"]
    cases = [*made_up(["Abs", *passing], ["float"]), *made_up(["Tile", "DFT", "STFT"], ["float"], "timeout")]
    headings = {"Abs": "Arithmetic", "Tile": "Moving elements"}
    groups = build_matrix(
        cases, find_classes(cases), group_of=lambda operator: headings.get(operator.name, OTHERS)
    ).groups
    assert [(group.name, group.failing) for group in groups] == [
        ("Moving elements", 1),
        (OTHERS, 2),
        ("Arithmetic", 0),
    ]


def test_types_stand_by_how_many_operators_take_them_and_kin_together() -> None:
    cases = [
        *made_up(["Abs", "Add"], ["int8", "complex128", "complex64", "float8e5m2", "int4"]),
        *made_up(["Neg"], ["int8"]),
    ]
    columns = build_matrix(cases, ()).columns
    assert [(column.name, column.types) for column in columns] == [
        ("int8", ("int8",)),
        ("narrow", ("float8e5m2", "int4")),
        ("complex", ("complex64", "complex128")),
    ]
    (row,) = [row for row in build_matrix(cases, ()).rows if row.operator.name == "Abs"]
    assert [cell.total if cell else 0 for cell in row.cells] == [1, 2, 2]
    assert row.cells[2] is not None
    assert row.cells[2].link == "#/cases?q=op:Abs-13%20type:complex64,complex128%20status:decided"


def test_groups_hold_every_verdict_once() -> None:
    assert sorted(verdict for group in GROUPS for verdict in group.verdicts) == sorted(WORST_FIRST)

"""Which cases a report lists one by one, and how the others are counted: pages stay bounded."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from opcert.vocabulary.names import DEFAULT_SUITE
from reports.formats.html import list_details, render_report
from reports.overview import matrix
from reports.pages import case_table, run_page
from reports.pages import report as report_module
from reports.pages.report import Report
from reports.results.case_results import Results, put_together
from tests.reports.page_data import text_of
from tests.reports.sample import Maker, sample_cases

DEFAULT_SIZE, ALL_VERSIONS = 21_097, 61_531
"""Cases of the default suite, and of all versions, whose pages list every one."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases()), skip=2)
    with made.suite:
        yield put_together(made.suite, made.record)


def table_of(report: Report) -> dict[str, Any]:
    return case_table.build_table(report.pages, report.listed)


def test_a_report_of_the_default_suite_lists_every_case(results: Results) -> None:
    assert DEFAULT_SIZE < ALL_VERSIONS < case_table.MOST_LISTED
    report = Report([results])
    assert list(report.listed) == list(range(len(results.cases)))
    table = table_of(report)
    assert not table.keys() & {"total", "counted", "others"}
    assert len(table["ids"]) == len(results.cases)


def test_of_more_cases_every_one_is_listed_or_counted(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_table, "MOST_LISTED", 120)
    table = table_of(Report([results, replace(results)]))
    assert table["total"] == len(results.cases) > len(table["ids"])
    places = [name for name, *_ in table["verdicts"]]
    counted = Counter(places[each] for each in table["runs"][0]["verdict"])
    for name in ("", "type", "family"):
        others: Counter[str] = Counter()
        for keys in table["others"]:
            for told in keys.get(name, {}).values():
                for verdict, _, again, _, number in told:
                    assert verdict == again
                    others[places[verdict]] += number
        assert counted + others == results.counts


def test_of_each_cause_the_smallest_cases_are_listed(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_table, "MOST_LISTED", 120)
    report = Report([results])
    listed = {str(results.cases[each].id) for each in report.listed}
    for failures in report.first.classes:
        inside = [case for case in failures.cases if str(case.id) in listed]
        assert str(failures.smallest.id) in listed
        assert len(inside) <= 120 * case_table.FAILING_PART
    there = {(result.operator, result.verdict) for result in (results.cases[one] for one in report.listed)}
    assert there >= {(result.operator, result.verdict) for result in results.cases if not result.fails}


def test_what_a_page_holds_does_not_grow_with_the_cases(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_table, "MOST_LISTED", 60)
    sizes = []
    for times in (2, 8):
        # The same cases again and again stand for more of each kind.
        more = replace(
            results, cases=tuple(replace(result) for _ in range(times) for result in results.cases)
        )
        assert more.suite_name == DEFAULT_SUITE
        report = Report([more])
        details = sum(len(json.dumps(detail)) for _, detail in list_details(report))
        sizes.append((len(report.listed), details, len(json.dumps(table_of(report)))))
    (listed, details, table), (more_listed, more_details, more_table) = sizes
    assert more_listed <= 1.2 * listed
    assert more_details <= 1.2 * details
    assert more_table <= 1.3 * table


def test_an_error_as_great_as_any_number_is_told_in_digits_that_are_a_number(results: Results) -> None:
    place, case = next(
        (at, result) for at, result in enumerate(results.cases) if result.verdict == "mismatch"
    )
    assert case.row is not None
    worst = {**(case.row.worst or {}), "ratio": math.nextafter(math.inf, 0)}
    row = replace(case.row, worst=worst, difference="value")
    cases = [*results.cases]
    cases[place] = replace(case, row=row)
    report = Report([replace(results, cases=tuple(cases))])
    (ratio,) = (table_run["ratio"][place] for table_run in table_of(report)["runs"])
    assert ratio == math.nextafter(math.inf, 0)
    assert "ratio" in render_report([replace(results, cases=tuple(cases))])


@pytest.mark.parametrize(
    ("sizes", "most", "wanted"),
    [
        ([5, 5, 5], 9, [3, 3, 3]),
        ([1, 2, 100], 20, [1, 2, 17]),
        ([4, 4], 100, [4, 4]),
        ([3, 3, 3], 1, [1, 1, 1]),
        ([], 5, []),
    ],
)
def test_room_is_shared_evenly(sizes: list[int], most: int, wanted: list[int]) -> None:
    groups = [[place * 1000 + each for each in range(size)] for place, size in enumerate(sizes)]
    found = case_table._evenly(groups, most)
    assert [sum(each // 1000 == place for each in found) for place in range(len(sizes))] == wanted


def test_causes_and_operators_beyond_many_are_counted(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = text_of(render_report([results]))
    causes, rows = len(Report([results]).first.classes), len(results.by_operator)
    assert causes > 6
    assert whole.count('<details class="class"') == causes
    assert "more causes" not in whole
    assert "more operator versions" not in whole
    monkeypatch.setattr(run_page, "MOST_TOLD", 2)
    monkeypatch.setattr(run_page, "MOST_NAMED", 5)
    monkeypatch.setattr(report_module, "MOST_ROWS", 3)
    monkeypatch.setattr(matrix, "MOST_ROWS", 3)
    some = text_of(render_report([results]))
    assert some.count('<details class="class"') == 5
    assert some.count('<div class="small-case">') == 2
    assert f"{causes - 5} more causes" in some
    assert some.count(f"{rows - 3} more operator versions") >= 2
    # Every operator version keeps its row, with all its cases in one cell.
    for operator, cases in results.by_operator.items():
        passing = sum(one.verdict == "pass" for one in cases)
        row = some.split(f'<tr data-operator="{operator}"')[1].split("</tr>")[0]
        assert row.count("<td") == 1
        assert f"<b>{passing}</b>" in row

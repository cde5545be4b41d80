"""Formats for programs and CI pages: valid, whole, adding up, within their size, and safe with any text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.judge import Judgement
from conformance.judging.responses import HarnessFailed, Refused, Response
from conformance.judging.verdicts import FAILING, VERDICTS, Verdict, word
from conformance.recording.records import Record
from conformance.recording.rows import case_verdicts, count_verdicts
from conformance.suite.cases import Case
from reports.certificates.badges import state_run
from reports.certificates.certificate import make_certificate
from reports.formats import list_formats, write_format
from reports.formats.json import render as render_json
from reports.formats.junit import render as render_junit
from reports.formats.markdown import render as render_markdown
from reports.overview.cause_paragraphs import summary_table
from reports.overview.matrix import build_matrix
from reports.pages.case_table import CSV_COLUMNS, render_csv
from reports.results.case_results import Results, put_together
from reports.schemas import load_schema
from reports.text.tests_and_tables import LIMIT
from tests.reports.sample import CROP_PAD, HEADER, RESIZE_18, Maker, make_case, planted, sample_cases
from tests.reports.test_junit import parse

FAULT = {"kind": "repeats_differ", "operator": str(RESIZE_18), "message": "answers differ"}
HOSTILE = (
    "=cmd|' /C calc'!A0 <script>alert(1)</script> ](javascript:alert(1)) @all | `x` \u202e \x00\x1b[31m #1"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    def respond(case: Case) -> Response:
        return HarnessFailed("ours") if case.levels.get("rates") == "one" else planted(case)

    maker = Maker(tmp_path_factory.mktemp("sample"))
    made = maker.make(list(sample_cases(19)), respond, skip=2, faults=(FAULT,))
    with made.suite:
        yield put_together(made.suite, made.record)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """A run of eight cases, whose rows the property tests change."""
    cases = [
        make_case(operator, "cover", {"extent": extent}, kind)
        for operator in (CROP_PAD, RESIZE_18)
        for extent in ("same", "crop")
        for kind in ("float", "string")
    ]
    made = Maker(tmp_path_factory.mktemp("few")).make(cases)
    with made.suite:
        yield put_together(made.suite, made.record)


def test_every_format_writes_a_file_of_its_own(results: Results, tmp_path: Path) -> None:
    written = [write_format(each, results, tmp_path) for each in list_formats() if each != "html"]
    assert len({path.name for path in written}) == len(written)
    assert all(path.stat().st_size for path in written)
    assert {"badge", "csv", "html", "json", "junit", "markdown"} <= set(list_formats())


def test_json_is_valid_and_holds_every_case_and_class(results: Results) -> None:
    document = json.loads(render_json(results))
    jsonschema.validate(document, load_schema("report"))
    assert [each["id"] for each in document["cases"]] == [str(result.id) for result in results.cases]
    in_classes = sorted(case for each in document["classes"] for case in each["cases"])
    assert in_classes == sorted(str(result.id) for result in results.cases if result.fails)
    assert document["faults"] == ["answers differ"]


def test_csv_has_one_line_a_case(results: Results) -> None:
    head, *lines = csv.reader(io.StringIO(render_csv(results)))
    assert tuple(head) == CSV_COLUMNS
    assert [line[0] for line in lines] == [str(result.id) for result in results.cases]
    assert Counter(line[4] for line in lines) == results.counts
    for line in lines:
        assert (line[4] in FAILING) == line[-1].startswith("opcert repro ")


def test_markdown_begins_with_totals_and_stays_within_its_limit(results: Results) -> None:
    whole = render_markdown(results)
    assert len(whole.encode()) < LIMIT
    assert "**2 cases were not run and count for nothing: 2 of " in whole.replace("\\", "")
    assert whole.count("opcert repro") == len(json.loads(render_json(results))["classes"])
    short = render_markdown(results, 4000)
    assert len(short.encode()) < 4000
    assert short.startswith("# example")
    assert "left out here for want of room" in short
    assert short[:1000] == whole[:1000]


@pytest.mark.parametrize(
    ("change", "message", "color"),
    [
        ({}, "8 decided cases pass", "brightgreen"),
        ({0: "crash", 1: "mismatch"}, "2 of 8 decided cases fail", "red"),
        ({0: "unsupported"}, "7 decided cases pass, 1 unsupported", "green"),
        ({0: "not_run"}, "7 decided cases pass, 1 not run", "lightgrey"),
        ({0: "harness_error", 1: "crash"}, "not judged: a bug of opcert", "lightgrey"),
        (dict.fromkeys(range(8), "unsupported"), "unsupported", "lightgrey"),
        (dict.fromkeys(range(8), "not_run"), "nothing ran", "lightgrey"),
    ],
)
def test_a_badge_states_counts_and_is_green_only_for_what_is_whole(
    few: Results, change: Mapping[int, Verdict], message: str, color: str
) -> None:
    verdicts = [change.get(number, "pass") for number in range(8)]
    assert state_run(with_verdicts(few, verdicts)) == (message, color)


def with_verdicts(results: Results, verdicts: list[Verdict], faults: int = 0) -> Results:
    """The same run with other verdicts; a case that was not run has no row."""
    rows = [
        replace(result.rows[0], verdict=verdict, outputs=())
        for result, verdict in zip(results.cases, verdicts, strict=True)
        if verdict != "not_run"
    ]
    counts = count_verdicts(case_verdicts(rows).values())
    footer: dict[str, Any] = {"counts": counts, "faults": [FAULT] * faults, "digest": "0" * 64}
    record = Record(results.record.path, {**HEADER, "suite": results.suite.digest}, tuple(rows), footer)
    return put_together(results.suite, record)


@settings(max_examples=25, deadline=None)
@given(verdicts=st.lists(st.sampled_from(VERDICTS), min_size=8, max_size=8), faults=st.integers(0, 2))
def test_every_count_adds_up_in_every_format(few: Results, verdicts: list[Verdict], faults: int) -> None:
    """Each case is counted once, with its verdict, wherever cases are counted."""
    changed = with_verdicts(few, verdicts, faults)
    counts = Counter(verdicts)
    failing = sum(counts[each] for each in FAILING)
    assert changed.counts == counts

    head, *rows, sums = summary_table(changed)
    assert {name: int(number) for name, number in zip(head[1:-1], sums[1:-1], strict=True)} == {
        word(each): number for each, number in counts.items() if number
    }
    assert int(sums[-1]) == 8 == sum(int(row[-1]) for row in rows)

    document = json.loads(render_json(changed))
    for part in ([document], document["operators"]):
        total: Counter[str] = sum((Counter(each["counts"]) for each in part), Counter())
        assert total.pop("sum") == 8
        assert +total == counts
    beside = counts["inexact"] + counts["document"]
    assert sum(len(each["cases"]) for each in document["classes"]) == failing + beside
    told = document["headline"]
    assert told["decided"] == told["conforming"] + told["failing"] == counts["pass"] + failing
    parts = ("decided", "inexact", "document", "unsupported", "observed", "undecided")
    assert sum(told[part] for part in parts) == 8
    by_operator = ("operators_without_failure", "operators_with_failure", "operators_not_offered")
    assert sum(told[each] for each in by_operator) == told["operators"]

    root = parse(render_junit(changed))
    assert root.get("tests") == str(8 + faults)
    assert root.get("failures") == str(failing + faults)
    assert root.get("errors") == str(counts["harness_error"])

    assert len(list(csv.reader(io.StringIO(render_csv(changed))))) == 8 + 1

    matrix = build_matrix(changed.cases, ())
    assert sum(column.total for column in matrix.columns) == matrix.total == 8
    for row in matrix.rows:
        assert row.all.total == sum(cell.total for cell in row.cells if cell is not None)

    if not counts["not_run"] and not counts["harness_error"]:
        stated = make_certificate(changed).statement["predicate"]["counts"]
        assert +Counter({name: number for name, number in stated.items() if name != "sum"}) == counts


def test_hostile_text_is_shown_and_nothing_else(tmp_path: Path) -> None:
    def change(case: Case, judged: Judgement) -> dict[str, Any]:
        return {"reason": HOSTILE + "m" * 2_000_000, "message": HOSTILE, "stderr": "\x00" * 5}

    case = make_case(RESIZE_18, "cover", {"mode": "linear"})
    maker = Maker(tmp_path, {**HEADER, "runtime": {"name": HOSTILE, "version": "=1+1"}})
    made = maker.make([case], lambda each: Refused("x", "y"), change=change)
    results = put_together(made.suite, made.record, HOSTILE)

    markdown = render_markdown(results)
    assert "<script>" not in re.sub(r"\\<", "", re.sub("`+[^`]*`+", "", markdown))
    assert "\u202e" not in markdown
    assert "\x00" not in markdown
    assert len(markdown) < 20_000
    _, line = csv.reader(io.StringIO(render_csv(results)))
    assert not any(each.startswith(("=", "+", "-", "@")) for each in line)
    assert "\x00" not in "".join(line)
    badge = json.loads(write_format("badge", results, tmp_path).read_text())
    assert "\u202e" not in badge["label"]
    assert badge["message"] == "1 of 1 decided case fails"


def test_a_record_without_a_footer_is_never_green(few: Results) -> None:
    partial = replace(few, record=replace(few.record, footer=None))
    assert state_run(partial)[1] == "lightgrey"
    assert "did not come to its end" in render_markdown(partial)

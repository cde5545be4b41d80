"""Tables of support: they add up, say who is wrong and who says no, and change where an answer changed."""

from __future__ import annotations

import csv
import difflib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.known_causes import CauseKind, KnownCause
from conformance.judging.responses import Answered, Refused, Response
from conformance.judging.verdicts import FAILING, VERDICTS, Verdict
from conformance.suite.cases import Case
from opcert.vocabulary.names import OperatorName
from reports.causes.kept_findings import with_open_cases
from reports.formats import write_together
from reports.formats.support import render_support
from reports.formats.support_csv import COLUMNS, render_support_csv
from reports.formats.support_json import render_support_json
from reports.overview.support_table import SupportTable, make_support_table, steady_text
from reports.results.case_results import Results, put_together
from reports.schemas import load_schema
from tests.reports.sample import CROP_PAD, HEADER, PAD, RESIZE_18, Maker, make_case, planted, sample_cases
from tests.reports.test_formats import FAULT, HOSTILE, with_verdicts

EVERY: list[Verdict] = ["pass"] * 8
_CELL = re.compile(r"(?P<sign>✓|◐|–|✗|○|\?) (?:(?P<passing>[\d,]+)/)?(?P<total>[\d,]+)")
RENDERERS: tuple[Callable[[SupportTable], str], ...] = (
    render_support,
    render_support_csv,
    render_support_json,
)


def run(
    folder: Path,
    respond: Callable[[Case], Response] = planted,
    header: Mapping[str, Any] = HEADER,
    extents: tuple[str, ...] = ("same", "crop"),
) -> Results:
    """A run of eight cases: two operators, two element types."""
    cases = [
        make_case(operator, "cover", {"extent": extent}, kind)
        for operator in (CROP_PAD, RESIZE_18)
        for extent in extents
        for kind in ("float", "string")
    ]
    made = Maker(folder, header).make(cases, respond)
    return put_together(made.suite, made.record)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases(23)), skip=2, faults=(FAULT,))
    with made.suite:
        yield put_together(made.suite, made.record)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(tmp_path_factory.mktemp("few"))


def cells(page: str) -> Iterator[tuple[str, str, str, str]]:
    """Of the tables of operators: heading, row, column and text of every cell, however they were written."""
    heading, head = "", []
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        words = [word.strip() for word in line.split("|")[1:-1]]
        if words[:1] == ["operator"]:
            head = words
        elif not words:
            head = []
        elif head and words[0] != "---":
            assert len(words) == len(head), line
            yield from ((heading, words[0], *each) for each in zip(head[1:], words[1:], strict=True))


def numbers(cell: str) -> tuple[str, int, int]:
    """Sign, cases that pass, cases that are demanded."""
    found = _CELL.match(cell.replace("*", ""))
    assert found is not None, cell
    total = int(found["total"].replace(",", ""))
    return found["sign"], total if found["passing"] is None else int(found["passing"].replace(",", "")), total


def test_every_cell_of_the_page_is_what_a_count_of_the_cases_says(results: Results) -> None:
    """The cases are counted here by themselves."""
    passing, demanded, failing = Counter[tuple[str, str]](), Counter[tuple[str, str]](), set()
    for result in results.cases:
        if result.verdict == "observed":
            continue
        for name in (result.element_type, "all types"):
            place = (result.operator.short, name)
            demanded[place] += 1
            passing[place] += result.verdict == "pass"
            failing |= {place} if result.verdict in FAILING else set()
    seen = set()
    for _, operator, column, text in cells(render_support(make_support_table(results))):
        if not text:
            assert not demanded[operator, column]
            continue
        sign, good, total = numbers(text)
        assert (good, total) == (passing[operator, column], demanded[operator, column])
        assert (sign == "✗") == ((operator, column) in failing)
        assert (sign == "✓") == (good == total)
        seen.add((operator, column))
    assert seen == {each for each, number in demanded.items() if number}


def test_the_three_formats_say_the_same_and_name_the_same_notes(results: Results) -> None:
    found = make_support_table(results)
    page, document = render_support(found), json.loads(render_support_json(found))
    head, *lines = csv.reader(io.StringIO(render_support_csv(found)))
    jsonschema.validate(document, load_schema("support"))
    assert tuple(head) == COLUMNS
    on_page = {(row, column): text for _, row, column, text in cells(page)}
    for line in lines:
        one = dict(zip(head, line, strict=True))
        operator = OperatorName(one["domain"], one["operator"], int(one["since_version"]))
        stated = document["operators"][str(operator)]["element_types"][one["element_type"]]
        assert one["notes"].split() == stated["notes"]
        assert one["support"] == stated["support"]
        text = on_page.get((operator.short, one["element_type"]), "")
        assert re.findall(r"\[\^([^]]+)\]", text) == stated["notes"]
        if int(one["demanded"]):
            assert numbers(text)[1:] == (int(one["pass"]), int(one["demanded"]))
    used = set(re.findall(r"\[\^([^]]+)\](?!:)", page))
    assert used == set(re.findall(r"^\[\^([^]]+)\]:", page, re.MULTILINE)) == set(document["notes"]) != set()
    assert "answers differ" in page
    assert "not run" in page


@settings(max_examples=25, deadline=None)
@given(verdicts=st.lists(st.sampled_from(VERDICTS), min_size=8, max_size=8))
def test_every_case_is_counted_once(few: Results, verdicts: list[Verdict]) -> None:
    changed = with_verdicts(few, verdicts)
    document = json.loads(render_support_json(make_support_table(changed)))
    total = Counter[str]()
    for operator in document["operators"].values():
        of_types: Counter[str] = sum(
            (Counter(one["counts"]) for one in operator["element_types"].values()), Counter()
        )
        assert of_types == Counter(operator["all"]["counts"])
        total += of_types
    assert total == Counter(document["all"]["counts"]) == Counter(verdicts)
    noted = [case for note in document["notes"].values() for case in note["cases"]]
    assert (
        len(noted)
        == len(set(noted))
        == sum(verdict in {*FAILING, "inexact", "document"} for verdict in verdicts)
    )
    lines = csv.DictReader(io.StringIO(render_support_csv(make_support_table(changed))))
    parts = ("pass", "wrong", "open", "inexact", "unsupported", "unjudged")
    assert all(sum(int(line[name]) for name in parts) == int(line["demanded"]) for line in lines)


def test_the_same_answers_give_the_same_bytes(tmp_path: Path) -> None:
    """Run elsewhere, at another time, on another kernel, more slowly, with other addresses in messages."""

    def respond(where: str, seconds: float) -> Callable[[Case], Response]:
        def answer(case: Case) -> Response:
            if case.operator == CROP_PAD:
                return Refused(
                    "Error", f"{where}/core/graph.cc at {id(where):#x}: no kernel", seconds=seconds
                )
            return Answered((case.expectations[0].outputs[0].expected,), seconds)

        return answer

    pages = []
    for number, started in enumerate(("2026-11-18T06:40:00Z", "2027-01-02T03:04:05Z")):
        folder = tmp_path / f"place_{number}"
        platform = {
            "system": "Linux",
            "machine": "x86_64",
            "release": f"6.{number}",
            "processors": number + 1,
        }
        header = {**HEADER, "started": started, "platform": platform}
        header["runtime"] = {**HEADER["runtime"], "source": f"exec:{folder}/worker"}
        made = run(folder, respond(str(folder), 0.1 + number), header)
        table = make_support_table(made)
        pages.append([render(table).encode() for render in RENDERERS])
    assert pages[0] == pages[1]
    for text in (each.decode() for page in pages for each in page):
        assert not re.search(r"20\d\d-\d\d|\d\d:\d\d", text)
        assert str(tmp_path) not in text
        assert "place_" not in text


@pytest.mark.parametrize("verdict", ["mismatch", "unsupported", "crash"])
def test_one_other_verdict_changes_the_lines_that_it_is_about(results: Results, verdict: Verdict) -> None:
    """Page: totals, overview, row, and a note; the note of what it has in common with others may change."""
    passing = next(each for each in results.cases if each.operator == PAD and each.verdict == "pass")
    worse = replace(
        results,
        cases=tuple(
            replace(each, verdict=verdict, row=replace(each.rows[0], verdict=verdict))
            if each is passing
            else each
            for each in results.cases
        ),
    )
    before, after = (make_support_table(each) for each in (results, worse))
    for render, most in ((render_support, 6), (render_support_csv, 1)):
        removed = changed_lines(render(before), render(after), "-")
        added = changed_lines(render(before), render(after), "+")
        assert 1 <= len(removed) <= most
        assert 1 <= len(added) <= most
    rows = [
        line for line in changed_lines(render_support(before), render_support(after), "+") if "-1 |" in line
    ]
    assert [row.split("|")[1].strip() for row in rows] == ["Pad-1"]


def changed_lines(before: str, after: str, sign: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line[1:] for line in lines if line.startswith(sign) and not line.startswith(sign * 3)]


def test_rows_stand_where_they_stood_whatever_fails(few: Results) -> None:
    fine = [cell[1:3] for cell in cells(render_support(make_support_table(with_verdicts(few, EVERY))))]
    wrong = with_verdicts(few, [*EVERY[:7], "crash"])
    assert [cell[1:3] for cell in cells(render_support(make_support_table(wrong)))] == fine


def test_what_a_runtime_says_it_has_not_is_not_wrong(few: Results) -> None:
    page = render_support(make_support_table(with_verdicts(few, ["unsupported"] * 8)))
    signs = {numbers(text)[0] for *_, text in cells(page) if text}
    assert signs == {"–"}
    assert "wrong" not in page.partition("\n\n")[2].splitlines()[2]
    assert "[^" not in page


@pytest.mark.parametrize(("kind", "sign"), [("reading", "○"), ("finding", "○"), ("witness_fault", "✗")])
def test_what_the_documents_leave_open_blames_nobody(few: Results, kind: CauseKind, sign: str) -> None:
    verdicts: list[Verdict] = ["mismatch", "pass", "pass", "pass", "pass", "pass", "pass", "pass"]
    changed = with_verdicts(few, verdicts)
    case = next(each for each in changed.cases if each.fails)
    known = KnownCause("an_entry", kind, "It may be read so.", (), cases=(str(case.id),))
    page = render_support(make_support_table(with_open_cases(replace(changed, known=(known,)))))
    marked = [text for *_, text in cells(page) if "[^an_entry]" in text]
    assert [numbers(each)[0] for each in marked] == [sign]
    assert ("1 are wrong" in page) == (sign == "✗")
    assert "[^an_entry]: " in page


def test_a_cause_keeps_its_name_where_others_come_and_it_gets_more_operators(tmp_path: Path) -> None:
    def respond(*refused: OperatorName, crashing: str = "") -> Callable[[Case], Response]:
        def answer(case: Case) -> Response:
            if case.element_type.name == crashing:
                return Refused("Error", "a wholly different sentence of the runtime")
            if case.operator in refused:
                return Refused(
                    "Error", f"no kernel for node {case.operator.name} of {len(str(case.id))} letters"
                )
            return Answered((case.expectations[0].outputs[0].expected,), 0.1)

        return answer

    def names(folder: str, respond: Callable[[Case], Response]) -> set[str]:
        return {note.name for note in make_support_table(run(tmp_path / folder, respond)).notes}

    (one,) = names("one", respond(CROP_PAD))
    assert names("more", respond(CROP_PAD, RESIZE_18)) == {one}
    both = names("both", respond(CROP_PAD, RESIZE_18, crashing="string"))
    assert one in both
    assert len(both) == 2


def test_several_runs_have_a_page_for_each_runtime_and_version(few: Results, tmp_path: Path) -> None:
    older = replace(
        few,
        record=replace(few.record, header={**few.record.header, "runtime": {"name": "a", "version": "1"}}),
    )
    newer = replace(
        few,
        record=replace(few.record, header={**few.record.header, "runtime": {"name": "a", "version": "2"}}),
    )
    written = write_together("support", [older, newer], tmp_path)
    assert len({path.parent for path in written}) == 2
    assert [path.read_text().splitlines()[2] for path in written] == [
        "# What a 1 supports",
        "# What a 2 supports",
    ]


def test_hostile_text_marks_nothing_up(tmp_path: Path) -> None:
    made = run(
        tmp_path,
        lambda case: Refused(HOSTILE, f"{case.operator.name} {HOSTILE}\n| a | b |\n[^x]: y"),
        {
            **HEADER,
            "runtime": {"name": HOSTILE, "version": "=1+1", "source": HOSTILE},
            "platform": {"system": HOSTILE},
        },
    )
    table = make_support_table(made)
    page = render_support(table)
    assert len(list(cells(page))) == 6
    assert "<script>" not in re.sub(r"\\<", "", re.sub("`+[^`]*`+", "", page))
    assert not re.search("[\u202e\x00\x1b]", page)
    assert not re.search(r"^\[\^x\]", page, re.MULTILINE)
    jsonschema.validate(json.loads(render_support_json(table)), load_schema("support"))
    assert "\u202e" not in render_support_json(table)


@pytest.mark.parametrize(
    ("said", "steady"),
    [
        ("failed at 0x7ffc01ab in /usr/lib/x/kernel.cc:12", "failed at 0x... in kernel.cc:12"),
        ("a / b and 1/2 stay", "a / b and 1/2 stay"),
        ("ratio=1/3 or and/or", "ratio=1/3 or and/or"),
    ],
)
def test_addresses_and_folders_are_left_out(said: str, steady: str) -> None:
    assert steady_text(said) == steady


def test_a_fault_of_the_run_stands_with_the_entry_that_explains_it(few: Results) -> None:
    changed = with_verdicts(few, EVERY, faults=1)
    assert "- answers differ\n" in render_support(make_support_table(changed))
    known = KnownCause("an_entry", "reading", "It may be read so.", (), faults=("answers differ",))
    page = render_support(make_support_table(with_open_cases(replace(changed, known=(known,)))))
    assert (
        "- answers differ; known as an\\_entry: It may be read so. (the document may be read so)"
        in re.sub(r"\\([().])", r"\1", page)
    )

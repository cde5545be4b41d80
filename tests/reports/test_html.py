"""The HTML report: totals that add up, links that lead somewhere, hostile text that stays text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest

from conformance.judging.judge import Judgement
from conformance.judging.responses import Answered, Refused
from conformance.judging.verdicts import WORST_FIRST
from conformance.suite.cases import Case
from opcert.vocabulary.errors import UserError
from reports.formats.html import render_report
from reports.results.case_results import Results, put_together
from tests.reports.page_data import case_ids, read_details, read_directory, read_parts
from tests.reports.sample import RESIZE_13, RESIZE_18, Maker, make_case, sample_cases, sample_facts

HOSTILE = "<script>alert(1)</script>\x00\u202eevil\u2066 </style><img src=x onerror=alert(2)> \"'&{{ 7*7 }}"


class Reader(HTMLParser):
    """What a page holds: ids, links within it, tags, and the text by element id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.scripts: Counter[str | None] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag == "script":
            self.scripts[dict(attrs).get("type")] += 1
        for name, value in attrs:
            self.attributes[name] += 1
            if name == "id" and value is not None:
                self.ids.append(value)
            if name == "href" and value is not None:
                self.links.append(value)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases()), skip=2)
    with made.suite:
        yield put_together(made.suite, made.record)


@pytest.fixture(scope="module")
def page(results: Results) -> str:
    return render_report([results])


def test_every_link_leads_to_one_place(page: str) -> None:
    read = Reader(page)
    assert len(read.ids) == len(set(read.ids))
    assert all(link.startswith("#") for link in read.links)
    places = [link[1:] for link in read.links if not link.startswith("#/")]
    assert set(places) <= set(read.ids)
    assert len(places) > 20
    pages = {each for each in read.ids if each.startswith("/")}
    ids = set(case_ids(read_parts(page)["table"]))
    for link in read.links:
        if link.startswith("#/"):
            target, _, state = link[1:].partition("?")
            assert unquote(target) in pages
            found = parse_qs(state, strict_parsing=bool(state))
            assert found.keys() <= {"q", "case", "of", "operator"}
            assert set(found.get("case", ())) <= ids


def test_nothing_is_fetched_and_nothing_inline_escapes_the_policy(page: str) -> None:
    read = Reader(page)
    assert "style" not in read.attributes
    assert not any(name.startswith("on") for name in read.attributes)
    assert "src" not in read.attributes
    assert not read.tags.keys() & {"img", "iframe", "object", "link", "base", "form"}
    assert read.scripts == {None: 1, "application/json": 1, "text/plain": len(read_parts(page))}
    assert "http:" not in page
    assert "https:" not in page


def test_first_screen_says_what_ran(page: str, results: Results) -> None:
    counts = results.counts
    failing = sum(result.fails for result in results.cases)
    assert f"of {counts['pass'] + failing} decided cases conform; {failing} fail, from " in page
    assert "example-runtime 2.1.0" in page
    assert "2 cases were not run" in page
    assert results.suite.digest[:16] in page


def test_the_table_holds_every_case_once_with_its_verdict(page: str, results: Results) -> None:
    table = read_parts(page)["table"]
    assert case_ids(table) == [str(result.id) for result in results.cases]
    assert [WORST_FIRST[each] for each in table["runs"][0]["verdict"]] == [
        result.verdict for result in results.cases
    ]
    assert [table["types"][each] for each in table["type"]] == [
        result.element_type for result in results.cases
    ]
    noted = Counter(each for each in table["runs"][0]["note"] if each)
    assert sum(noted.values()) == sum(result.fails for result in results.cases)


def test_the_table_holds_every_feature(page: str, results: Results) -> None:
    table = read_parts(page)["table"]
    start = 0
    for operator in table["operators"]:
        own = results.cases[start : start + operator["count"]]
        for name, column in operator["columns"].items():
            codes = column if isinstance(column, list) else [column] * len(own)
            values = [None, *table["features"][name]]
            assert [values[code] for code in codes] == [result.features.get(name) for result in own]
        start += operator["count"]
    assert start == len(results.cases)


def test_every_failing_case_is_there_in_full(page: str, results: Results) -> None:
    details = read_details(page)
    before, after = read_directory(page)["command"]
    for position, result in enumerate(results.cases):
        assert (position in details) == result.fails
        form = details[position]["runs"][0].get("form") if result.fails else None
        told = f"{before}{result.id}{after}{f' --form {form}' if form else ''}"
        assert told == results.reproduction_command(result.id)
    parts = read_directory(page)["details"]
    assert sorted(each for part in parts.values() for each in part) == sorted(details)


def test_a_case_says_what_happened_and_why(page: str, results: Results) -> None:
    details = read_details(page)
    wrong = next(n for n, result in enumerate(results.cases) if result.verdict == "mismatch" and result.ratio)
    own = details[wrong]["runs"][0]
    names = [each[0] for each in own["worst"]]
    assert names[:2] == ["worst element", "error ÷ allowed"]
    assert "error in ulp" in names
    (passage,) = details[wrong]["passages"]
    assert "Resize-" in passage[0]
    assert "line 109" in passage[0]
    assert passage[2] == "https://onnx.ai/onnx/operators/onnx__Resize.html"
    picture = own["picture"]
    assert picture["wrong"] == sum(level > "1" for plane in picture["planes"] for level in plane["levels"])
    accepted = next(n for n, result in enumerate(results.cases) if result.constraint == "pads_length")
    assert ["rule", "len(pads) == 2 * rank(data)"] in details[accepted]["rules"]
    assert ", line 139" in details[accepted]["passages"][0][0]
    lost = next(n for n, result in enumerate(results.cases) if result.verdict == "crash")
    assert details[lost]["runs"][0]["messages"][0][1] == "Floating point exception\n"


def test_readings_say_which_option_was_followed(page: str) -> None:
    assert re.search(r"Follows floored in all \d+ cases that tell", page)
    assert "onnx__Resize.rst:512 shows it" in page


def test_wording_is_that_of_the_target(page: str) -> None:
    assert "invalid result" not in page
    assert "must be rejected" in page
    assert " inf " not in page
    assert "100.0 %" not in page


def test_runs_stand_side_by_side(results: Results) -> None:
    page = render_report([results, results])
    read = Reader(page)
    assert len(read.ids) == len(set(read.ids))
    runs = read_parts(page)["table"]["runs"]
    assert [run["key"] for run in runs] == ["example-runtime-2.1.0-1", "example-runtime-2.1.0-2"]
    assert runs[0]["verdict"] == runs[1]["verdict"]
    assert any("of=example-runtime-2.1.0-2" in link for link in read.links)


def test_runs_of_different_suites_do_not_stand_side_by_side(results: Results, tmp_path: Path) -> None:
    other = Maker(tmp_path).make([make_case(RESIZE_13, "cover", {"mode": "linear"})])
    with other.suite, pytest.raises(UserError, match="side by side"):
        render_report([results, put_together(other.suite, other.record)])


def test_hostile_text_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Markup, scripts, direction marks and NUL in every place where text of others appears."""
    # The reader of goldens takes no such words; the page does not rely on it.
    monkeypatch.setattr("conformance.suite.goldens.check_words", lambda case: case)
    levels = {HOSTILE: HOSTILE, "mode": HOSTILE}
    cases = [
        make_case(RESIZE_18, "cover", {"mode": "linear", HOSTILE: f"{HOSTILE}{number}"}, rule=HOSTILE)
        for number in range(3)
    ]
    cases.append(make_case(RESIZE_18, "cover", levels, "string", rule=HOSTILE))

    def refuse(case: Case) -> Refused:
        return Refused(HOSTILE, HOSTILE * 20_000)

    def change(case: Case, judged: Judgement) -> dict[str, Any]:
        return {"stderr": HOSTILE, "pattern": HOSTILE, "signal": HOSTILE, "reason": HOSTILE * 1000}

    facts: dict[str, Any] = poison(sample_facts())
    header = dict.fromkeys(("started", "platform"), HOSTILE) | {
        "runtime": {"name": HOSTILE, "version": HOSTILE, "source": HOSTILE},
        "options": {HOSTILE: HOSTILE},
    }
    faults = ({"operator": str(RESIZE_18), "reading": "x", "message": HOSTILE},)
    made = Maker(tmp_path, header).make(cases, refuse, facts=facts, change=change, faults=faults)
    page = render_report([put_together(made.suite, made.record, HOSTILE)])
    read = Reader(page)
    assert read.scripts[None] == 1
    assert not read.tags.keys() & {"img", "evil"}
    assert not any(name.startswith("on") for name in read.attributes)
    assert "{{ 7*7 }}" in page.replace("&#39;", "'")
    assert not re.search("[\x00\u202a-\u202e\u2066-\u2069]", page)
    assert "\\u202e" in page
    assert len(page) < 500_000
    told = str(read_parts(page))
    assert HOSTILE[:25] in told
    assert not re.search("[\x00\u202a-\u202e\u2066-\u2069]", told)


def poison(value: Any) -> Any:
    """The same facts with hostile text in place of every text, names of operators and documents excepted."""
    if isinstance(value, dict):
        kept = ("operators", "d1")
        return {
            name: each if name in kept and isinstance(each, str) else poison(each)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [poison(each) for each in value]
    return HOSTILE if isinstance(value, str) else value


def test_a_page_of_no_failure_has_no_list_of_failures(tmp_path: Path) -> None:
    cases = [make_case(RESIZE_18, "cover", {"mode": each}) for each in ("nearest", "linear")]
    made = Maker(tmp_path).make(
        cases, lambda case: Answered((case.expectations[0].outputs[0].expected,), 0.001), facts={}
    )
    page = render_report([put_together(made.suite, made.record)])
    assert "What to fix" not in page
    assert "1 operator: 1 without a failure. 100.0 % of 2 decided cases conform; none fails." in page
    assert read_details(page) == {}


def test_a_partial_record_is_called_partial(tmp_path: Path) -> None:
    cases = [make_case(RESIZE_18, "cover", {"mode": each}) for each in ("nearest", "linear")]
    made = Maker(tmp_path).make(cases, skip=1, close=False)
    page = render_report([put_together(made.suite, made.record)])
    assert "partial: no footer" in page
    assert "1 case was not run" in page

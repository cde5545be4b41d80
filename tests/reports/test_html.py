"""The HTML page: totals that add up, links that lead somewhere, hostile text that stays text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from conformance.cases import Case
from conformance.judge import Judgement
from conformance.responses import Refused
from reports.html import render_html
from reports.results import Results, put_together
from tests.reports.sample import RESIZE_18, Maker, make_case, sample_cases, sample_facts

HOSTILE = "<script>alert(1)</script>\x00\u202eevil\u2066 </style><img src=x onerror=alert(2)> \"'&{{ 7*7 }}"


class Reader(HTMLParser):
    """What a page holds: ids, links within it, tags, and the text by element id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
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
    return render_html(results)


def test_every_link_leads_to_one_place(page: str) -> None:
    read = Reader(page)
    assert len(read.ids) == len(set(read.ids))
    assert all(each.startswith("#") for each in read.links)
    assert {each[1:] for each in read.links} <= set(read.ids)
    assert len(read.links) > 500


def test_nothing_is_fetched_and_nothing_inline_escapes_the_policy(page: str) -> None:
    read = Reader(page)
    assert "style" not in read.attributes
    assert not any(name.startswith("on") for name in read.attributes)
    assert "src" not in read.attributes
    assert not read.tags.keys() & {"img", "iframe", "object", "link", "base", "form"}
    assert read.tags["script"] == 1
    assert "http:" not in page
    assert "https:" not in page


def test_first_screen_says_what_ran(page: str, results: Results) -> None:
    counts = results.counts
    assert f"{counts['pass']} of {len(results.cases)} cases give what the documents say." in page
    assert "example-runtime 2.1.0" in page
    assert "2 cases were not run" in page
    assert results.suite.digest[:16] in page


def test_every_failing_case_is_there_in_full(page: str, results: Results) -> None:
    for each in results.cases:
        if each.fails:
            assert f'id="case/{each.id}"' in page
            assert f"opcert repro {each.id}" in page


def test_every_count_leads_to_as_many_cases(page: str, results: Results) -> None:
    """The lists by operator, verdict and element type hold what the matrix counts."""
    pieces = re.findall(r'<tbody id="list/([^"]+)">(.*?)</tbody>', page, re.DOTALL)
    listed = {anchor: body.count("<tr>") for anchor, body in pieces}
    wanted = Counter(f"{each.operator.path}/{each.verdict}/{each.element_type}" for each in results.cases)
    assert listed == dict(wanted)
    assert sum(listed.values()) == len(results.cases)


def test_readings_say_which_option_was_followed(page: str) -> None:
    assert re.search(r"Follows floored in all \d+ cases that tell", page)
    assert "onnx__Resize.rst:512 shows it" in page


def test_rule_and_document_line_are_shown(page: str) -> None:
    assert "onnx__Resize.rst:109" in page
    assert "len(pads) == 2 * rank(data)" in page
    assert "onnx__Pad.rst:139" in page


def test_wording_is_that_of_the_target(page: str) -> None:
    assert "invalid result" not in page
    assert "must be refused" in page
    assert "error ÷ allowed" in page
    assert "error in ulp" in page
    assert " inf " not in page


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Markup, scripts, direction marks and NUL in every place where text of others appears."""
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

    facts: dict[str, Any] = _poison(sample_facts())
    header = dict.fromkeys(("started", "platform"), HOSTILE) | {
        "runtime": {"name": HOSTILE, "version": HOSTILE, "source": HOSTILE},
        "options": {HOSTILE: HOSTILE},
    }
    faults = ({"operator": str(RESIZE_18), "reading": "x", "message": HOSTILE},)
    made = Maker(tmp_path, header).make(cases, refuse, facts=facts, change=change, faults=faults)
    page = render_html(put_together(made.suite, made.record, HOSTILE))
    read = Reader(page)
    assert read.tags["script"] == 1
    assert not read.tags.keys() & {"img", "evil"}
    assert not any(name.startswith("on") for name in read.attributes)
    assert "{{ 7*7 }}" in page.replace("&#39;", "'")
    assert "\x00" not in page
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page)
    assert "\\u202e" in page
    assert len(page) < 500_000
    assert {each[1:] for each in read.links} <= set(read.ids)


def _poison(value: Any) -> Any:
    """The same facts with hostile text in place of every text, names of operators and documents excepted."""
    if isinstance(value, dict):
        kept = ("operators", "d1")
        return {
            name: each if name in kept and isinstance(each, str) else _poison(each)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [_poison(each) for each in value]
    return HOSTILE if isinstance(value, str) else value


def test_a_page_of_no_failure_has_no_list_of_failures(tmp_path: Path) -> None:
    from conformance.responses import Answered

    cases = [make_case(RESIZE_18, "cover", {"mode": each}) for each in ("nearest", "linear")]
    made = Maker(tmp_path).make(
        cases, lambda case: Answered((case.expectations[0].outputs[0].expected,), 0.001), facts={}
    )
    page = render_html(put_together(made.suite, made.record))
    assert "What to fix" not in page
    assert "2 of 2 cases give what the documents say. None gives anything else." in page
    assert {each[1:] for each in Reader(page).links} <= set(Reader(page).ids)


def test_a_partial_record_is_called_partial(tmp_path: Path) -> None:
    cases = [make_case(RESIZE_18, "cover", {"mode": each}) for each in ("nearest", "linear")]
    made = Maker(tmp_path).make(cases, skip=1, close=False)
    page = render_html(put_together(made.suite, made.record))
    assert "partial: no footer" in page
    assert "1 case was not run" in page

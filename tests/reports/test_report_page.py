"""The report as files: one, or a page with a folder of its data; whole at every moment."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.judging.responses import Answered
from opcert.vocabulary.errors import UserError
from reports.formats import html as report_page
from reports.formats.html import pack, pack_many, render_report, write_together
from reports.pages.report import HEADS, measure_accuracy, measure_times, run_keys
from reports.pages.run_page import RunPage
from reports.results.adequacy import find_adequacy, share_text
from reports.results.case_results import Results, put_together
from reports.results.standing import VersionTrust
from reports.single_cases.answer_views import view_answer
from reports.text.links import case_link, cases_link, token
from tests.reports.page_data import read_directory
from tests.reports.sample import RESIZE_18, Maker, make_case, sample_cases, sample_facts


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases()), skip=2)
    with made.suite:
        yield put_together(made.suite, made.record)


def write_apart(results: Results, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(report_page, "ONE_FILE_CASES", 10)
    return write_together([results], folder)


def test_a_small_report_is_one_file_and_the_same_every_time(results: Results, tmp_path: Path) -> None:
    index = write_together([results], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    assert index.read_text("utf-8") == render_report([results])


def test_a_large_report_is_a_page_and_parts_allowed_one_by_one(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = write_apart(results, tmp_path, monkeypatch).read_text("utf-8")
    files = read_directory(page)["files"]
    assert {path.name for path in (tmp_path / "parts").iterdir()} == {
        name.removeprefix("parts/") for name, _ in files.values()
    }
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    allowed = re.search(r"script-src ([^;]+);", policy[1])
    assert allowed is not None
    digest, *nonces = allowed[1].replace("&#39;", "'").split()
    assert digest.startswith("'sha256-")
    assert nonces == [f"'nonce-{nonce}'" for _, nonce in files.values()]
    assert 'type="text/plain"' not in page
    name, text = re.fullmatch(
        r'opcertPart\("([a-z0-9-]+)","([A-Za-z0-9+/=]+)"\);\n',
        (tmp_path / files["table"][0]).read_text("utf-8"),
    ).groups()  # type: ignore[union-attr]  # a script of another form is an error here
    assert name == "table"
    assert len(json.loads(gzip.decompress(b64decode(text)))["ids"]) == len(results.cases)


def test_a_new_report_takes_the_old_ones_place_and_leaves_what_is_not_its_own(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_apart(results, tmp_path, monkeypatch)
    (tmp_path / "parts" / "mine.js").write_text("1")
    (tmp_path / "parts" / "table-000000000000.js").write_text("1")
    kept = {path.name for path in (tmp_path / "parts").iterdir()} - {"table-000000000000.js"}
    write_apart(results, tmp_path, monkeypatch)
    assert {path.name for path in (tmp_path / "parts").iterdir()} == kept
    monkeypatch.undo()
    write_together([results], tmp_path)
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["mine.js"]


def test_a_report_that_cannot_be_written_leaves_the_old_one(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index.html").write_text("old")
    (tmp_path / "parts").write_text("in the way")
    with pytest.raises(UserError):
        write_apart(results, tmp_path, monkeypatch)
    assert (tmp_path / "index.html").read_text() == "old"


def test_parts_are_the_same_bytes_every_time_and_hold_no_markup() -> None:
    content = {"text": "</script><!-- \x00\u202e", "number": 1.5, "list": [None, True]}
    part = pack("table", content)
    assert part == pack("table", content)
    assert re.fullmatch("[A-Za-z0-9+/=]+", part.text)
    told = json.loads(gzip.decompress(b64decode(part.text)))
    assert told == {"text": "</script><!-- \\x00\\u202e", "number": 1.5, "list": [None, True]}


def test_many_items_are_put_into_parts_of_bounded_size() -> None:
    items = [(position, "x" * 2000) for position in range(0, 900, 3)]
    parts = list(pack_many("details", iter(items)))
    assert [part.name for part, _ in parts] == [f"details-{number}" for number in range(len(parts))]
    assert len(parts) > 1
    assert [position for _, positions in parts for position in positions] == list(range(0, 900, 3))
    assert list(pack_many("details", iter(()))) == []


def test_accuracy_counts_every_judged_answer_once(results: Results) -> None:
    rows = measure_accuracy(results).rows
    judged = [
        result
        for result in results.cases
        if result.demand == "answer" and result.verdict in ("pass", "mismatch")
    ]
    assert sum(row.judged for row in rows) == len(judged)
    beyond = sum(sum(row.numbers[6:]) for row in rows)
    assert beyond == results.counts["mismatch"]
    assert sum(row.numbers[HEADS.index("shape")] for row in rows) == sum(
        result.wrong_shape for result in judged
    )
    for row in rows:
        assert [bar.number for bar in row.bars] == [number for number in row.numbers if number]


@pytest.mark.parametrize(
    ("steps", "expected"), [(0, 0), (1, 1), (2, 2), (4, 2), (5, 3), (64, 3), (65, 4), (1 << 22, 4)]
)
def test_right_answers_are_classed_by_units_in_the_last_place(
    tmp_path: Path, steps: int, expected: int
) -> None:
    """An answer whose last element is so many steps of float32 off, which its case allows."""
    case = make_case(RESIZE_18, "cover", {"mode": "linear"})
    (wanted,) = case.expectations[0].outputs
    allowed = replace(wanted, allowed=np.full(wanted.expected.shape, 1e9))
    case = replace(case, expectations=(replace(case.expectations[0], outputs=(allowed,)),))
    moved = wanted.expected.array.copy()
    moved.view(np.int32)[-1, -1] += steps
    made = Maker(tmp_path).make([case], lambda _: Answered((replace(wanted.expected, array=moved),)))
    (row,) = measure_accuracy(put_together(made.suite, made.record)).rows
    assert [place for place, number in enumerate(row.classes) if number] == [expected]
    assert row.right == 1


def test_wrong_answers_are_in_no_class_of_accuracy(results: Results) -> None:
    rows = measure_accuracy(results).rows
    passing = [result for result in results.cases if result.demand == "answer" and result.verdict == "pass"]
    assert sum(row.right for row in rows) == len(passing)


def test_times_are_of_what_was_sent(results: Results) -> None:
    found = measure_times(RunPage(results))
    assert [slow_case.time for slow_case in found.slowest]
    for row in found.rows:
        assert row.least <= row.low <= row.median <= row.high <= row.most
    late = [row.said for row in found.rows if "ended at the limit" in row.said]
    assert len(late) == 1


def test_adequacy_is_what_was_measured(tmp_path: Path) -> None:
    facts: dict[str, Any] = sample_facts()
    survivor = {"mutant": "m7", "file": "resize.py", "line": 12, "diff": "- a\n+ b", "why": None}
    adequacy = {
        "mutants": {"made": 102, "equivalent": 2, "killed": 99, "score": 0.99},
        "survivors": [survivor],
        "node_tests": {"killed": 40, "score": 0.4},
    }
    facts["operators"][str(RESIZE_18)]["slack"] = {
        "cases": 12,
        "by_one": "x 1.01",
        "by_all": None,
        "single": 2.4e-7,
    }
    made = Maker(tmp_path).make([make_case(RESIZE_18, "cover", {"mode": "linear"})], facts=facts)
    measured = {RESIZE_18: VersionTrust("referenced", adequacy)}
    results = replace(put_together(made.suite, made.record), measured=measured)
    (row,) = find_adequacy(results).rows
    assert (row.factor, row.element) == ("x 1.01", "2.4e-07")
    assert row.mutants == "99 of 100, 99.0 %"
    assert row.node_tests == "40 of 100, 40.0 %"
    assert row.tuples == "118 of 120, 98.3 %"
    page = render_report([results])
    assert "resize.py:12" in page
    assert "<pre>- a\n+ b</pre>" in page


@pytest.mark.parametrize(
    ("slack", "factor", "element"),
    [
        ({"cases": 3, "by_one": None, "by_all": None, "single": 0.0}, "none", "nothing"),
        ({"cases": 3, "by_one": "x 0", "by_all": "x 1.1", "single": None}, "x 0; by all x 1.1", "anything"),
        ({"cases": 0}, "", ""),
        (None, "", ""),
        ("odd", "", ""),
    ],
)
def test_what_right_answers_may_be_off_by_stands_beside_it(
    tmp_path: Path, slack: object, factor: str, element: str
) -> None:
    facts: dict[str, Any] = sample_facts()
    facts["operators"][str(RESIZE_18)]["slack"] = slack
    made = Maker(tmp_path).make([make_case(RESIZE_18, "cover", {"mode": "linear"})], facts=facts)
    (row,) = find_adequacy(put_together(made.suite, made.record)).rows
    assert (row.factor, row.element) == (factor, element)


@pytest.mark.parametrize(
    ("accepting", "readings", "told"),
    [
        (8, ["scale_precision"], "All 8 cases with results of doubles that float does not hold accept"),
        (5, ["a", "b"], "5 of 8 cases with results of doubles that float does not hold accept"),
        (4, ["a", "b"], "rounded to it, by a and b: nothing tells there whether they were"),
        (8, [], "rounded to it, whatever is read: nothing tells there"),
        (3, ["a"], None),
        (0, [], None),
        ("8", ["a"], None),
    ],
)
def test_readings_say_where_nothing_tells_of_doubles(
    tmp_path: Path, accepting: object, readings: list[str], told: str | None
) -> None:
    facts: dict[str, Any] = sample_facts()
    found = {"cases": 8, "accepting": accepting, "readings": readings}
    facts["operators"][str(RESIZE_18)]["rounded_to_float"] = found
    made = Maker(tmp_path).make([make_case(RESIZE_18, "cover", {"mode": "linear"})], facts=facts)
    page = render_report([put_together(made.suite, made.record)])
    assert ("with results of doubles" in page) == (told is not None)
    assert told is None or told in page


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (9996, 10000, "9,996 of 10,000, 99.9 %"),
        (10000, 10000, "10,000 of 10,000, 100 %"),
        (0, 7, "0 of 7, 0.0 %"),
        (0, 0, ""),
        (None, 5, ""),
    ],
)
def test_a_share_is_never_more_than_it_is(part: object, whole: object, said: str) -> None:
    assert share_text(part, whole) == said


def test_a_case_called_several_times_says_what_came_of_each_call(results: Results) -> None:
    found = next(result for result in results.cases if result.verdict == "crash")
    assert found.row is not None
    again = replace(found.row, form="initializers", repeat=1, verdict="pass")
    view = view_answer(results, replace(found, rows=(found.row, again)), results.suite.case(str(found.id)))
    assert view.circumstances[-1].values == "inputs: crash; initializers, repetition 1: pass"


def test_links_say_what_a_search_understands() -> None:
    assert token("mode", "cubic") == "mode:cubic"
    assert token("label", 'a "b", c') == 'label:"a ""b"", c"'
    assert cases_link("status:mismatch", 'x:"a b"') == "#/cases?q=status:mismatch%20x:%22a%20b%22"
    assert cases_link() == "#/cases"
    case = make_case(RESIZE_18, "cover", {"mode": "linear"}).id
    assert case_link(case, of="b") == f"#/cases?case={case}&of=b"


def test_runs_have_a_word_each() -> None:
    assert run_keys(["onnx 1.2", "openvino 2026.1"]) == ["onnx", "openvino"]
    assert run_keys(["ort 1.2", "ort 1.3", "onnx 1"]) == ["ort-1.2", "ort-1.3", "onnx"]
    assert run_keys(["ort 1", "ort 1"]) == ["ort-1-1", "ort-1-2"]

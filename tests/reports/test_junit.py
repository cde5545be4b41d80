"""JUnit files: valid, one test a case, counts that add up, no character that XML does not allow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import xmlschema

from conformance.judging.judge import Judgement
from conformance.judging.responses import HarnessFailed, Refused, Response
from conformance.suite.cases import Case
from reports.formats.junit import render as render_junit
from reports.results.case_results import Results, put_together
from tests.reports.sample import RESIZE_18, Maker, make_case, planted, sample_cases

SCHEMA = Path(__file__).parent / "schemas" / "junit.xsd"
FAULT = {"kind": "repeats_differ", "operator": str(RESIZE_18), "message": "answers differ"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    def respond(case: Case) -> Response:
        return HarnessFailed("ours") if case.levels.get("rates") == "one" else planted(case)

    maker = Maker(tmp_path_factory.mktemp("sample"))
    made = maker.make(list(sample_cases(7)), respond, skip=2, faults=(FAULT,))
    with made.suite:
        yield put_together(made.suite, made.record)


def parse(raw: bytes) -> ElementTree.Element:
    xmlschema.XMLSchema(SCHEMA).validate(raw.decode())
    return ElementTree.fromstring(raw)


@pytest.mark.slow
def test_it_is_valid_and_has_every_case_once(results: Results) -> None:
    root = parse(render_junit(results))
    ids = [f"{each.get('classname')}/{each.get('name')}" for each in root.iterfind("testsuite/testcase")]
    assert sorted(ids) == sorted([*(str(each.id) for each in results.cases), "faults/fault 1"])


@pytest.mark.slow
def test_outcomes_are_those_of_the_verdicts(results: Results) -> None:
    root = parse(render_junit(results))
    counts = results.counts
    failing = sum(each.fails for each in results.cases)
    assert len(root.findall("testsuite/testcase/failure")) == failing + 1
    assert len(root.findall("testsuite/testcase/error")) == counts["harness_error"] > 0
    skipped = root.findall("testsuite/testcase/skipped")
    assert len(skipped) == counts["unsupported"] + counts["not_run"] > 2
    assert all(each.get("message") for each in skipped)


def test_sums_are_those_of_the_parts(results: Results) -> None:
    root = parse(render_junit(results))
    for suite in root:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped"))
    assert root.get("tests") == str(len(results.cases) + 1)


def test_a_failure_ends_with_its_command(results: Results) -> None:
    root = parse(render_junit(results))
    text = next(
        element.text
        for element in root.iterfind("testsuite/testcase/failure")
        if element.get("type") == "mismatch"
    )
    assert text is not None
    assert text.splitlines()[-1].startswith("opcert repro ai.onnx/Resize-")
    assert "Floating point exception" in (root.findtext("testsuite/testcase/failure") or "")


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    hostile = "]]>\x00\x1b\ufffe\ud800<testcase/>&\u202e"

    def change(case: Case, judged: Judgement) -> dict[str, Any]:
        return {"reason": hostile.replace("\ud800", ""), "message": "m" * 100_000, "stderr": "\x00"}

    case = make_case(RESIZE_18, "cover", {"mode": "linear"})
    made = Maker(tmp_path).make([case], lambda each: Refused("x", "y"), change=change)
    raw = render_junit(put_together(made.suite, made.record, hostile))
    root = parse(raw)
    assert len(root.findall("testsuite/testcase")) == 1
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert "<testcase/>" in (failure.get("message") or "")
    assert "�" in (failure.get("message") or "")
    assert len(raw) < 60_000

"""What is to be sent upstream: the format, and that docs/upstream.md has the entries there are."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.asked import exit_code_of
from benchmarks.upstream import RUNTIMES, Asked, Told, document, main, tell, told_once
from conformance.judging.kept_diagnosis import EntryTrial
from conformance.running.responses import Answered, Crashed, Refused, Response
from conformance.suite.cases import Case
from generator.diagnosis.claims import shown_as
from generator.diagnosis.pointed_entries import digest_of
from opcert.vocabulary.errors import ExitCode
from opcert.vocabulary.tensors import Tensor
from reference.disagreements import Disagreement, load_disagreements
from reports.results.case_results import put_together
from tests.reports.sample import RESIZE_18, Maker, make_case

_REPORT = re.compile(r"^#### .+ \(`(\w+)`\)$")
_HEADING = re.compile(r"^## (\S+) (\S+)$")


def misbehave(case: Case) -> Response:
    """Dies of up2, refuses what is nearest, doubles nothing where it is cubic."""
    wanted = case.expectations[0].outputs[0].expected
    match case.levels["mode"], case.levels["ratio"]:
        case _, "up2":
            return Crashed("the worker died of SIGSEGV", "SIGSEGV")
        case "nearest", _:
            return Refused("Fail", "no *nearest* kernel\nhere")
        case "cubic", _:
            return Answered((Tensor(wanted.element_type, (wanted.array / 2).astype(np.float32)),))
    return Answered((wanted,))


def entry(name: str, **more: object) -> Disagreement:
    said: dict[str, object] = {
        "id": name,
        "operator": "ai.onnx::Resize-*",
        "cause": "witness_fault",
        "passage": "page.rst:3",
        "explanation": f"The words of {name}.",
        "evidence": f"seen by hand: {name}",
    }
    return Disagreement.model_validate({**said, **more})


@pytest.fixture(name="lines")
def _lines(tmp_path: Path) -> list[str]:
    cases = [
        make_case(RESIZE_18, "cover", {"mode": mode, "ratio": ratio}, side=side)
        for mode in ("nearest", "linear", "cubic")
        for ratio in ("same", "up2")
        for side in (2, 3)
    ]
    made = Maker(tmp_path).make(cases, misbehave)
    name = str(made.record.header["runtime"]["name"])
    entries = [
        entry("dies", against=name, verdicts="crash", passage=[]),
        entry("halves", against=name, verdicts="mismatch", thread="https://example.org/7"),
        entry("refuses", against=name, verdicts="rejected_valid"),
        entry("of_no_case", against=name, verdicts="accepted_invalid", operator="ai.onnx::Resize-10"),
        entry("same", against=name, operator="ai.onnx::Resize-10", same_as="halves"),
        entry("of_another_version", against=name, versions="0.*", operator="ai.onnx::Resize-10"),
        entry("of_another", against="another"),
        entry("open", against=name, cause="reading", operator="ai.onnx::Resize-10", passage=[]),
    ]
    wrong = [each.case for each in made.record.results if each.verdict == "mismatch"]
    trials = [EntryTrial(each, "halves", digest_of(entries[1]), "cured", "mode = linear") for each in wrong]
    asked = tell(put_together(made.suite, made.record), entries, trials)
    return "\n".join(document([asked])).splitlines()


def test_reports_stand_in_order_each_once_and_readings_not_at_all(lines: list[str]) -> None:
    reports = [found[1] for line in lines if (found := _REPORT.match(line))]
    assert reports == ["dies", "halves", "of_no_case", "refuses"]
    assert [line.split(": ")[1] for line in lines if line.startswith("### ")] == [
        "Process lost",
        "Wrong answers",
        "Invalid calls answered",
        "Valid calls refused",
    ]


def test_the_table_counts_what_is_known(lines: list[str]) -> None:
    rows = [line.partition(" | ")[2] for line in lines if line.startswith(("| [", "| all"))]
    assert rows == [
        "Process lost | 1 | 0 | 1 |",
        "Wrong answers | 1 | 1 | 0 |",
        "Invalid calls answered | 1 | 0 | 1 |",
        "Valid calls refused | 1 | 0 | 1 |",
        "| 4 | 1 | 3 |",
    ]


def test_a_report_has_the_smallest_call_and_what_came_of_it(lines: list[str]) -> None:
    start = next(at for at, line in enumerate(lines) if line.endswith("(`halves`)"))
    report = lines[start : start + 20]
    assert report[0] == "#### Resize-18, 2 cases (`halves`)"
    assert report[2] == "The words of halves."
    assert report[4:10] == [
        "    Resize-18, mode=cubic",
        "    X: float [2, 2] 1 2 3 4",
        "    roi: left out",
        report[7],
        "    expected: float [2, 2] 2 4 6 8",
        "    got: float [2, 2] 1 2 3 4",
    ]
    assert report[10].startswith("    that is: 4 of 4 elements wrong")
    assert report[12:15] == [
        "- passage: `page.rst:3`",
        "- seen: `seen by hand: halves`",
        "- thread: https://example.org/7",
    ]
    assert re.fullmatch(r"- to reproduce: `opcert repro ai\.onnx/Resize-18/cover/\w{12}.*`", report[15])


def test_a_refusal_is_told_in_one_line(lines: list[str]) -> None:
    assert "    got: rejected valid: no *nearest* kernel here" in lines
    assert sum(line == "- thread: no thread found" for line in lines) == 3


def test_what_the_suite_lacks_stands_without_a_call(lines: list[str]) -> None:
    start = next(at for at, line in enumerate(lines) if line.endswith("(`of_no_case`)"))
    assert lines[start : start + 7] == [
        "#### Resize-10 (`of_no_case`)",
        "",
        "The words of of_no_case.",
        "",
        "- passage: `page.rst:3`",
        "- seen: `seen by hand: of_no_case`",
        "- thread: no thread found",
    ]


def test_what_several_do_stands_once_with_the_one_that_shows_it() -> None:
    several, alone = shown_as(entry("several", against="first")), shown_as(entry("alone", against="first"))
    unseen = Told(several, "wrong", "Resize-18")
    seen = replace(unseen, call=("Resize-18",))
    first = Asked("first", "1", (unseen, Told(alone, "wrong", "Resize-18")))
    alike = entry("alike", against="third", same_as="several")
    third = Asked("third", "3", (replace(seen, cause=shown_as(alike)),))
    found = told_once([first, Asked("second", "2", (seen,)), third], [alike])
    assert [[told.cause.id for told in each.told] for each in found] == [["alone"], ["several"], []]
    (told,) = found[1].told
    assert told.others == ("first 1", "third 3")
    assert "- so do: first 1, third 3" in list(document(found))


def test_the_document_has_each_entry_with_its_thread(repository: Path) -> None:
    """Entries that came, went or learned of a thread since it was made are told."""
    shown: dict[str, str] = {}
    asked: dict[str, str] = {}
    name = ""
    for line in (repository / "docs" / "upstream.md").read_text("utf-8").splitlines():
        if heading := _HEADING.match(line):
            asked[heading[1]] = heading[2]
        if report := _REPORT.match(line):
            name = report[1]
        if line.startswith("- thread: "):
            assert name not in shown, name
            shown[name] = line.removeprefix("- thread: ")
    assert set(asked) == set(RUNTIMES)
    wanted = {
        each.id: each.thread or "no thread found"
        for each in load_disagreements()
        if any(name in asked and each.is_about(asked[name]) for name in each.against)
        and each.cause != "reading"
        and not each.same_as
    }
    assert shown == wanted, "write it with `uv run python -m benchmarks.upstream > docs/upstream.md`"


def test_a_mistake_of_who_asks_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["upstream", "-s", "nosuch"])
    assert exit_code_of(main) == ExitCode.USAGE
    assert "opcert: input: no suite has this name; got 'nosuch'" in capsys.readouterr().err

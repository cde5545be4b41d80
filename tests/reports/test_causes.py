"""Causes in terminal and JUnit: what is said of each, who else fails, and one test for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from conformance.judging.kept_diagnosis import (
    FILE,
    DiagnosedCause,
    Diagnosis,
    Needed,
    Outcome,
    write_diagnosis,
)
from conformance.judging.known_causes import KnownCause
from conformance.judging.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from opcert.commands.run_summary import format_summary
from reports.causes.class_words import beside_text, cost_text, headline, remarks
from reports.causes.failure_class import NOBODY, OPEN
from reports.causes.failure_classes import classes_of
from reports.causes.kept_findings import with_open_cases
from reports.formats.json import render as render_json
from reports.formats.junit import render as render_junit
from reports.formats.markdown import render as render_markdown
from reports.overview.cause_paragraphs import MOST_CAUSES
from reports.results.case_results import Grouping, Results, put_together
from reports.results.others import Beside, OtherRun
from tests.reports.sample import RESIZE_18, Maker, make_case

SCHEMA = Path(__file__).parents[2] / "reports/schemas/report.json"
MODES = ("nearest", "linear", "cubic")
RATIOS = ("same", "up2", "down2")


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,))


def refuse_cubic(case: Case) -> Response:
    return Refused("Fail", "no cubic kernel") if case.levels["mode"] == "cubic" else answer(case)


def wrong_cubic(case: Case) -> Response:
    if case.levels["mode"] != "cubic":
        return answer(case)
    expected = case.expectations[0].outputs[0].expected
    return Answered((replace(expected, array=expected.array + 1),))


def results_of(folder: Path, respond: Callable[[Case], Response]) -> Results:
    cases = [
        make_case(RESIZE_18, "cover", {"mode": mode, "ratio": ratio}) for mode in MODES for ratio in RATIOS
    ]
    made = Maker(folder).make(cases, respond)
    return put_together(made.suite, made.record)


def test_totals_stand_last_and_each_cause_has_its_sentence(tmp_path: Path) -> None:
    told = format_summary(results_of(tmp_path, refuse_cubic))
    lines = told.rstrip().splitlines()
    assert lines[-2:] == [
        "1 operator: 1 with failures. 66.6 % of 9 decided cases conform; 3 fail, from 1 cause.",
        "Causes: 1 told by the runtime.",
    ]
    (head,) = [line for line in lines if "1. " in line]
    assert (
        head.strip()
        == "1. Resize: rejects valid input: no cubic kernel (3 cases; Resize-18; on ordinary data)"
    )
    assert told.index("What fails") < told.index("operator")


def test_ten_causes_at_most_are_told_and_the_rest_is_named(tmp_path: Path) -> None:
    words = [chr(ord("a") + number) * 4 for number in range(MOST_CAUSES + 3)]
    cases = [make_case(RESIZE_18, "cover", {"mode": "cubic", "ratio": word}) for word in words]
    made = Maker(tmp_path).make(cases, lambda case: Refused("Fail", f"no {case.levels['ratio']} here"))
    told = format_summary(put_together(made.suite, made.record))
    assert told.count("rejects valid input") == MOST_CAUSES
    assert "3 more causes have 3 cases: 11 (Resize-18), 12 (Resize-18) and 13 (Resize-18)" in told


def diagnosis_of(results: Results) -> Diagnosis:
    names = tuple(str(result.id) for result in results.cases if result.fails)
    mode = Needed("mode", "cubic", (), ("nearest", "linear"))
    cause = DiagnosedCause(
        False, names, names[0], ("mode = cubic",), "wrong", (mode,), (), ("ratio",), names[:2],
        {names[0]: "pass", names[1]: "pass", names[2]: "unsupported"},
    )  # fmt: skip
    return Diagnosis((cause,), (), (), 1.0, None, ())


def test_what_experiments_showed_is_told_and_read_from_the_file(tmp_path: Path) -> None:
    results = results_of(tmp_path, wrong_cubic)
    assert [failures.told for failures in classes_of(results)] == ["association"]
    footer = results.record.footer or {}
    path = results.record.path.with_name(FILE)
    write_diagnosis(path, results.suite.digest, footer.get("digest"), diagnosis_of(results))
    results = replace(results)
    (found,) = classes_of(results)
    assert found.told == "experiment"
    assert headline(found) == "wrong: fails with mode = cubic; right with mode = nearest or linear"
    assert found.shown is not None
    assert cost_text(found.shown) == "3 cases; without it 2 pass and 1 is unsupported"
    told = format_summary(results)
    assert "3 cases; without it 2 pass and 1 is unsupported" in told
    assert "1 shown by experiment" in told
    report = json.loads(render_json(results))
    jsonschema.validate(report, json.loads(SCHEMA.read_bytes()))
    assert report["classes"][0]["experiment"]["without"] == {
        "pass": 2, "unsupported": 1, "fails": 0, "unknown": 0,
    }  # fmt: skip
    assert "fails with mode = cubic" in render_markdown(results)


def test_of_a_known_cause_an_experiment_is_told_that_other_cases_confirm(tmp_path: Path) -> None:
    """What cures one case may be a condition of that case beside the cause that its entry has."""
    results = results_of(tmp_path, wrong_cubic)
    found = diagnosis_of(results)
    names = found.causes[0].cases
    known = replace(
        results, known=(KnownCause("cubic", "witness_fault", "Cubic is linear.", (), cases=names),)
    )
    (of_known,) = classes_of(known)
    unasked: dict[str, Outcome] = dict.fromkeys(names, "unknown")
    for without, told in ((found.causes[0].without, True), (unasked, False)):
        shown = replace(of_known, shown=replace(found.causes[0], without=without))
        assert any("fails with mode" in remark for remark in remarks(shown)) is told
        assert any("without it" in remark for remark in remarks(shown)) is told


def test_what_the_documents_allow_blames_nobody(tmp_path: Path) -> None:
    results = results_of(tmp_path, wrong_cubic)
    names = tuple(str(result.id) for result in results.cases if result.fails)
    found = Diagnosis((), names[2:], (), 1.0, None, (), names[:2])
    footer = results.record.footer or {}
    write_diagnosis(results.record.path.with_name(FILE), results.suite.digest, footer.get("digest"), found)
    results = with_open_cases(replace(results))
    left, allowed = classes_of(results)
    assert [str(result.id) for result in allowed.cases] == list(names[:2])
    assert (allowed.told, allowed.tier) == ("allowed", OPEN)
    assert left.tier is not OPEN
    assert "by what the case expects, not by the documents" in headline(allowed)
    assert "Beside these: 2 open in the documents." in format_summary(results)
    jsonschema.validate(json.loads(render_json(results)), json.loads(SCHEMA.read_bytes()))


def test_what_brings_most_comes_first(tmp_path: Path) -> None:
    """Of few cases that pass all when mended, and many of which few do; what nobody asked counts alike."""
    cases = [
        make_case(RESIZE_18, "cover", {"mode": "cubic", "axes": axes}, side=side)
        for axes, sides in (("some", range(2, 5)), ("all", range(2, 8)))
        for side in sides
    ]

    def refuse(case: Case) -> Response:
        return Refused("Fail", f"no axes for {case.levels['axes']} of them")

    made = Maker(tmp_path).make(cases, refuse)
    results = put_together(made.suite, made.record)
    assert [(len(failures.cases), failures.brings) for failures in classes_of(results)] == [(6, 6), (3, 3)]
    many, few = ([str(case.id) for case in failures.cases] for failures in classes_of(results))
    outcomes: dict[str, Outcome] = {**dict.fromkeys(many[:4], "fails"), **dict.fromkeys(many[4:5], "pass")}
    all_pass: dict[str, Outcome] = dict.fromkeys(few, "pass")
    causes = tuple(
        DiagnosedCause(True, tuple(each), each[0], ("call",), "got", (), (), (), (), without)
        for each, without in ((many, outcomes), (few, all_pass))
    )
    footer = results.record.footer or {}
    found = Diagnosis(causes, (), (), 1.0, None, ())
    write_diagnosis(results.record.path.with_name(FILE), results.suite.digest, footer.get("digest"), found)
    assert [(len(failures.cases), failures.brings) for failures in classes_of(replace(results))] == [
        (3, 3),
        (6, 1.2),
    ]


def test_experiments_on_other_cases_are_not_told(tmp_path: Path) -> None:
    results = results_of(tmp_path, refuse_cubic)
    found = diagnosis_of(results)
    of_two = replace(found, causes=(replace(found.causes[0], told=True, cases=found.causes[0].cases[:2]),))
    footer = results.record.footer or {}
    write_diagnosis(results.record.path.with_name(FILE), results.suite.digest, footer.get("digest"), of_two)
    (cause,) = classes_of(replace(results))
    assert (cause.told, cause.shown) == ("message", None)


def test_a_rule_that_nobody_follows_stands_apart(tmp_path: Path) -> None:
    results = results_of(tmp_path, refuse_cubic)
    failing = {str(result.id): "mismatch" for result in results.cases if result.fails}
    (found,) = classes_of(replace(results, others=(OtherRun("other 1.0", failing),)))
    assert found.tier is not NOBODY  # one other runtime says little
    alone = replace(results, others=(OtherRun("other 1.0", failing), OtherRun("third 2", failing)))
    (found,) = classes_of(alone)
    assert found.tier is NOBODY
    assert found.beside == (Beside("other 1.0", 0, 3), Beside("third 2", 0, 3))
    said = "no runtime that was tried passes one of these cases: other 1.0 fails 3; third 2 fails 3"
    assert said in format_summary(alone)
    one = next(iter(failing))
    passing = replace(results, others=(OtherRun("other 1.0", {**failing, one: "pass"}), OtherRun("b 2", {})))
    (found,) = classes_of(passing)
    assert found.tier is not NOBODY
    assert beside_text(found.beside) == "other 1.0 passes 1 and fails 2"


@pytest.mark.parametrize("grouping", ["cause", "operator"])
def test_one_test_for_each_cause_or_operator(tmp_path: Path, grouping: Grouping) -> None:
    results = replace(results_of(tmp_path, refuse_cubic), grouping=grouping)
    root = ElementTree.fromstring(render_junit(results))
    tests = {each.get("name"): each for each in root.iter("testcase")}
    failed = [name for name, test in tests.items() if test.find("failure") is not None]
    expected = {
        "cause": ["Resize: rejects valid input: no cubic kernel"],
        "operator": ["ai.onnx::Resize-18"],
    }
    assert failed == expected[grouping]
    failure = tests[failed[0]].find("failure")
    assert failure is not None
    inside = failure.text or ""
    if grouping == "cause":
        said = "1. Resize: rejects valid input: no cubic kernel (3 cases; Resize-18; on ordinary data)"
        assert failure.get("message") == said
    assert all(str(each.id) in inside for each in results.cases if each.fails)
    assert (root.get("tests"), root.get("failures")) == (str(len(tests)), "1")


def test_by_case_each_failing_test_names_its_cause(tmp_path: Path) -> None:
    results = results_of(tmp_path, refuse_cubic)
    assert render_junit(results).count(b"cause 1: rejects valid input: no cubic kernel") == 3


def test_a_known_cause_is_told_with_what_it_says_of_whom(tmp_path: Path) -> None:
    results = results_of(tmp_path, refuse_cubic)
    cases = tuple(str(result.id) for result in results.cases if result.fails)
    known = KnownCause(
        "no_cubic", "witness_fault", f"The text has three modes. It has no cubic. {'None. ' * 50}", ("seen",),
        ("p.rst:3",), "https://example.org/7", cases=cases,
    )  # fmt: skip
    told = format_summary(replace(results, known=(known,), mended=(replace(known, id="old", asked=cases),)))
    assert "Resize: rejects valid input: It has no cubic (3 cases; Resize-18; on ordinary data)" in told
    assert "The text has three modes." in told
    assert "known as no_cubic: the runtime does not do what the passage says; p.rst:3" in told
    assert "reported at https://example.org/7" in told
    assert "it says: no cubic kernel" in told
    assert "old: The text has three modes. (3 cases tested, all pass)" in told


def test_a_reading_that_is_followed_both_ways_is_told_with_both_cases(tmp_path: Path) -> None:
    cases = [make_case(RESIZE_18, "cover", {"mode": "cubic", "ratio": ratio}) for ratio in RATIOS]
    fault = {
        "kind": "inconsistent_reading", "operator": str(RESIZE_18), "reading": "scale",
        "message": "follows no single option",
        "cases": {"given": str(cases[0].id), "computed": str(cases[1].id)},
    }  # fmt: skip
    made = Maker(tmp_path).make(cases, answer, faults=(fault,))
    told = format_summary(put_together(made.suite, made.record))
    assert "Of the whole run: follows no single option" in told
    assert f"follows given in opcert repro {cases[0].id}" in told
    assert f"follows computed in opcert repro {cases[1].id}" in told

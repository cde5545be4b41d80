"""What a runtime makes of each call of a model follows from its cases, and every file says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import jsonschema
import pytest

from conformance.checked_models.model_calls import ModelCall, ModelNode, ModelValue
from conformance.checked_models.whole_model import EndEffect, GivenInput, NodeNumbers, WholeModelFacts
from conformance.judging.known_causes import KnownCause
from conformance.judging.responses import Answered, Crashed, Refused, Response
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from generator.models.check.call_cases import Why
from opcert.commands.asked_runtimes import without_optimisation
from opcert.vocabulary.tensors import Tensor
from reports.causes.kept_findings import with_open_cases
from reports.checked_models.call_answers import ANSWERS, Answer, answer_calls
from reports.checked_models.call_evidence import CheckedCall
from reports.checked_models.check_data import render_check, render_sarif
from reports.checked_models.check_files import render_check_page, render_junit_check, render_markdown_check
from reports.checked_models.check_summary import format_check
from reports.checked_models.check_words import REASONS, with_cause
from reports.results.case_results import put_together
from reports.schemas import load_schema
from tests.reports.checked_models import HOSTILE, RESIZES, calls, check_of, is_resize, right, run, wrong
from tests.reports.sample import RESIZE_18, Maker, make_case
from tests.reports.sarif_checks import check_sarif


def only(level: str, respond: Callable[[Case], Response]) -> Callable[[Case], Response]:
    """A runtime that answers so for Resize with data of a level, and right otherwise."""
    return lambda case: respond(case) if is_resize(case) and case.levels["data"] == level else right(case)


def crash(_: Case) -> Response:
    return Crashed("the worker died of SIGSEGV", "SIGSEGV", seconds=0.1)


def refuse(_: Case) -> Response:
    return Refused("Fail", "there is no such kernel for this")


def decline(_: Case) -> Response:
    return Refused("NotImplemented", "no kernel of that name", unsupported="an example of it")


@pytest.mark.parametrize(
    ("respond", "answer", "title"),
    [
        (right, "conformant", ""),
        (only("huge", wrong), "wrong", "wrong"),
        (only("huge", crash), "crashes", "SIGSEGV"),
        (only("huge", refuse), "refused", "no such kernel"),
        (only("huge", decline), "conformant", ""),
        (lambda case: decline(case) if is_resize(case) else right(case), "refused", "no kernel of that name"),
    ],
)
def test_the_worst_case_that_blames_decides(
    tmp_path: Path, respond: Callable[[Case], Response], answer: Answer, title: str
) -> None:
    resize, crop, pad = answer_calls(calls(), run(tmp_path / "run", respond))
    assert resize.answer == answer
    assert (crop.answer, crop.weaker) == ("conformant", True)
    assert (pad.answer, pad.why) == ("uncovered", "nobody says what is right")
    assert resize.asked == 3
    assert [title in cause.title for cause in resize.causes] == ([True] if title else [])


def test_of_many_elements_the_one_that_is_wrong_is_told(tmp_path: Path) -> None:
    """The first ones are printed, and all of them are right."""

    def last_is_wrong(case: Case) -> Response:
        wanted = case.expectations[0].outputs[0].expected
        values = wanted.array.copy()
        values[-1, -1] += 100
        return Answered((Tensor(wanted.element_type, values),), 0.001)

    large = make_case(RESIZE_18, "cover", {"data": "random"}, side=12)
    made = Maker(tmp_path).make([large], last_is_wrong, close=True)
    resize = replace(calls()[0], cases=(str(large.id),))
    said = format_check(check_of((resize,), (put_together(made.suite, made.record, "suite"), None)))
    assert "1 of 144 elements wrong; worst Y[11, 11]: got 388.0, expected 288.0" in said


def test_levels_that_a_cause_needs_are_named(tmp_path: Path) -> None:
    resize, *_ = answer_calls(calls(), run(tmp_path / "run", only("huge", wrong)))
    (cause,) = resize.causes
    assert cause.remarks[0] == "only with data huge; 2 other levels pass"


def test_what_optimisation_alone_breaks_is_a_cause_of_its_own(tmp_path: Path) -> None:
    """Huge data is wrong in both, nonfinite with optimisation, random without it."""

    def optimised(case: Case) -> Response:
        return wrong(case) if is_resize(case) and case.levels["data"] != "random" else right(case)

    def plain(case: Case) -> Response:
        return wrong(case) if is_resize(case) and case.levels["data"] != "nonfinite" else right(case)

    resize, *_ = answer_calls(calls(), run(tmp_path / "a", optimised), run(tmp_path / "b", plain))
    found = {cause.setting: [case.features["data"] for case in cause.cases] for cause in resize.causes}
    assert found == {"any": ["huge"], "optimised": ["nonfinite"], "unoptimised": ["random"]}
    assert any(cause.says.startswith("only with optimisation: ") for cause in resize.causes)
    assert resize.answer == "wrong"


def test_what_is_wrong_without_optimisation_alone_does_not_blame_the_runtime_as_it_was_asked(
    tmp_path: Path,
) -> None:
    answers = answer_calls(calls(), run(tmp_path / "a", right), run(tmp_path / "b", only("huge", wrong)))
    assert answers[0].answer == "conformant"
    assert [cause.setting for cause in answers[0].causes] == ["unoptimised"]


@pytest.mark.parametrize("kind", ["reading", "finding"])
def test_what_documents_leave_open_blames_nobody(tmp_path: Path, kind: str) -> None:
    results = run(tmp_path / "run", only("huge", wrong))
    failing = tuple(str(each.id) for each in results.cases if each.fails)
    entry = KnownCause("open_there", kind, "It may be read so.", (), cases=failing)  # type: ignore[arg-type]
    check = check_of(calls(), (with_open_cases(replace(results, known=(entry,))), None))
    assert check.runtimes[0].answers[0].answer == "open"
    assert check.holds
    levels = {row["level"] for row in json.loads(render_sarif(check))["runs"][0]["results"]}
    assert levels == {"note"}


def test_an_entry_is_one_cause_with_its_wrong_and_its_inexact_cases(tmp_path: Path) -> None:
    results = run(tmp_path / "run", lambda case: wrong(case) if is_resize(case) else right(case))
    failing = tuple(str(each.id) for each in results.cases if each.fails)
    milder = tuple(
        replace(each, verdict="inexact") if str(each.id) == failing[0] else each for each in results.cases
    )
    entry = KnownCause("few_digits", "tolerance", "Small results lose their digits.", (), cases=failing)
    check = check_of(calls(), (replace(results, cases=milder, known=(entry,)), None))
    (cause,) = check.runtimes[0].answers[0].causes
    assert (cause.answer, len(cause.blamed), len(cause.cases)) == ("wrong", 2, 3)
    assert str(cause.smallest.id) in failing[1:]
    said = format_check(check)
    assert said.count("ai.onnx/Resize-18") == 1
    assert "1 cause:" in said
    for text in (said, render_check_page(check), render_markdown_check(check), render_sarif(check)):
        assert "2 of 3 cases" in text
        assert "; 1 more inexact" in text


def test_the_runtime_without_its_optimisation_is_named_as_on_the_command_line() -> None:
    for text, wanted in (
        ("onnxruntime", "onnxruntime[optimization=none]"),
        ("onnxruntime==1.20.1", "onnxruntime[optimization=none]==1.20.1"),
        ("onnxruntime[provider=CPU]", "onnxruntime[optimization=none,provider=CPU]"),
        ("onnxruntime[optimization=basic]", None),
        ("openvino", None),
    ):
        found = without_optimisation(find_runtime(text))
        assert (None if found is None else found.text) == wanted
        assert found is None or found.options["optimization"] == "none"


NUMBERS = WholeModelFacts(
    "made-up",
    "whole",
    (GivenInput("x", "float", (2, 2), "random"),),
    (
        NodeNumbers("0", None, "right", ulps=2, elements=4, of_elements=4),
        NodeNumbers("1", None, "wrong", over_bound=3.5, output="y", index=(0, 1), expected="1", got="2"),
        NodeNumbers("2", None, "passed_over", "too_costly"),
    ),
    (EndEffect("1", "out", 0.5, 2.0, 12), EndEffect("1", "other", reason="it was refused")),
    passed_over={"too_costly": 1},
)


def test_every_file_has_the_same_counts(tmp_path: Path) -> None:
    made = calls()
    bad, good = run(tmp_path / "a", only("huge", crash)), run(tmp_path / "b", right)
    check = check_of(made, (bad, good), (good, None))
    check = replace(check, runtimes=(*check.runtimes[:1], replace(check.runtimes[1], numbers=NUMBERS)))
    document = json.loads(render_check(check))
    jsonschema.validate(document, load_schema("check"))
    assert not document["holds"]
    assert [each["holds"] for each in document["runtimes"]] == [False, False]
    for each in document["runtimes"]:
        assert sum(each["nodes"].values()) == 5
        assert each["conformantByNodeTestsAlone"] == 1
    check_sarif(json.loads(render_sarif(check)))
    junit = ElementTree.fromstring(render_junit_check(check))
    assert [element.get("failures") for element in junit] == ["1", "1"]
    told = format_check(check)
    assert "made-up 0" not in told  # the record says the name
    assert "1 of 5 nodes conformant (1 by ONNX's node tests alone), 3 crashes, 1 not covered" in told
    assert "with these inputs 1 of 3 nodes right, 1 wrong, 1 passed over" in told
    assert "y[0, 1]: expected 1, got 2, 3.5 × the allowed error" in told
    assert told.splitlines()[-1].endswith("1 passed over")
    assert "1 passed over: exact arithmetic would take too long" in told
    for text in (render_check_page(check), render_markdown_check(check)):
        assert "SIGSEGV" in text
        assert "nobody says what is right" in text or "no reference says what is right" in text
    page = render_check_page(check)
    assert "with its right values out moves by 0.5 at most" in page
    for row in range(1, 6):
        assert f'data-n="{row}"' in page


def test_why_nodes_are_not_covered_stands_wherever_people_look(tmp_path: Path) -> None:
    made = calls()
    check = check_of(made, (run(tmp_path / "a", right), None))
    (runtime,) = check.runtimes
    resize, crop, pad = runtime.answers
    silent = replace(resize, answer="uncovered", why="its cases came to nothing: observed")
    check = replace(check, runtimes=(replace(runtime, answers=(silent, crop, pad)),))
    told = format_check(check)
    _, _, rest = told.partition("Not covered:\n")
    assert rest.splitlines()[:2] == [
        "  1 node of 1 call (com.microsoft::Pad-1): no reference says what is right "
        "(nobody says what is right)",
        "  3 nodes of 1 call (Resize-18): on example-runtime 2.1.0: its cases came to nothing: observed",
    ]
    for text in (render_check_page(check), render_markdown_check(check)):
        assert "no reference says what is right (nobody says what is right)" in text.replace("\\", "")
        assert "on example-runtime 2.1.0: its cases came to nothing: observed" in text.replace("\\", "")


def test_a_verb_that_answer_and_cause_begin_with_is_said_once() -> None:
    assert with_cause("wrong", "wrong, cause not found") == "wrong: cause not found"
    assert (
        with_cause("special", "wrong: fails with x = 0") == "wrong on special values alone: fails with x = 0"
    )
    assert with_cause("refused", "no kernel") == "rejected: no kernel"


def test_nothing_of_a_model_is_an_order_to_whoever_reads_it(tmp_path: Path) -> None:
    made = calls(name=HOSTILE)
    check = check_of(made, (run(tmp_path / "a", only("huge", wrong)), None))
    check = replace(check, model=replace(check.model, path=f"{HOSTILE}.onnx", notes=(HOSTILE,)))
    page = render_check_page(check)
    assert "<img" not in page
    for text in (page, format_check(check), render_markdown_check(check), render_sarif(check)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    jsonschema.validate(json.loads(render_check(check)), load_schema("check"))
    check_sarif(json.loads(render_sarif(check)))


@pytest.mark.slow
def test_a_model_of_many_nodes_stays_small_and_in_blocks(tmp_path: Path) -> None:
    made = calls(4990, 9, name="encoder.layers.11.attention.self.query.resize")
    page = render_check_page(check_of(made, *[(run(tmp_path / "a", only("huge", wrong)), None)] * 3))
    assert len(page.encode()) < 5_000_000
    assert page.count('<details class="block"') == 25
    assert page.count("data-n=") == 5000
    assert "Nodes 4,801 to 5,000: 191 not conformant" in page


def test_answers_are_in_one_order_everywhere() -> None:
    definitions = load_schema("check")["$defs"]
    assert tuple(definitions["answer"]["enum"]) == ANSWERS
    assert tuple(definitions["counts"]["required"]) == ANSWERS
    assert len(RESIZES) == 3


@pytest.mark.parametrize(
    ("failing", "side", "answer"),
    [
        (("small",), 8, "elsewhere"),  # the larger case with the same data passes
        (("other",), 8, "wrong"),  # the smaller one passes, which may be the luck of its values
        (("small", "other"), 8, "wrong"),
        (("small",), 2, "wrong"),  # these are the model's own extents
        (("small",), None, "wrong"),  # the model has whatever extents
    ],
)
def test_what_fails_at_extents_that_the_model_has_not_does_not_blame(
    tmp_path: Path, failing: tuple[str, ...], side: int | None, answer: Answer
) -> None:
    cases = [
        make_case(RESIZE_18, "cover", {"extents": extents, "data": data}, side=length)
        for extents, length in (("small", 2), ("other", 4))
        for data in ("random", "huge")
    ]

    def respond(case: Case) -> Response:
        return wrong(case) if case.levels["extents"] in failing else right(case)

    made = Maker(tmp_path).make(cases, respond)
    results = put_together(made.suite, made.record, "suite")
    given = [
        ModelValue("x", "float", (side, side)),
        None,
        ModelValue("sizes", "int64", (2,) if side else None),
    ]
    node = ModelNode("0", "n", RESIZE_18, tuple(given), ())
    call = CheckedCall(1, ModelCall(node, (node,)), "reference", tuple(str(each.id) for each in cases))
    (found,) = answer_calls([call], results)
    assert found.answer == answer
    check = check_of([call], (results, None))
    assert check.holds == (answer == "elsewhere")
    jsonschema.validate(json.loads(render_check(check)), load_schema("check"))
    told = any("dimensions that the model states" in remark for remark in found.causes[0].remarks)
    assert told == (side == 8)


def test_every_reason_is_told_in_words() -> None:
    assert set(get_args(Why)) <= set(REASONS)

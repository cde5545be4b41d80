"""Entries of known causes beside runs: what they claim, what they leave, and when they are mended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.judging.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite, write_suite_of_parts
from generator.exploring.diagnosis.claims import point
from generator.exploring.diagnosis.explainer import Explainer, Scopes
from generator.making.operators.workshop import Options
from generator.making.suites.suite_making import write_generated
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.names import OperatorName
from reference.readings.disagreements import (
    Disagreement,
    load_disagreements,
    parse_disagreements,
    read_disagreements,
)
from reports.causes.class_words import headline
from reports.causes.failure_classes import classes_of, find_classes
from reports.causes.kept_findings import with_open_cases
from reports.results.case_results import put_together
from specs.language.expressions import parse
from tests.reports.sample import RESIZE_18, Maker, Sample, make_case

MODES = ("nearest", "linear", "cubic")


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,))


def refuse_all_but_linear(case: Case) -> Response:
    mode = case.levels["mode"]
    return answer(case) if mode == "linear" else Refused("Fail", f"no {mode} kernel")


def entry(name: str, runtime: str, **more: object) -> Disagreement:
    return Disagreement.model_validate(
        {
            "id": name,
            "operator": "ai.onnx::Resize-*",
            "against": runtime,
            "cause": "witness_fault",
            "passage": "page.rst:3",
            "explanation": "It has no kernel. Nobody wrote one.",
            "evidence": "seen",
            **more,
        }
    )


def run(folder: Path, respond: Callable[[Case], Response], family: str = "cover") -> tuple[Sample, str]:
    cases = [
        make_case(RESIZE_18, family, {"mode": mode, "ratio": ratio})
        for mode in MODES
        for ratio in ("same", "up2", "down2")
    ]
    made = Maker(folder).make(cases, respond)
    return made, str(made.record.header["runtime"]["name"])


def test_the_first_entry_that_fits_has_the_case_and_the_rest_is_left(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    entries = [
        entry("of_cubic", runtime, levels={"mode": "cubic"}, thread="https://example.org/7"),
        entry("of_every_kernel", runtime, verdicts="rejected_valid", reason="*no cubic*"),
        entry("of_another", "another runtime"),
    ]
    found = point(made.suite, made.record, entries).claims()
    assert [known_cause.id for known_cause in found.explaining] == ["of_cubic"]
    (known,) = found.explaining
    assert len(known.cases) == 3
    assert (known.title, known.thread) == ("It has no kernel. Nobody wrote one.", "https://example.org/7")
    long = replace(known, explanation=f"It has no kernel. {'Nobody wrote one. ' * 20}")
    assert long.title == "It has no kernel."
    classes = find_classes(put_together(made.suite, made.record).cases, found.explaining)
    assert sorted((failures.told, headline(failures), len(failures.cases)) for failures in classes) == [
        ("entry", "It has no kernel. Nobody wrote one.", 3),
        ("message", "rejects valid input: no nearest kernel", 3),
    ]


def test_a_condition_without_a_value_does_not_fit_and_raises_where_it_must_have_one(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    entries = [entry("of_no_call", runtime, when="no_such_name > 0"), entry("of_all", runtime)]
    row = next(result for result in made.record.results if result.verdict == "rejected_valid")
    assert Explainer(made.suite, runtime, entries).of_row(row) == entries[1]
    with pytest.raises(UserError):
        Explainer(made.suite, runtime, entries, strict=True).of_row(row)
    gone = replace(row, case=f"{row.case}0")
    assert Explainer(made.suite, runtime, entries).of_row(gone) is None
    with pytest.raises(UserError):
        Explainer(made.suite, runtime, entries, strict=True).of_row(gone)


def test_a_fault_of_forms_is_explained_where_every_row_that_fails_is(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    failing = [result for result in made.record.results if result.verdict == "rejected_valid"]
    passing = next(result for result in made.record.results if result.verdict == "pass")
    rows = [replace(result, form=form) for result in failing for form in ("inputs", "dynamic")]

    def fault(*cases: str) -> dict[str, object]:
        return {
            "kind": "forms_differ",
            "operator": str(RESIZE_18),
            "message": "answers differ between forms",
            "cases": [{"case": each, "between": []} for each in cases],
        }

    explainer = Explainer(made.suite, runtime, [entry("of_cubic", runtime, levels={"mode": "cubic"})])
    cubic = [result.case for result in failing if explainer.of_row(result) is not None]
    nearest = [result.case for result in failing if explainer.of_row(result) is None]
    assert len(cubic) == len(nearest) == 3
    found = explainer.of_fault(fault(*cubic), rows)
    assert found is not None
    assert found.id == "of_cubic"
    assert explainer.of_fault(fault(cubic[0], nearest[0]), rows) is None
    assert explainer.of_fault(fault(cubic[0], passing.case), [*rows, passing]) is None
    assert explainer.of_fault(fault(), rows) is None


def test_an_entry_is_mended_only_where_each_of_its_cases_was_asked_and_passed(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    entries = [
        entry("mended", runtime, levels={"mode": "linear"}, verdicts="rejected_valid"),
        entry("half", runtime, levels={"ratio": "same"}, verdicts="mismatch", reason="*wrong*"),
        entry("of_nothing", runtime, levels={"mode": "area"}),
        entry("of_invalid", runtime, levels={"mode": "linear"}, verdicts="accepted_invalid"),
    ]
    found = point(made.suite, made.record, entries).claims()
    assert found.explaining == ()
    assert [(known_cause.id, len(known_cause.asked)) for known_cause in found.mended] == [("mended", 3)]


@pytest.mark.parametrize(
    ("versions", "mended"), [("*", True), ("0.*", True), ("1*", False), (["0.*", "1*"], False)]
)
def test_an_entry_of_this_very_version_is_not_mended_in_it(
    tmp_path: Path, versions: object, mended: bool
) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    made.record.header["runtime"]["version"] = "1.2"
    known = entry("known", runtime, levels={"mode": "linear"}, verdicts="rejected_valid", versions=versions)
    assert bool(point(made.suite, made.record, [known]).claims().mended) is mended


def test_examples_alone_show_no_entry_mended(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, answer, family="example")
    known = entry("known", runtime, levels={"mode": "linear"}, verdicts="rejected_valid")
    assert point(made.suite, made.record, [known]).claims().mended == ()
    own, runtime = run(tmp_path / "own", answer)
    assert len(point(own.suite, own.record, [known]).claims().mended) == 1


def test_entries_of_one_cause_are_one_class(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    entries = [
        entry("first", runtime, levels={"mode": "cubic"}),
        entry("second", runtime, levels={"mode": "nearest"}, same_as="first"),
    ]
    (known,) = point(made.suite, made.record, entries).claims().explaining
    assert (known.id, len(known.cases)) == ("first", 6)
    assert not known.by_chance


def test_what_fails_by_chance_is_told_so(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    chance = entry("unwritten", runtime, by_chance=True)
    (known,) = point(made.suite, made.record, [chance]).claims().explaining
    assert known.by_chance


def test_a_reading_blames_nobody(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    known = point(made.suite, made.record, [entry("open", runtime, cause="reading", passage=[])]).claims()
    results = replace(put_together(made.suite, made.record), known=known.explaining)
    (found,) = classes_of(with_open_cases(results))
    assert not found.known or not found.known.blames
    assert found.tier.heading == "Open in the documents"


def test_a_condition_without_a_spec_or_a_value_claims_nothing(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear)
    odd = entry("odd", runtime, when="no_such_input > 3")
    assert point(made.suite, made.record, [odd]).claims().explaining == ()


def test_a_wrong_thread_in_a_file_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "cases:\n  - {id: a, operator: '*', against: x, cause: tolerance, explanation: e, evidence: e, "
        "thread: nowhere}\n"
    )
    with pytest.raises(OpcertError, match="thread"):
        read_disagreements(path)


def test_entries_travel_with_a_suite_and_leave_its_digest_alone(tmp_path: Path) -> None:
    digests = []
    for name, known in (("with", [{"id": "a", "operator": "*"}]), ("without", [])):
        digests.append(write_suite_of_parts(tmp_path / name, [], {}, {}, known))
    assert digests[0] == digests[1]
    with open_suite(tmp_path / "with") as suite:
        assert suite.known_entries() == [{"id": "a", "operator": "*"}]
        with pytest.raises(UserError, match="known cause of the suite is damaged"):
            parse_disagreements(suite.known_entries(), suite.path)
    with open_suite(tmp_path / "without") as suite:
        assert suite.known_entries() == []
    (tmp_path / "with" / "known.json").write_text("{}")
    with open_suite(tmp_path / "with") as suite, pytest.raises(UserError, match="known causes of a suite"):
        suite.known_entries()


@pytest.mark.slow
def test_what_a_suite_carries_of_an_operator_is_what_its_room_says(tmp_path: Path) -> None:
    pad = OperatorName.parse("com.microsoft::Pad-1")
    path = tmp_path / "suite.zip"
    write_generated(path, [pad], Options(size="small"), keep=True)
    with open_suite(path) as suite:
        carried = parse_disagreements(suite.known_entries(), path)
    room = [disagreement.id for disagreement in load_disagreements() if disagreement.concerns(str(pad))]
    assert [each.id for each in carried] == room
    assert all(each in load_disagreements() for each in carried)


def test_conditions_of_one_node_explain_no_chain(tmp_path: Path) -> None:
    made, runtime = run(tmp_path, refuse_all_but_linear, "pair")
    entries = [
        entry("by_condition", runtime, when="mode != 'linear'"),
        entry("by_words", runtime, reason="*cubic*"),
    ]
    found = point(made.suite, made.record, entries).claims()
    assert [(known_cause.id, len(known_cause.cases)) for known_cause in found.explaining] == [("by_words", 3)]


def test_conditions_see_every_tensor_of_a_variadic_input(tmp_path: Path) -> None:
    write_generated(
        tmp_path / "suite", [OperatorName.parse("ai.onnx::Mean-13")], options=Options(size="small")
    )
    with open_suite(tmp_path / "suite") as suite:
        cases = [case for case in suite.cases() if case.demand == "answer"]
    counts = {len(case.inputs) for case in cases}
    assert len(counts) > 1
    for case in cases:
        names = Scopes(strict=True).names_of(case)
        assert names is not None
        assert parse("len(data_0)").evaluate(names) == len(case.inputs)


def test_chains_that_pass_mend_no_entry(tmp_path: Path) -> None:
    chains, runtime = run(tmp_path / "chains", answer, "pair")
    calls, _ = run(tmp_path / "calls", answer)
    entries = [entry("of_long_ago", runtime, versions="0.1")]
    assert [known_cause.id for known_cause in point(calls.suite, calls.record, entries).claims().mended] == [
        "of_long_ago"
    ]
    assert point(chains.suite, chains.record, entries).claims().mended == ()

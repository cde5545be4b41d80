"""Known failures by cause or message: they outlive a suite, and hide nothing in the suite that they list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from conformance.judging.kept_diagnosis import FILE, DiagnosedCause, Diagnosis, Needed, write_diagnosis
from conformance.judging.known_causes import KnownCause
from conformance.judging.responses import Answered, Crashed, Refused, Response, TimedOut
from conformance.judging.signatures import signature
from conformance.suite.cases import Case
from opcert.vocabulary.names import OperatorName
from reports.causes.failure_classes import class_of, classes_of
from reports.causes.spoken_failures import fits_message
from reports.gates.baseline import (
    Baseline,
    BaselineEntry,
    NamedCause,
    excuse,
    hold_against,
    name_cause,
    read_baseline,
    updated,
    write_baseline,
)
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Profile
from reports.results.case_results import CaseResult, Results, put_together
from tests.reports.sample import CROP_PAD, PAD, Maker, bits, make_case

TODAY = date(2026, 11, 20)
SAID = (
    "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for {}(18) node with name "
    "'{}'"
)
Respond = Callable[[Case], Response]


def run(folder: Path, respond: Respond, sides: Sequence[int], operator: OperatorName = CROP_PAD) -> Results:
    """A run of a suite; another side makes it another suite, of whose cases none has the same id."""
    folder.mkdir(exist_ok=True)
    extents = ("same", "crop", "pad", "from_zero")
    cases = [
        make_case(operator, "cover", {"extent": extent}, side=side) for side in sides for extent in extents
    ]
    made = Maker(folder).make(cases, respond)
    return put_together(made.suite, made.record)


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


def wrong(case: Case) -> Response:
    return Answered((bits("float", 0 * case.expectations[0].outputs[0].expected.array - 1),), 0.001)


def refuse(case: Case, extents: Sequence[str] = ("crop",), said: str = SAID) -> Response:
    if case.levels["extent"] not in extents:
        return answer(case)
    return Refused("NotImplemented", said.format(case.id.operator.name, f"node_{len(case.inputs)}"))


def baseline_of(results: Results, folder: Path) -> Baseline:
    """What --update-baseline writes, read again."""
    return read_baseline(write_baseline(updated(Baseline(), results, TODAY), folder / "b.yaml"))


def test_a_message_outlives_the_suite_and_an_update_lists_its_cases(tmp_path: Path) -> None:
    known = baseline_of(run(tmp_path / "a", refuse, (4,)), tmp_path)
    (entry,) = known.known
    assert entry.cause is not None
    assert entry.cause.operators == ("ai.onnx::CenterCropPad",)
    known = Baseline(known=(entry.model_copy(update={"link": "https://example.org/1", "reason": "later"}),))
    newer = run(tmp_path / "b", refuse, (5, 6))
    found = hold_against(known, newer, TODAY)
    assert (found.holds, len(found.known), len(found.by_cause), found.passing) == (True, 2, 2, ())
    (listed,) = updated(known, newer, TODAY).known
    assert set(listed.cases) == {str(result.id) for result in newer.cases if result.fails}
    assert (listed.reason, listed.link, listed.expires) == ("later", "https://example.org/1", entry.expires)
    assert listed.suite == newer.suite.digest[:16] != entry.suite
    assert hold_against(updated(known, newer, TODAY), newer, TODAY).by_cause == ()


def test_in_its_own_suite_a_cause_hides_no_regression(tmp_path: Path) -> None:
    """The same message in more cases of the suite whose cases are listed is new."""
    known = baseline_of(run(tmp_path / "a", refuse, (4,)), tmp_path)
    worse = run(tmp_path / "b", lambda case: refuse(case, ("crop", "pad")), (4,))
    found = hold_against(known, worse, TODAY)
    assert ["pad" in result.features.values() for result in worse.cases if str(result.id) in found.new] == [
        True
    ]
    own = known.known[0].model_copy(update={"suite": "", "cases": ()})
    assert hold_against(Baseline(known=(own,)), worse, TODAY).holds


@pytest.mark.parametrize(
    "respond",
    [
        lambda case: refuse(case, said="another thing is wrong"),
        lambda case: Crashed("gone") if case.levels["extent"] == "crop" else answer(case),
        lambda case: wrong(case) if case.levels["extent"] == "crop" else answer(case),
    ],
)
def test_another_message_or_verdict_is_new(tmp_path: Path, respond: Respond) -> None:
    known = baseline_of(run(tmp_path / "a", refuse, (4,)), tmp_path)
    assert len(hold_against(known, run(tmp_path / "b", respond, (5,)), TODAY).new) == 1


def test_another_operator_is_new(tmp_path: Path) -> None:
    known = baseline_of(run(tmp_path / "a", refuse, (4,)), tmp_path)
    assert len(hold_against(known, run(tmp_path / "b", refuse, (4,), PAD), TODAY).new) == 1


def test_an_expired_cause_fails_and_is_renewed(tmp_path: Path) -> None:
    known = baseline_of(run(tmp_path / "a", refuse, (4,)), tmp_path)
    newer, later = run(tmp_path / "b", refuse, (5,)), TODAY + timedelta(days=91)
    assert not hold_against(known, newer, later).holds
    assert hold_against(updated(known, newer, later), newer, later).holds


def test_a_mended_cause_is_told_and_dropped(tmp_path: Path) -> None:
    known = baseline_of(run(tmp_path / "a", refuse, (4,)), tmp_path)
    mended = run(tmp_path / "b", answer, (5,))
    assert hold_against(known, mended, TODAY).mended == known.known
    assert updated(known, mended, TODAY).known == ()
    # Where its operator was not asked nobody can say so.
    elsewhere = run(tmp_path / "c", answer, (5,), PAD)
    assert hold_against(known, elsewhere, TODAY).mended == ()


def test_what_did_not_run_keeps_its_entry(tmp_path: Path) -> None:
    known = baseline_of(run(tmp_path / "a", refuse, (4,)), tmp_path)
    newer = run(tmp_path / "b", refuse, (5,))
    part = replace(newer, cases=(*newer.cases[:3], replace(newer.cases[3], verdict="not_run", row=None)))
    assert updated(known, part, TODAY).known == known.known


def test_excuses_by_cause_stand_in_the_report(tmp_path: Path) -> None:
    known = baseline_of(run(tmp_path / "a", refuse, (4,)), tmp_path)
    results = excuse(run(tmp_path / "b", refuse, (5,)), None, known, TODAY)
    assert [results.excuses.standing(str(result.id)) for result in results.cases if result.fails] == [
        "baseline"
    ]


def test_a_lost_process_and_a_hang_are_named_by_how_they_were_lost(tmp_path: Path) -> None:
    def lost(case: Case) -> Response:
        if case.levels["extent"] == "crop":
            return Crashed("killed by signal 6", signal="SIGABRT", stderr="terminate: what(): bad axes 3\n")
        return TimedOut(10.0, "run") if case.levels["extent"] == "pad" else answer(case)

    known = baseline_of(run(tmp_path / "a", lost, (4,)), tmp_path)
    assert sorted(baseline_entry.verdict for baseline_entry in known.known) == ["crash", "timeout"]
    assert all(baseline_entry.cause is not None for baseline_entry in known.known)
    found = hold_against(known, run(tmp_path / "b", lost, (5,)), TODAY)
    assert (found.holds, len(found.by_cause)) == (True, 2)


def shown(results: Results, **fails: tuple[tuple[str, ...], tuple[str, ...]]) -> Results:
    """The results with an experiment: all mismatches need these factors (values that fail, that cure)."""
    cases = tuple(str(result.id) for result in results.cases if result.verdict == "mismatch")
    needed = tuple(Needed(name, bad[0], bad[1:], good) for name, (bad, good) in fails.items())
    cause = DiagnosedCause(
        False, cases, cases[0], ("call",), "got", needed, (), (), (), dict.fromkeys(cases, "pass")
    )
    found = Diagnosis((cause,), (), (), 1.0, None, ())
    footer = results.record.footer or {}
    path = results.record.path.with_name(FILE)
    write_diagnosis(path, results.suite.digest, footer.get("digest"), found)
    return replace(results)


def test_factors_outlive_the_suite_where_no_value_speaks_against_it(tmp_path: Path) -> None:
    def crop_is_wrong(case: Case) -> Response:
        return wrong(case) if case.levels["extent"] == "crop" else answer(case)

    first = shown(run(tmp_path / "a", crop_is_wrong, (4,)), extent=(("crop",), ("same", "pad")))
    known = baseline_of(first, tmp_path)
    cause = known.known[0].cause
    assert cause is not None
    assert cause.factors == {"extent": ("crop",)}
    newer = run(tmp_path / "b", crop_is_wrong, (5,))
    assert not hold_against(known, newer, TODAY).holds  # no experiment says so there
    for needed, holds in (
        ({"extent": (("crop",), ("same",))}, True),
        ({"extent": (("from_zero", "crop"), ("same",))}, True),
        ({"extent": (("from_zero",), ("crop",))}, False),
        ({"axes": (("crop",), ("same",))}, False),
        ({"extent": (("crop",), ("same",)), "axes": (("some",), ("absent",))}, False),
    ):
        assert hold_against(known, shown(newer, **needed), TODAY).holds is holds, needed


def test_an_entry_and_a_rule_name_causes(tmp_path: Path) -> None:
    results = run(tmp_path, refuse, (4,))
    failing = next(result for result in results.cases if result.fails)
    entry = KnownCause("crop_lacks", "witness_fault", "It lacks crop.", ("seen",), cases=(str(failing.id),))
    claimed = replace(results, known=(entry,))
    cause = name_cause(classes_of(claimed)[0])
    assert cause == NamedCause(known="crop_lacks")
    assert cause.fits(failing, class_of(claimed, failing))
    assert not cause.fits(failing, class_of(results, failing))
    rule = NamedCause(rule="axes_unique", operators=("ai.onnx::CenterCropPad",))
    accepted = replace(failing, verdict="accepted_invalid", constraint="axes_unique")
    assert [rule.fits(result, None) for result in (accepted, failing)] == [True, False]
    assert not rule.fits(replace(accepted, constraint="axes_in_range"), None)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> CaseResult:
    results = run(tmp_path_factory.mktemp("one"), refuse, (4,))
    return next(each for each in results.cases if each.fails)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (SAID.format("CenterCropPad", "node_7"), True),
        ("NotImplemented: " + SAID.format("CenterCropPad", ""), True),
        ("*Could not find an implementation*", True),
        ("*NOT_IMPLEMENTED ... with name 'x'", True),
        ("Could not find an implementation", False),  # it does not begin so
        (SAID.format("Resize", ""), False),
        ("*could not find*", False),
    ],
)
def test_what_a_message_fits(case: CaseResult, text: str, fits: bool) -> None:
    assert fits_message(text, case) is fits


def test_a_message_says_nothing_of_wrong_answers(case: CaseResult) -> None:
    assert not fits_message("*Could not find an implementation*", replace(case, verdict="mismatch"))


@given(st.text(alphabet="aZ'\"`[]{}#*?!0 9.:/_-()<=\n", max_size=60))
def test_what_an_update_writes_fits_what_it_was_written_of(case: CaseResult, text: str) -> None:
    assert case.row is not None
    said = f"Unexpected {text}"
    other = replace(case, row=replace(case.row, message=said))
    written = signature("NotImplemented", said, (case.operator.name,))
    assert fits_message(written, other), written


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ({}, "by one of known, message, factors and rule"),
        ({"known": "a", "rule": "b"}, "by one of"),
        ({"message": "* 3 : 4"}, "too few letters"),
        ({"operators": ["a::B"]}, "by one of"),
        ({"cases": "a"}, "Extra inputs"),
    ],
)
def test_what_names_no_cause(plain: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        NamedCause.model_validate(plain)


def test_an_entry_needs_cases_or_a_cause() -> None:
    with pytest.raises(ValidationError, match="needs cases, or a cause"):
        BaselineEntry(verdict="crash", reason="r", expires=TODAY)


def test_a_waiver_by_message(tmp_path: Path) -> None:
    results = run(tmp_path, refuse, (4,))
    waiver = {"cases": "CenterCropPad", "reason": "r", "link": "l", "expires": "2027-01-01"}

    def reasons(**more: str) -> tuple[str, ...]:
        profile = {"profile": "p", "description": "d", "operators": [str(CROP_PAD)]}
        return evaluate(
            Profile.model_validate({**profile, "waivers": [{**waiver, **more}]}), results, TODAY
        ).reasons

    assert reasons(message="*Could not find an implementation*") == ()
    assert reasons(message="*something else*") != ()
    with pytest.raises(ValidationError, match="too few letters"):
        reasons(message="*")

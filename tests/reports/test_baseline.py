"""Baselines: known failures pass a gate, new and expired ones do not, those that are gone are told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.responses import Answered, Crashed, Refused, Response
from conformance.judging.verdicts import VERDICTS, Verdict
from conformance.suite.cases import Case
from opcert.vocabulary.errors import SeveralErrors, UserError
from reports.gates.baseline import (
    Baseline,
    BaselineEntry,
    failures_of,
    hold_against,
    read_baseline,
    updated,
    write_baseline,
)
from reports.results.case_results import Results, put_together
from tests.commands.command_line import call, identity_suite
from tests.conformance.samples import FAKES
from tests.reports.sample import CROP_PAD, Maker, make_case
from tests.reports.test_formats import with_verdicts

TODAY = date(2026, 11, 20)
Capture = pytest.CaptureFixture[str]
FAULT = {"kind": "repeats_differ", "operator": str(CROP_PAD), "message": "answers differ (3 cases)"}


def run(folder: Path, respond: Callable[[Case], Response], faults: int = 0) -> Results:
    cases = [make_case(CROP_PAD, "cover", {"extent": each}) for each in ("same", "crop", "pad", "from_zero")]
    folder.mkdir(exist_ok=True)
    made = Maker(folder).make(cases, respond, faults=(FAULT,) * faults)
    return put_together(made.suite, made.record)


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


def refuse(case: Case) -> Response:
    return Refused("Error", "no such thing")


def crop_fails(case: Case) -> Response:
    return refuse(case) if case.levels["extent"] == "crop" else answer(case)


def test_an_updated_baseline_is_met_and_says_why_each_case_fails(tmp_path: Path) -> None:
    results = run(tmp_path, crop_fails)
    first = hold_against(Baseline(), results, TODAY)
    assert (len(first.new), first.holds) == (1, False)
    written = read_baseline(write_baseline(updated(Baseline(), results, TODAY), tmp_path / "b.yaml"))
    (entry,) = written.known
    assert entry.verdict == "rejected_valid"
    assert entry.reason == "rejects valid input: no such thing"
    assert entry.expires == TODAY + timedelta(days=90)
    then = hold_against(written, results, TODAY)
    assert then.holds
    assert (len(then.known), then.unlinked) == (1, 1)


def test_another_verdict_is_a_new_failure(tmp_path: Path) -> None:
    known = updated(Baseline(), run(tmp_path / "a", crop_fails), TODAY)
    worse = run(
        tmp_path / "b", lambda case: Crashed("gone") if "crop" in case.levels.values() else answer(case)
    )
    assert len(hold_against(known, worse, TODAY).new) == 1


def test_what_passes_again_is_told_and_dropped(tmp_path: Path) -> None:
    known = updated(Baseline(), run(tmp_path / "a", refuse), TODAY)
    better = run(tmp_path / "b", crop_fails)
    found = hold_against(known, better, TODAY)
    assert found.holds
    assert len(found.passing) == 3
    assert [len(baseline_entry.cases) for baseline_entry in updated(known, better, TODAY).known] == [1]


def test_an_expired_entry_fails_and_an_update_renews_it(tmp_path: Path) -> None:
    results = run(tmp_path, crop_fails)
    entry = BaselineEntry(
        verdict="rejected_valid", reason="why", link="https://x", expires=date(2026, 1, 1),
        cases=tuple(failures_of(results)),
    )  # fmt: skip
    found = hold_against(Baseline(known=(entry,)), results, TODAY)
    assert (len(found.expired), found.holds) == (1, False)
    (renewed,) = updated(Baseline(known=(entry,)), results, TODAY).known
    assert (renewed.reason, renewed.link, renewed.expires) == ("why", "https://x", TODAY + timedelta(days=90))


def test_a_fault_of_the_run_is_known_by_its_kind_and_operator(tmp_path: Path) -> None:
    results = run(tmp_path, answer, faults=1)
    assert hold_against(Baseline(), results, TODAY).new == (f"fault/repeats_differ/{CROP_PAD}",)
    known = updated(Baseline(), results, TODAY)
    assert hold_against(known, results, TODAY).holds
    calm = run(tmp_path / "calm", answer)
    assert hold_against(known, calm, TODAY).passing == (f"fault/repeats_differ/{CROP_PAD}",)


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(tmp_path_factory.mktemp("four"), answer)


verdict_lists = st.lists(st.sampled_from(VERDICTS), min_size=4, max_size=4)


@settings(max_examples=30, deadline=None)
@given(before=verdict_lists, after=verdict_lists)
def test_every_failure_is_new_or_known_and_an_update_settles_it(
    four: Results, before: list[Verdict], after: list[Verdict]
) -> None:
    known = updated(Baseline(), with_verdicts(four, before), TODAY)
    results = with_verdicts(four, after)
    found = hold_against(known, results, TODAY)
    failing = failures_of(results)
    assert sorted([*found.new, *found.known, *found.expired]) == sorted(failing)
    assert not set(found.passing) & failing.keys()
    again = updated(known, results, TODAY)
    settled = hold_against(again, results, TODAY)
    assert settled.holds
    assert not settled.passing
    not_run = {str(each.id) for each in results.cases if each.verdict in ("not_run", "harness_error")}
    kept = {case for each in again.known for case in each.cases}
    assert kept == failing.keys() | (not_run & {case for each in known.known for case in each.cases})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a baseline"),
        ("[]", "not a baseline"),
        ("known: 3", "b.yaml:1"),
        ("known:\n  - {verdict: mismatch, cases: [a]}", "reason"),
        ("known:\n  - {verdict: mismatch, reason: r, expires: soon, cases: [a]}", "expires"),
        ("known:\n  - {verdict: mismatch, reason: r, expires: 2026-01-01, cases: []}", "cases"),
        ("known: []\nmore: 1", "unknown key"),
        ("known:\n  - {verdict: mismach, reason: r, expires: 2026-01-01, cases: [a]}", "verdict"),
    ],
)
def test_what_is_no_baseline(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "b.yaml").write_text(text)
    with pytest.raises((UserError, SeveralErrors)) as caught:
        read_baseline(tmp_path / "b.yaml")
    assert said in str(caught.value)


@pytest.mark.slow
def test_run_and_certify_answer_by_it(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    suite, file = identity_suite(tmp_path, 2), tmp_path / "known.yaml"
    words = ("run", "fake_backends:Raises", "-s", suite, "-o", tmp_path / "run.jsonl", "--baseline", file)
    assert call(capsys, *words).code == 2  # there is none yet
    written = call(capsys, *words, "--update-baseline")
    assert written.code == 0, written.err
    assert "2 new, 0 expired, 0 known" in written.out
    again = call(capsys, *words)
    assert again.code == 0
    assert "0 new, 0 expired, 2 known" in again.out
    certify = ("certify", "fake_backends:Raises", "-s", suite, "-o", tmp_path / "out", "--baseline", file)
    assert call(capsys, *certify).code == 0
    file.write_text("known: []\n")
    assert call(capsys, *certify).code == 1
    assert call(capsys, "run", "fake_backends:Good", "--update-baseline").code == 2

"""Figures of adequacy are no part of a suite: the lock says how far cases are trusted, and names the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from generator.making.operators import discovery, selections
from generator.making.operators.workshop import Options
from generator.making.suites import lock, lock_making, measured_cases
from generator.making.suites.cache import default_suite
from generator.making.suites.lock import read_lock, write_lock
from generator.making.suites.lock_making import read_lock_of
from generator.making.suites.operator_cases import generate_operator
from generator.measured import kept as keeping
from generator.measured.kept import Agreed, MeasuredOperator, Selected, expectations_of, write_agreed
from generator.trust.mutants import jobs
from generator.trust.mutants.bench import Adequacy
from opcert.vocabulary.names import OperatorName
from tests.commands.command_line import call

pytestmark = pytest.mark.slow

PAD = OperatorName.parse("com.microsoft::Pad-1")
Capture = pytest.CaptureFixture[str]


def measured(killed: int) -> MeasuredOperator:
    """What a measuring might find, of the first case of the default suite."""
    case = generate_operator(PAD, Options()).cases[0]
    ((name, expectation),) = expectations_of([case]).items()
    plain = Adequacy(str(PAD), ()).to_json()
    coverage = {"strength": 2, "feasible": 0, "covered": 0, "uncovered": []}
    found = {**plain, "mutants": {**plain["mutants"], "killed": killed}, "coverage": coverage}
    return MeasuredOperator(str(PAD), "", (Selected(name, killed, expectation),), found)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lock of a default suite of one operator, whose adequacy was measured; all of it the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = tmp_path / "specs" / "suite.lock"
    monkeypatch.setattr(discovery, "default_operators", lambda: [PAD])
    monkeypatch.setattr(lock_making, "referenced_operators", lambda: (PAD,))
    monkeypatch.setattr(lock_making, "suite_names", lambda: ["default", "first-operators"])
    monkeypatch.setattr(lock_making, "operators_named", lambda name: [PAD])
    folder = tmp_path / "specs" / "adequacy"
    for module in (measured_cases, keeping):
        monkeypatch.setattr(module, "adequacy_folder", lambda folders: folder)
    monkeypatch.setattr(measured_cases, "OWN_FOLDER", folder)
    monkeypatch.setattr(selections, "SELECTIONS_FILE", tmp_path / "specs" / "small.json")
    keeping.write_kept(measured(5), folder)
    made = read_lock_of(default_suite(lambda _: None))
    monkeypatch.setattr(lock, "LOCK_FILE", found)
    write_lock(replace(made, suites={"first-operators": made.digest}), found)
    return found


def find(monkeypatch: pytest.MonkeyPatch, killed: int) -> None:
    def measure(*_: object) -> Iterator[MeasuredOperator]:
        yield measured(killed)

    monkeypatch.setattr(jobs, "measure_suite", measure)


def test_new_figures_make_no_other_suite(
    capsys: Capture, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text()
    find(monkeypatch, 9)
    answer = call(capsys, "adequacy", "com.microsoft::Pad-1", "--update")
    assert (answer.code, path.read_text()) == (0, text), answer.err
    assert "suite.lock" not in answer.err
    checked = call(capsys, "generate", "--check")
    assert (checked.code, checked.out) == (0, "the suite is the one of specs/suite.lock\n")


def test_the_lock_says_how_far_cases_are_trusted_now(
    capsys: Capture, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_lock(path)
    expectations = expectations_of(generate_operator(PAD, Options()).cases)
    asked = Agreed(str(PAD), keeping.cases_digest(expectations), {})
    write_agreed(asked, path.with_name("adequacy"))
    find(monkeypatch, 9)
    answer = call(capsys, "adequacy", "com.microsoft::Pad-1", "--update")
    assert answer.code == 0, answer.err
    assert "suite.lock: com.microsoft::Pad-1 is reviewed" in answer.err
    after = read_lock(path)
    assert after.versions[str(PAD)].trust == "reviewed"
    assert before.versions[str(PAD)].trust == "referenced"
    assert selections.read_selection(PAD) == measured(9).selection
    assert (after.digest, after.suites, after.versions) == (before.digest, before.suites, before.versions)


def test_figures_that_are_not_kept_leave_the_lock_alone(
    capsys: Capture, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text()
    find(monkeypatch, 9)
    assert call(capsys, "adequacy", "com.microsoft::Pad-1").code == 0
    assert path.read_text() == text


@pytest.mark.nightly
@pytest.mark.parametrize("text", ["", '{"format": "opcert-lock/1"}'])
def test_a_lock_that_nobody_can_read_is_written_anew(capsys: Capture, path: Path, text: str) -> None:
    """Older and damaged ones say that `generate --update` mends them: so it must."""
    good = path.read_text()
    path.write_text(text)
    checked = call(capsys, "generate", "--check")
    assert checked.code == 2
    assert "generate --update" in checked.err
    updated = call(capsys, "generate", "--update")
    assert updated.code == 0, updated.err
    assert "what changed cannot be said" in updated.err
    assert path.read_text() == good

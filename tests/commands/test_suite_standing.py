"""Whose suite a certificate is about: the released one, somebody's own, or one with local changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cases import Case
from conformance.suites import Suite, open_suite, write_suite
from generator.lock import Lock, OperatorLock
from opcert.commands.suite_standing import find_standing
from reports.standing import SuiteStanding
from tests.commands.command_line import call, identity_suite
from tests.conformance.samples import IDENTITY, expect, make_case, sample

CASES = [make_case(operator=IDENTITY, seed=each) for each in range(3)]
OPTIONS = {"size": "default", "strength": 2, "operators": [str(IDENTITY)]}


def standing(
    folder: Path, cases: Iterable[Case], lock: Lock | None = None, **options: object
) -> SuiteStanding:
    path = folder / f"suite-{len(list(folder.iterdir()))}"
    facts: dict[str, object] = {"operators": {str(IDENTITY): {}}}
    write_suite(path, cases, facts, {**OPTIONS, **options})
    with open_suite(path) as suite:
        return find_standing(suite, lock or lock_like(suite))


def lock_like(suite: Suite) -> Lock:
    """The lock of a suite, whose operator has no reference."""
    cases = {each.split("/", 2)[2]: str(suite.entry(each)["expectation"])[:16] for each in suite.case_ids}
    return Lock(suite.digest, OPTIONS, "", {str(IDENTITY): OperatorLock({}, "", "", cases)})


@pytest.fixture
def released(tmp_path: Path) -> Lock:
    write_suite(tmp_path / "released", CASES, {"operators": {str(IDENTITY): {}}}, OPTIONS)
    with open_suite(tmp_path / "released") as suite:
        return lock_like(suite)


def test_the_released_suite_is_known_by_its_digest(tmp_path: Path, released: Lock) -> None:
    assert standing(tmp_path, CASES, released).kind == "released"


def test_the_same_options_with_another_digest_are_local_changes(tmp_path: Path, released: Lock) -> None:
    found = standing(tmp_path, CASES[:2], released)
    assert found.kind == "changed"
    assert "generate --check" in found.text


def test_a_case_of_which_something_else_is_expected_is_a_local_change(tmp_path: Path, released: Lock) -> None:
    changed = replace(CASES[0], expectations=(expect(sample(99)),))
    found = standing(tmp_path, [changed], released, size="small")
    assert found.kind == "changed"
    assert str(CASES[0].id) in found.text


def test_a_part_of_the_released_suite_is_told_to_be_one(tmp_path: Path, released: Lock) -> None:
    own = make_case(operator=IDENTITY, seed=77)
    found = standing(tmp_path, [CASES[0], own], released, size="small")
    assert found.kind == "own"
    assert "1 case of it" in found.text
    assert "1 do not, and 2 of its operators are left out" in found.text


def test_an_adopted_suite_is_told_to_be_one(tmp_path: Path, released: Lock) -> None:
    found = standing(tmp_path, CASES, released, adopted="ONNX 1.23.2")
    assert found == SuiteStanding("own", "The suite was adopted from ONNX 1.23.2, expectations included.")


def test_a_changed_suite_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import opcert.commands.suite_standing as module

    suite = identity_suite(tmp_path, 2)
    with open_suite(suite) as opened:
        lock = Lock("0" * 64, opened.manifest["options"], "", {})
    monkeypatch.setattr(module, "read_lock", lambda: lock)
    answer = call(capsys, "certify", "fake_backends:Good", "-s", suite, "-o", tmp_path / "out")
    assert answer.code == 2
    assert "this suite cannot be certified" in answer.err
    assert "local changes" in answer.err
    assert not (tmp_path / "out").exists()

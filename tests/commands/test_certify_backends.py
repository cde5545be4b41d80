"""`opcert certify` on Backends that misbehave: its exit code, and what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.recording.records import read_record
from tests.commands.command_line import call, check_message, identity_suite
from tests.conformance.test_backend_runtime import CASES

pytestmark = pytest.mark.slow

Capture = pytest.CaptureFixture[str]
ALL = [
    "certificate-badge.json",
    "certificate.html",
    "certificate.json",
    "explanations.json",
    "index.html",
    "junit.xml",
    "run.jsonl",
]
PROFILE = "profile: identity\ndescription: Identity alone\noperators: [ai.onnx::Identity-13]\n"


@pytest.mark.parametrize("name", [each for each in CASES if each != "RefusesEverything"])
def test_what_ran_is_certified_as_it_was(capsys: Capture, tmp_path: Path, name: str) -> None:
    verdict, holds = CASES[name]
    suite, out = identity_suite(tmp_path, 2), tmp_path / "out"
    profile = tmp_path / "identity.yaml"
    profile.write_text(PROFILE)
    words = [
        "certify",
        f"fake_backends:{name}",
        "-s",
        suite,
        "-o",
        out,
        "--timeout",
        "0.5",
        "--diagnose",
        "0",
    ]
    answer = call(capsys, *words, "--profile", profile)
    assert (answer.code, "Traceback" in answer.err + answer.out) == (int(holds), False)
    assert ("is met" if holds == 0 else "is not met") in answer.out
    assert sorted(path.name for path in out.iterdir()) == ALL
    record = read_record(out / "run.jsonl")
    assert {result.verdict for result in record.results} == {verdict}
    statement = json.loads((out / "certificate.json").read_text())
    assert statement["predicate"]["result"] == ("PASSED" if holds == 0 else "FAILED")
    junit = (out / "junit.xml").read_text()
    assert ("<failure" in junit or "<error" in junit) == (verdict != "pass")
    assert answer.out.count("opcert repro ai.onnx/Identity-13/") == (verdict != "pass")


@pytest.mark.parametrize("name", ["Raises", "Exits"])
def test_without_a_profile_nothing_was_demanded(capsys: Capture, tmp_path: Path, name: str) -> None:
    suite, out = identity_suite(tmp_path, 2), tmp_path / "out"
    answer = call(capsys, "certify", f"fake_backends:{name}", "-s", suite, "-o", out, "--diagnose", "0")
    assert answer.code == 0, answer.err
    assert "no profile was demanded" in answer.out
    assert sorted(path.name for path in out.iterdir()) == ALL


def test_a_backend_that_refuses_everything_is_not_certified(capsys: Capture, tmp_path: Path) -> None:
    suite, out = identity_suite(tmp_path, 2), tmp_path / "out"
    assert call(capsys, "certify", "fake_backends:Good", "-s", suite, "-o", out).code == 0
    answer = call(capsys, "certify", "fake_backends:RefusesEverything", "-s", suite, "-o", out)
    check_message(answer, 5, "run", "nothing ran", "4 of 4", "unsupported", "nothing is implemented")
    assert "no certificate is written" in answer.err
    # Nor does that of the run before stay beside a record that it does not speak of.
    assert [path.name for path in out.iterdir()] == ["run.jsonl"]


def test_a_run_into_the_same_folder_withdraws_what_speaks_of_another_record(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = identity_suite(tmp_path, 2)
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out" / "fake_backends-Good"
    assert call(capsys, "certify", "fake_backends:Good", "-s", suite).code == 0
    (out / "notes.txt").write_text("mine")
    assert call(capsys, "run", "fake_backends:Good", "-s", suite, "-k", "Identity-13").code == 0
    assert sorted(path.name for path in out.iterdir()) == ["notes.txt", "run.jsonl"]
    (out / "index.html").write_text("mine")
    assert call(capsys, "run", "fake_backends:Good", "-s", suite, "-o", out / "run.jsonl").code == 0
    assert (out / "index.html").read_text() == "mine"


@pytest.mark.nightly
def test_a_backend_that_never_survives_is_the_runtimes_fault(capsys: Capture, tmp_path: Path) -> None:
    suite, out = identity_suite(tmp_path, 12), tmp_path / "out"
    answer = call(capsys, "certify", "fake_backends:Exits", "-s", suite, "-o", out)
    check_message(answer, 4, "runtime", "10 workers were lost in a row")
    assert [path.name for path in out.iterdir()] == ["run.jsonl"]
    assert call(capsys, "run", "fake_backends:Exits", "-s", suite, "-o", out / "run.jsonl").code == 4


def test_a_runtime_that_does_not_start_leaves_what_was_there(capsys: Capture, tmp_path: Path) -> None:
    suite, out = identity_suite(tmp_path, 1), tmp_path / "out"
    assert call(capsys, "certify", "fake_backends:Good", "-s", suite, "-o", out).code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    answer = call(capsys, "certify", "fake_backends:OtherDevice", "-s", suite, "-o", out)
    check_message(answer, 4, "runtime", "does not support the device CPU")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_profile_of_operators_that_the_suite_lacks_is_a_mistake(capsys: Capture, tmp_path: Path) -> None:
    suite, out = identity_suite(tmp_path, 1), tmp_path / "out"
    words = ["certify", "fake_backends:Good", "-s", suite, "-o", out, "--profile", "center-crop-pad"]
    check_message(call(capsys, *words), 2, "input", "no case of the operator", "ai.onnx::CenterCropPad-18")

"""The doctor: sound workers are found sound, and each sloppiness is named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.doctor.examination import (
    WorkerExamination,
    choose_case,
    examine,
    look_at_answers,
    look_at_forms,
    look_at_repeats,
    look_at_threads,
)
from conformance.doctor.patient import Abilities, Fails, Patient, find_abilities
from conformance.processes.worker_limits import Limits
from conformance.runtimes.adapter import WORKERS
from conformance.runtimes.runtimes import find_runtime, install
from conformance.suite.cases import Case
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.names import OperatorName
from tests.commands.command_line import call, check_message
from tests.conformance.samples import FAKES, IDENTITY, echo_runtime, make_case, make_suite

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
EXAMPLE = EXAMPLES / "numpy_worker.py"
LIMITS = Limits(start_seconds=20, case_seconds=1.0)


def diagnose(text: str, case: Case | None) -> WorkerExamination:
    return examine(find_runtime(text), LIMITS, lambda offer: [] if case is None else [case])


def outcome(found: WorkerExamination) -> dict[str, bool | None]:
    return {check.name.split(",")[0]: check.ok for check in found.checks}


def test_a_sound_worker() -> None:
    found = diagnose(echo_runtime(), make_case())
    assert found.sound
    assert {name for name, ok in outcome(found).items() if ok is None} == {
        "a tensor of 200 MB comes back unharmed",
        "each thread count that it offers gives the same answer",
    }
    assert found.abilities == Abilities()
    assert (found.offer.name, found.offer.version) == ("echo", "1.0")


def test_without_a_case_that_is_not_looked_at() -> None:
    found = diagnose(echo_runtime(), None)
    assert found.sound
    assert sum(check.ok is None for check in found.checks) == 7
    assert any("name a suite with -s" in check.detail for check in found.checks)


@pytest.mark.parametrize(
    ("before", "chosen"),
    [
        (["unsupported", "unsupported"], "echo"),
        (["ulp"], "echo"),
        (["load_segv", "SIGSEGV"], "echo"),
        (["load_segv", "SIGSEGV", "load_segv"], "load_segv"),
    ],
)
def test_the_case_that_a_worker_is_tried_with_is_the_first_that_it_answers_rightly(
    before: list[str], chosen: str
) -> None:
    cases = [make_case(each, seed=seed) for seed, each in enumerate([*before, "echo"])]
    with patient_of(echo_runtime()) as patient:
        found = choose_case(patient, cases)
    assert found is not None
    assert found.attributes["do"].value == chosen


def test_a_worker_that_answers_nothing_rightly_fails() -> None:
    for each in ("ulp", "unsupported"):
        found = diagnose(echo_runtime(), make_case(each))
        assert outcome(found)["a right answer passes"] is False


@pytest.mark.nightly
def test_the_example_of_the_docs_is_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It takes nodes of CenterCropPad alone, and refuses Identity."""
    for path in (*WORKERS.glob("w*.py"), EXAMPLE):
        shutil.copy(path, tmp_path)
    runtime = f"exec:{sys.executable} {tmp_path / EXAMPLE.name}"
    crop = generate_operator(OperatorName("ai.onnx", "CenterCropPad", 18), Options.of("small")).cases
    suite = make_suite(tmp_path, [make_case(operator=IDENTITY), *crop])
    for words in ((), ("-s", suite)):
        answer = call(capsys, "doctor", runtime, *words)
        assert answer.code == 0, answer.out
        assert "ok          a right answer passes (ai.onnx::CenterCropPad-18)" in answer.out
        assert "FAILS" not in answer.out


@pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is absent")
def test_the_example_in_c_is_sound_and_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its operators are made one by one, and each has an element to perturb."""
    worker = tmp_path / "c_worker"
    options = ["-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *options, "-o", worker, EXAMPLES / "c_worker.c"], check=True)
    abs_13 = OperatorName("ai.onnx", "Abs", 13)
    suite = make_suite(tmp_path, list(generate_operator(abs_13, Options.of("small")).cases))
    answer = call(capsys, "doctor", f"exec:{worker}", "-s", suite)
    assert answer.code == 0, answer.out
    assert "ok          the same answer fails where another is expected" in answer.out
    answer = call(capsys, "run", f"exec:{worker}", "-s", suite, "-o", tmp_path / "run.jsonl")
    assert answer.code == 0, answer.out


def test_a_runtime_that_dies_is_started_again_for_the_next_check() -> None:
    found = diagnose(echo_runtime(), make_case("SIGSEGV"))
    assert not found.sound
    assert outcome(found)["a right answer passes"] is False
    assert outcome(found)["keys that the worker does not know are ignored"] is True


@contextmanager
def patient_of(text: str, case: Case | None = None) -> Iterator[Patient]:
    patient = Patient(install(find_runtime(text), lambda _: None).launch, LIMITS, case=case)
    patient.start()
    yield patient
    patient.leave()


@pytest.mark.parametrize(
    ("do", "look", "seen"),
    [
        ("ulp", look_at_answers, "mismatch: 6 of 6 elements wrong"),
        ("differs_by_call", look_at_repeats, "the answers differ"),
        ("differs_by_form", look_at_forms, "another answer in the form dynamic"),
        ("differs_by_threads", look_at_threads, "another answer with 4 threads"),
    ],
)
def test_what_a_runtime_does_wrong(do: str, look: Callable[[Patient], str], seen: str) -> None:
    with patient_of(echo_runtime("threads"), make_case(do)) as patient, pytest.raises(Fails, match=seen):
        look(patient)


def test_thread_counts_that_agree() -> None:
    with patient_of(echo_runtime("threads"), make_case("echo")) as patient:
        assert look_at_threads(patient) == "1, 4"


def test_what_a_runtime_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    with patient_of("fake_backends:Old") as patient:
        found = find_abilities(patient)
    assert found.opsets == (1, 12)
    assert found.lost == ("int64",)
    assert len(found.carried) == len(ELEMENT_TYPES) - 1


@pytest.mark.runtimes("onnxruntime")
def test_a_real_runtime() -> None:
    found = examine(find_runtime("onnxruntime"))
    assert found.sound
    assert {check.ok for check in found.checks} == {True}
    assert found.abilities.opsets is not None
    assert found.abilities.opsets[0] == 1
    assert {"float", "bfloat16", "string"} <= {*found.abilities.carried}
    assert found.confinement["network"] in ("cut off", "reachable")


def test_a_sloppy_worker() -> None:
    found = diagnose(echo_runtime(fake="sloppy_worker.py"), make_case())
    wrong = {name for name, ok in outcome(found).items() if ok is False}
    assert wrong == {
        "a model is forgotten",
        "a request of an unknown type",
        "the worker answers `shutdown` and goes with status 0",
        "bytes that are no frame are answered with an error",
        "half a frame and the end of the input end the worker",
    }


def test_a_worker_that_does_not_start() -> None:
    with pytest.raises(RuntimeUnavailable, match="no licence"):
        diagnose(echo_runtime("exit"), make_case())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = make_suite(tmp_path, [make_case()])
    answer = call(capsys, "doctor", echo_runtime(), "-s", suite)
    assert answer.code == 0
    assert "runtime        echo 1.0" in answer.out
    assert "ok          a right answer passes (org.example::Echo-1)" in answer.out
    assert "not looked  a tensor of 200 MB" in answer.out
    answer = call(capsys, "doctor", echo_runtime(fake="sloppy_worker.py"), "-s", suite, "--timeout", "0.5")
    assert answer.code == 4
    assert "FAILS       a model is forgotten" in answer.out
    check_message(call(capsys, "doctor", "nonsense"), 2, "input", "unknown runtime")
    check_message(call(capsys, "doctor", echo_runtime("exit")), 4, "runtime", "no licence")

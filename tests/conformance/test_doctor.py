"""The doctor: sound workers are found sound, and each sloppiness is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.doctor.abilities import Abilities, find_abilities
from conformance.doctor.answer_checks import (
    look_at_answers,
    look_at_forms,
    look_at_repeats,
    look_at_threads,
)
from conformance.doctor.examination import Diagnosis, examine
from conformance.doctor.patient import Fails, Patient
from conformance.processes.worker_limits import Limits
from conformance.runtimes.runtimes import find_runtime, install
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import RuntimeUnavailable
from tests.commands.command_line import call, check_message
from tests.conformance.samples import FAKES, echo_runtime, make_case, make_suite

LIMITS = Limits(start_seconds=20, case_seconds=1.0)


def diagnose(text: str, case: Case | None) -> Diagnosis:
    return examine(find_runtime(text), LIMITS, lambda offer: case)


def outcome(found: Diagnosis) -> dict[str, bool | None]:
    return {each.name.split(",")[0]: each.ok for each in found.checks}


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
    assert sum(each.ok is None for each in found.checks) == 7
    assert any("name a suite with -s" in each.detail for each in found.checks)


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
    assert {each.ok for each in found.checks} == {True}
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

"""`opcert check` on a cluster: the cases of calls are those of one machine, and so are the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.clusters import connecting
from conformance.clusters.cluster import Cluster
from conformance.clusters.worker_answers import Lost
from conformance.suite.goldens import write_golden
from generator.models.check.call_cases import CallCases
from generator.models.check.model_cases import cases_of_calls
from opcert.vocabulary.errors import UserError
from tests.commands.checked_models import write_model
from tests.commands.command_line import Answer, call, check_message
from tests.conformance.clusters.changed_answers import Answering
from tests.conformance.samples import FAKES
from tests.generator.checking.made_calls import call as call_of
from tests.generator.checking.made_calls import fed

CALLS = [
    call_of("Abs-13", [fed("n", 3)]),
    call_of("LeakyRelu-16", [fed(2)], alpha=0.25),
    call_of("Neg-13", [fed(4)]),
]


def told(made: tuple[CallCases, ...]) -> list[Any]:
    return [
        (
            call_cases.call,
            call_cases.key,
            [str(case.id) for case in call_cases.cases],
            call_cases.fixed,
            call_cases.varied,
            call_cases.forms,
        )
        for call_cases in made
    ]


def test_the_cases_are_those_of_one_machine(cluster: Cluster) -> None:
    seen: list[str] = []
    many = cases_of_calls(
        CALLS, keep=False, cluster=cluster, told=lambda call_cases: seen.append(call_cases.key)
    )
    one = cases_of_calls(CALLS, keep=False)
    assert told(many) == told(one)
    assert seen == [call_cases.key for call_cases in one]
    assert [write_golden(case) for call_cases in many for case in call_cases.cases] == [
        write_golden(case) for call_cases in one for case in call_cases.cases
    ]


def test_a_call_whose_workers_are_lost_is_named(cluster: Cluster) -> None:
    lost = Answering(cluster, lambda number, answer: Lost("they died") if number == 2 else answer)
    with pytest.raises(UserError, match="lost again and again") as caught:
        cases_of_calls(CALLS, keep=False, cluster=lost)
    assert any(f"{name}, node 0: they died" in str(caught.value) for name in ("Abs", "LeakyRelu", "Neg"))


@pytest.fixture
def asked(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Let `--scheduler tcp://in.here:1` be the cluster, whose answers are changed on their way."""
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def let(change: Callable[[int, Any], Any] = lambda _, answer: answer) -> None:
        @contextmanager
        def opened(_address: str, _tell: Callable[[str], object], **_: bool) -> Iterator[Cluster]:
            yield Answering(cluster, change)

        monkeypatch.setattr(connecting, "open_cluster", opened)

    let()
    return let


SCHEDULER = ("--scheduler", "tcp://in.here:1")


def document(answer: Answer, place: str) -> dict[str, Any]:
    assert answer.code == 1, answer.err
    found: dict[str, Any] = json.loads(Path(place, "check.json").read_text())
    for runtime in found["runtimes"]:
        runtime.pop("record")  # a digest over times and machines as well
    return found


@pytest.mark.nightly
def test_the_answers_are_those_of_one_machine(
    asked: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Of a call that kills the runtime the same cases are left out, wherever its cases run."""
    model = write_model(tmp_path / "model.onnx", unknown=True)
    words = ["check", model, "--no-chains", "--diagnose", "0", "--on", "checked_backends:DiesOfFlatten"]
    many = document(call(capsys, *words, *SCHEDULER, "-o", "out"), "out")
    cases = {path: path.read_bytes() for path in Path("out/suite").rglob("*") if path.is_file()}
    Path("out").rename("many")
    assert document(call(capsys, *words, "-o", "out"), "out") == many
    assert {path: path.read_bytes() for path in Path("out/suite").rglob("*") if path.is_file()} == cases


@pytest.mark.nightly
def test_a_runtime_that_is_not_there_is_told_with_its_machine(
    asked: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = write_model(tmp_path / "model.onnx")
    words = ["check", model, "--no-chains", "--on", "no_such_module:Backend", *SCHEDULER]
    check_message(call(capsys, *words), 4, "runtime", "no_such_module", "machine ")


@pytest.mark.nightly
def test_cases_that_lost_workers_leave_are_no_success(
    asked: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked(lambda _, answer: Lost("they died") if type(answer).__name__ == "UnitAnswer" else answer)
    model = write_model(tmp_path / "model.onnx")
    words = ["check", model, "--no-chains", "--on", "checked_backends:Right", *SCHEDULER]
    check_message(call(capsys, *words), 4, "run", "were left by lost workers; the first: they died")


def test_the_model_itself_is_not_given_to_a_cluster(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = write_model(tmp_path / "model.onnx")
    answer = call(capsys, "check", model, "--on", "onnx", "--inputs", "random", *SCHEDULER)
    check_message(answer, 2, "input", "--scheduler or --inputs, not both")

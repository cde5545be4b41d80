"""Adequacy measured on a cluster is that of one machine, whatever order the operators come in."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.clusters.cluster import Cluster
from conformance.clusters.own_process import in_own_process
from conformance.clusters.worker_answers import Lost
from generator.making.operators.workshop import Options
from generator.making.suites.suite_making import write_generated
from generator.measured.kept import MeasuredOperator, kept_json
from generator.trust.mutants import jobs
from generator.trust.mutants.jobs import MeasuredWork, measure_suite
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from tests.commands.command_line import call, check_message
from tests.conformance.clusters.changed_answers import Answering

NAMES = [OperatorName.parse(each) for each in ("com.microsoft::Pad-1", "org.tensorflow::BatchToSpaceND-1")]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suite") / "suite.zip"
    write_generated(path, NAMES, Options.of("small"))
    return path


class Shuffled(Cluster):
    """Does units here, in an order that a seed decides; `change` changes answers."""

    def __init__(
        self, seed: int, change: Callable[[OperatorName, Any], Any] = lambda _, answer: answer
    ) -> None:
        super().__init__(None, "here", lambda _: None)
        self._draw, self._change = random.Random(seed), change

    def each(
        self, function: Callable[..., Any], units: Iterator[Any]
    ) -> Generator[tuple[Any, Any], None, None]:
        waiting = list(units)
        self._draw.shuffle(waiting)
        for operator, given in waiting:
            yield operator, self._change(operator, function(*given))


@pytest.fixture
def pretending(monkeypatch: pytest.MonkeyPatch) -> None:
    def pretended(_sources: str, work: MeasuredWork) -> MeasuredOperator:
        found = {"mutants": {"made": 3, "equivalent": 0, "killed": 3}, "node_tests": None}
        return MeasuredOperator(str(work.operator), "", (), found)

    monkeypatch.setattr(jobs, "measure_apart", pretended)


def measured_on(cluster: Cluster, suite: Path) -> Iterator[MeasuredOperator]:
    return measure_suite(suite, NAMES, (), 2, print, cluster)


@pytest.mark.usefixtures("pretending")
@pytest.mark.parametrize("seed", range(2))
def test_answers_come_in_any_order(suite: Path, seed: int) -> None:
    found = [each.operator for each in measured_on(Shuffled(seed), suite)]
    assert sorted(found) == sorted(map(str, NAMES))


@pytest.mark.usefixtures("pretending")
@pytest.mark.parametrize("seed", range(2))
def test_an_operator_whose_workers_are_lost_costs_none_of_the_others(suite: Path, seed: int) -> None:
    def lose(operator: OperatorName, answer: Any) -> Any:
        return Lost("they died") if operator == NAMES[0] else answer

    found: list[MeasuredOperator] = []
    with pytest.raises(UserError, match="lost again and again") as caught:
        found.extend(measured_on(Shuffled(seed, lose), suite))
    assert f"got {NAMES[0]}: they died" in str(caught.value)
    assert [each.operator for each in found] == [str(NAMES[1])]


@pytest.mark.nightly
def test_a_real_cluster_measures_the_same_as_processes_here(cluster: Cluster, tmp_path: Path) -> None:
    """In processes of their own, with hash seeds of their own."""
    operator = OperatorName.parse("ai.onnx::DepthToSpace-13")
    path = tmp_path / "suite.zip"
    write_generated(path, [operator], Options.of("small"))
    counted = Answering(cluster, lambda _, answer: answer)
    (many,) = measure_suite(path, [operator], (), 2, print, counted)
    assert counted.number == 1
    (here,) = measure_suite(path, [operator], (), 2, print)
    assert kept_json(here) == kept_json(many)


def test_what_a_process_says() -> None:
    assert in_own_process(1 << 32, max, 3, 4) == 4
    with pytest.raises(RuntimeError, match="ValueError: math domain error"):
        in_own_process(1 << 32, __import__("math").sqrt, -1)
    lost = in_own_process(1 << 32, os._exit, 3)
    assert isinstance(lost, Lost)
    assert "exit code is 3" in lost.reason
    with pytest.raises(RuntimeError, match="MemoryError"):
        in_own_process(1 << 30, bytes, 1 << 31)


def test_what_is_kept_is_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "adequacy", "--kept", "--scheduler", "local:1")
    check_message(answer, 2, "input", "--kept or --scheduler, not both")

"""Adequacy measured on a cluster is that of one machine, whatever order the sets of mutants come in."""

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.clusters.cluster import Cluster
from conformance.clusters.own_process import in_own_process
from conformance.clusters.worker_answers import Lost, WorkerFailure
from conformance.suite.suites import open_suite
from generator.making.operators.workshop import Options
from generator.making.suites.suite_making import write_generated
from generator.measured.kept import MeasuredOperator, kept_json
from generator.measured.outcomes import MutantOutcome, SetAnswer
from generator.trust.mutants import cluster_sets, measure, random_calls, set_units
from generator.trust.mutants.cluster_sets import measure_on_cluster
from generator.trust.mutants.jobs import measure_suite
from generator.trust.mutants.set_units import SetUnit
from generator.trust.mutants.work import MeasuredWork, work_of
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.names import OperatorName
from tests.commands.command_line import call, check_message
from tests.conformance.clusters.changed_answers import Answering

NAMES = [OperatorName.parse(each) for each in ("com.microsoft::Pad-1", "org.tensorflow::BatchToSpaceND-1")]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Another cache of the user under each name."""

    def use(name: str) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))

    use("first")
    return use


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suite") / "suite.zip"
    write_generated(path, NAMES, Options.of("small"))
    return path


_THROUGH: Any = object()


class Shuffled(Cluster):
    """Does units here, in an order that a seed decides; `change` changes answers."""

    def __init__(self, seed: int, change: Callable[[SetUnit, Any], Any] = lambda _, answer: answer) -> None:
        super().__init__(None, "here", lambda _: None)
        self._draw, self._change = random.Random(seed), change
        self.units: list[SetUnit] = []

    def each(
        self, function: Callable[..., Any], units: Iterator[Any]
    ) -> Generator[tuple[Any, Any], None, None]:
        waiting: list[tuple[Any, tuple[Any, ...]]] = []
        more = True
        while True:
            while more and len(waiting) < 4:
                unit = next(units, _THROUGH)
                more = unit is not _THROUGH
                if not more or unit is None:
                    break
                waiting.append(unit)
            if not waiting:
                return
            unit, given = waiting.pop(self._draw.randrange(len(waiting)))
            self.units.append(unit)
            yield unit, self._change(unit, function(*given))


class Interrupted(Shuffled):
    """Is interrupted after so many units, whose number is the seed."""

    def __init__(self, after: int) -> None:
        super().__init__(after)
        self._after = after

    def each(
        self, function: Callable[..., Any], units: Iterator[Any]
    ) -> Generator[tuple[Any, Any], None, None]:
        for place, found in enumerate(super().each(function, units)):
            if place == self._after:
                raise KeyboardInterrupt
            yield found


def told(unit: SetUnit) -> MutantOutcome:
    return MutantOutcome(f"{unit.operator.name} {unit.number}", "kind", "file", unit.number, (), "killed")


def pretended(_sources: str, _work: bytes, unit: SetUnit) -> SetAnswer | MeasuredOperator:
    """Three sets an operator, of a mutant each; what they come to names them in their order."""
    if unit.outcomes is None:
        return SetAnswer(3, [told(unit)])
    found = {"mutants": {"made": 3, "equivalent": 0, "killed": 3}, "node_tests": None}
    return MeasuredOperator(
        str(unit.operator), "", (), {**found, "order": [each.line for each in unit.outcomes]}
    )


@pytest.fixture
def pretending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_sets, "do_unit", pretended)


@pytest.mark.usefixtures("pretending")
@pytest.mark.parametrize("seed", range(4))
def test_answers_come_in_any_order(places: Callable[[str], None], suite: Path, seed: int) -> None:
    here = Shuffled(seed)
    found = list(measure_on_cluster(here, suite, NAMES, print))
    assert [each.operator for each in found] == list(map(str, NAMES))
    assert [each.found["order"] for each in found] == [[0, 1, 2]] * 2
    assert len(here.units) == 8
    # What was measured is kept, for one machine as well as for the next cluster.
    again = Shuffled(seed)
    assert list(map(kept_json, measure_on_cluster(again, suite, NAMES, print))) == list(map(kept_json, found))
    assert not again.units


@pytest.mark.usefixtures("pretending", "places")
@pytest.mark.parametrize("seed", range(4))
def test_an_operator_whose_workers_are_lost_costs_none_of_the_others(suite: Path, seed: int) -> None:
    def lose(unit: SetUnit, answer: Any) -> Any:
        return Lost("they died") if unit.operator == NAMES[0] and unit.number == 1 else answer

    found: list[MeasuredOperator] = []
    with pytest.raises(UserError, match="lost again and again") as caught:
        found.extend(measure_on_cluster(Shuffled(seed, lose), suite, NAMES, print))
    assert f"got {NAMES[0]}: they died" in str(caught.value)
    assert [each.operator for each in found] == [str(NAMES[1])]


@pytest.mark.usefixtures("pretending", "places")
def test_machines_that_find_other_mutants_are_told(suite: Path) -> None:
    def other(unit: SetUnit, answer: Any) -> Any:
        return SetAnswer(9, answer.outcomes) if unit.number == 1 else answer

    with pytest.raises(InternalError, match="different mutants"):
        list(measure_on_cluster(Shuffled(0, other), suite, NAMES, print))


@pytest.mark.nightly
@pytest.mark.usefixtures("places")
def test_sets_come_to_what_one_machine_finds(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second set before the first, each from its own beginning; other mutants are refused."""
    for module in (random_calls, measure):
        monkeypatch.setattr(module, "AIMED", 20)
    monkeypatch.setattr(measure, "FIRST_CALLS", 40)
    with open_suite(suite) as opened:
        whole = replace(work_of(opened, NAMES[1]), size=80)
    work = pickle.dumps(whole)
    sets: dict[int, SetAnswer] = {}
    for number in (1, 0):
        answer = cluster_sets._do(project_digest(), work, SetUnit(NAMES[1], number))
        assert isinstance(answer, SetAnswer)
        sets[number] = answer
        assert sets[number].sets == 2
    outcomes = [*sets[0].outcomes, *sets[1].outcomes]
    many = cluster_sets._do(project_digest(), work, SetUnit(NAMES[1], outcomes=outcomes))
    assert isinstance(many, MeasuredOperator)
    with whole.prepared() as prepared:
        found = [each for number in range(2) for each in prepared.outcomes(number)]
        assert kept_json(many) == kept_json(whole.together(prepared, found))
    refused = cluster_sets._do(project_digest(), work, SetUnit(NAMES[1], outcomes=outcomes[1:]))
    assert isinstance(refused, WorkerFailure)
    assert refused.problem == "mutants are others than those that were tried"


@pytest.fixture
def small_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets so small that an operator whose mutants are soon tried has several."""

    def in_small_sets(*given: Any) -> MeasuredWork:
        return replace(work_of(*given), size=60)

    monkeypatch.setattr(set_units, "work_of", in_small_sets)


@pytest.mark.nightly
@pytest.mark.usefixtures("small_sets")
def test_a_real_cluster_measures_the_same_as_processes_here(
    cluster: Cluster, places: Callable[[str], None], tmp_path: Path
) -> None:
    """In processes of their own, with hash seeds of their own: in several sets."""
    operator = OperatorName.parse("ai.onnx::DepthToSpace-13")
    path = tmp_path / "suite.zip"
    write_generated(path, [operator], Options.of("small"))
    counted = Answering(cluster, lambda _, answer: answer)
    (many,) = measure_on_cluster(counted, path, [operator], print)
    assert counted.number >= 3
    places("second")
    told: list[str] = []
    (here,) = measure_suite(path, [operator], (), 2, told.append)
    assert kept_json(here) == kept_json(many)
    assert any("2 of " in each for each in told)
    # It is known from now on.
    (again,) = measure_suite(path, [operator], (), 2, told.append)
    assert kept_json(again) == kept_json(here)


@pytest.mark.usefixtures("pretending", "places")
@pytest.mark.parametrize("after", range(1, 7))
def test_what_was_interrupted_goes_on_behind_the_sets_that_came(suite: Path, after: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        list(measure_on_cluster(Interrupted(after), suite, NAMES, print))
    again = Shuffled(after)
    found = list(measure_on_cluster(again, suite, NAMES, print))
    assert [each.found["order"] for each in found] == [[0, 1, 2]] * 2
    # What was under way, and nothing that had come, is done again.
    assert len(again.units) == 8 - after


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

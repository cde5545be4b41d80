"""A search on a cluster: what it finds hangs on the seed and on the number of calls, not on the workers."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.clusters import connecting
from conformance.clusters.cluster import Cluster
from conformance.clusters.worker_answers import Lost
from conformance.judging.responses import Refused, Response
from conformance.processes.worker_limits import Limits
from conformance.runtimes.runtimes import find_runtime
from generator.asking.calls_files import read_calls
from generator.exploring.fuzzing import cluster_search
from generator.exploring.fuzzing.cluster_search import ClusterSearch, DrawAnswer, DrawUnit, seed_of
from generator.exploring.fuzzing.search import FuzzResult, add_search, fuzz
from opcert.vocabulary.errors import RuntimeUnavailable, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from tests.commands.command_line import call, check_message
from tests.generator.fuzz_fakes import Fake, space_of

BATCH = "org.tensorflow::BatchToSpaceND-1"
FRAGILE = f"exec:{sys.executable} {Path(__file__).parents[2] / 'generator' / 'fuzz_worker.py'}"
WHO = {"name": "fake", "version": "1"}


def refusing(attributes: dict[str, Any], inputs: dict[str, Tensor | None]) -> Response | None:
    given = next(iter(inputs.values()))
    refused = given is not None and given.element_type.name in ("double", "int64")
    return Refused("ValueError", "not this type") if refused else None


class Here(Cluster):
    """Does units with a fake runtime here: so many wait at a time, and a seed says which comes first."""

    def __init__(self, waiting: int, seed: int, change: Callable[[Any], Any] = lambda answer: answer) -> None:
        super().__init__(None, "here", lambda _: None)
        self._waiting, self._draw, self._change = waiting, random.Random(seed), change
        self.units: list[DrawUnit] = []

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return "node1", WHO

    def each(
        self, function: Callable[..., Any], units: Iterator[Any]
    ) -> Generator[tuple[Any, Any], None, None]:
        space = space_of(BATCH)
        waiting: list[Any] = []
        while True:
            while len(waiting) < self._waiting and (unit := next(units, None)) is not None:
                waiting.append(unit)
            if not waiting:
                return
            about, (_, _, _, unit) = waiting.pop(self._draw.randrange(len(waiting)))
            self.units.append(unit)
            fake = Fake(space, refusing)
            found = fuzz(space, fake.ask, unit.seed, unit.seconds, most_calls=unit.calls)
            yield about, self._change(DrawAnswer.of("node2", WHO, space.spec.operator, found))

    def forget(self, function: Callable[..., Any], *arguments: Any) -> None: ...


def search(here: Here, calls: int | None = 28, seconds: float = 600) -> tuple[FuzzResult, list[Any]]:
    told: list[Any] = []
    space = space_of(BATCH)
    with ClusterSearch(here, find_runtime(FRAGILE), None, Limits()) as running:
        assert (running.name, running.version) == ("fake", "1")
        return running.search(space, 3, seconds, lambda *each: told.append(each), calls), told


def essence(found: FuzzResult) -> list[Any]:
    return [
        (find.key, find.small.attempt.call.digest(OperatorName.parse(BATCH)), find.calls)
        for find in found.finds
    ]


@pytest.mark.slow
def test_finds_are_told_once_whoever_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_search, "UNIT", 8)
    one, told = search(Here(1, 0))
    assert one.drawn == 28
    assert one.finds
    assert len(told) == len(one.finds)
    assert len({find.key for find in one.finds}) == len(one.finds)
    several = Here(4, 1)
    many, _ = search(several)
    assert essence(many) == essence(one)
    assert many.tried == one.tried
    assert sorted(unit.number for unit in several.units) == [0, 1, 2, 3]
    assert sorted(unit.calls for unit in several.units) == [4, 8, 8, 8]
    assert len({unit.seed for unit in several.units}) == 4


def test_the_same_find_of_two_searches_is_one() -> None:
    space = space_of(BATCH)
    first, second = (fuzz(space, Fake(space, refusing).ask, 1, 600, most_calls=20) for _ in range(2))
    both = FuzzResult()
    for fuzz_result in (first, second):
        add_search(space, both, fuzz_result, lambda *_: None)
    assert [find.key for find in both.finds] == [find.key for find in second.finds]
    assert [find.calls for find in both.finds] == [2 * find.calls for find in second.finds]
    assert both.drawn == 40


def test_the_time_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    def some(*_: Any, **__: Any) -> FuzzResult:
        time.sleep(0.05)
        return FuzzResult(drawn=7)

    monkeypatch.setitem(globals(), "fuzz", some)
    here = Here(2, 0)
    found, _ = search(here, calls=None, seconds=0.5)
    assert found.drawn == 7 * len(here.units) >= 14
    assert all(0 < unit.seconds <= 0.5 for unit in here.units)
    assert all(unit.calls == cluster_search.UNIT for unit in here.units)
    assert search(Here(2, 0), calls=None, seconds=0)[0].drawn == 0
    assert search(Here(2, 0), calls=None, seconds=1e-9)[0].drawn == 0


def test_what_is_lost_is_told_for_the_finds_would_be_others() -> None:
    with pytest.raises(UserError, match="lost again and again") as caught:
        search(Here(1, 0, lambda _: Lost("they died")))
    assert f"{BATCH}, calls from 0: they died" in str(caught.value)


def test_another_runtime_on_one_machine_ends_the_search() -> None:
    with pytest.raises(RuntimeUnavailable, match="another one on this machine") as caught:
        search(Here(1, 0, lambda answer: replace(answer, runtime={**WHO, "version": "2"})))
    assert "got 2 on node2; expected 1, as on node1" in str(caught.value)


def test_seeds_of_units_differ() -> None:
    assert len({seed_of(seed, number) for seed in range(30) for number in range(30)}) == 900


def test_specs_of_ones_own_are_not_given_to_a_cluster(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["fuzz", FRAGILE, "Relu", "--specs", tmp_path, "--scheduler", "local:1"]
    check_message(call(capsys, *words), 2, "input", "--scheduler or --specs, not both")


@pytest.mark.nightly
@pytest.mark.slow
def test_the_command_keeps_the_same_calls_again(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def opened(_address: str, _tell: Callable[[str], object], **_: bool) -> Iterator[Cluster]:
        yield cluster

    monkeypatch.setattr(connecting, "open_cluster", opened)
    monkeypatch.setattr(cluster_search, "UNIT", 10)
    kept = []
    for name in ("one", "two"):
        words = ["fuzz", FRAGILE, "BatchToSpaceND", "--time", 600, "--calls", 20, "-o", tmp_path / name]
        answer = call(capsys, *words, "--scheduler", "tcp://in.here:1")
        assert answer.code == 1, answer.err
        assert "the suite has it already: org.tensorflow/BatchToSpaceND-1/" in answer.out
        kept.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert kept[0] == kept[1] != {}
    assert any(each.found["verdict"] == "rejected_valid" for each in read_calls(tmp_path / "one"))

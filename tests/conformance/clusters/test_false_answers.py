"""Answers that are none (garbage, another unit's, doubled, cut off, of other cases) are told, not taken."""

from __future__ import annotations

import time
import zlib
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.clusters import cluster as clusters
from conformance.clusters import run_units
from conformance.clusters.cluster import Cluster, within
from conformance.clusters.cluster_run import newest_opset_on, run_suite_on
from conformance.clusters.run_units import UnitAnswer, deflated, inflated
from conformance.clusters.run_worker import Begun
from conformance.clusters.worker_answers import answer_in_bytes
from conformance.recording.records import read_record
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunOptions, RunRequest
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from opcert.vocabulary.errors import UserError
from tests.conformance.clusters.changed_answers import Answering
from tests.conformance.samples import echo_runtime, make_case, make_suite


def squared(number: int) -> int:
    return number * number


def cut_off(function: Any, unit: str, *arguments: Any) -> bytes:
    return answer_in_bytes(function, unit, *arguments)[:-3]


def of_another_unit(function: Any, unit: str, *arguments: Any) -> bytes:
    return answer_in_bytes(function, f"{unit}0", *arguments)


def doubled(function: Any, unit: str, *arguments: Any) -> bytes:
    return 2 * answer_in_bytes(function, unit, *arguments)


def of_another_type(function: Any, unit: str, *arguments: Any) -> bytes:
    return answer_in_bytes(function, unit, *arguments).replace(b"9", b'"nine"')


def oversized(function: Any, unit: str, *arguments: Any) -> bytes:
    return answer_in_bytes(function, unit, *arguments) + bytes(50_000_000)


def no_bytes(function: Any, unit: str, *arguments: Any) -> int:
    return int(function(*arguments))


def nothing(function: Any, unit: str, *arguments: Any) -> None:
    return None


def fails(function: Any, unit: str, *arguments: Any) -> None:
    raise OSError("a worker that cannot")


def test_an_answer_comes_as_it_is(cluster: Cluster) -> None:
    assert cluster.ask(squared, 3) == 9
    assert dict(cluster.each(squared, ((each, (each,)) for each in range(20)))) == {
        n: n * n for n in range(20)
    }


@pytest.mark.parametrize(
    "lie", [cut_off, of_another_unit, doubled, of_another_type, oversized, no_bytes, nothing]
)
def test_bytes_that_are_no_answer(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, lie: Callable[..., Any]
) -> None:
    monkeypatch.setattr(clusters, "answer_in_bytes", lie)
    with pytest.raises(UserError, match="is not an answer to it") as caught:
        cluster.ask(squared, 3)
    assert "--resume" in str(caught.value)


def test_an_error_instead_of_an_answer(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "answer_in_bytes", fails)
    with pytest.raises(UserError, match="does not come to a worker") as caught:
        cluster.ask(squared, 3)
    assert "a worker that cannot" in str(caught.value)


class Client:
    """What a cluster needs of a client, whose scheduler says what it likes."""

    status = "running"

    def __init__(self, threads: Any = None, result: Any = None) -> None:
        self._threads, self._result = threads, result
        self.cancelled = 0

    def nthreads(self) -> Any:
        return self._threads() if callable(self._threads) else {"tcp://10.0.0.1:1": 1}

    def submit(self, *_: Any, key: str, **__: Any) -> Any:
        return Future(key, self._result)

    def cancel(self, *_: Any, **__: Any) -> None:
        self.cancelled += 1


class Future:
    """A unit that the scheduler calls done at once."""

    status = "finished"

    def __init__(self, key: str, result: Callable[[], Any]) -> None:
        self.key, self._result = key, result

    def add_done_callback(self, call: Callable[[Any], Any]) -> None:
        call(self)

    def cancelled(self) -> bool:
        return False

    def release(self) -> None: ...

    def result(self, timeout: float) -> Any:
        return self._result()


def late(*_: Any) -> Any:
    time.sleep(3)
    raise TimeoutError


def ask(client: Client) -> str:
    begun = time.monotonic()
    with pytest.raises(UserError) as caught:
        Cluster(client, "tcp://10.0.0.9:1", lambda _: None).ask(squared, 3)
    assert time.monotonic() - begun < 4
    return str(caught.value)


def test_a_scheduler_that_says_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "ANSWERING", 0.3)
    assert "no answer to how many workers" in ask(Client(threads=late))
    assert "has said nothing for 0.3 s" in ask(Client(result=late))
    assert "its result does not come" in ask(Client(result=late))


@pytest.mark.parametrize("threads", [{}, {"a": 10**30}, {"a": "many", "b": None}, [], None, {"a": -5}, 7])
def test_numbers_of_workers_that_are_none_do_no_harm(threads: Any) -> None:
    client = Client(threads=lambda: threads, result=lambda: b"garbage")
    with pytest.raises(UserError, match="is not an answer to it"):
        dict(
            Cluster(client, "tcp://10.0.0.9:1", lambda _: None).each(
                squared, ((n, (n,)) for n in range(9999))
            )
        )


def test_an_error_that_came_as_a_pickle_is_named_and_stays_one() -> None:
    def killed() -> Any:
        raise Exception(b"\x80\x04\x8c\x0cKilledWorker\x94\x8c\x10tcp://10.0.0.7:1\x94.")

    def missing() -> Any:
        raise Exception(b"\x80\x04\x8c\x13ModuleNotFoundError\x94\x8c\x1bNo module named conformance\x94.")

    cluster = Cluster(Client(result=killed), "", lambda _: None)
    ((_, lost),) = cluster.each(squared, iter([(1, (1,))]))
    assert lost.reason == "its workers were lost again and again, at last tcp://10.0.0.7:1"
    assert "has no opcert, or another one" in ask(Client(result=missing))


def test_what_takes_long_is_not_awaited() -> None:
    assert within(5, lambda: 7) == 7
    with pytest.raises(KeyError):
        within(5, lambda: dict[str, int]()["x"])
    with pytest.raises(TimeoutError):
        within(0.05, lambda: time.sleep(2))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return make_suite(tmp_path, [make_case(seed=each) for each in range(40)])


def run(cluster: Cluster, suite: Path, path: Path, **options: Any) -> None:
    with open_suite(suite) as opened:
        request = RunRequest(opened, find_runtime(echo_runtime()), RunOptions(**options))
        run_suite_on(cluster, request, RecordPlace(path))


def with_rows(answer: UnitAnswer, change: Callable[[list[Any]], Any]) -> UnitAnswer:
    lines = zlib.decompress(answer.lines).splitlines(keepends=True)
    orders = array("Q")
    orders.frombytes(answer.orders)
    places = [tuple(orders[3 * each : 3 * each + 3]) for each in range(len(lines))]
    rows = list(zip(lines, places, strict=True))
    changed = change(rows)
    rows = rows if changed is None else changed
    again = array("Q", [number for _, place in rows for number in place])
    return replace(answer, lines=deflated(b"".join(line for line, _ in rows)), orders=again.tobytes())


def said(old: bytes, new: bytes) -> Callable[[UnitAnswer], UnitAnswer]:
    """The first row says something else."""

    def change(rows: list[Any]) -> Any:
        line, place = rows[0]
        assert old in line
        return [(line.replace(old, new), place), *rows[1:]]

    return lambda answer: with_rows(answer, change)


LIES: dict[str, Callable[[UnitAnswer], UnitAnswer]] = {
    "a row too few": lambda answer: with_rows(answer, lambda rows: rows[1:]),
    "no rows": lambda answer: with_rows(answer, lambda rows: []),
    "a row twice": lambda answer: with_rows(answer, lambda rows: [*rows, rows[0]]),
    "a row twice instead of another": lambda answer: with_rows(answer, lambda rows: [*rows[1:], rows[1]]),
    "places exchanged": lambda answer: with_rows(
        answer, lambda rows: [(rows[0][0], rows[1][1]), (rows[1][0], rows[0][1]), *rows[2:]]
    ),
    "places of another unit": lambda answer: with_rows(
        answer, lambda rows: [(line, ((place + 32) % 40, *more)) for line, (place, *more) in rows]
    ),
    "places far away": lambda answer: with_rows(
        answer, lambda rows: [(line, (1 << 62, 0, 0)) for line, _ in rows]
    ),
    "another form": lambda answer: with_rows(
        answer, lambda rows: [(line, (at[0], 7, 0)) for line, at in rows]
    ),
    "another repeat": lambda answer: with_rows(
        answer, lambda rows: [(line, (at[0], 0, 1)) for line, at in rows]
    ),
    "another verdict": said(b'"verdict":"pass"', b'"verdict":"perfect"'),
    "another case": said(b'"case":"', b'"case":"x'),
    "no JSON": said(b"{", b"[{"),
    "space": said(b'"case":', b'"case": '),
    "a key twice": said(b'"family":', b'"verdict":"pass","family":'),
    "a list for a text": said(b'"verdict":"pass"', b'"verdict":["pass"]'),
    "seconds that are none": said(b'"seconds":', b'"seconds":"","x":'),
    "another family": said(b'"family":"cover"', b'"family":"invalid"'),
    "lines cut off": lambda answer: replace(answer, lines=answer.lines[:-9]),
    "lines that are none": lambda answer: replace(answer, lines=b"garbage"),
    "lines with more behind": lambda answer: replace(answer, lines=answer.lines + b"x"),
    "orders cut off": lambda answer: replace(answer, orders=answer.orders[:-1]),
    "time that is none": lambda answer: replace(answer, seconds=-1.0),
    "time without end": lambda answer: replace(answer, seconds=1e300),
    "a file that is another": lambda answer: replace(answer, outputs={"0" * 64 + ".bin": b"x"}),
    "a file elsewhere": lambda answer: replace(answer, outputs={"../../x": b"x"}),
    "a machine without a name": lambda answer: replace(answer, machine={}),
    "a machine of no kind": lambda answer: replace(answer, machine={**answer.machine, "features": 7}),
    "an end that is none": lambda answer: replace(answer, stopped=("max_failures", "enough")),
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_rows_that_are_not_those_of_the_unit(cluster: Cluster, suite: Path, tmp_path: Path, lie: str) -> None:
    path = tmp_path / "run.jsonl"
    number = 1 if lie != "places of another unit" else 0
    changed = Answering(
        cluster,
        lambda at, answer: LIES[lie](answer) if at == number and isinstance(answer, UnitAnswer) else answer,
    )
    # The first answer is to the question how the run begins, and has its own count.
    with pytest.raises(UserError, match="does not fit the request") as caught:
        run(changed, suite, path)
    assert "machine " in str(caught.value)
    kept = read_record(path)
    assert kept.partial
    assert all(row.verdict == "pass" for row in kept.results)
    assert len({row.case for row in kept.results}) == len(kept.results)


HEADERS: dict[str, Callable[[Begun], Begun]] = {
    "no header": lambda begun: replace(begun, header={}),
    "another suite": lambda begun: replace(begun, header={**begun.header, "suite": "0" * 64}),
    "other options": lambda begun: replace(begun, header={**begun.header, "options": {}}),
    "no runtime": lambda begun: replace(begun, header={**begun.header, "runtime": None}),
    "another runtime": lambda begun: replace(begun, runtime={**begun.runtime, "name": "other"}),
    "a machine without a name": lambda begun: replace(begun, machine={}),
    "no forms": lambda begun: replace(begun, forms=()),
    "threads": lambda begun: replace(begun, threads=-1),
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", HEADERS)
def test_headers_that_are_not_of_the_run(cluster: Cluster, suite: Path, tmp_path: Path, lie: str) -> None:
    changed = Answering(
        cluster, lambda _, answer: HEADERS[lie](answer) if isinstance(answer, Begun) else answer
    )
    with pytest.raises(UserError, match="does not fit the request"):
        run(changed, suite, tmp_path / "run.jsonl")
    assert not (tmp_path / "run.jsonl").exists()


@pytest.mark.parametrize("found", [0, 99, 10**30])
def test_opsets_that_there_are_not(cluster: Cluster, found: int) -> None:
    changed = Answering(cluster, lambda *_: found)
    with pytest.raises(UserError, match="does not fit the request"):
        newest_opset_on(changed, find_runtime(echo_runtime()), None, 1, 26)


def test_little_that_comes_to_much_is_not_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zlib.compress(bytes(100_000_000), 9)
    with pytest.raises(ValueError, match="more than 1000 of them"):
        inflated(bomb, 1000)
    monkeypatch.setattr(run_units, "_MOST_LINES", 1000)
    with pytest.raises(ValueError, match="more than 1000 of them"):
        list(UnitAnswer({}, {}, bomb, b"", 0.0).rows())
    assert inflated(deflated(b"x" * 1000), 1000) == b"x" * 1000

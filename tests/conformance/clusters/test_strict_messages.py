"""What comes of a cluster runs no code here: not from a worker, and not from a scheduler."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from distributed.comm.utils import from_frames
from distributed.core import Status
from distributed.protocol import Serialize, ToPickle, dumps, to_serialize

from conformance.clusters.strict_messages import (
    UNREAD,
    Unpicklable,
    read_message,
    reading_strictly,
    texts_of_pickle,
)
from tests.conformance.clusters.services import Services

BOMBS = Path(__file__).with_name("bombs.py")
_CLIENT = """
import sys
from conformance.clusters import connecting
from conformance.clusters.worker_answers import machine_here
from conformance.clusters.run_worker import newest_opset
from conformance.clusters.run_units import ToldRuntime
from conformance.runtimes.runtimes import find_runtime
from tests.conformance.samples import echo_runtime
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.file_digests import project_digest

try:
    with connecting.open_cluster(sys.argv[1], print) as cluster:
        told = ToldRuntime.of(find_runtime(echo_runtime()), None)
        for _ in range(3):
            print("answer", cluster.ask(newest_opset, project_digest(), told, 1, 99))
except OpcertError as error:
    print(type(error).__name__, error)
"""
_TRUSTING = """
import sys, time, distributed, logging
from conformance.clusters.worker_answers import answer_in_bytes
logging.disable(logging.CRITICAL)
with distributed.Client(sys.argv[1], timeout=10) as client:
    for call in (
        lambda: client.run(len, "x", on_error="return"),
        lambda: client.submit(len, "x").result(timeout=20),
        lambda: client.submit(answer_in_bytes, len, "x", "y").result(timeout=20),
    ):
        try:
            print(call())
        except Exception as error:
            print(type(error))
    time.sleep(2)
"""
_BYTES = {"serializer": "dask", "type": "bytes"}


class Bomb:
    """Executes itself where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return Path.touch, (self.marker,)


@pytest.fixture
def bomb(tmp_path: Path) -> Bomb:
    return Bomb(tmp_path / "exploded")


def read(message: Any) -> Any:
    """As a client reads it: the frames of a message go through Dask's own reader."""
    frames = [bytes(dump) for dump in dumps(message)]

    async def reading() -> Any:
        return await from_frames(frames)

    with reading_strictly():
        return asyncio.run(reading())


def test_plain_messages_and_bytes_are_read() -> None:
    raw = os.urandom(100_000)
    message = {
        "op": "x",
        "numbers": (1, 2.5, None, True),
        "raw": b"r",
        "set": {1, 2},
        "data": to_serialize(raw),
    }
    assert read(message) == {**message, "data": raw}
    assert read([{"status": "OK", "data": {"k": to_serialize(b"")}}]) == (
        {"status": "OK", "data": {"k": b""}},
    )


@pytest.mark.parametrize("wrap", [ToPickle, to_serialize, Serialize, lambda each: to_serialize([each])])
def test_nothing_is_unpickled_from_a_message(bomb: Bomb, wrap: Any) -> None:
    assert read({"op": "x", "data": wrap(bomb)}) == {"op": "x", "data": UNREAD}
    assert not bomb.marker.exists()


def test_nothing_is_printed_that_others_say() -> None:
    said = [
        {"op": "event", "topic": "print", "event": (0, {"args": ("\x1b[2J",)})},
        {"warning": "\x1b[2J", "x": 1},
    ]
    assert "\x1b" not in repr(read(said))


def test_enumerations_name_no_modules(tmp_path: Path) -> None:
    assert read({"status": Status.running}) == {"status": UNREAD}


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [b""],
        [b"\xc1"],
        [b"\x81\xaeno such frames"],
    ],
)
def test_what_is_no_message_is_refused(frames: list[bytes]) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - msgpack has errors of its own
        read_message(frames)
    assert not isinstance(caught.value, MemoryError)


@pytest.mark.parametrize(
    "header",
    [{}, {"serializer": "dask"}, {"serializer": "pickle"}, _BYTES]
    + [
        {"serializer": "dask", "type": "builtins.bytes", "num-sub-frames": each}
        for each in (-1, 99, "1", None)
    ],
)
def test_headers_that_lie_are_not_read(header: dict[str, Any]) -> None:
    import msgpack  # type: ignore[import-untyped] # msgpack ships no types

    frames = [msgpack.dumps({"__Serialized__": 1}), msgpack.dumps(header), b"abc"]
    assert read_message(frames) is UNREAD


def test_nothing_is_unpickled_anywhere_while_a_cluster_answers(bomb: Bomb) -> None:
    raw = pickle.dumps(bomb)
    with reading_strictly():
        with pytest.raises(Unpicklable):
            pickle.loads(raw)
        with reading_strictly(), pytest.raises(Unpicklable):
            pickle.loads(pickle.dumps(OSError("x")))
        with pytest.raises(Unpicklable):
            pickle._Unpickler(__import__("io").BytesIO(raw)).load()
        assert pickle.loads(pickle.dumps({"plain": [1, b"x"]})) == {"plain": [1, b"x"]}
    assert not bomb.marker.exists()
    pickle.loads(raw)
    assert bomb.marker.exists()


def a_path() -> Path:
    return Path("a")


def test_own_processes_are_heard(tmp_path: Path) -> None:
    with reading_strictly(), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(a_path).result() == Path("a")


def test_the_texts_of_a_pickle_are_no_code(bomb: Bomb) -> None:
    assert "touch" in " ".join(texts_of_pickle(pickle.dumps(bomb)))
    assert not bomb.marker.exists()
    assert texts_of_pickle(b"no pickle") == texts_of_pickle(b"") == []


@pytest.fixture
def exploded(services: Services, tmp_path: Path) -> Callable[..., tuple[bool, str]]:
    """Starts a scheduler and a worker of which one is hostile, and says what came of a client."""
    markers = tmp_path / "markers"
    markers.mkdir()

    def run(who: str, how: str, code: str = _CLIENT) -> tuple[bool, str]:
        environment = {
            "BOMB": how,
            "MARKERS": str(markers),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        }
        words = ["--preload", str(BOMBS)]
        if not services.started:
            os.environ.update(environment)
            try:
                services.scheduler(words if who == "scheduler" else ())
                services.worker(environment, words if who == "worker" else (), nanny=False)
            finally:
                for each in environment:
                    os.environ.pop(each)
        client = subprocess.Popen(
            [sys.executable, "-c", code, services.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        told, _ = client.communicate(timeout=150)
        return (markers / str(client.pid)).exists(), told

    return run


WORKERS = ["result", "error", "probe", "probe_error", "probe_pickle", "event", "name"]
SCHEDULERS = ["identity", "ncores", "gather", "in_memory", "erred", "reported", "scheduler_error", "register"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("who", "how"),
    [*(("worker", worker) for worker in WORKERS), *(("scheduler", scheduler) for scheduler in SCHEDULERS)],
)
def test_a_hostile_one_runs_no_code_in_the_client(exploded: Any, who: str, how: str) -> None:
    found, told = exploded(who, how)
    assert not found, told
    assert "Traceback" not in told
    assert "InternalError" not in told
    assert "UserError" in told or "answer " in told, told


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("who", "how"),
    [
        *(("worker", each) for each in ("result", "error", "probe", "event")),
        *(("scheduler", each) for each in ("gather", "erred")),
    ],
)
def test_the_same_ones_run_code_in_a_client_that_trusts(exploded: Any, who: str, how: str) -> None:
    """What the tests above hold is not that these bombs are none."""
    found, told = exploded(who, how, _TRUSTING)
    assert found, told

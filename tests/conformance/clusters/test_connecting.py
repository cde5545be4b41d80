"""Whoever cannot be worked with is told so: no scheduler, no engine, no worker, another opcert."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import distributed
import pytest

from conformance.clusters import connecting
from conformance.clusters.cluster import Cluster
from conformance.clusters.connecting import check_workers, open_cluster
from conformance.clusters.worker_answers import kind_of, machine_here
from opcert.vocabulary.errors import UserError
from tests.commands.command_line import call, check_message
from tests.conformance.clusters.services import free_port
from tests.conformance.samples import echo_runtime, make_case, make_suite


def refused(address: str, **options: Any) -> str:
    with pytest.raises(UserError) as caught, open_cluster(address, lambda _: None, **options):
        raise AssertionError("there is none")
    return str(caught.value)


@pytest.mark.parametrize(
    "address", ["", "localhost", "local:", "local:x", "http://a:1", "tcp://", "tcp://a b"]
)
def test_no_address(address: str) -> None:
    told = refused(address)
    assert "not a scheduler" in told
    assert "tcp://HOST:PORT" in told


@pytest.mark.parametrize("address", ["local:0", "local:999"])
def test_no_number_of_workers(address: str) -> None:
    assert "not a number of workers" in refused(address)


def test_without_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    told = refused("tcp://127.0.0.1:1")
    assert "not installed here" in told
    assert "pip install 'opcert[dask]'" in told


def test_nobody_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "CONNECTING", 1.0)
    suite = make_suite(tmp_path, [make_case()])
    address = f"tcp://127.0.0.1:{free_port()}"
    answer = call(
        capsys, "run", echo_runtime(), "-s", suite, "--scheduler", address, "-o", tmp_path / "run.jsonl"
    )
    check_message(answer, 2, "input", "no scheduler of Dask answers there", address, "dask scheduler")
    assert not (tmp_path / "run.jsonl").exists()


def test_no_worker_comes() -> None:
    with distributed.LocalCluster(
        n_workers=0, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
    ) as made:
        told = refused(made.scheduler_address, arriving=0.5)
    assert "no worker has come" in told
    assert f"dask worker {made.scheduler_address}" in told


class Answering:
    """A client whose workers have said this to the probe."""

    def __init__(self, *answers: Any) -> None:
        self._answers = {f"tcp://10.0.0.{number}:1": answer for number, answer in enumerate(answers)}

    def run(self, function: Any, *arguments: Any, on_error: str) -> dict[str, Any]:
        return self._answers


def said(machine: dict[str, Any]) -> bytes:
    return json.dumps({"machine": machine}).encode()


def failed(*error: str) -> bytes:
    return json.dumps({"error": [*error, "it failed"][:3]}).encode()


def complaint(*answers: Any) -> str:
    with pytest.raises(UserError, match="cannot do what this opcert asks") as caught:
        check_workers(Cluster(Answering(*answers), "tcp://10.0.0.9:1", lambda _: None))
    return str(caught.value)


def test_workers_that_have_not_this_opcert_are_named() -> None:
    own = machine_here()
    assert check_workers(Cluster(Answering(said(own), said(own)), "", lambda _: None)) == [own, own]
    missing = failed("ModuleNotFoundError", "conformance")
    older = failed("ModuleNotFoundError", "conformance.clusters")
    told = complaint(said(own), missing, older, said({**own, "name": "node3", "opcert": "0.0.9"}))
    assert "(tcp://10.0.0.0:1)" not in told
    assert "a machine (tcp://10.0.0.1:1): opcert is not installed" in told
    assert "(tcp://10.0.0.2:1): it has an older opcert" in told
    assert "node3 (tcp://10.0.0.3:1): it has opcert 0.0.9" in told
    assert "Install this opcert" in told
    assert "other sources: abc" in complaint(said({**own, "sources": "abc"}))
    assert "it cannot say what it is: OSError: full" in complaint(failed("OSError", "", "full"))
    assert "it cannot say what it is: OSError: full" in complaint(OSError("full"))
    assert "and 3 more" in complaint(*[missing] * 11)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        b"",
        b"[]",
        b"{}",
        b'{"machine":[]}',
        b'{"error":1}',
        b'{"machine":{},"machine":{}}',
        b"[" * 100_000,
        said({**machine_here(), "name": 7}),
        said({**machine_here(), "features": "avx"}),
        said({**machine_here(), "features": ["a"] * 1000}),
        said({**machine_here(), "system": "x" * 100_000}),
    ],
)
def test_what_is_no_machine_is_none(answer: Any) -> None:
    assert "it cannot say what it is" in complaint(answer) or "it has opcert None" in complaint(answer)


def test_a_probe_without_an_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "PROBING", 0.2)

    class Silent(Answering):
        def run(self, *_: Any, **__: Any) -> dict[str, Any]:
            time.sleep(5)
            return {}

    with pytest.raises(UserError, match="have not said what they are within"):
        check_workers(Cluster(Silent(), "tcp://10.0.0.9:1", lambda _: None))


@pytest.mark.parametrize(
    "address",
    [
        *("tcp://10.0.0.9:1", "tcp://node7:8786", "ws://example.org:1", "tcp://[2001:db8::1]:1", "ucx://a:1"),
        *("tcp://127.0.0.1.example.org:1", "tcp://localhost.example.org:1", "tcp://0.0.0.0:1"),
        "tcp://127.0.0.1@example.org:1",
    ],
)
def test_plain_text_beyond_this_machine_is_to_be_said(address: str) -> None:
    told = refused(address)
    assert "nothing says who it is" in told
    assert "tls://HOST:PORT" in told
    assert "--insecure-scheduler" in told


@pytest.mark.parametrize(
    ("address", "insecure"),
    [
        ("tcp://127.0.0.1:1", False),
        ("tcp://localhost:1", False),
        ("tcp://[::1]:1", False),
        ("tcp://127.8.0.1:1", False),
        ("tcp://192.0.2.1:1", True),
    ],
)
def test_this_machine_and_what_is_said_to_be_trusted(
    address: str, insecure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "CONNECTING", 0.2)
    assert "no scheduler of Dask answers there" in refused(address, insecure=insecure)


def test_the_words_of_trust_belong_to_a_scheduler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "CONNECTING", 0.2)
    suite = make_suite(tmp_path, [make_case()])
    words = ["run", echo_runtime(), "-s", suite, "-o", tmp_path / "run.jsonl"]
    far = ["--scheduler", "tcp://192.0.2.1:1"]
    check_message(call(capsys, *words, *far), 2, "input", "nothing says who it is", "--insecure-scheduler")
    answer = call(capsys, *words, *far, "--insecure-scheduler")
    check_message(answer, 2, "input", "no scheduler of Dask answers there")
    answer = call(capsys, *words, "--insecure-scheduler")
    check_message(answer, 2, "input", "says nothing without --scheduler")


def test_what_a_machine_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPCERT_MACHINE", "node 7")
    found = machine_here.__wrapped__()
    assert found["name"] == "node 7"
    assert kind_of(found) == kind_of(machine_here())
    assert kind_of({**found, "features": ["avx"]}) == f"{found['system']} {found['machine']} avx"
    assert kind_of({**found, "machine": "aarch64"}) != kind_of(found)

"""Workers on other machines: what is lost on the way is asked again, and what they did is blamed on them."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.processes.worker_limits import Limits
from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from opcert.vocabulary.errors import RuntimeUnavailable, UserError
from tests.conformance.samples import FAKES, find_processes, make_case, make_suite

pytestmark = pytest.mark.slow

LIMITS = Limits(start_seconds=20, case_seconds=1.0)
CONNECTION = """#!/bin/sh
# The other end is this machine: the last word is what its shell is to run, in a session of its own.
[ -e {broken} ] && echo "connect to host board: No route to host" >&2 && exit 255
for word; do :; done
exec setsid --wait sh -c "$word"
"""


class Server:
    """Says, each time that it is asked, the next of some words; `gone` breaks all connections."""

    def __init__(self, broken: Path) -> None:
        self.words: list[str] = []
        self._broken = broken
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                word = self.words.pop(0) if self.words else "echo"
                if word == "gone":
                    self._broken.touch()
                connection.sendall(word.replace("gone", "cut").encode() + b"\n")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that, while it is there, keeps every new connection from being made."""
    path, programs = tmp_path / "broken", tmp_path / "programs"
    programs.mkdir()
    for name in ("ssh", "adb"):
        program = programs / name
        program.write_text(CONNECTION.format(broken=shlex.quote(str(path))))
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return path


@pytest.fixture
def server(broken: Path) -> Iterator[Server]:
    found = Server(broken)
    yield found
    found.close()


def run(
    folder: Path, server: Server, cases: list[Case], form: str = "ssh://pi@board", limits: Limits = LIMITS
) -> Record:
    program = shlex.join((sys.executable, str(FAKES / "distant_worker.py"), str(server.port)))
    runtime = find_runtime(f"{form}{program}")
    options = RunOptions(limits=limits, jobs=1)
    with open_suite(make_suite(folder, cases)) as suite:
        return run_suite(suite, runtime, folder / "run.jsonl", options)


def verdicts(record: Record) -> list[str]:
    return [result.verdict for result in record.results]


@pytest.mark.parametrize("form", ["ssh://pi@board", "ssh://board:2222", "adb:", "adb:emulator-5554"])
def test_what_the_worker_did_is_told_as_that_of_one_on_this_machine(
    server: Server, tmp_path: Path, form: str
) -> None:
    deeds = ("echo", "SIGSEGV", "exit3", "raise", "echo")
    record = run(tmp_path, server, [make_case(do, seed=place) for place, do in enumerate(deeds)], form)
    found = {result.levels["do"]: (result.verdict, result.reason or "") for result in record.results}
    assert found["echo"] == ("pass", "")
    assert found["SIGSEGV"] == ("crash", "killed by SIGSEGV at run")
    assert found["exit3"] == ("crash", "exited with status 3 at run")
    assert verdicts(record).count("pass") == 3
    confinement = record.header["confinement"]
    assert confinement["network"] == "reachable"
    assert "it runs on another machine" in confinement["expected_reason"]


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (["cut"], "pass"),
        (["cut", "cut"], "pass"),
        (["cut", "cut", "cut"], "harness_error"),
        (["hang"], "pass"),
        (["hang", "hang"], "timeout"),
        (["cut", "SIGABRT"], "crash"),
        (["cut", "hang"], "pass"),
        (["hang", "cut", "cut"], "pass"),
    ],
)
def test_a_connection_that_ends_is_nobodys_fault(
    server: Server, tmp_path: Path, words: list[str], verdict: str
) -> None:
    server.words = words
    record = run(tmp_path, server, [make_case(seed=1), make_case("asks", seed=2), make_case(seed=3)])
    assert sorted(verdicts(record)) == sorted(["pass", verdict, "pass"])
    assert "unload_crash" not in {fault["kind"] for fault in record.faults}
    if verdict == "harness_error":
        (reason,) = [result.reason for result in record.results if result.reason]
        assert reason == "the connection to pi@board ended 3 times while the case ran"


def test_a_machine_that_goes_away_ends_the_run_and_what_is_left_can_be_run_later(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.running.lane._LONGER", (0.1, 0.1))
    server.words = ["echo", "gone"]
    cases = [make_case("asks", seed=place) for place in range(6)]
    record = run(tmp_path, server, cases)
    stopped = record.footer["stopped"] if record.footer else None
    assert stopped is not None
    assert "a new worker could not be started" in stopped["reason"]
    assert verdicts(record).count("pass") == 1
    assert set(verdicts(record)) <= {"pass", "not_run"}


def test_a_machine_that_is_out_of_reach_is_told_at_once(broken: Path, server: Server, tmp_path: Path) -> None:
    broken.touch()
    with pytest.raises(RuntimeUnavailable) as caught:
        run(tmp_path, server, [make_case()])
    assert "the connection to pi@board ended" in str(caught.value)
    assert "No route to host" in str(caught.value)


def test_who_waits_for_its_device_has_the_time_that_it_names(server: Server, tmp_path: Path) -> None:
    server.words = ["wait 2"]
    assert verdicts(run(tmp_path, server, [make_case("asks")])) == ["pass"]


@pytest.mark.parametrize(("word", "part"), [("wait -1", "a wait of -1.0 seconds"), ("wait nan", "NaN")])
def test_no_wait_is_without_end(server: Server, tmp_path: Path, word: str, part: str) -> None:
    server.words = [word]
    record = run(tmp_path, server, [make_case("asks")])
    assert verdicts(record) == ["crash"]
    assert part in str(record.results[0].reason)


def test_a_worker_that_hangs_does_not_stay_behind(server: Server, tmp_path: Path) -> None:
    server.words = ["hang", "hang"]
    run(tmp_path, server, [make_case("asks")])
    end = time.monotonic() + 5
    while find_processes(str(server.port)) and time.monotonic() < end:
        time.sleep(0.05)
    assert find_processes(str(server.port)) == []


def test_loading_may_take_longer_than_running(server: Server, tmp_path: Path) -> None:
    deeds = [make_case("asks"), make_case("load_sleep")]
    record = run(tmp_path, server, deeds, limits=replace(LIMITS, case_seconds=5.0, load_seconds=1.0))
    found = {result.levels["do"]: result for result in record.results}
    assert found["asks"].verdict == "pass"
    assert found["load_sleep"].reason == "no answer to load within 1 s"
    assert record.header["options"]["load_timeout"] == 1.0


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ssh://board", "not a program on another machine"),
        ("ssh://-oProxyCommand=x/worker", "not a program on another machine"),
        ("ssh://pi@board:port/worker", "ssh://[USER@]HOST[:PORT]/COMMAND"),
        ("adb:-x/worker", "adb:[SERIAL]/COMMAND"),
    ],
)
def test_wrong_names(broken: Path, text: str, part: str) -> None:
    with pytest.raises(UserError) as caught:
        find_runtime(text)
    assert part in str(caught.value)


def test_the_program_that_connects_must_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("adb") is None
    with pytest.raises(UserError, match="there is no adb on this machine"):
        find_runtime("adb:/data/local/tmp/worker")

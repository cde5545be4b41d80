"""What a worker can reach: its own folders, three pipes and its own loopback device."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.processes.confinement import read_report, start_confined, worker_environment
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import Launch, WorkerProcess
from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from tests.commands.command_line import heed_signals
from tests.conformance.samples import FAKES, echo_runtime, find_processes, make_case, make_suite

CLOSES_USER_NAMESPACES = ["unshare", "--user", "--map-root-user", "sh", "-c",
                          'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"]  # fmt: skip


ENDS = [
    "import os; os.abort()",
    "import os; os.kill(os.getpid(), 11)",
    "raise SystemExit(7)",
    "import os; os.kill(os.getpid(), 9)",
    "import ctypes; ctypes.string_at(0)",
]
CONFINED = {
    "network": "cut off",
    "reason": None,
    "files": "written in its own folder alone",
    "files_reason": None,
    "processes": "its own alone",
    "processes_reason": None,
    "expected": "hidden",
    "expected_reason": None,
}


def can_cut() -> bool:
    words = ["unshare", "--user", "--net", "true"]
    return shutil.which("unshare") is not None and not subprocess.run(words, check=False).returncode


needs_namespaces = pytest.mark.skipif(not can_cut(), reason="this system grants no user namespaces")


def ask(folder: Path, do: str, mode: str = "", fake: str = "rogue_worker.py", **limits: Any) -> Record:
    runtime = find_runtime(echo_runtime(mode, fake))
    with open_suite(make_suite(folder, [make_case(do)])) as suite:
        return run_suite(suite, runtime, folder / "run.jsonl", RunOptions(limits=Limits(**limits)))


def message(record: Record) -> str:
    return record.results[0].message or ""


@pytest.fixture
def port() -> Iterator[str]:
    """A port of this machine on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


@needs_namespaces
def test_a_worker_reaches_itself_and_nobody_else(tmp_path: Path, port: str) -> None:
    record = ask(tmp_path, "network", port)
    assert message(record) == f"reached=own devices=lo user={os.geteuid()}"
    assert record.header["confinement"] == CONFINED


def test_a_worker_reaches_the_network_where_that_is_asked_for(tmp_path: Path, port: str) -> None:
    record = ask(tmp_path, "network", port, network=True)
    assert "reached=own,caller" in message(record)
    told = record.header["confinement"]
    assert (told["network"], told["reason"]) == ("reachable", "it was asked for")
    if can_cut():
        assert told == {**CONFINED, "network": "reachable", "reason": "it was asked for"}


@pytest.mark.slow
@needs_namespaces
def test_where_no_user_namespace_can_be_had_the_record_says_so(tmp_path: Path, port: str) -> None:
    suite = make_suite(tmp_path, [make_case("network")])
    command = [sys.executable, "-m", "opcert", "run", echo_runtime(port, "rogue_worker.py"), "-s", str(suite),
               "-o", str(tmp_path / "run.jsonl")]  # fmt: skip
    done = subprocess.run([*CLOSES_USER_NAMESPACES, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    header, row = (tmp_path / "run.jsonl").read_text().splitlines()[:2]
    told = json.loads(header)["confinement"]
    assert told["network"] == "reachable"
    assert told["reason"].startswith("no user namespace can be had: No space left")
    assert (told["files"], told["processes"]) == ("as the caller", "as the caller")
    assert told["files_reason"].startswith("No space left")
    assert told["expected"] == "could be read"
    assert told["expected_reason"].startswith("No space left")
    assert "reached=own,caller" in row


def look(do: str, folder: Path, mode: str) -> dict[str, str]:
    """What the worker told, in words of `name=value`."""
    record = ask(folder, do, mode)
    assert record.results[0].response == "refused", record.results[0]
    return dict(word.split("=", 1) for word in message(record).removeprefix("RuntimeError: ").split(" "))


@needs_namespaces
def test_a_worker_writes_in_its_own_folder_alone(tmp_path: Path) -> None:
    """Neither the caller's files, nor the record of its own run, nor where it lies itself."""
    victim = tmp_path / "victim"
    victim.write_text("unharmed")
    told = look("writes", tmp_path, str(tmp_path))
    assert told["own"] == "home,temporary,work,shm"
    assert told["others"] == ""
    assert victim.read_text() == "unharmed"
    assert not list(tmp_path.glob("made-*"))
    assert not (Path.home() / "made-by-a-worker").exists()


@needs_namespaces
def test_a_worker_cannot_take_back_what_it_gave_up(tmp_path: Path) -> None:
    """Whoever is root remounts nothing, and finds no way back in a user namespace of its own."""
    told = look("remounts", tmp_path, str(tmp_path))
    assert told == {"remounted": "", "capabilities": "0000000000000000"}
    assert not list(tmp_path.glob("made-*"))


@needs_namespaces
def test_a_worker_sees_and_kills_its_own_processes_alone(tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        told = look("kills", tmp_path, f"{bystander.pid},{os.getpid()}")
        assert told == {"killed": "", "seen": "1,2", "harness": "hidden", "first": "closed"}
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@needs_namespaces
@pytest.mark.parametrize("code", ENDS)
def test_a_worker_ends_as_it_would_by_itself(tmp_path: Path, code: str) -> None:
    (tmp_path / "work").mkdir()
    process, report = start_confined([sys.executable, "-c", code], tmp_path, {}, network=False)
    assert read_report(report) == {}
    os.close(report)
    process.communicate()
    bare = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert process.returncode == bare.returncode


@needs_namespaces
def test_nothing_of_a_worker_is_left_when_it_is_killed(tmp_path: Path) -> None:
    marker = uuid.uuid4().hex
    launch = Launch((sys.executable, str(FAKES / "rogue_worker.py"), marker))
    worker = WorkerProcess(launch, Limits())
    worker.send({"type": "hello", "id": 0, "protocol": 1})
    worker.receive(0, 20, time.monotonic() + 20)
    assert len(find_processes(marker)) == 1
    loaded = {loaded_file.name for loaded_file in worker.loaded_files()}
    assert any("python" in each for each in loaded)
    worker.kill()
    wait_until(lambda: not find_processes(marker))


STARTS = """
import sys
from pathlib import Path
from conformance.processes.confinement import read_report, start_confined
folder = Path(sys.argv[1])
code = "import sys; open(sys.argv[1], 'w')"
command = [sys.executable, "-c", code, str(folder / "made")]
process, report = start_confined(command, folder / "own", {}, network=False)
print(read_report(report), process.wait())
"""


@needs_namespaces
def test_where_proc_cannot_be_mounted_the_report_says_so(tmp_path: Path) -> None:
    """As in containers that hide parts of /proc: the rest is there all the same."""
    (tmp_path / "own" / "work").mkdir(parents=True)
    hides = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             'mount -t tmpfs none /proc/sys && exec "$@"', "sh"]  # fmt: skip
    command = [*hides, sys.executable, "-c", STARTS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{'processes': '/proc cannot be mounted: "), done.stderr
    assert "'files'" not in done.stdout
    assert done.stdout.rstrip().endswith(" 1")
    assert not (tmp_path / "made").exists()


def test_a_worker_has_three_pipes_and_nothing_else(tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        found = dict(line.split("=", 1) for line in message(ask(tmp_path, "descriptors")).splitlines())
    null = found.pop("0")
    assert null == os.devnull  # the worker's own doing: its requests come through a duplicate
    assert len(found) == 4
    assert all(each.startswith("pipe:") for each in found.values())
    assert found["1"] == found["2"]
    assert len(set(found.values())) == 3


def test_the_environment_is_the_stated_list(repository: Path, tmp_path: Path) -> None:
    environment = worker_environment(tmp_path, sys.executable, {})
    page = (repository / "docs" / "your-runtime.md").read_text("utf-8")
    listed = page.split("| variable |")[1].split("\n\n")[0]
    names = [line.split("`")[1] for line in listed.splitlines() if line.startswith("| `")]
    assert sorted({*names} - {"LD_LIBRARY_PATH", "PYTHONPATH"}) == sorted(
        {*environment} - {"LD_LIBRARY_PATH"}
    )


def test_the_path_of_modules_is_for_backends_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert find_runtime("module:Backend").environment == {"PYTHONPATH": str(tmp_path)}
    for text in (echo_runtime(), "onnxruntime", "openvino"):
        assert "PYTHONPATH" not in find_runtime(text).environment


def test_nothing_that_a_worker_writes_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    record = ask(tmp_path, "environment", fake="echo_worker.py")
    told = dict(line.partition("=")[::2] for line in message(record).splitlines())
    assert Path(told["HOME"]).is_relative_to(temporary)
    assert Path(told["TMPDIR"]).is_relative_to(temporary)
    assert not list(home.iterdir())
    assert not list(temporary.iterdir())


def start(folder: Path, *code: str) -> subprocess.Popen[bytes]:
    process, report = start_confined([sys.executable, "-c", *code], folder, {}, network=True)
    read_report(report)  # until it is there
    os.close(report)
    return process


def test_a_worker_leaves_no_core_file_and_gains_no_privileges(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    process = start(tmp_path, "print(open('/proc/self/limits').read(), open('/proc/self/status').read())")
    out, _ = process.communicate()
    assert b"Max core file size        0                    0" in out
    assert b"NoNewPrivs:\t1" in out


def test_a_program_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    program = tmp_path / "program"
    with pytest.raises(OSError, match="no program that can be run"):
        start_confined([str(program)], tmp_path, {}, network=True)
    program.write_bytes(b"\0\0\0\0")
    program.chmod(0o700)
    process, report = start_confined([str(program)], tmp_path, {}, network=True)
    os.close(report)
    _, err = process.communicate()
    assert (process.returncode, err) == (127, f"{program} cannot be run: Exec format error\n".encode())


def test_a_worker_outlives_the_thread_that_asked_for_it() -> None:
    launch = Launch((sys.executable, str(FAKES / "rogue_worker.py")))
    made: list[WorkerProcess] = []
    thread = threading.Thread(target=lambda: made.append(WorkerProcess(launch, Limits())))
    thread.start()
    thread.join()
    (worker,) = made
    worker.send({"type": "hello", "id": 0, "protocol": 1})
    assert worker.receive(0, 20, time.monotonic() + 20).header["runtime"]["name"] == "rogue"
    worker.kill()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_hanging_worker_does_not_outlive_a_harness_that_is_killed(tmp_path: Path, jobs: str) -> None:
    suite = make_suite(tmp_path, [make_case("native_hang", seed=each) for each in range(40)])
    marker = uuid.uuid4().hex
    worker = f"exec:{sys.executable} {FAKES / 'rogue_worker.py'} {marker}-"
    command = [
        sys.executable,
        "-m",
        "opcert",
        "run",
        worker,
        "-s",
        str(suite),
        "-j",
        jobs,
        "-o",
        str(tmp_path / "run.jsonl"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=heed_signals)
    wait_until(lambda: len(find_processes(f"{marker}-")) == int(jobs))
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not find_processes(f"{marker}-"))


def wait_until(holds: Any) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)

"""Folders for a while: they go with their makers, or with the next one, and nobody else's ever goes."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.processes.scratch_folders import (
    make_scratch_folder,
    remove_folder,
    remove_leftovers,
    scratch_folder,
)
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import Launch, WorkerProcess
from tests.commands.command_line import heed_signals
from tests.commands.test_output_locks import wait_until
from tests.conformance.samples import echo_runtime, find_processes, make_case, make_suite

pytestmark = pytest.mark.slow

NAME = "opcert-scratch-worker-abcdefgh"


def start_opcert(temporary: Path, *words: object, **more: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "opcert", *map(str, words)]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(
        command, stderr=subprocess.DEVNULL, env=environment, preexec_fn=heed_signals, **more
    )


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("jobs", [3, pytest.param(1, marks=pytest.mark.nightly)])
def test_what_a_killed_run_leaves_goes_with_the_next(tmp_path: Path, temporary: Path, jobs: int) -> None:
    """The killed run's workers had children in sessions of their own, which hold on to their folders."""
    mark = uuid.uuid4().hex
    suite = make_suite(tmp_path, [make_case("leave_children", seed=seed) for seed in range(9)])
    runtime = echo_runtime(mark, "family_worker.py")
    run = ("run", runtime, "-s", suite, "-j", jobs, "-o", tmp_path / "run.jsonl")
    process = start_opcert(temporary, *run)
    wait_until(lambda: len(find_processes(f"child-of-{mark}")) == 3 * jobs)
    left = {path.name for path in temporary.iterdir()}
    assert len(left) == jobs
    process.kill()
    process.wait()
    wait_until(lambda: not find_processes(mark))
    (tmp_path / "next").mkdir()
    suite = make_suite(tmp_path / "next", [make_case()])
    assert start_opcert(temporary, "run", runtime, "-s", suite, "-o", tmp_path / "2.jsonl").wait() == 0
    assert not list(temporary.iterdir())
    assert not find_processes(f"child-of-{mark}")


def test_who_kills_a_worker_that_another_kills_waits_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def dawdle(_: str) -> None:
        reached.set()
        go_on.wait(60)

    monkeypatch.setattr("conformance.processes.worker_process.kill_left_behind", dawdle)
    worker = WorkerProcess(Launch((sys.executable, "-c", "input()")), Limits())
    folder = worker._folder.path
    threads = [threading.Thread(target=worker.kill) for _ in range(2)]
    threads[0].start()
    reached.wait(60)
    threads[1].start()
    threads[1].join(0.2)
    assert threads[1].is_alive()
    go_on.set()
    threads[1].join()
    assert not folder.exists()


def test_what_an_interrupt_leaves_undone_of_a_kill_is_done_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.processes.worker_process.kill_left_behind", interrupt)
    worker = WorkerProcess(Launch((sys.executable, "-c", "input()")), Limits())
    with pytest.raises(KeyboardInterrupt):
        worker.kill()
    assert worker._folder.path.exists()
    worker.kill()
    assert not worker._folder.path.exists()


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        *(pytest.param(each, marks=pytest.mark.nightly) for each in (signal.SIGHUP, signal.SIGINT)),
    ],
)
def test_a_run_that_is_ended_leaves_nothing(tmp_path: Path, temporary: Path, number: int) -> None:
    mark = uuid.uuid4().hex
    suite = make_suite(tmp_path, [make_case("leave_children", seed=seed) for seed in range(9)])
    runtime = echo_runtime(mark, "family_worker.py")
    process = start_opcert(
        temporary, "run", runtime, "-s", suite, "-j", 2, "-o", tmp_path / "out" / "run.jsonl"
    )
    wait_until(lambda: len(find_processes(f"child-of-{mark}")) == 6)
    process.send_signal(number)
    assert process.wait() == 130
    assert not list(temporary.iterdir())
    assert not find_processes(f"child-of-{mark}")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run.jsonl"]


@pytest.mark.nightly
def test_another_live_run_is_left_alone(tmp_path: Path, temporary: Path) -> None:
    go = tmp_path / "go"
    suite = make_suite(tmp_path, [make_case("wait")])
    runtime = echo_runtime(str(go), "family_worker.py")
    live = start_opcert(temporary, "run", runtime, "-s", suite, "-o", tmp_path / "1.jsonl")
    wait_until(lambda: (tmp_path / "1.jsonl").exists())
    before = sorted(temporary.rglob("*"))
    assert before
    go.touch()
    runtime = echo_runtime("", "family_worker.py")
    (tmp_path / "other").mkdir()
    suite = make_suite(tmp_path / "other", [make_case()])
    assert start_opcert(temporary, "run", runtime, "-s", suite, "-o", tmp_path / "2.jsonl").wait() == 0
    assert live.wait() == 0
    assert not list(temporary.iterdir())


@pytest.mark.nightly
def test_a_killed_generate_leaves_nothing_for_ever(tmp_path: Path, temporary: Path) -> None:
    """Whatever it was at: in the folder of temporary files, beside the suite, or in the cache."""
    left = [tmp_path / "out" / f".{NAME}", temporary / NAME]
    for path in left:
        (path / "suite").mkdir(parents=True)
    assert start_opcert(temporary, "generate", "Pad-1", "--size", "small", "-o", tmp_path / "out" / "suite",
                        stdout=subprocess.DEVNULL).wait() == 0  # fmt: skip
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["suite"]


def test_only_folders_of_ours_that_nobody_holds_are_removed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (victim / "inner").mkdir(parents=True)
    kept = [
        "opcert-scratch-worker-abcdefg",
        "opcert-scratch-worker-abcdefgh-more",
        "opcert-worker-abcdefgh",
        "opcert-scratch--abcdefgh",
    ]
    for name in kept:
        (tmp_path / name).mkdir()
    (tmp_path / NAME).mkdir()
    (tmp_path / "opcert-scratch-worker-file0000").write_text("a file")
    (tmp_path / "opcert-scratch-worker-link0000").symlink_to(victim)
    os.mkfifo(tmp_path / "opcert-scratch-worker-fifo0000")
    held = make_scratch_folder("worker", tmp_path)
    assert not (tmp_path / NAME).exists()
    remove_leftovers(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    others = {
        "opcert-scratch-worker-file0000",
        "opcert-scratch-worker-link0000",
        "opcert-scratch-worker-fifo0000",
    }
    assert names == {*kept, *others, "victim", held.path.name}
    assert (victim / "inner").is_dir()
    held.remove()
    assert not held.path.exists()


def test_another_users_folder_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME).chmod(0o500)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    remove_leftovers(tmp_path)
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o500


def test_a_folder_that_is_removed_before_it_is_held_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may take a folder for one that was left behind while no lock is on it."""
    real = tempfile.mkdtemp
    made: list[str] = []

    def steal(**words: Any) -> str:
        path = str(real(**words))
        made.append(path)
        if len(made) == 1:
            Path(path).rmdir()
        if len(made) == 2:
            holders.append(os.open(path, os.O_RDONLY))
            fcntl.flock(holders[0], fcntl.LOCK_EX)
        return path

    holders: list[int] = []
    monkeypatch.setattr(tempfile, "mkdtemp", steal)
    with scratch_folder("worker", tmp_path) as path:
        assert [str(path)] == made[2:]
    os.close(holders[0])


def test_many_make_and_remove_at_the_same_time(tmp_path: Path) -> None:
    """No folder that is held is ever taken away, and nothing is left."""
    lost: list[Path] = []

    def work() -> None:
        for _ in range(60):
            remove_leftovers(tmp_path)
            with scratch_folder("worker", tmp_path) as path:
                try:
                    (path / "file").write_text("x")
                    remove_leftovers(tmp_path)
                    (path / "file").read_text()
                except OSError:
                    lost.append(path)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not lost
    remove_leftovers(tmp_path)
    assert not list(tmp_path.iterdir())


def chain(folder: Path, depth: int) -> Path:
    """A folder with so many folders inside each other, deeper than Python recurses."""
    folder.mkdir()
    code = (
        "import os, sys\nfor each in range(int(sys.argv[1])): os.mkdir('d'); os.chdir('d')\nopen('file', 'w')"
    )
    subprocess.run([sys.executable, "-c", code, str(depth)], cwd=folder, check=True)
    return folder


def test_no_depth_is_too_much(tmp_path: Path) -> None:
    folder = chain(tmp_path / "folder", 1500)
    remove_folder(folder)
    assert not folder.exists()


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """As a user who may not read what has no rights: root becomes somebody else, in this process."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_without_rights_goes_all_the_same(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    outside = Path(tempfile.mkdtemp(dir="/tmp"))
    outside.chmod(0o755)
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o777)
    try:
        request.getfixturevalue("unprivileged")
        folder = place / NAME
        deep = folder / "home" / "a" / "b"
        deep.mkdir(parents=True)
        (deep / "file").write_text("x")
        (deep / "out").symlink_to(outside)
        (folder / "out").symlink_to(outside)
        for path in (deep, deep.parent, folder / "home", folder):
            path.chmod(0)
        remove_leftovers(place)
        assert not folder.exists()
        assert outside.stat().st_mode & 0o777 == 0o755
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        shutil.rmtree(outside)
        shutil.rmtree(place)


def test_what_cannot_be_removed_keeps_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder" / "a" / "b").mkdir(parents=True)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    for name in ("unlink", "rmdir", "rename"):
        monkeypatch.setattr(os, name, refuse)
    remove_folder(tmp_path / "folder")
    remove_folder(tmp_path / "nowhere")
    monkeypatch.undo()
    assert (tmp_path / "folder" / "a" / "b").is_dir()

"""Suites are made one process after the other, and who waits is told for whom."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

from conformance.suite import kept_parts, store
from conformance.suite.kept_suites import suite_made_of, suites_folder
from opcert.vocabulary import file_locks
from opcert.vocabulary.names import OperatorName

HOLDER = """
import sys
from conformance.suite.kept_suites import suite_made_of
def write(path):
    print("held", flush=True)
    sys.stdin.readline()
    path.mkdir()
    return "0" * 64
suite_made_of("the sources", sys.argv[1], "", print, write)
print("let go", flush=True)
"""


def made_here(path: Path) -> str:
    (path / "nothing").parent.mkdir()
    return "1" * 64


def lock_file() -> Path:
    """The lock that is held, of which there is one."""
    (found,) = (suites_folder() / "of-sources").glob("*.lock")
    return found


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@contextmanager
def held(what: str, code: str = HOLDER) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until it is told to let go."""
    with subprocess.Popen(
        [sys.executable, "-c", code, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def let_go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def told_while_waiting(process: subprocess.Popen[str]) -> list[str]:
    """What is told to who waits for a process, which lets go when something is."""
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        let_go(process)

    suite_made_of("the sources", "another suite", "", tell, made_here)
    return told


def test_who_waits_is_told_for_whom_and_goes_on_afterwards() -> None:
    with held("the default suite") as process:
        lock = lock_file()
        told = told_while_waiting(process)
    assert told == [f"waiting for process {process.pid}, which makes the default suite and holds {lock}"]


def test_nobody_is_told_where_the_lock_is_free_or_its_holder_was_killed() -> None:
    told: list[str] = []
    suite_made_of("others", "the first", "", told.append, made_here)
    with held("what is never made") as process:
        process.kill()
        process.wait()
        suite_made_of("the sources", "the second", "", told.append, made_here)
    assert told == []


@pytest.mark.parametrize("text", ["", "[", "[]", '{"process": "x", "what": 1}', "\x1b[31m"])
def test_a_lock_that_says_nothing_of_its_holder(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_locks, "PATIENCE", 0.0)
    with held("the default suite") as process:
        lock_file().write_text(text)
        told = told_while_waiting(process)
    assert told[0].startswith("waiting for another process, which makes another suite and holds ")


def test_what_the_holder_says_of_itself_is_one_harmless_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_locks, "PATIENCE", 0.0)
    with held("a\nsuite\x1b[31m") as process:
        told = told_while_waiting(process)
    assert "\n" not in told[0]
    assert "\x1b" not in told[0]


PART_HOLDER = """
import multiprocessing, sys
from conformance.suite.kept_parts import one_maker
from opcert.vocabulary.names import OperatorName
with one_maker(OperatorName.parse("ai.onnx::Pad-25"), "0" * 64):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("same", [False, True])
def test_who_waits_for_a_part_is_told_for_whom_unless_both_work_for_one(
    same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator, key, told = OperatorName.parse("ai.onnx::Pad-25"), "0" * 64, list[str]()
    monkeypatch.setattr(file_locks, "PATIENCE", 0.2)
    with held("", PART_HOLDER) as process:
        monkeypatch.setattr(store, "main_process", lambda: process.pid if same else 1)
        lets_go = Timer(1.0, let_go, [process])
        lets_go.start()
        with kept_parts.one_maker(operator, key, told.append):
            assert process.wait() == 0
        lets_go.join()
    lock = kept_parts.parts_of(operator).folder / f"{key}.lock"
    wanted = f"waiting for process {process.pid}, which makes the cases of {operator} and holds {lock}"
    assert told == ([] if same else [wanted])

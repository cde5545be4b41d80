"""A clock that is set while commands run changes no verdict; how long a thing takes is never asked of it."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.samples import echo_runtime, make_case, make_suite

PACKAGES = ("opcert", "specs", "reference", "generator", "conformance", "reports")
WALL = {
    "conformance/recording/records.py": "when a run began, went on and ended is told",
    "generator/making/suites/part_making.py": "times of files are of that clock, which may have been set",
    "opcert/commands/baseline_options.py": "the day on which an entry of a baseline ends",
    "opcert/commands/profile_argument.py": "the day on which a waiver ends",
    "opcert/vocabulary/file_locks.py": "since when another command works there is told",
    "opcert/commands/verify_command.py": "the day on which waivers end, and before which one is issued",
    "reports/certificates/certificate.py": "the day on which it is issued",
    "reports/gates/baseline.py": "the day on which waivers and entries end",
}
"""Who asks for the time of day, and what for."""
NAMES = {
    ("time", "time"),
    ("time", "time_ns"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("date", "today"),
}
_WORDS = re.compile(r"\b(import time|from time|datetime)\b")
_JUMPING = """
import datetime, os, time
_OFFSETS = [int(each) for each in os.environ["JUMPS"].split()]
_RECORD = os.environ.get("RIGHT_WITH_ROWS_OF")
_asked, _time, _plain = 0, time.time, datetime.datetime
def _offset():
    global _asked
    _asked += 1
    if _RECORD and os.path.exists(_RECORD) and len(open(_RECORD).readlines()) > 1:
        return 0
    return _OFFSETS[_asked % len(_OFFSETS)]
class datetime_that_jumps(_plain):
    @classmethod
    def now(cls, tz=None):
        return _plain.now(tz) + datetime.timedelta(seconds=_offset())
datetime.datetime = datetime_that_jumps
time.time = lambda: _time() + _offset()
time.time_ns = lambda: int(time.time() * 10**9)
"""
YEARS = 315_360_000
EVERYWHERE = f"{YEARS} {-YEARS} 7200 -7200 {-4 * YEARS}"


def _asked_of_the_wall(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    if not _WORDS.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            if (owner, node.attr) in NAMES:
                yield f"{owner}.{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            yield from (f"time.{one.name}" for one in node.names if ("time", one.name) in NAMES)


def test_who_asks_for_the_time_of_day_is_known(repository: Path) -> None:
    """Anything else is how long something takes, of which time.monotonic and process clocks know."""
    found = {
        path.relative_to(repository).as_posix()
        for package in PACKAGES
        for path in (repository / package).rglob("*.py")
        if list(_asked_of_the_wall(path))
    }
    assert found == set(WALL)


def test_workers_in_javascript_do_not_either(repository: Path) -> None:
    workers = [*(repository / "conformance").rglob("*.mjs"), *(repository / "conformance").rglob("*.js")]
    assert workers
    assert [worker.name for worker in workers if "Date." in worker.read_text("utf-8")] == []


@pytest.fixture
def jumping(tmp_path: Path) -> Path:
    """A folder for PYTHONPATH under which no two answers of the wall clock fit each other."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(_JUMPING)
    return tmp_path / "site"


def _opcert(
    folder: Path, *words: object, jumps: str = EVERYWHERE, **more: str
) -> subprocess.CompletedProcess[str]:
    own = {"PYTHONPATH": str(folder), "JUMPS": jumps, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "opcert", *map(str, words)],
        env={**os.environ, **own, **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "opcert: bug" not in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    return done


def _verdicts(record: Path) -> dict[str, str]:
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    return {row["case"]: row["verdict"] for row in rows if row["type"] == "result"}


@pytest.mark.nightly
@pytest.mark.slow
def test_nothing_is_late_and_nothing_lost_while_the_clock_jumps(tmp_path: Path, jumping: Path) -> None:
    deeds = [("echo", each) for each in range(12)] + [("zero", 20), ("sleep", 21), ("raise", 22)]
    suite = make_suite(tmp_path, [make_case(deed, seed=seed) for deed, seed in deeds])
    record, again = tmp_path / "run.jsonl", tmp_path / "again.jsonl"
    words = ("run", echo_runtime(), "-s", suite, "--timeout", "3")
    assert _opcert(jumping, *words, "-o", record).returncode == 1
    found = _verdicts(record)
    assert sorted(found.values()) == ["mismatch", *["pass"] * 12, "rejected_valid", "timeout"]
    first, *lines = record.read_bytes().splitlines(keepends=True)
    again.write_bytes(b"".join([first, *lines[:5]]))
    assert _opcert(jumping, *words, "-o", again, "--resume").returncode == 1
    assert _verdicts(again) == found
    assert _opcert(jumping, "compare", record, again, "-s", suite).returncode == 0
    assert _opcert(jumping, "report", record, "-s", suite, "-o", tmp_path / "report").returncode == 0


@pytest.mark.nightly
@pytest.mark.slow
def test_what_is_certified_while_a_clock_is_set_right_holds(tmp_path: Path, jumping: Path) -> None:
    """It was years ahead when the run began."""
    suite = make_suite(tmp_path, [make_case(seed=each) for each in range(3)])
    words = ("certify", echo_runtime(), "-s", suite, "-o", tmp_path / "out")
    record = tmp_path / "out" / "run.jsonl"
    made = _opcert(jumping, *words, jumps=str(YEARS), RIGHT_WITH_ROWS_OF=str(record))
    assert made.returncode == 0, made.stderr
    held = _opcert(jumping, "verify", tmp_path / "out" / "certificate.json", "-s", suite, jumps="0")
    assert held.returncode == 0, held.stdout


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--resume",)])
def test_what_was_certified_by_a_clock_ahead_is_certified_again(
    tmp_path: Path, jumping: Path, words: tuple[str, ...]
) -> None:
    """Set right, the clock says of certificate and record that they are of a day to come, and what to do."""
    suite, out = make_suite(tmp_path, [make_case(seed=each) for each in range(3)]), tmp_path / "out"
    certify = ("certify", echo_runtime(), "-s", suite, "-o", out)
    verify = ("verify", out / "certificate.json", "-s", suite)
    assert _opcert(jumping, *certify, jumps=str(YEARS)).returncode == 0
    told = _opcert(jumping, *verify, jumps="0")
    assert told.returncode == 1
    assert re.search(
        r"issued on \S+, which is not yet by this machine's clock: .* certify again", told.stdout
    )
    again = _opcert(jumping, *certify, *words, jumps="0")
    assert again.returncode == 0, again.stderr
    assert "3 of 3" in again.stderr
    assert ("which is not yet by this clock: it begins anew" in again.stderr) == bool(words)
    held = _opcert(jumping, *verify, jumps="0")
    assert held.returncode == 0, held.stdout


@pytest.mark.nightly
@pytest.mark.slow
def test_a_record_by_a_clock_ahead_is_not_certified_and_says_what_to_do(
    tmp_path: Path, jumping: Path
) -> None:
    suite, record = make_suite(tmp_path, [make_case()]), tmp_path / "run.jsonl"
    run = ("run", echo_runtime(), "-s", suite, "-o", record)
    certify = ("certify", echo_runtime(), "--run", record, "-s", suite, "-o", tmp_path / "out")
    assert _opcert(jumping, *run, jumps=str(YEARS)).returncode == 0
    told = _opcert(jumping, *certify, jumps="0")
    assert told.returncode == 1
    assert re.search(
        r"the run ended on \S+, which is not yet by this machine's clock: .* run again", told.stderr
    )
    assert _opcert(jumping, *run, "--resume", jumps="0").returncode == 0
    assert _opcert(jumping, *certify, jumps="0").returncode == 0

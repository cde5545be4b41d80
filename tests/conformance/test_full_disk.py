"""A disk that is full while a run is recorded: what was recorded stays, and the run can be gone on with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.recording.outputs import outputs_folder
from conformance.recording.records import read_record
from conformance.running.harness import run_suite
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.canonical import sha256
from conformance.suite.suites import open_suite
from tests.conformance.samples import echo_runtime, make_case, make_suite, sample

CAN_MOUNT = ["unshare", "--user", "--map-root-user", "--mount", "true"]
# A file system of its own in which there is little room; then more; what was recorded is copied out of it.
SCRIPT = """
folder="$1" kept="$2" little="$3"; shift 3
mount -t tmpfs -o "size=$little" tmpfs "$folder"
"$@"; first=$?
cp -r "$folder" "$kept/first"
mount -o remount,size=64m "$folder"
"$@" --resume; second=$?
cp -r "$folder" "$kept/second"
echo "$first $second"
"""


def can_mount() -> bool:
    return shutil.which("unshare") is not None and not subprocess.run(CAN_MOUNT, check=False).returncode


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not can_mount(), reason="this system grants no user namespaces"),
]


def kibibytes(folder: Path) -> int:
    """What files take, in pages of 4 KiB."""
    return sum(-(-path.stat().st_size // 4096) * 4 for path in folder.rglob("*") if path.is_file())


def test_a_run_ends_and_can_be_gone_on_with(tmp_path: Path) -> None:
    cases = [make_case("ulp", seed=each, given=sample(each, (36, 36))) for each in range(8)]
    cases += [make_case("ulp", seed=each) for each in range(30)]
    suite, usual = make_suite(tmp_path, cases), tmp_path / "usual"
    with open_suite(suite) as opened:
        run_suite(opened, find_runtime(echo_runtime()), usual / "run.jsonl")
    command = [sys.executable, "-m", "opcert", "run", echo_runtime(), "-s", str(suite), "-o"]
    needed = kibibytes(usual)
    # Half way through the rows and files of outputs; and when the record is written anew, in its order.
    for room, rows in ((needed // 2, range(1, 38)), (needed + 12, range(38, 39))):
        disk, kept = tmp_path / f"disk-{room}", tmp_path / f"kept-{room}"
        disk.mkdir()
        kept.mkdir()
        words = [
            *CAN_MOUNT[:-1],
            "sh",
            "-c",
            SCRIPT,
            "sh",
            disk,
            kept,
            f"{room}k",
            *command,
            disk / "run.jsonl",
        ]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        assert done.stdout.splitlines()[-1] == "2 1", done.stderr
        assert "cannot be written; got No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
        full, whole = read_record(kept / "first" / "run.jsonl"), read_record(kept / "second" / "run.jsonl")
        assert full.partial
        assert len(full.results) in rows
        assert not whole.partial
        assert len(whole.results) == len(whole.verdicts) == len(cases)
        assert {result.case for result in full.results} <= set(whole.verdicts)
        assert whole.counts["mismatch"] == len(cases)
        files = list(outputs_folder(kept / "second" / "run.jsonl").iterdir())
        assert len(files) == 8
        assert all(file.name == f"{sha256(file.read_bytes())}.bin" for file in files)

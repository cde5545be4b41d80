"""Interrupt runs at random moments, resume them, and compare with an undisturbed run.

    uv run python -m benchmarks.interruptions [--strikes 40] [--seed 1] [--jobs 2] [--signals KILL ...]

Every round begins `opcert run --resume` on a fake runtime and sends it a signal after a random time; a run
that came to its end is begun anew. Printed: how often each signal struck and in which state it left the
record; the longest round in seconds; rows that were there before and are not any more, cases that are there
twice, rows that pass and did not in an undisturbed run, whole records that differ from the undisturbed one,
rounds that took longer than a minute, and what a last undisturbed run leaves behind: processes of the
runtime, and files beside the record or where temporary ones go. Exit code 1 where one of these is not 0.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from conformance.judging.judge import Verdict
from conformance.recording.records import Record, read_record
from opcert.vocabulary.errors import OpcertError
from tests.commands.command_line import heed_signals
from tests.conformance.samples import echo_runtime, find_processes, make_case, make_suite, sample

SIGNALS = ("TERM", "INT", "KILL")
MISTAKES = (
    "rows lost",
    "cases twice",
    "passed falsely",
    "whole records that differ",
    "rounds longer than a minute",
    "processes left behind",
    "files left behind",
)
DEEDS = ("echo", "zero", "raise", "nap", "SIGSEGV")
_MARK = f"interrupted-{os.getpid()}"
_PATIENCE = 60
_WANTED = {"run.jsonl", "run.jsonl.outputs", "diagnosis.json"}


def make_cases_suite(folder: Path, count: int) -> Path:
    """A suite of quick cases of all kinds: right, wrong with an output kept in a file, refused, crashing."""
    large = sample(1, (40, 40))
    cases = []
    for number in range(count):
        do = DEEDS[number // 5 % len(DEEDS)] if number % 5 == 0 else "nap"
        cases.append(make_case(do, seed=number, given=large if do == "zero" else None))
    return make_suite(folder, cases)


def command(suite: Path, record: Path, jobs: int) -> list[str]:
    return [sys.executable, "-m", "opcert", "run", echo_runtime(_MARK), "-s", str(suite), "-o", str(record),
            "--resume", "-j", str(jobs)]  # fmt: skip


def interrupt(words: list[str], number: signal.Signals, seconds: float) -> bool:
    """Run a command and send it a signal after a while; whether it was still there."""
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heed_signals
    ) as process:
        try:
            process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        process.wait(_PATIENCE)
    return True


def essence(record: Record) -> list[tuple[str, str, str]]:
    """What two runs of the same suite must agree in."""
    return [(each.case, each.verdict, str(each.outputs)) for each in record.results]


def known_rows(path: Path) -> dict[str, Verdict] | None:
    """The verdicts by case of a record that may be cut off; None where there is none yet.

    Raises ValueError where a case is there twice.
    """
    try:
        results = read_record(path).results
    except OpcertError:
        if path.exists() and path.read_bytes().count(b"\n"):
            raise
        return None
    found = {each.case: each.verdict for each in results}
    if len(found) != len(results):
        raise ValueError("a case is there twice")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strikes", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cases", type=int, default=120)
    parser.add_argument("--signals", nargs="+", choices=SIGNALS, default=SIGNALS)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    seen: Counter[str] = Counter(dict.fromkeys(MISTAKES, 0))
    with tempfile.TemporaryDirectory() as name:
        folder, temporary, out, cache = (
            Path(name) / each for each in ("suites", "temporary", "out", "cache")
        )
        for each in (folder, temporary, out, cache):
            each.mkdir()
        os.environ |= {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(cache)}
        suite = make_cases_suite(folder, given.cases)
        undisturbed, path = folder / "undisturbed.jsonl", out / "run.jsonl"
        begin = time.monotonic()
        subprocess.run(command(suite, undisturbed, given.jobs), check=False, capture_output=True)
        longest = 1.1 * (time.monotonic() - begin)
        wanted = essence(read_record(undisturbed))
        right = {case for case, verdict, _ in wanted if verdict == "pass"}
        before: set[str] = set()
        struck = slowest = 0.0
        while struck < given.strikes:
            number = signal.Signals[f"SIG{chance.choice(given.signals)}"]
            begin = time.monotonic()
            hit = interrupt(command(suite, path, given.jobs), number, chance.uniform(0, longest))
            taken = time.monotonic() - begin
            struck, slowest = struck + hit, max(slowest, taken)
            seen["rounds longer than a minute"] += taken > _PATIENCE
            seen["rounds"] += 1
            try:
                now = known_rows(path)
            except ValueError:
                seen["cases twice"] += 1
                continue
            rows = now or {}
            seen["rows lost"] += len(before - rows.keys())
            seen["passed falsely"] += len(
                {case for case, verdict in rows.items() if verdict == "pass"} - right
            )
            before = {*rows}
            whole = now is not None and not read_record(path).partial
            if hit:
                state = "none yet" if now is None else "whole" if whole else "partial"
                seen[f"{number.name}, record {state}"] += 1
            if whole:
                seen["whole records"] += 1
                seen["whole records that differ"] += essence(read_record(path)) != wanted
                path.unlink()
                before = set()
        subprocess.run(command(suite, path, given.jobs), check=False, capture_output=True)
        seen["whole records"] += 1
        seen["whole records that differ"] += essence(read_record(path)) != wanted
        seen["processes left behind"] = len(find_processes(_MARK))
        stray = [each.name for each in (*temporary.iterdir(), *cache.rglob("opcert-scratch-*"))]
        stray += [each.name for each in out.iterdir() if each.name not in _WANTED]
        seen["files left behind"] = len(stray)
        print(f"{slowest:6.1f}  seconds of the longest round; left behind: {stray}")
    for what, count in sorted(seen.items()):
        print(f"{count:6d}  {what}")
    return int(any(seen[each] for each in MISTAKES))


if __name__ == "__main__":
    sys.exit(main())

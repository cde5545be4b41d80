"""Interrupt runs at random moments, resume them, and compare with an undisturbed run.

    uv run python -m benchmarks.interruptions [--rounds 40] [--seed 1] [--jobs 2]

Every round begins `opcert run --resume` on a fake runtime and sends it SIGTERM, SIGINT or SIGKILL after a
random time; a run that came to its end is begun anew. Printed: how often each signal struck and in which
state it left the record; rows that were there before and are not any more, cases that are there twice, and
whole records that differ from the undisturbed one. Exit code 1 where one of these three is not 0.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from conformance.recording.records import Record, read_record
from opcert.vocabulary.errors import OpcertError
from tests.commands.command_line import heed_signals
from tests.conformance.samples import echo_runtime, make_case, make_suite, sample

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
DEEDS = ("echo", "zero", "raise", "nap", "SIGSEGV")
_PATIENCE = 60


def make_cases_suite(folder: Path, count: int) -> Path:
    """A suite of quick cases of all kinds: right, wrong with an output kept in a file, refused, crashing."""
    large = sample(1, (40, 40))
    cases = []
    for number in range(count):
        do = DEEDS[number // 5 % len(DEEDS)] if number % 5 == 0 else "nap"
        cases.append(make_case(do, seed=number, given=large if do == "zero" else None))
    return make_suite(folder, cases)


def command(suite: Path, record: Path, jobs: int) -> list[str]:
    return [sys.executable, "-m", "opcert", "run", echo_runtime(), "-s", str(suite), "-o", str(record),
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


def known_rows(path: Path) -> set[str] | None:
    """The cases of a record that may be cut off; None where there is none yet. Raises where one is twice."""
    try:
        found = [each.case for each in read_record(path).results]
    except OpcertError:
        if path.exists() and path.read_bytes().count(b"\n"):
            raise
        return None
    if len(found) != len(set(found)):
        raise ValueError("a case is there twice")
    return set(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cases", type=int, default=120)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    seen: Counter[str] = Counter({"rows lost": 0, "cases twice": 0, "whole records that differ": 0})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = make_cases_suite(folder, given.cases)
        undisturbed = folder / "undisturbed.jsonl"
        begin = time.monotonic()
        subprocess.run(command(suite, undisturbed, given.jobs), check=False, capture_output=True)
        longest = 1.1 * (time.monotonic() - begin)
        wanted = essence(read_record(undisturbed))
        path = folder / "run.jsonl"
        before: set[str] = set()
        for _ in range(given.rounds):
            number = chance.choice(SIGNALS)
            struck = interrupt(command(suite, path, given.jobs), number, chance.uniform(0, longest))
            try:
                now = known_rows(path)
            except ValueError:
                seen["cases twice"] += 1
                continue
            seen["rows lost"] += len(before - (now or set()))
            before = now or set()
            whole = now is not None and not read_record(path).partial
            if struck:
                state = "none yet" if now is None else "whole" if whole else "partial"
                seen[f"{number.name}, record {state}"] += 1
            if whole:
                seen["whole records"] += 1
                seen["whole records that differ"] += essence(read_record(path)) != wanted
                path.unlink()
                before = set()
    for what, count in sorted(seen.items()):
        print(f"{count:6d}  {what}")
    return int(any(seen[each] for each in ("rows lost", "cases twice", "whole records that differ")))


if __name__ == "__main__":
    sys.exit(main())

"""Commands that are run to their end and measured."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """One finished command: wall seconds, processor seconds, MiB of its largest process, what it printed."""

    seconds: float
    processor: float
    mebibytes: float
    printed: str = ""


_WATCHER = """
import json, resource, subprocess, sys, time
begun = time.perf_counter()
code = subprocess.call(sys.argv[2:])
seconds, usage = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([code, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024], file)
"""
"""Stands between: a process counts as its own the memory that its parent had when it was started."""


def run_measured(command: Sequence[str], answers: Collection[int] = (0, 1)) -> Measured:
    """Run a command to its end; SystemExit where its exit code is none of `answers`.

    1 is an answer of opcert: cases failed. A script that dies answers the same: name 0 alone for one.
    Processor seconds are of the command and of all processes that it waited for. Python keeps what it
    compiles, as it does for everybody, whatever the environment says of it here.
    """
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as output, tempfile.NamedTemporaryFile("r", encoding="utf-8") as told:
        words = [sys.executable, "-I", "-S", "-c", _WATCHER, told.name, *command]
        subprocess.run(words, stdout=output, stderr=subprocess.STDOUT, env=environment, check=True)
        code, seconds, processor, mebibytes = json.load(told)
        output.seek(0)
        printed = output.read().decode("utf-8", "replace")
    if code not in answers:
        raise SystemExit(f"{command} answered {code}:\n{printed}")
    return Measured(seconds, processor, mebibytes, printed)


def show(name: str, measured: Sequence[Measured], cases: int) -> None:
    """Print one row: minimum, median and maximum of wall seconds, the least of processor seconds."""
    seconds = [each.seconds for each in measured]
    median = statistics.median(seconds)
    print(
        f"{name:28} {min(seconds):8.2f} {median:8.2f} {max(seconds):8.2f} s"
        f" {min(each.processor for each in measured):8.2f} s of processor"
        f" {1000 * median / cases:8.3f} ms a case {max(each.mebibytes for each in measured):6.0f} MiB"
    )


def show_ratios(name: str, ours: Sequence[Measured], theirs: Sequence[Measured]) -> None:
    """Print ours / theirs pair by pair: least, greatest, median."""
    ratios = [own.seconds / other.seconds for own, other in zip(ours, theirs, strict=True)]
    print(f"{name}: {min(ratios):.2f} to {max(ratios):.2f}, median {statistics.median(ratios):.2f}")

"""How long somebody at a terminal waits: for `--help`, and for the first verdict of a run.

Usage: uv run python -m benchmarks.first_verdict [--rounds N] [--suite FOLDER] [--runtime RUNTIME]

Runs the installed program in a terminal of its own, in an environment that is warm: the suite is made and the
runtime installed. Prints the least, the median and the greatest seconds. What is over its limit at its least
(0.2 s and 2 s) is named at the end, exit code 1.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from conformance.runtimes.runtimes import find_runtime, install
from generator.making.suites.cache import default_suite

PROGRAM = Path(sys.executable).with_name("opcert")
HELP_LIMIT, VERDICT_LIMIT = 0.2, 2.0
_VERDICT = re.compile(rb"[1-9][0-9]* (pass|failing|other)")
_LONGEST = 120.0


def seconds_until(command: Sequence[str], words: re.Pattern[bytes] | None) -> tuple[float, float]:
    """Seconds from the start of a command until its terminal shows something, or until it ends.

    The second number is its processor seconds until it was ended.
    """
    begun = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], list(command))
    shown = b""
    try:
        while time.perf_counter() - begun < _LONGEST:
            try:
                data = os.read(terminal, 1 << 16)
            except OSError:  # a terminal whose last process has gone
                data = b""
            shown += data
            if not data or (words is not None and words.search(shown)):
                break
        seconds = time.perf_counter() - begun
        if words is not None and not words.search(shown):
            raise SystemExit(f"{command} showed no verdict:\n{shown.decode(errors='replace')}")
    finally:
        os.close(terminal)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGINT)
        _, _, usage = os.wait4(child, 0)
    return seconds, usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    parser.add_argument("--suite", help="another suite than the default one")
    parser.add_argument("--runtime", default="onnxruntime")
    asked = parser.parse_args()
    install(find_runtime(asked.runtime), print)
    named = ["-s", asked.suite] if asked.suite else []
    if not named:
        default_suite(print)
    slow = []
    with tempfile.TemporaryDirectory() as folder:
        run = [str(PROGRAM), "run", asked.runtime, *named, "-o", str(Path(folder) / "run.jsonl")]
        for name, command, words, limit in (
            ("opcert --help", [str(PROGRAM), "--help"], None, HELP_LIMIT),
            (f"opcert run {asked.runtime}, first verdict", run, _VERDICT, VERDICT_LIMIT),
        ):
            measured = [seconds_until(command, words) for _ in range(asked.rounds)]
            seconds, processor = zip(*measured, strict=True)
            middle = statistics.median(seconds)
            print(
                f"{name:42} {min(seconds):6.2f} {middle:6.2f} {max(seconds):6.2f} s, limit {limit} s,"
                f" {min(processor):6.2f} s of processor"
            )
            if min(seconds) >= limit:
                slow.append(name)
    if slow:
        raise SystemExit(f"over the limit: {', '.join(slow)}")


if __name__ == "__main__":
    main()

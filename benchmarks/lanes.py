"""Two workers beside one: the default suite on a runtime that takes its time, with `-j 1` and `-j 2`.

Usage: uv run python -m benchmarks.lanes [--pairs N] [--suite FOLDER] [--runtime RUNTIME] [-k PATTERN]

Prints wall seconds of both, and how many times the cases per second of the one the other reaches, pair by
pair: over whole commands, and from the first case to the last, without what happens once (starting, and the
summary). Each run but the first knows from the record in its place how long the cases took before.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.measured import Measured, run_measured, show, show_ratios
from conformance.runtimes.runtimes import find_runtime, install
from conformance.suite.suites import open_suite
from generator.making.cache import default_suite

OPCERT = (sys.executable, "-m", "opcert")


def between_cases(run: Measured) -> Measured:
    """The same with the seconds that the run itself states, from its first case to its last."""
    stated = re.search(r" of [0-9]+ in ([0-9.]+) s", run.printed)
    if stated is None:
        raise SystemExit(f"a run that does not say how long it took:\n{run.printed}")
    return replace(run, seconds=float(stated[1]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=3, help="how often each runs")
    parser.add_argument("--suite", type=Path, help="another suite than the default one")
    parser.add_argument("--runtime", default="openvino")
    parser.add_argument("-k", dest="pattern", help="only some of the cases, as for `opcert run`")
    asked = parser.parse_args()
    install(find_runtime(asked.runtime), print)
    path = asked.suite or default_suite(print)
    chosen = ["-k", asked.pattern] if asked.pattern else []
    with open_suite(path) as suite:
        cases = len(suite.select(asked.pattern))
    with tempfile.TemporaryDirectory() as folder:
        run = [*OPCERT, "run", asked.runtime, "-s", str(path), *chosen]
        run += ["-o", str(Path(folder) / "run.jsonl")]
        run_measured([*run, "-j", "1"])
        one, two = [], []
        for _ in range(asked.pairs):
            one.append(run_measured([*run, "-j", "1"]))
            two.append(run_measured([*run, "-j", "2"]))
    show(f"{asked.runtime}, -j 1", one, cases)
    show(f"{asked.runtime}, -j 2", two, cases)
    show_ratios("cases per second, -j 2 / -j 1, whole commands", one, two)
    inner = [[between_cases(each) for each in runs] for runs in (one, two)]
    show_ratios("cases per second, -j 2 / -j 1, first case to last", *inner)


if __name__ == "__main__":
    main()

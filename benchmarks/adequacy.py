"""Mutants in process beside a test process for each: how many are tried in a second.

Usage: uv run python -m benchmarks.adequacy [OPERATOR ...] [--mutants N] [--suite SUITE]

An operator's mutants meet the cases of the default suite: all in this process, one after the other, and some,
spread over them, in a process each, which starts Python, reads the cases, puts the mutant in, and runs the
cases until one fails, as a test run does. Exit code 1 where the first way is not at least ten times as fast.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from conformance.judging.judge import FAILING, judge
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from generator.adequacy.bench import Bench, hold
from generator.adequacy.kept import local_name
from generator.adequacy.mutants import Mutant, make_mutants
from generator.adequacy.subject import Subject
from generator.asking.calls import call_of
from generator.making.cache import default_suite
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from specs.library import load_spec

LEAST = 10.0
OPERATORS = ("ai.onnx::CenterCropPad-18", "ai.onnx::Resize-19")


def read_cases(suite: Path, subject: Subject) -> Bench:
    """A bench with the operator's cases that demand an answer; within `Subject.quick`."""
    with open_suite(suite) as opened:
        cases = {local_name(str(case.id)): case for case in opened.cases(f"{subject.spec.operator.path}/")}
    return Bench(
        subject,
        hold(subject, {name: each for name, each in cases.items() if each.demand == "answer"}, strict=True),
    )


def subject_of(name: str) -> Subject:
    operator = OperatorName.parse(name)
    return Subject.of(load_spec(operator), find_operator(operator))


def spread(subject: Subject, count: int) -> list[Mutant]:
    """So many mutants from all over the code."""
    made = [each for each in make_mutants(subject) if not each.guard]
    return made[:: max(1, len(made) // count)][:count]


def in_process(name: str, suite: Path) -> float:
    """Seconds for each mutant, with what it takes to read the cases once."""
    started = time.perf_counter()
    subject = subject_of(name)
    with subject.quick():
        bench = read_cases(suite, subject)
        every = [each for each in make_mutants(subject) if not each.guard]
        for mutant in every:
            bench.killer(mutant)
    return (time.perf_counter() - started) / len(every)


def a_process_each(name: str, suite: Path, count: int) -> float:
    """Seconds for each mutant in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.adequacy", "--one"]
    mutants = spread(subject_of(name), count)
    started = time.perf_counter()
    for mutant in mutants:
        subprocess.run([*command, name, str(suite), mutant.id], check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - started) / len(mutants)


def one(name: str, suite: str, mutant_id: str) -> None:
    """What the process of one mutant does: the cases in suite order until one fails."""
    subject = subject_of(name)
    with subject.quick(), open_suite(Path(suite)) as opened:
        mutant = next(each for each in make_mutants(subject) if each.id == mutant_id)
        with mutant.running():
            for case in opened.cases(f"{subject.spec.operator.path}/"):
                if case.demand == "answer" and _fails(subject, case):
                    print(case.id)
                    return


def _fails(subject: Subject, case: Case) -> bool:
    return judge(case, subject.respond(call_of(case))).verdict in FAILING


def main() -> int:
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("operators", nargs="*", default=list(OPERATORS))
    parser.add_argument("--mutants", type=int, default=8, help="mutants that get a process each")
    parser.add_argument("--suite", type=Path, help="a suite in a folder or zip; the default suite without it")
    options = parser.parse_args()
    suite = options.suite or default_suite(print)
    slow = False
    for name in options.operators:
        quick, each = in_process(name, suite), a_process_each(name, suite, options.mutants)
        ratio, alone = each / quick, 1 / each
        print(
            f"{name}: {1 / quick:.1f} mutants/s in process, {alone:.2f} in a process each: {ratio:.0f} times"
        )
        slow |= ratio < LEAST
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())

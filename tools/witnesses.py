"""Hold references beside runtimes on the calls of their declarations: who computes something else, and why.

    uv run python -m tools.witnesses Gather Transpose-13 --runtimes onnx onnxruntime

Every row and every border of the calls that a declaration comes to is a case, with what the reference makes
of it; nothing is drawn again to be clearer, so that this is quick. Operators are named with or without
version, which means all that are modelled; without names, all that have a reference for all their versions.
A failing case is explained by an entry of disagreements.yaml or listed, and then the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from conformance.judging.verdicts import count_failing
from conformance.running.harness import run_suite
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite, write_suite
from generator.asking.named_operators import reference_module_of
from generator.calls.declared.modelled import choose_modelled, kept_cores_of, modelled_operators
from generator.calls.space.space import open_space
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options, Workshop
from generator.trust.witnesses.truth_explanations import explanations_of
from generator.trust.witnesses.truth_table import make_truth_calls
from opcert.vocabulary.names import OperatorName
from reference.answers import UnstableLength
from reference.readings.disagreements import load_disagreements
from reference.registry import find_operator, for_all_versions
from specs.files.library import load_spec
from tools.disagreeing import Disagreeing, disagreeing

_SHOWN = 8


def witness_cases(operator: OperatorName, strength: int = 2) -> Iterator[Case]:
    """The valid calls of an operator version as cases; those whose result hangs on rounding are left out."""
    spec, levels = open_spec(operator)
    space = open_space(load_spec(operator))
    workshop = Workshop(spec, find_operator(operator), levels, Options())
    for call in make_truth_calls(space, kept_cores_of(operator), strength).valid:
        try:
            yield workshop.make_valid("cover", None, call)
        except UnstableLength:
            continue


def chosen(names: Sequence[str]) -> list[OperatorName]:
    """The operator versions that names mean, of those with a reference for all versions."""
    if names:
        return [each for name in names for each in choose_modelled(name, every="-" not in name)]
    common = for_all_versions()
    return [each for each in modelled_operators() if each.unversioned in common]


def unexplained(cases: Sequence[Case], runtime: str) -> tuple[Counter[str], list[Disagreeing]]:
    """The verdicts of a runtime on cases, and the failing ones that no entry explains."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_suite(place / "suite", cases, {"operators": {}}, {})
        with open_suite(place / "suite") as suite:
            record = run_suite(suite, find_runtime(runtime), place / "run.jsonl")
            found = list(disagreeing(suite, record, load_disagreements()))
    verdicts = Counter(str(each.verdict) for each in record.results)
    return verdicts, [each for each in found if each.entry is None and not _is_known(each, runtime)]


def _is_known(found: Disagreeing, runtime: str) -> bool:
    """Whether an entry about refused calls says why: those of the truth test hold for cases as well."""
    message = " ".join(found.reason.split())
    operator = OperatorName.parse(found.operator)
    known = explanations_of(operator)
    return any(each.explains_refusal(found.operator, runtime, message) for each in known)


def main() -> int:
    """Print a line for each operator version and runtime, and what is not explained; 1 if there is any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--runtimes", nargs="+", default=["onnx"])
    parser.add_argument("--strength", type=int, default=2)
    given = parser.parse_args()
    open_ones = 0
    for operator in chosen(given.operators):
        assert reference_module_of(operator) is not None, f"{operator} has no reference"
        started = perf_counter()
        cases = list(witness_cases(operator, given.strength))
        each_takes = (perf_counter() - started) / max(len(cases), 1) * 1000
        print(f"{operator}: {len(cases)} cases, {each_takes:.1f} ms each")
        for runtime in given.runtimes:
            verdicts, left = unexplained(cases, runtime)
            failing = count_failing(verdicts)
            told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
            print(f"  {runtime}: {told}; {failing - len(left)} failing with an entry, {len(left)} without")
            open_ones += len(left)
            for entry in left[:_SHOWN]:
                print(f"    {entry.subject} {entry.verdict}: {entry.reason[:400]}")
    return int(open_ones > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Every operator of the default suite: the table of docs/tables/operators.md.

Usage: uv run python -m tools.operators [--keep] [--records FOLDER [--read]] [-s SUITE]
       [RUNTIME...]

Makes the suite, runs it on each runtime, and counts verdicts by operator, with how many of the failing cases
have an entry in the operator's room. Failing cases without one are listed on standard error, and the answer
is 1 where there are any. With --keep it writes what it found into `agreement-<version>.json` of the rooms,
beside what other runtimes made of the same cases; `-s first-operators` asks about the older versions that
were reviewed first. Entries about the runtimes and cases that were asked are listed, too, where they explain
nothing. `--records` leaves the records in a folder; `--read` holds those that are there against the entries
of now. Any runtime can be asked: `tract onnxruntime-node onnxruntime-web`.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from conformance.judging.verdicts import count_failing
from conformance.recording.records import Record, read_record
from conformance.running.harness import run_suite
from conformance.running.run_options import SAMPLE, RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import Suite, open_suite
from generator.asking.named_operators import referenced_operators
from generator.making.operators.opsets import newest_versions
from generator.making.suites.cache import named_suite
from generator.measured.kept import (
    Agreed,
    RuntimeFailures,
    adequacy_folder,
    cases_digest,
    expectations_in,
    read_agreed,
    read_kept,
    write_agreed,
)
from opcert.commands.known_operators import load_known
from opcert.commands.operator_facts import find_measured
from opcert.vocabulary.names import DEFAULT_SUITE, CaseId, OperatorName
from reference.readings.disagreements import load_disagreements
from reference.registry import reference_of
from specs.files.declarations import declaration_path
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, list_operators
from tools.asked import exit_code_of
from tools.disagreeing import Disagreeing, by_subject, disagreeing, find_silent

RUNTIMES = ("onnxruntime", "onnx", "openvino", "tensorflow")
HEAD = """# Operators

Every operator of the default suite, in its newest version; `uv run python -m tools.operators` makes it.
`opcert list operators` names those of `-s contrib`, `-s openvino` and `-s tensorflow`, too.

*versions*: those that the reference holds for. *lines*: of the declaration without comments, and of the
function that computes the outputs (of a version, where a function is one version's alone). *noticed*: planted
mistakes that the cases notice, of those that change an answer, and how many of them ONNX's own node tests
notice. *trust*: `referenced` where the expectations agree with independent witnesses; `reviewed` where the
cases notice at least 97 % of the planted mistakes, too, and every case that fails on a runtime of this table
has an entry in `disagreements.yaml` of the operator's room. For each runtime: cases that pass, fail, and are
unsupported, in whatever form they fail; the others demand nothing but survival.
"""

ONNX = "ai.onnx"
REST = """## The rest of ONNX

Operators that no version of has a reference: those of maps, support vectors and gradients.
*imported*: their pages are read into specs, which `opcert lint` checks. *declared*: their calls are declared,
too, and tried on ONNX's checker and on programs (`python -m tools.truth`). `opcert list operators --all`
says of each version, and of those before opset 7, why it has no cases.

`Gradient` stays without: it asks for the derivative of a part of the graph that it stands in, between values
that it names. A call of it alone means nothing, no runtime of the table has it, and what it gives at a break
of a function (`Relu` at 0, the places of a `MaxPool`) no page says.
"""


def main(words: Sequence[str]) -> int:
    """Print the table; 1 where a failing case has no entry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-s", "--suite", default=DEFAULT_SUITE, help="the name or the folder of a suite")
    parser.add_argument("--records", type=Path, metavar="FOLDER", help="leave the records there")
    parser.add_argument("--read", action="store_true", help="ask no runtime whose record is there already")
    parser.add_argument("--keep", action="store_true", help="write what was found into the operators' rooms")
    parser.add_argument("runtimes", nargs="*", metavar="RUNTIME")
    asked = parser.parse_args(words)
    entries = load_disagreements()
    with (
        open_suite(suite_folder(asked.suite)) as suite,
        tempfile.TemporaryDirectory() as folder,
    ):
        runs: dict[str, tuple[Record, list[Disagreeing]]] = {}
        silent: list[str] = []
        for name in asked.runtimes or RUNTIMES:
            found = find_runtime(name)
            options = RunOptions(jobs=2, forms=SAMPLE)
            path = (asked.records or Path(folder)) / f"{found.slug}.jsonl"
            again = asked.read and path.is_file()
            record = read_record(path) if again else run_suite(suite, found, path, options)
            everything = list(disagreeing(suite, record, entries))
            silent += [
                f"{disagreement.id}, {name}"
                for disagreement in find_silent(suite, record, entries, everything)
            ]
            runs[name] = record, by_subject(everything)
        print(HEAD)
        print("\n".join([*_table(suite, runs), "", *rest_of_onnx()]))
        if asked.keep:
            for agreed in _agreed(suite, runs):
                write_agreed(beside_others(agreed, read_agreed(OperatorName.parse(agreed.operator))))
    open_ones = [each for _, found in runs.values() for each in found if each.entry is None]
    for open_one in open_ones:
        reason = open_one.reason.splitlines()[0][:160]
        print(f"no entry: {open_one.subject}: {open_one.verdict}: {reason}", file=sys.stderr)
    for told in silent:
        print(f"explains nothing: {told}", file=sys.stderr)
    return 1 if open_ones else 0


def suite_folder(name: str) -> Path:
    """That of a suite which somebody has put there, or of a named one, which is made if need be."""
    path = Path(name)
    return path if path.is_dir() else named_suite(name, lambda told: print(told, file=sys.stderr))


def _table(suite: Suite, runs: Mapping[str, tuple[Record, Sequence[Disagreeing]]]) -> Iterator[str]:
    cases = Counter(CaseId.parse(case_id).operator for case_id in suite.case_ids)
    versions = Counter(
        (referenced_operator.domain, referenced_operator.name)
        for referenced_operator in referenced_operators()
    )
    measured = find_measured(suite)
    told = {name: _counts(record) for name, (record, _) in runs.items()}
    heads = [f"{run} {runs[run][0].header['runtime']['version']}" for run in runs]
    first = ["operator", "versions", "cases", "lines", "noticed", "by ONNX's tests", "trust"]
    yield f"| {' | '.join([*first, *heads])} |"
    yield "|---" * (len(first) + len(heads)) + "|"
    for operator, count in sorted(cases.items()):
        row: list[object] = [
            f"`{operator.short}`",
            versions[operator.domain, operator.name],
            count,
            f"{_lines_of(operator)} + {_reference_lines(operator)}",
            *_noticed(operator),
            measured[operator].trust,
            *(
                f"{passed} / {failing} / {unsupported}"
                for passed, failing, unsupported in (told[name][operator] for name in runs)
            ),
        ]
        yield f"| {' | '.join(map(str, row))} |"
    yield ""
    size = sum(path.stat().st_size for path in suite.path.rglob("*") if path.is_file())
    yield (
        f"{len(cases)} operators, {sum(cases.values())} cases, {size / 1e6:.1f} MB in files; "
        f"declarations have {median(map(_lines_of, cases)):g} lines in the median, references "
        f"{median(map(_reference_lines, cases)):g}."
    )
    yield ""
    for name, (_, found) in runs.items():
        explained = sum(each.entry is not None for each in found)
        yield f"- {name}: {explained} of {len(found)} failing cases and faults have an entry."


def rest_of_onnx() -> Iterator[str]:
    """The operators of ONNX that no version of has a reference, by how far their specs are trusted."""
    known = load_known()
    done = {(operator.domain, operator.name) for operator in known.reference}
    yield REST
    by_domain: dict[tuple[str, str], list[str]] = {}
    for newest_version in sorted(newest_versions(list_operators())):
        if (
            newest_version.domain.startswith(ONNX)
            and (newest_version.domain, newest_version.name) not in done
        ):
            by_domain.setdefault((newest_version.domain, known.words(newest_version)[0]), []).append(
                newest_version.short
            )
    for (domain, trust), names in by_domain.items():
        yield f"- {trust}, {domain}: {', '.join(f'`{name}`' for name in names)}."


def _agreed(suite: Suite, runs: Mapping[str, tuple[Record, Sequence[Disagreeing]]]) -> Iterator[Agreed]:
    """What the runtimes made of each operator version's cases."""
    expectations: dict[str, dict[str, str]] = {}
    for case_id in suite.case_ids:
        name = str(CaseId.parse(case_id).operator)
        expectations.setdefault(name, {}).update(expectations_in([suite.entry(case_id)]))
    for name, own in expectations.items():
        asked = {}
        for runtime, (record, found) in runs.items():
            disagreeing_ones = [each for each in found if each.operator == name]
            explained = sum(disagreeing_one.entry is not None for disagreeing_one in disagreeing_ones)
            version = str(record.header["runtime"]["version"])
            asked[runtime] = RuntimeFailures(version, len(disagreeing_ones), explained)
        yield Agreed(name, cases_digest(own), asked)


def beside_others(agreed: Agreed, before: Agreed | None) -> Agreed:
    """What was found, with what is known of runtimes that were asked of the same cases before."""
    if before is None or before.cases != agreed.cases:
        return agreed
    return replace(agreed, runtimes={**before.runtimes, **agreed.runtimes})


def _counts(record: Record) -> dict[OperatorName, tuple[int, int, int]]:
    """How many cases of each operator pass, fail, and are unsupported."""
    by_operator: dict[OperatorName, Counter[str]] = {}
    for case, verdict in record.verdicts.items():
        by_operator.setdefault(CaseId.parse(case).operator, Counter())[verdict] += 1
    return {
        name: (counted["pass"], count_failing(counted), counted["unsupported"])
        for name, counted in by_operator.items()
    }


def _lines_of(operator: OperatorName) -> int:
    """The lines of an operator's declaration, without comments and empty ones."""
    text = declaration_path(operator, OWN_FOLDER).read_text(encoding="utf-8")
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))


def _reference_lines(operator: OperatorName) -> int:
    return len(inspect.getsource(reference_of(load_spec(operator)).function).splitlines())


def _noticed(operator: OperatorName) -> tuple[str, str]:
    """How many planted mistakes the cases notice, and how many ONNX's node tests do."""
    kept = read_kept(operator, adequacy_folder(()))
    if kept is None:
        return "not measured here", "-"
    mutants, theirs = kept.found["mutants"], kept.found.get("node_tests") or {}
    made = mutants["killed"] + mutants["survived"]
    return f"{mutants['killed']} of {made}", str(theirs.get("killed", "-"))


if __name__ == "__main__":
    sys.exit(exit_code_of(main))

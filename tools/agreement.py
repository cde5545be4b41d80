"""How far the reference agrees with documents, official tests and runtimes: docs/tables/agreement.md.

Usage: uv run python -m tools.agreement [--followed] [RUNTIME...] > docs/tables/agreement.md

Compares the reference with every output that the documents print and with ONNX's node tests of its operators,
runs the default suite on each runtime, and names the entry of specs/*/*/disagreements.yaml behind each
disagreement. With --followed it writes into `followed.yaml` of the rooms which options of open readings each
runtime follows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx

from conformance.judging.verdicts import ACCEPTED_INVALID, REJECTED_VALID
from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import Suite, open_suite
from generator.making.operators.named_suites import FIRST
from generator.making.suites.cache import named_suite
from opcert.vocabulary.names import OperatorName
from reference.readings.disagreements import Disagreement, explain, load_disagreements
from reference.readings.followed import FILE_NAME
from reference.registry import find_operator
from reports.causes.followed_readings import find_readings
from reports.results.case_results import put_together
from specs.files.spec_folders import OWN_FOLDER, room_of
from specs.files.yaml_writer import dump
from tests.reference.test_examples import (
    combinations,
    explains,
    fits_node_test,
    node_tests,
    printed_examples,
)
from tools.disagreeing import Disagreeing, disagreeing

RUNTIMES = ("onnxruntime", "onnx", "openvino", "tensorflow")
NAMES = {
    "onnx": "onnx.reference",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "tensorflow": "TensorFlow",
}

HEAD = """# Agreement

How far the reference agrees with what else there is. Made by `uv run python -m tools.agreement`; each id
below is an entry of `disagreements.yaml` in the operator's room ([specs](../../specs/README.md)), which says
what the document has, what the other side does, and how it was seen.

`tests/reference/test_disagreements_of_runtimes.py` fails where an answer of a runtime disagrees without an
entry, and where an entry is about nothing any more; `tests/reference/test_examples.py` does the same for what
documents print and for ONNX's node tests.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[object]], texts: int = 1) -> Iterator[str]:
    """The lines of a Markdown table; all columns but the first and the last `texts` hold numbers."""
    rules = ["---:" if 0 < position < len(head) - texts else "---" for position in range(len(head))]
    for row in (head, rules, *rows):
        yield f"| {' | '.join(str(each) for each in row)} |"


def named(ids: Mapping[str, int]) -> str:
    """Entries with how often each was met."""
    return ", ".join(f"{name} ({count})" for name, count in sorted(ids.items())) or "-"


def against_documents(entries: Sequence[Disagreement]) -> Iterator[str]:
    """A table of the printed outputs, operator by operator."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    ids: dict[str, Counter[str]] = defaultdict(Counter)
    for name, example in printed_examples():
        operator = find_operator(name)
        agreed = any(explains(operator, combination, example) for combination in combinations(operator))
        counts[str(name)]["agrees" if agreed else "disagrees"] += 1
        if not agreed:
            entry = explain(entries, str(name), f"{name.path}/example/{example.id}", "document")
            ids[str(name)][entry.id if entry else "no entry"] += 1
    counts["all"], ids["all"] = sum(counts.values(), Counter()), sum(ids.values(), Counter())
    yield from table(
        ("operator", "printed outputs", "agree", "disagree", "entries"),
        (
            (name, count.total(), count["agrees"], count["disagrees"], named(ids[name]))
            for name, count in counts.items()
        ),
    )


def against_node_tests(entries: Sequence[Disagreement]) -> Iterator[str]:
    """A table of ONNX's node tests, operator by operator."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    ids: dict[str, Counter[str]] = defaultdict(Counter)
    for name in sorted(node_tests()):
        operator, fits = fits_node_test(name)
        counts[operator]["agrees" if fits else "disagrees"] += 1
        if not fits:
            entry = explain(entries, operator, name, "onnx-node-tests")
            ids[operator][entry.id if entry else "no entry"] += 1
    counts["all"], ids["all"] = sum(counts.values(), Counter()), sum(ids.values(), Counter())
    yield from table(
        ("operator", "node tests", "agree", "disagree", "entries"),
        (
            (name, count.total(), count["agrees"], count["disagrees"], named(ids[name]))
            for name, count in counts.items()
        ),
    )


def label(record: Record) -> str:
    runtime: Mapping[str, Any] = record.header["runtime"]
    return f"{NAMES.get(runtime['name'], runtime['name'])} {runtime['version']}"


def summary_of(runs: Mapping[str, tuple[Record, Sequence[Disagreeing]]]) -> Iterator[str]:
    """A table of all runtimes: verdicts, and how many of the failing have an entry."""
    rows = []
    for record, found in runs.values():
        counts = record.counts
        explained = sum(each.entry is not None for each in found)
        failing = (counts[each] for each in ("mismatch", REJECTED_VALID, ACCEPTED_INVALID, "crash"))
        unsupported = counts["unsupported"]
        rows.append(
            (label(record), len(record.verdicts), counts["pass"], *failing, counts["timeout"],
             len(record.faults), unsupported, counts["observed"], f"{explained} of {len(found)}")
        )  # fmt: skip
    head = ("runtime", "cases", "agree", "mismatch", "rejected valid", "accepted invalid", "crash", "timeout",
            "faults", "unsupported", "observed", "disagreements with an entry")  # fmt: skip
    yield from table(head, rows)


def by_operator(record: Record) -> Iterator[str]:
    """A table of one runtime's verdicts, operator by operator."""
    operators: dict[str, Counter[str]] = defaultdict(Counter)
    verdicts = record.verdicts
    for row in record.results:
        operators[row.operator][verdicts[row.case]] += 1
    columns = (
        "pass",
        "mismatch",
        REJECTED_VALID,
        ACCEPTED_INVALID,
        "crash",
        "timeout",
        "unsupported",
        "observed",
    )
    yield from table(
        ("operator", *(column.replace("_", " ") for column in columns)),
        ((name, *(operator[column] for column in columns)) for name, operator in operators.items()),
        texts=0,
    )


def by_entry(found: Sequence[Disagreeing], entries: Sequence[Disagreement]) -> Iterator[str]:
    """A table of the entries behind one runtime's disagreements, by their cause."""
    met = Counter(each.entry.id for each in found if each.entry is not None)
    kinds: dict[str, set[str]] = defaultdict(set)
    for each in found:
        if each.entry is not None:
            kinds[each.entry.id].add(each.verdict.replace("_", " "))
    known = sorted(
        (entry for entry in entries if entry.id in met), key=lambda entry: (entry.cause, -met[entry.id])
    )
    yield from table(
        ("cause", "cases", "entry", "verdict"),
        (
            (
                disagreement.cause.replace("_", " "),
                met[disagreement.id],
                disagreement.id,
                ", ".join(sorted(kinds[disagreement.id])),
            )
            for disagreement in known
        ),
    )


def write(suite: Suite, runs: Mapping[str, tuple[Record, Sequence[Disagreeing]]]) -> Iterator[str]:
    """The lines of the document."""
    entries = load_disagreements()
    yield HEAD
    yield "## Outputs that documents print\n"
    yield from against_documents(entries)
    yield f"\n## ONNX's node tests of these operators (onnx {onnx.__version__})\n"
    yield from against_node_tests(entries)
    yield "\n## Runtimes\n"
    cases, operators = len(suite.case_ids), len(suite.facts["operators"])
    yield f"The suite `first-operators`, {suite.digest[:12]}: {cases} cases of {operators} operator versions."
    yield "`unsupported` and `observed` (nothing is demanded but survival) say nothing of right or wrong.\n"
    yield from summary_of(runs)
    for record, found in runs.values():
        yield f"\n### {label(record)}\n"
        yield from by_operator(record)
        yield ""
        yield from by_entry(found, entries)


def followed_by(suite: Suite, record: Record) -> dict[str, Any]:
    """What a record says of one runtime, as `followed.yaml` has it of one operator."""
    results = put_together(suite, record)
    operators: dict[str, dict[str, dict[str, int]]] = {}
    for operator in results.by_operator:
        told = {
            reading.id: dict(sorted(reading.told.items())) for reading in find_readings(results, operator)
        }
        operators[str(operator)] = {name: options for name, options in told.items() if options}
    runtime = record.header["runtime"]
    return {
        "runtime": runtime["name"],
        "version": runtime["version"],
        "followed": {name: operator for name, operator in operators.items() if operator},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runtimes", nargs="*", default=RUNTIMES)
    parser.add_argument("--followed", action="store_true")
    given = parser.parse_args()
    suite = open_suite(named_suite(FIRST, lambda sentence: print(sentence, file=sys.stderr)))
    entries = load_disagreements()
    runs, measured = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for runtime in given.runtimes:
            record = run_suite(suite, find_runtime(runtime), Path(folder) / runtime / "run.jsonl")
            runs[runtime] = record, tuple(disagreeing(suite, record, entries))
            measured.append(followed_by(suite, record))
        print("\n".join(write(suite, runs)))
    if given.followed:
        write_followed(measured)


def write_followed(measured: Sequence[Mapping[str, Any]]) -> None:
    """Write what was measured into the rooms of the operators."""
    rooms: dict[Path, list[dict[str, Any]]] = {}
    for each in measured:
        by_room: dict[Path, dict[str, Any]] = {}
        for name, told in each["followed"].items():
            by_room.setdefault(room_of(OperatorName.parse(name), OWN_FOLDER), {})[name] = told
        for room, followed in by_room.items():
            rooms.setdefault(room, []).append({**each, "followed": followed})
    for room, entries in rooms.items():
        (room / FILE_NAME).write_text(dump({"measured": entries}), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

"""The suite of the first operators on every runtime, in every form that it takes: docs/runtimes.md.

Usage: uv run python -m tools.runtimes [-s SUITE] [RUNTIME...] > docs/runtimes.md

Counts verdicts by form and family, the deaths of workers by signal, and holds the harness's books against the
suite: the cases that it was given, the requests that it sent, the verdicts that it recorded, and those lost.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from conformance.judging.verdicts import NOT_JUDGED, VERDICTS
from conformance.processes.worker_process import WorkerProcess
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime, list_runtimes
from conformance.suite.suites import Suite, open_suite
from generator.making.operators.named_suites import FIRST
from generator.making.suites.cache import named_suite

HEAD = """# Runtimes

What the built-in runtimes do with the suite `first-operators`, the families `invalid` and `survival`
included, in every form that each takes. Made by `uv run python -m tools.runtimes`; how to add a runtime
is in [CONTRIBUTING.md](../CONTRIBUTING.md).
"""
VERDICTS_HEAD = """## Verdicts

By the form that inputs take: each case has one verdict in each form. The first form is the preferred one.
"""
BOOKS_HEAD = """## The harness's books

A case that is not handed to a worker has a domain or an element type that the worker does not offer. There
are more `run` requests than cases handed over where workers were lost: one that dies at a case has the next
ones already, which go to another worker.
"""
NOTES = """## What stands out

- **tract** takes every input but the first as a constant: only the form `initializers` asks it anything.
  Where Rust panics inside a call from Python the process aborts, so each of these crashes would take a whole
  application along: Resize of an empty tensor or of rank 0, Pad with negative widths.
  It computes Resize in float32 whatever the element type, so that wide integers and doubles lose digits; the
  mode nearest loses the sign of zero; with `tf_crop_and_resize` and `scales` the output is as long as without
  a `roi`.
- **OpenCV** divides by zero (SIGFPE) in Resize-19 where `axes` names the outer axes. It moves 64-bit integers
  through 32 bits, answers float16 with float32, and gives None for an empty output.
- **OpenVINO** aborts at Pad that removes more than there is: at once, or when the model is given up.
- **ONNX Runtime**, in all three packages, refuses Resize with `sizes` where the length of `sizes` is not
  known before the run (form `dynamic`): its shape inference takes the unknown length for 0. Both npm packages
  end a string at its first NUL.
"""
_SHOWN = tuple(each for each in VERDICTS if each not in NOT_JUDGED)


@dataclass(frozen=True)
class Run:
    """One finished run: its record, how often a worker was sent something, and the time that it took."""

    runtime: str
    record: Record
    sent: Mapping[str, int]
    seconds: float


def run(suite: Suite, runtime: str, folder: Path) -> Run:
    """Run the whole suite in every form, and count what is sent, beside the record, where it leaves us."""
    found, sent = find_runtime(runtime), Counter[str]()
    send, send_numbered = WorkerProcess.send, WorkerProcess.send_numbered

    def counting(worker: WorkerProcess, header: dict[str, Any], *rest: Any) -> None:
        sent[header["type"]] += 1
        send(worker, header, *rest)

    def counting_numbered(worker: WorkerProcess, head: bytes, *rest: Any) -> None:
        sent["run"] += b'"type":"run"' in head
        send_numbered(worker, head, *rest)

    begun = time.perf_counter()
    with (
        patch.object(WorkerProcess, "send", counting),
        patch.object(WorkerProcess, "send_numbered", counting_numbered),
    ):
        record = run_suite(suite, found, folder / f"{found.slug}.jsonl", RunOptions(forms="all"))
    return Run(runtime, record, sent, time.perf_counter() - begun)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table in Markdown, and an empty line."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(str(each) if each != 0 else '-' for each in row)} |"
    yield ""


def verdict_rows(runs: Iterable[Run], keep: frozenset[str] | None = None) -> Iterator[list[object]]:
    """For each runtime and form how many cases of the families `keep` got each verdict."""
    for each in runs:
        for form in each.record.header["options"]["forms"]:
            rows = [row for row in each.record.results if row.form == form]
            counted = Counter(row.verdict for row in rows if keep is None or row.family in keep)
            yield [each.runtime, form, sum(counted.values()), *(counted[verdict] for verdict in _SHOWN)]


def death_rows(runs: Iterable[Run]) -> Iterator[list[object]]:
    """The workers lost, by runtime, form, reason and operator, with one case of each."""
    for each in runs:
        lost: dict[tuple[str, str, str], list[Result]] = {}
        for row in each.record.results:
            if row.verdict in ("crash", "timeout"):
                key = (row.reason or row.verdict, row.operator, row.form)
                lost.setdefault(key, []).append(row)
        for (reason, operator, form), rows in sorted(lost.items()):
            yield [each.runtime, form, reason, operator, len(rows), f"`{rows[0].case}`"]


def fault_rows(runs: Iterable[Run]) -> Iterator[list[object]]:
    """What only a whole run shows, as its record words it."""
    for each in runs:
        for fault in (each.record.footer or {}).get("faults", ()):
            yield [each.runtime, fault["message"]]


def book_rows(suite: Suite, runs: Iterable[Run]) -> Iterator[list[object]]:
    """Cases and forms given, requests sent, verdicts recorded, lost, recorded twice, and workers."""
    for each in runs:
        results = each.record.results
        forms = each.record.header["options"]["forms"]
        given = {(case, form) for case in suite.case_ids for form in forms}
        recorded = Counter((row.case, row.form) for row in results)
        handed = sum(row.verdict != "unsupported" or row.stage is not None for row in results)
        deaths = sum(row.verdict in ("crash", "timeout") for row in results)
        faults = (each.record.footer or {}).get("faults", ())
        between = sum(fault["count"] for fault in faults if fault["kind"] == "unload_crash")
        yield [
            each.runtime,
            len(given),
            handed,
            each.sent["run"],
            len(recorded),
            str(len(given - set(recorded))),
            str(len(results) - len(recorded)),
            each.sent["hello"],
            deaths,
            between,
            f"{each.seconds:.0f}",
        ]


def write(suite: Suite, runs: Sequence[Run]) -> Iterator[str]:
    """The document, line by line."""
    yield HEAD
    yield f"The suite {suite.digest[:12]}: {len(suite.case_ids)} cases.\n"
    identities = (each.record.header["runtime"] for each in runs)
    yield from table(
        ("runtime", "version", "environment"),
        ([each["name"], each["version"], _environment(each)] for each in identities),
    )
    words = [each.replace("_", " ") for each in _SHOWN]
    yield VERDICTS_HEAD
    yield from table(("runtime", "form", "cases", *words), verdict_rows(runs))
    yield "### Of the families `invalid` and `survival` alone\n"
    yield from table(
        ("runtime", "form", "cases", *words), verdict_rows(runs, frozenset(("invalid", "survival")))
    )
    yield "## Crashes and hangs\n\nEach cost the one case that its worker was at.\n"
    yield from table(("runtime", "form", "reason", "operator", "cases", "one of them"), death_rows(runs))
    yield "## Faults\n\nWhat only the whole run shows: answers that differ, and readings that do not agree.\n"
    yield from table(("runtime", "fault"), fault_rows(runs))
    yield BOOKS_HEAD
    yield from table(
        ("runtime", "cases x forms", "handed to a worker", "`run` requests", "verdicts", "lost", "twice",
         "workers", "lost at a case", "between cases", "seconds"),
        book_rows(suite, runs),
    )  # fmt: skip
    yield NOTES


def check_books(suite: Suite, runs: Iterable[Run]) -> None:
    """Raise SystemExit where a verdict is missing, stands there twice, or is none of the runtime's."""
    for each in runs:
        forms = each.record.header["options"]["forms"]
        given = Counter((case, form) for case in suite.case_ids for form in forms)
        recorded = Counter((row.case, row.form) for row in each.record.results)
        ours = [row.case for row in each.record.results if row.verdict in NOT_JUDGED]
        if recorded != given or ours:
            raise SystemExit(
                f"{each.runtime}: {given - recorded} lost, {recorded - given} twice, {ours} not asked"
            )


def _environment(identity: Mapping[str, Any]) -> str:
    platform = identity["offer"]["platform"]
    return f"Node.js {platform['node']}" if "node" in platform else f"Python {platform['python']}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runtimes", nargs="*", default=list_runtimes())
    parser.add_argument("-s", "--suite", type=Path, help="by default that of the first operators")
    arguments = parser.parse_args()
    suite = open_suite(arguments.suite or named_suite(FIRST, lambda said: print(said, file=sys.stderr)))
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for each in arguments.runtimes:
            print(each, file=sys.stderr)
            runs.append(run(suite, each, Path(folder)))
        check_books(suite, runs)
        print("\n".join(write(suite, runs)).rstrip())


if __name__ == "__main__":
    main()

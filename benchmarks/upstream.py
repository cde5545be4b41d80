"""What today's releases of runtimes do wrong, ready to be sent upstream: docs/upstream.md.

Usage: uv run python -m benchmarks.upstream [-s SUITE] [--records FOLDER] [RUNTIME...] > docs/upstream.md

Makes the suite, runs it on each runtime (or reads what `--records` of `benchmarks.operators` left), and
writes each entry of a `disagreements.yaml` that explains failing cases, and is no reading, with its smallest
failing case. Entries about cases that the suite lacks,
most of them of older operator versions, stand with what was seen by hand alone. An entry's `thread` is where
it is known already.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.asked import exit_code_of
from benchmarks.operators import suite_folder
from conformance.judging.kept_diagnosis import EntryTrial
from conformance.judging.known_causes import KnownCause
from conformance.processes.worker_limits import Limits
from conformance.recording.records import read_record
from conformance.running.harness import run_suite
from conformance.running.run_options import SAMPLE, RunOptions
from conformance.runtimes.runtimes import Runtime, find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from generator.diagnosis.claims import claim, point, shown_as
from generator.fuzzing.workers import RunningRuntime
from opcert.commands.tried_entries import trials_by_answers, trials_by_asking, untried
from opcert.vocabulary.harmless import for_markdown, for_markdown_code, one_line
from opcert.vocabulary.names import DEFAULT_SUITE
from reference.disagreements import Disagreement, load_disagreements
from reports.causes.failure_class import smallness
from reports.page_making.phrasing import listed, plural
from reports.results.case_results import CaseResult, Results, put_together
from reports.results.recorded_answers import read_outputs
from reports.single_cases.case_views import demand_text
from reports.single_cases.value_text import attribute_text, shape_text, values_text

RUNTIMES = (
    *("onnxruntime", "onnx", "openvino", "tensorflow", "tract", "opencv"),
    *("onnxruntime-node", "onnxruntime-web"),
)
WIDTH = 240
NAMED = 6
HEAD = """# To be sent upstream

What is known to be wrong in releases of runtimes, as reports that can be sent. Made by
`uv run python -m benchmarks.upstream > docs/upstream.md`, which runs the default suite on each runtime named
here; the others were not asked. What several of them do stands once, with the first of them that shows it.

A report has what is wrong, the smallest of the failing cases as a call, what was expected and what came, the
passage of the document that says so (file and line; [specs/README.md](../specs/README.md) says where each
file comes from), what was seen by hand, and the thread of the runtime's own repository where it is known:
*no thread found* means that a search found none, not that there is none. `opcert repro CASE` writes a folder
that reproduces a case with numpy, onnx and the runtime alone. A report without a call is of cases that the
suite lacks, most of them of older operator versions. What a document leaves open is no report.
"""

GROUPS: Mapping[str, str] = {
    "lost": "Process lost",
    "wrong": "Wrong answers",
    "accepted": "Invalid calls answered",
    "refused": "Valid calls refused",
    "inexact": "Beyond the allowed error",
    "document": "Wrong in ONNX, met here",
    "follows": "Follows from the others",
}
"""In which order reports of a runtime stand."""
_BY_VERDICT = {
    "crash": "lost",
    "timeout": "lost",
    "mismatch": "wrong",
    "accepted_invalid": "accepted",
    "rejected_valid": "refused",
}
_GLOB = frozenset("*?[")
_BY_CAUSE = {"tolerance": "inexact", "finding": "document"}


@dataclass(frozen=True)
class Told:
    """One report: an entry's words, and the lines of its smallest failing case (none where it has none)."""

    cause: KnownCause
    group: str
    subject: str
    call: tuple[str, ...] = ()
    command: str | None = None
    others: tuple[str, ...] = ()
    """The other runtimes that the entry is about as well, with their versions."""


@dataclass(frozen=True)
class Asked:
    """A runtime that was asked, and what is to be told of it."""

    runtime: str
    version: str
    told: tuple[Told, ...]

    @property
    def heading(self) -> str:
        return f"{self.runtime} {self.version}"


def main(words: Sequence[str]) -> int:
    """Print the document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-s", "--suite", default=DEFAULT_SUITE, help="the name or the folder of a suite")
    parser.add_argument("--records", type=Path, metavar="FOLDER", help="read the records that are there")
    parser.add_argument("runtimes", nargs="*", metavar="RUNTIME")
    asked = parser.parse_args(words)
    entries = load_disagreements()
    found = []
    with (
        open_suite(suite_folder(asked.suite)) as suite,
        tempfile.TemporaryDirectory() as folder,
    ):
        for name in asked.runtimes or RUNTIMES:
            runtime = find_runtime(name)
            options = RunOptions(jobs=2, forms=SAMPLE)
            if asked.records is not None:
                record = read_record(asked.records / f"{runtime.slug}.jsonl")
            else:
                record = run_suite(suite, runtime, Path(folder) / f"{runtime.slug}.jsonl", options)
            results = put_together(suite, record)
            found.append(tell(results, entries, _tried(results, runtime, entries)))
    print("\n".join(document(told_once(found, entries))))
    return 0


def _tried(results: Results, runtime: Runtime, entries: Sequence[Disagreement]) -> list[EntryTrial]:
    """What shows the entries that may be about wrong answers."""
    pointing = point(results.suite, results.record, entries)
    trials = trials_by_answers(results.suite, results.record, pointing, keep=True)
    left = untried(pointing, trials)
    if left:
        with RunningRuntime(runtime, Limits(), lambda line: print(line, file=sys.stderr)) as running:
            trials += trials_by_asking(results.suite, left, running, float("inf"))[0]
    return trials


def tell(results: Results, entries: Sequence[Disagreement], trials: Sequence[EntryTrial] = ()) -> Asked:
    """What a run and the entries about its runtime come to, by what trials showed of wrong answers."""
    runtime = results.record.header["runtime"]
    name, version = str(runtime["name"]), str(runtime["version"])
    explaining = claim(results.suite, results.record, entries, trials=trials).explaining
    told = [_seen(results, each) for each in explaining if each.kind != "reading"]
    of_these = {each.id for each in explaining}
    about = [each for each in entries if name in each.against and each.is_about(version)]
    told += [
        _unseen(each) for each in about if each.cause != "reading" and not {each.id, each.same_as} & of_these
    ]
    return Asked(name, version, tuple(told))


def told_once(asked: Sequence[Asked], entries: Sequence[Disagreement] = ()) -> list[Asked]:
    """Each report with one runtime alone: the first that has a call of it, or the first of all.

    What an entry says to be the same as another's is told as that one is.
    """
    same = {each.id: each.same_as for each in entries if each.same_as is not None}
    holders: dict[str, list[tuple[str, Told]]] = defaultdict(list)
    for each in asked:
        for told in each.told:
            holders[same.get(told.cause.id, told.cause.id)].append((each.heading, told))

    def kept(each: Asked) -> Iterator[Told]:
        for told in each.told:
            those = holders[told.cause.id]
            own = [(heading, other) for heading, other in those if other.cause.id not in same]
            if told.cause.id in same or not own:
                continue
            chosen = next((heading for heading, other in own if other.call), own[0][0])
            if chosen == each.heading:
                others = tuple(dict.fromkeys(heading for heading, _ in those if heading != chosen))
                yield replace(told, others=others)

    return [replace(each, told=tuple(kept(each))) for each in asked]


def _seen(results: Results, cause: KnownCause) -> Told:
    own = set(cause.cases)
    failing = [each for each in results.cases if str(each.id) in own]
    if not failing:
        return Told(cause, "follows", "the whole run", tuple(one_line(each, WIDTH) for each in cause.faults))
    groups = {each: _BY_VERDICT[each.verdict] for each in failing}
    first = min(groups.values(), key=list(GROUPS).index)
    group = _BY_CAUSE.get(cause.kind, first)
    smallest = min((each for each in failing if groups[each] == first), key=smallness)
    subject = f"{_operators(failing)}, {plural(len(failing), 'case')}"
    command = results.reproduction_command(smallest.id)
    return Told(cause, group, subject, tuple(_call(results, smallest)), command)


def _unseen(entry: Disagreement) -> Told:
    groups = [_BY_VERDICT.get(each, "follows") for each in entry.verdicts]
    first = min(groups, key=list(GROUPS).index, default="wrong")
    name, _, version = entry.operator[0].removeprefix("ai.onnx::").partition("-")
    if len(entry.operator) > 1 or _GLOB & set(name):
        subject = "several operators"
    else:
        subject = name if _GLOB & set(version) else f"{name}-{version}"
    return Told(shown_as(entry), _BY_CAUSE.get(entry.cause, first), subject)


def _operators(failing: Sequence[CaseResult]) -> str:
    names = list(dict.fromkeys(each.operator.short for each in failing))
    more = len(names) - NAMED
    return listed([*names[:NAMED], f"{more} more"] if more > 0 else names)


def _call(results: Results, found: CaseResult) -> Iterator[str]:
    """A failing case in lines: the call, what was expected, and what came."""
    case: Case = results.suite.case(str(found.id))
    attributes = "".join(
        f", {name}={attribute_text(each.value)}" for name, each in sorted(case.attributes.items())
    )
    yield f"{case.operator.short}{attributes}"
    for name, tensor in case.inputs:
        yield f"{name}: left out" if tensor is None else f"{name}: {shape_text(tensor)} {values_text(tensor)}"
    yield f"expected: {demand_text(case)}"
    row = found.row
    outputs = read_outputs(results.record, case, row)
    if outputs and found.verdict in ("mismatch", "accepted_invalid"):
        yield "got: " + "; ".join(each.line for each in outputs)
    elif row is not None:
        yield f"got: {found.verdict.replace('_', ' ')}: {row.message or row.reason or 'nothing was said'}"
    if row is not None and found.verdict == "mismatch" and row.reason:
        yield f"that is: {row.reason}"


def document(asked: Sequence[Asked]) -> Iterator[str]:
    """The lines of the document."""
    yield HEAD
    yield "| runtime | what | reports | known | no thread found |"
    yield "|---|---|---|---|---|"
    for each in asked:
        anchor = each.heading.lower().replace(" ", "-").replace(".", "")
        for group, members in _grouped(each).items():
            yield f"| [{each.heading}](#{anchor}) | {GROUPS[group]} | {_counts(members)} |"
    everything = [told for each in asked for told in each.told]
    yield f"| all | | {_counts(everything)} |"
    for each in asked:
        yield from ("", f"## {each.heading}")
        for group, members in _grouped(each).items():
            yield from ("", f"### {each.runtime}: {GROUPS[group]}")
            for told in members:
                yield from _report(told)


def _grouped(asked: Asked) -> dict[str, list[Told]]:
    found: dict[str, list[Told]] = defaultdict(list)
    for told in asked.told:
        found[told.group].append(told)
    return {group: found[group] for group in GROUPS if group in found}


def _counts(told: Sequence[Told]) -> str:
    known = sum(each.cause.thread is not None for each in told)
    return f"{len(told)} | {known} | {len(told) - known}"


def _report(told: Told) -> Iterator[str]:
    cause = told.cause
    yield from ("", f"#### {for_markdown(told.subject)} (`{cause.id}`)", "")
    yield one_line(cause.explanation, 2000)
    if told.call:
        yield from ("", *(f"    {one_line(each, WIDTH)}" for each in told.call))
    yield ""
    if cause.passage:
        yield f"- passage: {', '.join(map(for_markdown_code, cause.passage))}"
    for each in cause.evidence:
        yield f"- seen: {for_markdown_code(each, 2000)}"
    if told.others:
        yield f"- so do: {', '.join(told.others)}"
    yield f"- thread: {cause.thread or 'no thread found'}"
    if told.command:
        yield f"- to reproduce: `{told.command}`"


if __name__ == "__main__":
    sys.exit(exit_code_of(main))

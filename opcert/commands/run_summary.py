"""What a run prints at its end: a table, readings, faults, and the command that shows each failure again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from conformance.judging.verdicts import FAILING, HARNESS_ERROR, word
from conformance.recording.records import Record
from conformance.recording.rows import ran
from conformance.suite.suites import Suite
from opcert.commands.failures import program
from opcert.vocabulary.errors import ExitCode, WorkerMistake
from opcert.vocabulary.harmless import one_line
from reports.causes.forms import compare_forms
from reports.overview.cause_paragraphs import (
    MOST_CAUSES,
    cause_paragraphs,
    fault_paragraphs,
    mended_line,
    others_line,
    readings_lines,
    totals_line,
    verdict_table,
)
from reports.overview.headline import runtime_label
from reports.results.case_results import Results, put_together
from reports.text.phrasing import plural

MOST_LINES = 22
"""What a screen has room for beside what a command says of its progress, and of what it wrote."""
_MOST_CAUSES_IN_SHORT = 4
_MOST_ROWS = 60_000
_MOST_CASES = 2_500
_WIDE = 200
_LONGEST = 2_000
"""Characters of a reason: what a worker printed before it died is part of some."""


def exit_code(record: Record) -> ExitCode:
    """What the run says as a whole, where every case must hold."""
    broken = run_error(record)
    if broken is not None:
        return broken
    # What lost machines left says nothing of the runtime, and yet not that all holds.
    failing = any(record.counts[each] for each in FAILING) or record.faults or left_by_machines(record)
    return ExitCode.DOES_NOT_HOLD if failing else ExitCode.HOLDS


_LEFT = ("machines_lost", "no_outputs")


def left_by_machines(record: Record) -> bool:
    """Whether machines of a cluster were lost, or a device gave no outputs, with cases that nobody ran."""
    return ((record.footer or {}).get("stopped") or {}).get("kind") in _LEFT


def run_error(record: Record) -> ExitCode | None:
    """Why the run says nothing of the runtime, or None.

    Our bug, a failure of the worker's own, a runtime that never survives, or nothing that ran.
    """
    stopped = (record.footer or {}).get("stopped")
    if record.counts[HARNESS_ERROR]:
        return ExitCode.RUNTIME_UNAVAILABLE if record.failed_by_worker else ExitCode.INTERNAL
    if stopped and stopped["kind"] == "runtime_dies":
        return ExitCode.RUNTIME_UNAVAILABLE
    return None if ran(record.counts) else ExitCode.NOTHING_RAN


def state_error(record: Record) -> str:
    """In one sentence, what `run_error` found: whose fault it is, and the reason that most cases give."""
    code = run_error(record)
    failed = [result for result in record.results if result.verdict == HARNESS_ERROR]
    if failed and record.failed_by_worker:
        first = f"{failed[0].case}: {one_line(failed[0].reason or 'no reason given', _LONGEST)}"
        return f"opcert: worker: {WorkerMistake(plural(len(failed), 'row'), first)}"
    if code == ExitCode.INTERNAL:
        number = len({row.case for row in failed})
        return (
            f"opcert: bug: the harness failed on {plural(number, 'case')}, which is a mistake in opcert "
            f"and not in the runtime; the first is {failed[0].case}: "
            f"{one_line(failed[0].reason or 'no reason given', _LONGEST)}"
        )
    if code == ExitCode.RUNTIME_UNAVAILABLE:
        return f"opcert: runtime: {one_line((record.footer or {})['stopped']['reason'], _LONGEST)}"
    reasons = Counter((result.verdict, result.reason) for result in record.results)
    (verdict, reason), number = reasons.most_common(1)[0]
    return (
        f"opcert: run: nothing ran, so nothing is known of the runtime; {number} of "
        f"{plural(len(record.results), 'result')}: {word(verdict)}, {one_line(reason or 'no reason given')}"
    )


def summarise(
    suite: Suite,
    record: Record,
    suite_name: str,
    causes: Callable[[Results], Results] = lambda found: found,
    most: int | None = None,
) -> str:
    """What `format_summary` says of a run; the failure classes of a long one are of some of its cases.

    `causes` puts what is known of causes into results; `most` is as of `format_summary`.
    """
    if len(record.results) <= _MOST_ROWS:
        return format_summary(causes(put_together(suite, record, suite_name)), most)
    failing = [case for case, verdict in record.verdicts.items() if verdict in FAILING]
    others = [case for case, verdict in record.verdicts.items() if verdict not in FAILING]
    chosen = frozenset((*spread(failing, _MOST_CASES), *spread(others, _MOST_CASES)))
    results = causes(put_together(suite, record, suite_name, chosen))
    told = (
        f"Readings and failures are of {len(chosen)} cases: {min(len(failing), _MOST_CASES)} of the "
        f"{len(failing)} that fail, and as many or fewer of the others. `opcert report` looks at all.\n"
    )
    return f"{format_summary(results, most)}\n{told}"


def spread(names: Sequence[str], most: int) -> Sequence[str]:
    """At most so many of the names, evenly spread."""
    if len(names) <= most:
        return names
    return [names[number * len(names) // most] for number in range(most)]


def format_summary(results: Results, most: int | None = None) -> str:
    """What a run showed, of the cases that have a row in the record: causes, readings, then the totals.

    Where all of it takes more than `most` lines, it is the causes to fix first, and totals.
    """
    told = _everything(results)
    return told if most is None or told.count("\n") <= most else _in_short(results)


def _in_short(results: Results) -> str:
    """Few lines, whatever the run: the others are named, and where they stand."""
    shown = replace(results, cases=tuple(result for result in results.cases if result.rows))
    record = results.record
    causes = [cause_paragraph for cause_paragraph in cause_paragraphs(shown) if cause_paragraph.found.fails]
    lines = [runtime_label(record), ""]
    if causes:
        lines.append("What fails, the most important causes first, each with the command that reproduces it:")
    for cause in causes[:_MOST_CAUSES_IN_SHORT]:
        lines.append(f"  {one_line(cause.head, _WIDE)}")
        lines += [f"    {one_line(cause.call, _WIDE)}"] if cause.call else []
        lines.append(f"    {cause.reproduction(program())}")
    if len(causes) > _MOST_CAUSES_IN_SHORT:
        left = causes[_MOST_CAUSES_IN_SHORT:]
        cases = sum(len(cause_paragraph.found.cases) for cause_paragraph in left)
        lines.append(f"  {plural(len(left), 'more cause')} with {plural(cases, 'case')}")
    faults = fault_paragraphs(shown)
    if faults:
        others = f" (and {plural(len(faults) - 1, 'more fault')})" if len(faults) > 1 else ""
        lines.append(f"{one_line(faults[0][0], _WIDE)}{others}")
    stopped = (record.footer or {}).get("stopped")
    if stopped:
        lines.append(f"The run ended early: {one_line(stopped['reason'], _LONGEST)}")
    table = verdict_table(record.verdicts)
    lines += ["", _align([["", *table[0][1:]], table[-1]])]
    lines.append(totals_line(shown))
    lines.append("All causes, readings, forms and the table of operators are in the report; -v prints them.")
    return "\n".join(lines) + "\n"


def _everything(results: Results) -> str:
    shown = replace(results, cases=tuple(result for result in results.cases if result.rows))
    record = results.record
    parts = [runtime_label(record)]
    every = cause_paragraphs(shown)
    causes, beside = (
        [cause_paragraph for cause_paragraph in every if cause_paragraph.found.fails],
        [cause_paragraph for cause_paragraph in every if not cause_paragraph.found.fails],
    )
    told = ["\n    ".join(cause.lines(program())) for cause in causes[:MOST_CAUSES]]
    if len(causes) > MOST_CAUSES:
        told.append(others_line(causes[MOST_CAUSES:]))
    parts += _section("What fails, each cause with the command that reproduces its smallest test case", told)
    told = [one_line(cause_paragraph.head, _LONGEST) for cause_paragraph in beside[:MOST_CAUSES]]
    if len(beside) > MOST_CAUSES:
        told.append(others_line(beside[MOST_CAUSES:]))
    parts += _section("Less exact, or open in the documents", told)
    parts += _section(
        "Fixed since its entry was written", [mended_line(known_cause) for known_cause in results.mended]
    )
    parts += _section("Forms", [f"{form.form}: {form.text}" for form in compare_forms(shown)])
    parts += _section("Readings followed", readings_lines(shown))
    parts += _section(
        "Faults", ["\n    ".join(fault_paragraph) for fault_paragraph in fault_paragraphs(shown)]
    )
    parts += _section("Machines", machine_lines(record))
    stopped = (record.footer or {}).get("stopped")
    if stopped:
        parts.append(f"The run ended early: {one_line(stopped['reason'], _LONGEST)}")
    parts.append(_align(verdict_table(record.verdicts)))
    parts.append(totals_line(shown))
    return "\n\n".join(parts) + "\n"


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    return ["\n".join([f"{heading}:", *(f"  {line}" for line in lines)])] if lines else []


def _align(table: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return "\n".join(
        "  ".join(
            each.ljust(width) if column == 0 else each.rjust(width)
            for column, (each, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )


_MOST = 20
_LONGEST = 200


def machine_lines(record: Record) -> list[str]:
    """A line a machine, and behind them one a kind where there are several; none of a run of one machine."""
    machines = [each for each in (record.footer or {}).get("machines", ()) if isinstance(each, dict)]
    told = [
        f"{_short(machine.get('name'))}: {plural(int(machine.get('rows') or 0), 'result')}, "
        f"{_short(machine.get('kind'))}"
        for machine in machines[:_MOST]
    ]
    if len(machines) > _MOST:
        told.append(f"and {len(machines) - _MOST} more")
    kinds = {str(machine.get("name")): _short(machine.get("kind")) for machine in machines}
    if len(set(kinds.values())) < 2:
        return told
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for result in record.results:
        counts[kinds.get(str(result.machine), "unknown")][result.verdict] += 1
    told.append("They are of several kinds, on which a runtime may take other code:")
    for kind, own in sorted(counts.items()):
        verdicts = ", ".join(f"{number} {word(verdict)}" for verdict, number in own.most_common())
        told.append(f"  {kind}: {verdicts}")
    return told


def _short(text: object) -> str:
    return one_line(str(text), _LONGEST)

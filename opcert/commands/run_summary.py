"""What a run prints at its end: a table per operator version, faults, and how to see each failure again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from conformance.judge import FAILING, VERDICTS, Verdict, worst_verdict
from conformance.records import Record
from conformance.results import Result
from conformance.totals import count_verdicts, ran
from opcert.errors import ExitCode


def exit_code(record: Record) -> ExitCode:
    """What the run says as a whole."""
    counts = record.counts
    stopped = (record.footer or {}).get("stopped")
    if counts["harness_error"]:
        return ExitCode.INTERNAL
    if stopped and stopped["kind"] == "runtime_dies":
        return ExitCode.RUNTIME_UNAVAILABLE
    if any(counts[each] for each in FAILING) or record.faults:
        return ExitCode.DOES_NOT_HOLD
    if ran(counts) == 0:
        return ExitCode.NOTHING_RAN
    return ExitCode.HOLDS


def format_summary(record: Record, suite: str) -> str:
    """The whole of it; `suite` is what `-s` was, for the commands."""
    source = str(record.header["runtime"]["source"])
    parts = [_format_table(record)]
    stopped = (record.footer or {}).get("stopped")
    if stopped:
        parts.append(f"The run ended early: {stopped['reason']}")
    parts += [f"Fault: {each['message']}" for each in record.faults]
    readings = _format_readings(record)
    if readings:
        parts.append(readings)
    failures = _format_failures(record, suite, source)
    if failures:
        parts.append(failures)
    parts.append(f"Record: {record.path}")
    return "\n\n".join(parts)


def _format_table(record: Record) -> str:
    by_operator: dict[str, dict[str, Verdict]] = {}
    for result in record.results:
        verdicts = by_operator.setdefault(result.operator, {})
        before = verdicts.get(result.case)
        verdicts[result.case] = result.verdict if before is None else worst_verdict((before, result.verdict))
    counted = {name: count_verdicts(verdicts.values()) for name, verdicts in by_operator.items()}
    shown = [each for each in VERDICTS if any(row[each] for row in counted.values())]
    runtime = record.header["runtime"]
    head = [f"{runtime['name']} {runtime['version']}", *shown, "cases"]
    rows = [
        [name, *(_cell(row, each) for each in shown), str(sum(row.values()))] for name, row in counted.items()
    ]
    totals = record.counts
    if len(rows) > 1:
        rows.append(["all", *(_cell(totals, each) for each in shown), str(sum(totals.values()))])
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            each.ljust(width) if column == 0 else each.rjust(width)
            for column, (each, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    )


def _cell(row: Mapping[Verdict, int], verdict: Verdict) -> str:
    return str(row[verdict]) if row[verdict] else "-"


def _format_readings(record: Record) -> str:
    """Which options each operator's answers allow, over all its cases."""
    followed: dict[tuple[str, str], set[str]] = {}
    for result in record.results:
        if result.verdict == "pass":
            for name, options in result.readings.items():
                key = (result.operator, name)
                followed[key] = followed[key] & set(options) if key in followed else set(options)
    lines = [
        f"  {operator} {name}: {' or '.join(sorted(options)) or 'no single option'}"
        for (operator, name), options in sorted(followed.items())
    ]
    return "\n".join(["Readings followed:", *lines]) if lines else ""


def _format_failures(record: Record, suite: str, source: str) -> str:
    """For each class of failure its number, its first reason, and a command that shows it again."""
    classes: dict[tuple[str, str, str], list[Result]] = {}
    for result in record.results:
        if result.verdict in FAILING or result.verdict == "harness_error":
            kind = result.difference or result.error or result.signal or ""
            classes.setdefault((result.operator, result.verdict, kind), []).append(result)
    lines = []
    for (operator, verdict, kind), results in classes.items():
        first = results[0]
        cases = len({each.case for each in results})
        what = f"{verdict} ({kind})" if kind else verdict
        lines.append(f"{operator} {what}: {cases} {'case' if cases == 1 else 'cases'}. {first.reason}")
        command = ["opcert", "run", source, "-s", suite, "-k", first.case]
        lines.append(f"  again: {shlex.join(command)}")
    return "\n".join(lines)

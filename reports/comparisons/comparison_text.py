"""A comparison of two runs for a terminal, as Markdown for a CI step, as a page, and for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from conformance.judging.verdicts import COMPARED, word
from conformance.recording.records import Record
from conformance.suite.canonical import plain
from opcert.vocabulary.harmless import for_markdown, for_markdown_code, for_shell, one_line
from opcert.vocabulary.names import DEFAULT_SUITE
from reports.comparisons.run_comparison import KINDS, CaseChange, ChangeKind, RunComparison, WorstRow
from reports.overview.headline import runtime_label
from reports.text.pages_alone import render_page
from reports.text.phrasing import count, moment, plural, ratio_text
from reports.text.tests_and_tables import LIMIT, headed_list, table, within

LISTED: tuple[ChangeKind, ...] = ("regressed", "fixed", "changed", "expectation")
"""Kinds of which every case is listed; of the error's changes the greatest are."""
GREATEST = 20


def greatest_changes(found: RunComparison) -> tuple[CaseChange, ...]:
    """The changes of error, the ones that grew most first, at most `GREATEST`."""
    grown = sorted(found.of_kind("error"), key=lambda case_change: (-growth(case_change), case_change.case))
    return tuple(grown[:GREATEST])


def growth(change: CaseChange) -> float:
    """By how many allowed errors the greatest error grew; infinite where one of the two has no ratio."""
    before, after = change.before.ratio, change.after.ratio
    return after - before if before is not None and after is not None else float("inf")


def change_text(change: CaseChange) -> str:
    """`pass, error 0.2 -> mismatch, error 4.1 ×`, with the reason where it fails now."""
    sides = []
    for worst_row in (change.before, change.after):
        unstable, error = " (unstable)" if worst_row.unstable else "", error_of(worst_row)
        sides.append(f"{word(worst_row.verdict)}{unstable}{f', error {error}' if error else ''}")
    return " → ".join(sides)


def error_of(seen: WorstRow) -> str:
    """The error over the allowed one in words; empty where no values were compared."""
    return "" if seen.ratio is None or seen.verdict not in COMPARED else ratio_text(seen.ratio)


def reason_of(change: CaseChange) -> str:
    """The reason of what is seen now, unless nothing is wrong with it."""
    return change.after.reason or "" if change.kind != "fixed" else ""


def repro_command(case: str, suite: str) -> str:
    """The command that shows a case again."""
    words = ["opcert", "repro", case]
    return for_shell(words if suite == DEFAULT_SUITE else [*words, "-s", suite])


def alone_lines(found: RunComparison) -> Iterator[str]:
    """One line about the cases that only one run ran, for each of the two runs that has some."""
    if found.new:
        yield f"new: {plural(len(found.new), 'case')} ran in the head run alone: {_by_verdict(found.new)}"
    if found.gone:
        own = f"gone: {plural(len(found.gone), 'case')} ran in the base run alone: {_by_verdict(found.gone)}"
        lost = f"; {count(len(found.lost))} of them held, and the head run lacks them"
        yield own + (lost if found.lost else "")


def _by_verdict(cases: Mapping[str, str]) -> str:
    counted = Counter(cases.values()).most_common()
    return ", ".join(f"{count(number)} {word(each)}" for each, number in counted)


def verdict_text(found: RunComparison) -> str:
    """The comparison in three words or one line: why it does not hold."""
    if found.holds:
        return "Nothing regressed"
    if found.counts["regressed"] or found.new_faults:
        return "Something regressed"
    return f"{plural(len(found.lost), 'case')} that held did not run"


def counts_text(found: RunComparison) -> str:
    """`2,663 cases ran in both: 1 regressed, 2 fixed, ...`; the numbers add up."""
    parts = [f"{count(number)} {name}" for name, number in found.counts.items() if number]
    return f"{plural(found.both, 'case')} ran in both: {', '.join(parts)}"


def render_text(found: RunComparison, suite: str = DEFAULT_SUITE, program: str = "opcert") -> str:
    """What a terminal shows; every regression ends in the command that shows it again.

    The cases that only one run ran are counted: `--format json` names them.
    """
    base, head = found.labels
    lines = [f"base: {one_line(base)}", f"head: {one_line(head)}", counts_text(found)]
    lines += [f"warning: {one_line(warning)}" for warning in found.warnings]
    lines += [f"new fault: {one_line(new_fault)}" for new_fault in found.new_faults]
    lines += [f"fault gone: {one_line(gone_fault)}" for gone_fault in found.gone_faults]
    for kind in LISTED:
        for case_change in found.of_kind(kind):
            lines.append(f"{kind}: {case_change.case}: {change_text(case_change)}")
            if kind == "regressed":
                lines.append(f"    {one_line(reason_of(case_change))}")
                lines.append(f"    {repro_command(case_change.case, suite).replace('opcert', program, 1)}")
    lines += [
        f"error: {greatest_change.case}: {change_text(greatest_change)}"
        for greatest_change in greatest_changes(found)
    ]
    lines += alone_lines(found)
    return "\n".join(lines) + "\n"


def render_markdown(found: RunComparison, suite: str = DEFAULT_SUITE) -> str:
    """The same for a CI step, below the size that one may have."""
    return within(_blocks(found, suite), LIMIT, "parts are")


def _blocks(found: RunComparison, suite: str) -> Iterator[str]:
    base, head = found.labels
    yield f"# {verdict_text(found)}: {for_markdown(base)} to {for_markdown(head)}"
    for warning in found.warnings:
        yield f"**{for_markdown(warning)}**"
    rows = [["what became of it", "cases"]]
    rows += [[f"{name}: {KINDS[name]}", count(number)] for name, number in found.counts.items()]
    rows.append(["ran in both", count(found.both)])
    rows.append(["new: ran in the second alone", count(len(found.new))])
    rows.append(["gone: ran in the first alone", count(len(found.gone))])
    rows.append(["of these held, and the second lacks them", count(len(found.lost))])
    yield "\n".join(table(rows))
    yield from headed_list("New faults", found.new_faults)
    yield from headed_list("Faults gone", found.gone_faults)
    for kind in LISTED:
        changes = found.of_kind(kind)
        if changes:
            yield f"## {kind.capitalize()}: {KINDS[kind]}"
            for change in changes:
                yield _change(change, suite)
    changes = greatest_changes(found)
    if changes:
        yield f"## Error: {KINDS['error']}"
        for change in changes:
            yield f"- {for_markdown_code(change.case)}: {for_markdown(change_text(change))}"
    for name, cases in (("New", found.new), ("Gone", found.gone)):
        if cases:
            yield f"## {name}"
            for case, seen in cases.items():
                yield f"- {for_markdown_code(case)}: {for_markdown(word(seen))}"


def _change(change: CaseChange, suite: str) -> str:
    lines = [f"- {for_markdown_code(change.case)}: {for_markdown(change_text(change))}"]
    if change.kind == "regressed":
        reason = reason_of(change)
        lines += [f"  {for_markdown_code(reason)}"] if reason else []
        lines.append(f"  {for_markdown_code(repro_command(change.case, suite))}")
    return "  \n".join(lines)


MOST = 2000
"""Cases that one table of a page lists; what it leaves out it counts."""


def render_comparison(found: RunComparison, suite: str = DEFAULT_SUITE) -> str:
    """A page in the style of the report; needs no network, no script and no other file."""
    changes = {kind: found.of_kind(kind) for kind in LISTED} | {"error": greatest_changes(found)}
    records = zip(("base", "head"), found.labels, (found.base, found.head), strict=True)
    return render_page(
        "comparison.html.j2",
        found=found,
        verdict=verdict_text(found),
        runs=[
            (name, label, moment(str(record.header.get("started"))), str(record.header.get("suite")))
            for name, label, record in records
        ],
        kinds=KINDS,
        headings=_HEADINGS,
        sections=[(kind, own[:MOST]) for kind, own in changes.items() if found.counts[kind]],
        error_of=error_of,
        reason_of=reason_of,
        command_of=lambda change: repro_command(change.case, suite) if change.kind == "regressed" else "",
        alone=[
            ("New", "ran in the second run alone", list(found.new.items())[:MOST]),
            ("Gone", "ran in the first run alone", list(found.gone.items())[:MOST]),
        ],
        word=word,
        version=version("opcert"),
    )


_HEADINGS: Mapping[ChangeKind, str] = {
    "regressed": "Regressed",
    "fixed": "Fixed",
    "changed": "Changed",
    "expectation": "Expectation changed",
    "error": "Error changed",
    "same": "The same",
}


FORMAT = "opcert-comparison/1"


def render_json(found: RunComparison) -> str:
    """The whole document, with every case but those that are the same."""
    document = {
        "format": FORMAT,
        "base": _run_json(found.base),
        "head": _run_json(found.head),
        "holds": found.holds,
        "warnings": list(found.warnings),
        "ranInBoth": found.both,
        "counts": found.counts,
        "changes": [_change_json(change) for change in found.changes],
        "new": found.new,
        "gone": found.gone,
        "lost": len(found.lost),
        "common": found.common,
        "newFaults": list(found.new_faults),
        "goneFaults": list(found.gone_faults),
    }
    return json.dumps(plain(document), indent=1, ensure_ascii=True) + "\n"


def _run_json(record: Record) -> dict[str, Any]:
    return {
        "runtime": runtime_label(record),
        "record": str(record.path),
        "suite": record.header.get("suite"),
        "started": record.header.get("started"),
    }


def _change_json(change: CaseChange) -> dict[str, Any]:
    return {
        "case": change.case,
        "kind": change.kind,
        "before": _seen_json(change.before),
        "after": _seen_json(change.after),
    }


def _seen_json(seen: WorstRow) -> dict[str, Any]:
    return {"verdict": seen.verdict, "errorOverAllowed": seen.ratio, "reason": seen.reason}

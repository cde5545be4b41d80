"""`annotations.txt`: what fails, as orders to GitHub Actions to show it beside a job that prints them.

An error for each fault of the run and each cause that nothing excuses; in one notice the totals, and how much
is excused or open in the documents.
"""

from __future__ import annotations

from collections.abc import Iterator

from opcert.vocabulary.harmless import for_workflow, for_workflow_property
from reports.causes.failure_classes import classes_of
from reports.overview.cause_paragraphs import CauseParagraph, cause_paragraphs, fault_paragraphs
from reports.overview.headline import list_sentences, list_warnings, runtime_label
from reports.results.case_results import Results
from reports.text.phrasing import plural

FILE = "annotations.txt"
MARKS = {"annotations.txt": rb"\A::(?:error|warning|notice) title="}
MOST = 10
"""So many annotations of one kind are shown of a step."""


def render(results: Results) -> str:
    """An order a line, the worst first."""
    runtime = runtime_label(results.record)
    errors = [
        (f"{runtime}: fault of the run", "\n".join(fault_paragraph))
        for fault_paragraph in fault_paragraphs(results)
    ]
    excused = opened = 0
    for told in cause_paragraphs(results):
        if not told.found.fails:
            opened += 1
        elif all(_is_excused(results, str(case.id)) for case in told.found.cases):
            excused += 1
        else:
            errors.append((f"{runtime}: {told.name}", "\n".join(_lines(told))))
    if len(errors) > MOST:
        left = plural(len(errors) - MOST + 1, "more cause")
        errors = [*errors[: MOST - 1], (f"{runtime}: {left}", "They stand in the report.")]
    lines = [_order("error", title, text) for title, text in errors]
    lines += [_order("warning", runtime, warning) for warning in list_warnings(results)]
    totals = [*list_sentences(results, classes_of(results)), *_notices(excused, opened)]
    lines.append(_order("notice", runtime, " ".join(totals)))
    return "".join(f"{line}\n" for line in lines)


def _lines(told: CauseParagraph) -> list[str]:
    row = told.found.smallest.row
    said = (row.reason if row is not None else None) or ""
    return [told.head, *told.remarks, *([f"smallest: {said}"] if said else []), told.command]


def _notices(excused: int, opened: int) -> Iterator[str]:
    if excused:
        verb = "is" if excused == 1 else "are"
        yield f"{plural(excused, 'cause')} {verb} known or waived."
    if opened:
        verb = "is" if opened == 1 else "are"
        yield f"{plural(opened, 'cause')} {verb} open in the documents and {verb} no fault of the runtime."


def _is_excused(results: Results, case: str) -> bool:
    return results.excuses.standing(case) in ("waiver", "baseline")


def _order(kind: str, title: str, text: str) -> str:
    return f"::{kind} title={for_workflow_property(title)}::{for_workflow(text)}"

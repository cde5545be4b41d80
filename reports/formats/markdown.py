"""`report.md`: a run for the page of a CI step, below the size that such a step may have."""

from __future__ import annotations

from collections.abc import Iterator

from opcert.vocabulary.harmless import for_markdown, for_markdown_code
from reports.causes.failure_classes import classes_of
from reports.causes.followed_readings import fault_text
from reports.causes.forms import compare_forms
from reports.overview.cause_paragraphs import (
    CauseParagraph,
    cause_paragraphs,
    mended_line,
    readings_lines,
    summary_table,
)
from reports.overview.headline import list_sentences, list_warnings, runtime_label
from reports.overview.untested import find_untested
from reports.results.case_results import Results
from reports.text.tests_and_tables import LIMIT, bullets, headed_list, table, within

FILE = "report.md"
MARKS = {"report.md": rb"(?m)^Suite `[0-9a-f]{64}`$"}


def render(results: Results, limit: int = LIMIT) -> str:
    """The whole document. Totals and warnings come first; what does not fit is left out at the end."""
    return within(_blocks(results), limit, "parts are")


def _blocks(results: Results) -> Iterator[str]:
    classes = classes_of(results)
    yield f"# {for_markdown(runtime_label(results.record))}"
    yield " ".join(list_sentences(results, classes))
    for warning in list_warnings(results):
        yield f"**{for_markdown(warning)}**"
    yield f"Suite {for_markdown_code(results.suite.digest)}"
    head, *rows = summary_table(results)
    yield "\n".join(table([head, *([for_markdown(row[0]), *row[1:]] for row in rows)]))
    if results.record.faults:
        yield "## Faults of the whole run"
        for fault in results.record.faults:
            yield f"- {for_markdown(fault_text(fault))}"
    if classes:
        yield "## What fails, in the order to fix it"
        for told in cause_paragraphs(results):
            yield _failure(told)
    yield from headed_list("Forms", [f"{form.form}: {form.text}" for form in compare_forms(results)])
    mended = [mended_line(entry) for entry in results.mended]
    yield from headed_list("Mended since its entry was written", mended)
    yield from headed_list("Readings followed", readings_lines(results))
    yield "## Not tested"
    yield bullets(untested.text for untested in find_untested(results))


def _failure(told: CauseParagraph) -> str:
    row = told.found.smallest.row
    said = (row.reason if row is not None else None) or ""
    lines = [for_markdown(told.head), *map(for_markdown, told.remarks)]
    if said:
        lines.append(f"Smallest: {for_markdown_code(said)}")
    return "  \n".join([*lines, for_markdown_code(told.command)])

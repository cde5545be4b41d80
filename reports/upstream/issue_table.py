"""The table of issues that matter most, over runtimes: docs/upstream.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from opcert.vocabulary.harmless import for_markdown
from reports.causes.failure_class import FailureClass
from reports.causes.operator_use import counted_models, use_text
from reports.causes.titles import shown_text
from reports.overview.headline import runtime_label
from reports.text.phrasing import count
from reports.upstream.issues import Issue

MOST = 50
HEAD = """# To be sent upstream

The {} causes with an entry that matter most of what today's releases do wrong: first where a cause shows (on
ordinary data, on wide integers or uncommon types, on special values, on nothing or extremes, on invalid
calls), then what it costs, then how often the operator is used, counted over {} public models ({}). Each
is reproduced by a script that needs numpy, onnx and the runtime alone: `opcert upstream RUNTIME CAUSE` writes
the issue with it, ready to paste. *None found* means that a search found no thread, not that there is none.
"""


def key_of_cause(found: FailureClass, label: str, same: Mapping[str, str]) -> str:
    """What a cause is known by over runtimes; one without an entry is a runtime's own.

    `same` names for an entry that of the same cause.
    """
    known = found.known
    return f"{label} {found.number}" if known is None else same.get(known.id, known.id)


def table_of(issues: Sequence[Issue], causes: Mapping[str, int], command: str) -> str:
    """The document: the issues in their order, and how many causes each runtime has."""
    return "\n".join(_lines(issues, causes, command)) + "\n"


def _lines(issues: Sequence[Issue], causes: Mapping[str, int], command: str) -> Iterator[str]:
    counted = counted_models()
    yield HEAD.format(len(issues), counted.number, counted.date)
    yield f"Made by `{command}`."
    yield ""
    yield "| | what | in | shows | cases | used | thread |"
    yield "|--:|---|---|---|--:|---|---|"
    for place, issue in enumerate(issues, 1):
        known = issue.found.known
        thread = f"[known]({known.thread})" if known is not None and known.thread else "none found"
        runtimes = ", ".join([runtime_label(issue.results.record), *issue.also])
        yield (
            f"| {place} | {for_markdown(issue.title, 200)} (`{issue.key}`) | {for_markdown(runtimes)} "
            f"| {shown_text(issue.found)} | {count(len(issue.found.cases))} "
            f"| {use_text(issue.found.use)} | {thread} |"
        )
    yield ""
    yield "| runtime | causes that can be sent |"
    yield "|---|--:|"
    for label, number in causes.items():
        yield f"| {for_markdown(label)} | {count(number)} |"

"""The table of issues that matter most, over runtimes: docs/upstream.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opcert.vocabulary.harmless import for_markdown
from reports.causes.failure_classes import fixing_order
from reports.causes.operator_use import counted_models, use_text
from reports.causes.titles import shown_text
from reports.page_making.phrasing import count, plural
from reports.results.headline import runtime_label
from reports.upstream.issues import Issue

MOST = 50
HEAD = """# To be sent upstream

The {} causes that matter most of what today's releases of runtimes do wrong: first where a cause shows (on
ordinary data, on wide integers or uncommon types, on special values, on nothing or extremes, on invalid
calls), then what it costs, then how often the operator is used, counted over {} public models ({}). Each
is reproduced by a script that needs numpy, onnx and the runtime alone: `opcert upstream RUNTIME CAUSE` writes
the issue with it, ready to paste. *None found* means that a search found no thread, not that there is none.
"""


@dataclass(frozen=True)
class Unwritten:
    """A cause without an issue, and why."""

    runtime: str
    title: str
    why: str


def once_each(issues: Sequence[Issue], same: Mapping[str, str]) -> list[Issue]:
    """Each cause once, with the first runtime of those that have it, in the order to fix.

    `same` names for an entry that of the same cause.
    """
    holders: dict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        known = issue.found.known
        # Causes without an entry have numbers, which say nothing in another run.
        key = same.get(known.id, known.id) if known is not None else f"{id(issue)}"
        holders[key].append(issue)
    found = []
    for own in holders.values():
        first = min(own, key=lambda issue: issue.surroundings.runtime != "onnxruntime")
        others = dict.fromkeys(runtime_label(each.results.record) for each in own if each is not first)
        found.append(replace(first, also=tuple(others)))
    return sorted(found, key=lambda issue: fixing_order(issue.found))


def table_of(issues: Sequence[Issue], unwritten: Sequence[Unwritten], command: str) -> str:
    """The document: the issues that matter most, each once, and how many there are of each runtime."""
    return "\n".join(_lines(issues, unwritten, command)) + "\n"


def _lines(issues: Sequence[Issue], unwritten: Sequence[Unwritten], command: str) -> Iterator[str]:
    counted = counted_models()
    yield HEAD.format(min(MOST, len(issues)), counted.number, counted.date)
    yield f"Made by `{command}`."
    yield ""
    yield "| | what | on | shows | cases | used | thread |"
    yield "|--:|---|---|---|--:|---|---|"
    for place, issue in enumerate(issues[:MOST], 1):
        known = issue.found.known
        thread = f"[known]({known.thread})" if known is not None and known.thread else "none found"
        runtimes = ", ".join([runtime_label(issue.results.record), *issue.also])
        yield (
            f"| {place} | {for_markdown(issue.title, 200)} (`{issue.key}`) | {for_markdown(runtimes)} "
            f"| {shown_text(issue.found)} | {count(len(issue.found.cases))} "
            f"| {use_text(issue.found.use)} | {thread} |"
        )
    yield ""
    yield f"{plural(len(issues), 'cause')} in all:"
    yield ""
    yield "| runtime | causes with an issue | without |"
    yield "|---|--:|--:|"
    labels = dict.fromkeys(
        [*(runtime_label(each.results.record) for each in issues), *(each.runtime for each in unwritten)]
    )
    for label in labels:
        own = sum(runtime_label(each.results.record) == label for each in issues)
        left = sum(each.runtime == label for each in unwritten)
        yield f"| {for_markdown(label)} | {count(own)} | {count(left)} |"

"""An issue, ready to paste: title, script, what it printed, what is asked next; and a table of the first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.runtimes.processor import processor_text
from conformance.suite.cases import Case
from opcert.vocabulary.harmless import for_markdown, for_markdown_code, one_line
from reports.causes.failure_class import FailureClass
from reports.causes.forms import MEANINGS
from reports.causes.operator_use import counted_models, use_text
from reports.causes.titles import shown_text, title
from reports.overview.headline import runtime_label, runtime_name
from reports.results.case_results import Results
from reports.results.told_facts import mapping, short_names, text
from reports.single_cases.bare_script import BareScript
from reports.single_cases.case_views import view_case
from reports.single_cases.passages_shown import public_page
from reports.text.phrasing import count, plural
from reports.text.value_text import shape_text

_LONGEST = 4_000
_MOST_LINES, _LONGEST_LINE = 40, 500
TABLE = (
    "table “ULP Values for Math Instructions - Full Profile” of the OpenCL SPIR-V Environment Specification"
)
"""What says how far off a function may be (docs/why-believe.md)."""
_NO_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class ScriptSurroundings:
    """What a script ran on: the runtime's version, its build, the platform, the processor.

    `beside` are the packages that the runtime computes with, by their versions: ONNX Runtime of a plug-in.
    """

    runtime: str
    version: str
    build: Mapping[str, str]
    platform: str
    processor: Mapping[str, Any]
    beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> Iterator[str]:
        digest = self.build.get("contents") or self.build.get("integrity")
        built = f", {for_markdown_code(self.build['file'])}" if self.build else ""
        known = f" ({for_markdown_code(digest)})" if digest else ""
        yield f"- runtime: {for_markdown(self.runtime)} {for_markdown(self.version)}{built}{known}"
        if self.beside:
            told = ", ".join(f"{name} {version}" for name, version in sorted(self.beside.items()))
            yield f"- with: {for_markdown(told)}"
        yield f"- platform: {for_markdown_code(self.platform)}"
        yield f"- processor: {for_markdown_code(processor_text(self.processor) or 'unknown')}"


@dataclass(frozen=True, eq=False)
class Issue:
    """A cause whose script reproduces it: the case that is shown, its script, and what that printed."""

    results: Results
    found: FailureClass
    case: Case
    form: str
    script: BareScript
    printed: str
    surroundings: ScriptSurroundings
    also: tuple[str, ...] = ()
    """Other runtimes that do the same, with their versions."""

    @property
    def title(self) -> str:
        return one_line(title(self.found, runtime_name(self.results.record)), 240)

    @property
    def key(self) -> str:
        """What names the cause: its entry, or its number in the run."""
        return self.found.entry or str(self.found.number)

    @property
    def file(self) -> str:
        """`003-resize-wrong-values.md`."""
        words = _NO_NAME.sub("-", self.title.lower()).strip("-")[:60].rstrip("-")
        return f"{self.found.number:03}-{words}.md"

    def render(self) -> str:
        """The issue as Markdown."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        found, known = self.found, self.found.known
        yield f"# {for_markdown(self.title, 300)}"
        yield ""
        if known is not None:
            yield for_markdown(one_line(known.explanation, _LONGEST), _LONGEST)
            yield ""
        elif found.shown is not None:
            yield for_markdown(one_line(found.shown.sentence, _LONGEST), _LONGEST)
            yield ""
        yield f"```{self.script.language}"
        yield from self.script.lines
        yield "```"
        yield ""
        yield "It prints"
        yield ""
        yield "```text"
        yield from self._printed()
        yield "```"
        yield ""
        yield from self.surroundings.lines
        form = self.form
        yield f"- inputs: {form}, {MEANINGS.get(form, form)}"
        options = mapping(mapping(self.results.record.header.get("runtime")).get("options"))
        said = ", ".join(f"{name}={text(option)}" for name, option in sorted(options.items()))
        yield f"- options: {for_markdown(said or 'none')}"
        yield f"- declared outputs: {for_markdown(self._declared())}"
        yield f"- what the documents say: {self._passages()}"
        yield from self._allowed()
        yield (
            f"- shows {shown_text(found) or 'somewhere'}: {plural(len(found.cases), 'case')} of "
            f"{for_markdown(short_names(found.operators))}" + self._use()
        )
        if self.also:
            yield f"- the same: {for_markdown(', '.join(self.also))}"
        yield f"- thread: {known.thread if known is not None and known.thread else 'no thread found'}"
        yield f"- all of it: `{self.results.reproduction_command(found.smallest.id)}`"

    def _use(self) -> str:
        said = use_text(self.found.use)
        return f", which is {said}" if said else ""

    def _printed(self) -> Iterator[str]:
        lines = self.printed.rstrip().splitlines()
        for line in lines[:_MOST_LINES]:
            # A fence within would end the block.
            shown = one_line(line, _LONGEST_LINE).replace("```", "'''")
            yield shown
        if len(lines) > _MOST_LINES:
            yield f"... ({len(lines) - _MOST_LINES} more lines)"

    def _declared(self) -> str:
        if not self.case.expectations:
            return ", ".join(self.case.wanted) or "none"
        outputs = self.case.expectations[0].outputs
        return ", ".join(f"{output.name} {shape_text(output.expected)}" for output in outputs) or "none"

    def _passages(self) -> str:
        known = self.found.known
        places = [for_markdown_code(each) for each in (known.passage if known is not None else ())]
        if not places:
            view = view_case(self.results, self.case)
            places = [for_markdown(passage.where) for passage in view.passages[:3]]
        places += [each for each in [public_page(self.found.smallest.operator)] if each]
        return "; ".join(places) or "nothing, and none allows this"

    def _allowed(self) -> Iterator[str]:
        """How far off an honest answer may be, and what says so; nothing where bits are compared."""
        worst = self.found.smallest.row.worst if self.found.smallest.row is not None else None
        if worst is not None and worst.get("allowed") and self.found.smallest.verdict == "mismatch":
            yield (
                f"- allowed error: {worst['allowed']:.3g} in the suite's own case, where {worst.get('got')} "
                f"came for {worst.get('expected')}: what rounding can come to, in any order of sums, and for "
                f"functions what {TABLE} says"
            )


def may_be_sent(found: FailureClass) -> bool:
    """Whether a cause says that the runtime is wrong: nothing else is sent to anybody."""
    return found.blames and found.told not in ("allowed", "nothing")


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

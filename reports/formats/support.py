"""`support.md`: what a runtime supports, as a page for its documentation.

Nothing in it is of one run alone: the same answers give the same bytes, and another answer changes the lines
that it is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from opcert.vocabulary.harmless import for_markdown, for_markdown_code
from opcert.vocabulary.names import OperatorName
from reports.overview.support_table import (
    Support,
    SupportCell,
    SupportNote,
    SupportRow,
    SupportSection,
    SupportTable,
    make_support_table,
)
from reports.results.case_results import Results
from reports.results.told_facts import short_names
from reports.text.phrasing import count, listed, plural
from reports.text.tests_and_tables import headed_list, table

FILE = "support.md"
MARKS = {"support.md": rb"\A<!-- Written by opcert report;"}
HEAD = "<!-- Written by opcert report; edited, it is overwritten. -->"
_SIGNS: Mapping[Support, tuple[str, str, str]] = {
    "full": ("✓ {0}", "full", "all {1} cases pass"),
    "partial": (
        "◐ {0}/{1}",
        "partial",
        "{0} of {1} pass; the runtime says itself that it does not offer the others",
    ),
    "none": ("– {0}/{1}", "none", "the runtime says itself that it offers none of them"),
    "wrong": ("**✗ {0}/{1}**", "wrong", "{0} of {1} pass; of the others some are not as the documents say"),
    "open": ("○ {0}/{1}", "open", "the others are as one passage of the documents says and another denies"),
    "inexact": ("≈ {0}/{1}", "inexact", "the others are less exact than the table of functions"),
    "unknown": ("? {0}/{1}", "not known", "some cases were not run, or could not be judged"),
    "undemanded": ("", "nothing demanded", "the documents demand nothing here, or do not have the type"),
}
"""For each cell what is written of how many cases pass and are demanded, a word for it, and what it means."""
_PASSING: Mapping[Support, int] = {"full": 24, "none": 0}
"""How many of 24 cases pass in the examples of the legend; 20 in the others."""
_RARE = re.compile(r"complex|float[4-8]\w*e|u?int[24]$")
"""Element types that stand in a table of their own: few operators take them, and their names are long."""
_LONGEST = 2_000
_ADDRESS = re.compile(r"https://[\w.-]+(?:/[\w./#=?%+-]*)?", re.ASCII)


def render(results: Results) -> str:
    """The whole file."""
    return render_support(make_support_table(results))


def render_support(found: SupportTable) -> str:
    """The whole page: totals, an overview, a table for each group of operators, notes on what fails."""
    return "\n\n".join(_blocks(found)) + "\n"


def _blocks(found: SupportTable) -> Iterator[str]:
    yield HEAD
    yield f"# What {for_markdown(found.runtime)} supports"
    yield _totals(found)
    yield (
        f"Measured by opcert {found.opcert}{f' on {for_markdown(found.machine)}' if found.machine else ''}, "
        f"as {for_markdown_code(found.source)}, with suite `{found.suite[:16]}`. Every case has an "
        "expectation that was worked out from the operators' documents; a tick means that the answers were "
        "compared with it, not that a kernel exists."
    )
    for warning in found.warnings:
        yield f"**{for_markdown(warning)}**"
    yield "\n".join(_legend())
    yield "\n".join(_overview(found))
    for section in found.sections:
        yield f"## {for_markdown(section.heading)}"
        yield from ("\n".join(each) for each in _tables(section))
    yield from headed_list("Faults of the whole run", found.faults)
    if found.notes:
        yield "## What fails"
        yield (
            "Each note is a cause, with the operator versions and element types that have it, and its "
            "smallest case: `opcert repro CASE` makes a folder that shows it without opcert."
        )
        yield "\n".join(map(_note, found.notes))


def _totals(found: SupportTable) -> str:
    cell = found.all
    said = [f"{count(cell.passing)} of {plural(cell.demanded, 'case')} pass"]
    said += [f"{count(cell.unsupported)} are unsupported"] if cell.unsupported else []
    said += [f"{count(cell.failing)} are wrong"] if cell.failing else []
    said += [f"{count(cell.inexact)} are less exact than the table of functions"] if cell.inexact else []
    said += [f"{count(cell.open)} are open in the documents"] if cell.open else []
    said += [f"{count(cell.unjudged)} were not run or not judged"] if cell.unjudged else []
    operators = plural(len(found.rows), "operator version")
    rest = (
        f" Of {plural(cell.observed, 'more case')} nothing is demanded but survival." if cell.observed else ""
    )
    return f"{operators}: {listed(said)}.{rest}"


def _legend() -> list[str]:
    rows = [
        [each.format(_PASSING.get(support, 20), 24) for each in (sign, told)]
        for support, (sign, _, told) in _SIGNS.items()
    ]
    return table([["cell", "meaning"], *rows], ("---", "---"))


def _overview(found: SupportTable) -> list[str]:
    """How many operator versions of each section come to what, in all their element types together."""
    used = [sign for sign in _SIGNS if any(row.all.support == sign for row in found.rows)]
    rows = []
    for section in found.sections:
        counted = Counter(row.all.support for row in section.rows)
        rows.append(
            [
                for_markdown(section.heading),
                *(str(counted[one] or "") for one in used),
                str(len(section.rows)),
            ]
        )
    signs = (f"{_SIGNS[each][0].strip('*')[:1]} {_SIGNS[each][1]}".strip() for each in used)
    head = ["operator versions", *signs]
    return table([[*head, "all"], *rows])


def _tables(section: SupportSection) -> Iterator[list[str]]:
    """One table of the usual element types, and one of the others for the operators that have them."""
    types = section.demanded_types
    usual = [each for each in types if not _RARE.match(each)]
    rare = [each for each in types if _RARE.match(each)]
    yield _table(section.rows, usual, {"all types": [_cell(row.all) for row in section.rows]})
    takers = [row for row in section.rows if any(row.demands(each) for each in rare)]
    if takers:
        yield _table(takers, rare, {})


def _table(
    rows: Sequence[SupportRow], types: Sequence[str], before: Mapping[str, Sequence[str]]
) -> list[str]:
    """A row an operator version, a column an element type; `before` them other columns, by their heads."""
    lines = []
    for number, row in enumerate(rows):
        cells = [row.by_type.get(each) for each in types]
        marked = ["" if cell is None else _cell(cell) + _marks(cell) for cell in cells]
        lines.append([_operator(row.operator), *(each[number] for each in before.values()), *marked])
    return table([["operator", *before, *map(for_markdown, types)], *lines])


def _operator(operator: OperatorName) -> str:
    return for_markdown(operator.short)


def _cell(cell: SupportCell) -> str:
    return _SIGNS[cell.support][0].format(count(cell.passing), count(cell.demanded))


def _marks(cell: SupportCell) -> str:
    return "".join(f"[^{note}]" for note in cell.notes)


def _note(note: SupportNote) -> str:
    said = [note.title, *(f"{remark[:1].upper()}{remark[1:]}" for remark in note.remarks)]
    types = f" ({', '.join(note.element_types)})"
    told = for_markdown(". ".join(each.rstrip(".") for each in said), _LONGEST)
    cases = f"{plural(len(note.cases), 'case')}, the smallest {for_markdown_code(str(note.smallest))}"
    thread = f" See <{note.thread}>." if _ADDRESS.fullmatch(note.thread) else ""
    return f"[^{note.name}]: {for_markdown(short_names(note.operators))}{types}: {told}. {cases}.{thread}"

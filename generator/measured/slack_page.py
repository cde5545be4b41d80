"""The table of slack, and what accepts more than it should without a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field, RootModel

from conformance.suite.case_selection import selects
from generator.measured.slack import FACTORS, OutputSlack, Slack, size
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER

FILE_NAME = "slack.yaml"
_INTRODUCTION = """\
# Slack

Made by `opcert adequacy --slack`. A fault is put into what each case expects, on ordinary float32 data
(`generator/measured/slack.py`): all elements of an output times 1.0001, 1.001, 1.01, 1.1, 2, -1 and 0. *By
all* is the largest that all cases of an operator version accept, *by one* the largest that some case does,
which the last column names; *hollow* cases accept anything. *Single* is how far one element may be off, by
the greatest of its output, in the sharpest case. No case should accept 1.01, and none whose attributes ask
for float16 or bfloat16 on the way should accept zeros; `specs/slack.yaml` says why some do.
"""


class Allowed(Entry):
    """Cases that may accept a fault, as `-k` selects them, and why."""

    cases: str = Field(min_length=1)
    accepts: str
    why: str = Field(min_length=1)

    def covers(self, found: OutputSlack) -> bool:
        """Whether what is found is no more than this lets be."""
        return selects(self.cases, found.case) and size(found.beyond) <= size(self.accepts)


class _File(RootModel[tuple[Allowed, ...]]):
    pass


def read_allowed(path: Path = OWN_FOLDER / FILE_NAME) -> tuple[Allowed, ...]:
    """The entries; raises SeveralErrors or UserError with what is wrong in the file."""
    (document, *more) = load_file(path)
    if more:
        raise UserError("not one YAML document", got=f"{1 + len(more)} documents", where=Place(str(path)))
    found = validate(_File, document).root
    for at, each in enumerate(found):
        if each.accepts not in FACTORS:
            expected = f"one of {', '.join(FACTORS)}"
            raise UserError(
                "no fault of that name", got=each.accepts, expected=expected, where=document.place((at,))
            )
    return found


def unexcused(found: Sequence[Slack], allowed: Sequence[Allowed]) -> tuple[OutputSlack, ...]:
    """What accepts more than it should, and no entry says why."""
    return tuple(
        output
        for each in found
        for output in each.beyond
        if not any(entry.covers(output) for entry in allowed)
    )


def write_page(found: Sequence[Slack], allowed: Sequence[Allowed]) -> str:
    """The table, and behind it the cases beyond the aim, each with its reason."""
    return "\n".join([_INTRODUCTION, *_table(found), "", *_beyond(found, allowed)])


def _table(found: Sequence[Slack]) -> Iterator[str]:
    yield "| operator | cases | by all | by one | hollow | single | the loosest |"
    yield "|---|---:|---|---|---:|---:|---|"
    for each in found:
        loosest = each.loosest
        if loosest is None:
            yield f"| `{each.operator}` | 0 | | | | | |"
            continue
        name = f"`{loosest.case}` {loosest.output}" if loosest.largest else ""
        cells = [
            f"`{each.operator}`",
            str(each.cases),
            each.largest or "-",
            loosest.largest or "-",
            str(len(each.hollow)),
            f"{each.single:.1e}",
            name,
        ]
        yield f"| {' | '.join(cells)} |"


def _beyond(found: Sequence[Slack], allowed: Sequence[Allowed]) -> Iterator[str]:
    for each in found:
        for output in each.beyond:
            why = next((entry.why for entry in allowed if entry.covers(output)), "nobody has said why")
            yield f"- `{output.case}` {output.output} accepts {output.beyond}: {why}"
    yield ""

"""What commands print: the one place through which text reaches a terminal or a log.

Nothing of what a document, a suite, a record, a runtime or a file's name says is an order to either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from opcert.vocabulary.harmless import for_terminal

if TYPE_CHECKING:
    from rich.console import Console


def say(text: object = "", *, error: bool = False, end: bool = True) -> None:
    """Print a text on standard output, or on standard error; without `end` it ends as it is."""
    click.echo(for_terminal(str(text)), err=error, nl=end)


def note(sentence: object) -> None:
    """Print a sentence of ours on standard error, which goes on about what is done or is amiss."""
    say(f"opcert: {sentence}", error=True)


def say_beside_bar(console: Console, sentence: str) -> None:
    """Print a sentence above a bar that is redrawn."""
    console.print(for_terminal(sentence), markup=False, highlight=False)


def open_console(*, error: bool = False) -> Console:
    """What draws bars and tables: for those alone, and for texts of our own."""
    from rich.console import Console

    return Console(stderr=error)


def draw_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Draw a table on standard output."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*headings)
    for row in rows:
        table.add_row(*(Text(for_terminal(each)) for each in row))
    open_console().print(table)

"""Rows of a covering array with what is dealt to them beside its levels: element types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from generator.calls.rows.feasibility import Model, Row

Deal = Callable[..., Sequence[Mapping[str, str]]]
"""Gives rows what is dealt to them; `given` are rows that have it, where there are any."""


@dataclass(frozen=True, eq=False)
class DealtRows:
    """Rows of a covering array, each with the levels that were dealt to it: element types.

    `taken` are the levels of rows whose cases are there already; nothing is dealt to these.
    """

    model: Model
    taken: Sequence[Mapping[str, str]] = ()
    types: dict[Row, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def taken_rows(self) -> Mapping[Row, None]:
        """The rows that are taken, each once."""
        found = map(self.model.row_of, self.taken)
        return dict.fromkeys(each for each in found if each is not None)

    def deal(self, rows: Sequence[Row], deal: Deal) -> list[Mapping[str, str]]:
        """Take the rows, with what is dealt to them; the levels of those that are dealt beside them."""
        rows = [row for row in rows if row not in self.taken_rows]
        known = {tuple(sorted(self._plain(row).items())): row for row in rows}
        beside: list[Mapping[str, str]] = []
        given = {"given": self.taken} if self.taken else {}
        for levels in deal([self._plain(row) for row in rows], **given):
            plain = {name: level for name, level in levels.items() if name in self.model.levels}
            row = known.get(tuple(sorted(plain.items())))
            if row is None or row in self.types:
                beside.append(levels)
            else:
                self.types[row] = {name: level for name, level in levels.items() if name not in plain}
        return beside

    def texts(self, row: Row, dealt_to: Row | None = None) -> dict[str, str]:
        """The levels of a row as texts, with what was dealt to it, or to the row that it replaces."""
        return {**self._plain(row), **self.types[row if dealt_to is None else dealt_to]}

    def _plain(self, row: Row) -> dict[str, str]:
        return {name: str(level) for name, level in self.model.row_levels(row).items()}

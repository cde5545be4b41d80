"""The search for covering rows, and what it came to: kept, rows are found without most of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from generator.calls.rows.covering import cover_once, find_cover
from generator.calls.rows.covering_rows import make_call
from generator.calls.rows.feasibility import Level, Model, Row
from generator.calls.space.space import CallSpace


@dataclass(frozen=True)
class FoundRows:
    """What a search for rows came to.

    `attempts` says of each covering array, in turn, which attempt became it; `without_call` are the numbers
    of the levels, in the order in which rows are dealt their types, that no call has.
    """

    attempts: tuple[int, ...] = ()
    without_call: tuple[int, ...] = ()


@dataclass(eq=False)
class RowSearch:
    """Finds arrays, and whether levels have a call, and notes it; of `kept`, what another search found."""

    kept: FoundRows | None = None
    _attempts: list[int] = field(default_factory=list)
    _without_call: list[int] = field(default_factory=list)
    _asked: int = 0

    @property
    def found(self) -> FoundRows:
        """What it came to so far."""
        return FoundRows(tuple(self._attempts), tuple(self._without_call))

    def cover(self, model: Model, strength: int, mandatory: Iterable[Mapping[str, object]] = ()) -> list[Row]:
        """As `covering.cover`."""
        place = len(self._attempts)
        if self.kept is not None and place < len(self.kept.attempts):
            attempt = self.kept.attempts[place]
            rows = cover_once(model, strength, mandatory, attempt)
        else:
            rows, attempt = find_cover(model, strength, mandatory)
        self._attempts.append(attempt)
        return rows

    def has_call(self, space: CallSpace, levels: Mapping[str, Level]) -> bool:
        """Whether a call has these levels, types among them."""
        number = self._asked
        self._asked += 1
        if self.kept is not None:
            has_call = number not in self.kept.without_call
        else:
            has_call = make_call(space, levels, outline=True) is not None
        if not has_call:
            self._without_call.append(number)
        return has_call

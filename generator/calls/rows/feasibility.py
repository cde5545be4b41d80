"""Which combinations of factor levels can occur together: a small constraint solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Level = str | int | float | bool
Row = tuple[int, ...]
"""One level index for each factor, in the model's order."""
FREE = -1
"""A factor without a level yet, in a partial row."""


@dataclass(frozen=True)
class ExcludedLevels:
    """Combinations of levels, by index, that no valid call has; `name` says by which exclusion."""

    name: str
    factors: tuple[int, ...]
    forbidden: frozenset[tuple[int, ...]]


@dataclass(frozen=True)
class FactorGroup:
    """Factors whose levels are to be combined with a strength of their own."""

    factors: tuple[int, ...]
    strength: int


@dataclass(frozen=True)
class Model:
    """Factors with their levels, the rules between them, and groups that interact more than others."""

    levels: Mapping[str, tuple[Level, ...]]
    rules: tuple[ExcludedLevels, ...] = ()
    groups: tuple[FactorGroup, ...] = ()
    sizes: tuple[int, ...] = field(init=False)
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.levels))
        object.__setattr__(self, "sizes", tuple(len(level) for level in self.levels.values()))

    def row_levels(self, row: Row) -> dict[str, Level]:
        """The levels of a complete row by factor name."""
        return {name: self.levels[name][index] for name, index in zip(self.names, row, strict=True)}

    def row_of(self, texts: Mapping[str, str]) -> Row | None:
        """The row whose levels are written so; None where a factor has none, or none that the model has."""
        found = [known.get(texts.get(name, "")) for name, known in self._places.items()]
        return None if None in found else tuple(each for each in found if each is not None)

    @cached_property
    def _places(self) -> Mapping[str, Mapping[str, int]]:
        """For each factor the places of its levels, by how they are written."""
        return {
            name: {str(level): place for place, level in enumerate(levels)}
            for name, levels in self.levels.items()
        }


class Solver:
    """Completes partial rows under the rules: forward checking, smallest domain first."""

    def __init__(self, model: Model) -> None:
        self.model = model
        # For each factor of each rule: the levels that the levels of the rule's other factors forbid.
        self._blocks: list[tuple[tuple[int, ...], list[dict[tuple[int, ...], int]]]] = []
        self._rules_of: list[list[int]] = [[] for _ in model.sizes]
        for number, rule in enumerate(model.rules):
            blocks: list[dict[tuple[int, ...], int]] = [{} for _ in rule.factors]
            for values in rule.forbidden:
                for place, value in enumerate(values):
                    others = values[:place] + values[place + 1 :]
                    blocks[place][others] = blocks[place].get(others, 0) | 1 << value
            self._blocks.append((rule.factors, blocks))
            for factor in rule.factors:
                self._rules_of[factor].append(number)
        self._constrained = [factor for factor, rules in enumerate(self._rules_of) if rules]
        # A rule over one factor alone forbids levels before anything is assigned.
        self._left = [(1 << size) - 1 for size in model.sizes]
        for factors, blocks in self._blocks:
            if len(factors) == 1:
                self._left[factors[0]] &= ~blocks[0].get((), 0)
        self._answers: dict[Row, bool] = {}
        self.feasible: dict[tuple[tuple[int, ...], ...], NDArray[np.bool_]] = {}
        """For sets of factors which of their combinations can occur, as `feasible_flags` numbers them."""

    def extendable(self, partial: Sequence[int]) -> bool:
        """Whether some complete row that no rule forbids has these levels."""
        key = tuple(partial[factor] for factor in self._constrained)
        known = self._answers.get(key)
        if known is None:
            known = self._answers[key] = self.complete(partial) is not None
        return known

    def complete(self, partial: Sequence[int], wanted: Sequence[Sequence[int]] | None = None) -> Row | None:
        """A complete row with these levels, None where there is none.

        `wanted` lists each factor's levels in the order in which to try them (default: as written).
        """
        row = list(partial)
        domains = list(self._left)
        pending = [factor for factor, value in enumerate(row) if value != FREE]
        for factor in pending:
            domains[factor] &= 1 << row[factor]
        if not all(domains) or not self._propagate(row, domains, pending):
            return None
        return self._search(row, domains, wanted)

    def _search(
        self, row: list[int], domains: list[int], wanted: Sequence[Sequence[int]] | None
    ) -> Row | None:
        free = [factor for factor in self._constrained if row[factor] == FREE]
        if not free:
            for factor, value in enumerate(row):
                if value == FREE:
                    row[factor] = wanted[factor][0] if wanted else 0
            return tuple(row)
        factor = min(free, key=lambda each: (domains[each].bit_count(), each))
        for value in wanted[factor] if wanted else range(self.model.sizes[factor]):
            if domains[factor] >> value & 1:
                next_row, next_domains = list(row), list(domains)
                next_row[factor] = value
                next_domains[factor] = 1 << value
                if self._propagate(next_row, next_domains, [factor]):
                    found = self._search(next_row, next_domains, wanted)
                    if found is not None:
                        return found
        return None

    def _propagate(self, row: list[int], domains: list[int], pending: list[int]) -> bool:
        """Narrow the domains by every rule with one factor left; False where one becomes empty."""
        pending = list(pending)
        while pending:
            for number in self._rules_of[pending.pop()]:
                factors, blocks = self._blocks[number]
                values = [row[factor] for factor in factors]
                free = values.count(FREE)
                if free > 1:
                    continue
                place = values.index(FREE) if free else 0
                del values[place]
                others = tuple(values)
                target = factors[place]
                blocked = domains[target] & blocks[place].get(others, 0)
                if not blocked:
                    continue
                domains[target] &= ~blocked
                if not domains[target]:
                    return False
                if domains[target].bit_count() == 1 and row[target] == FREE:
                    row[target] = domains[target].bit_length() - 1
                    pending.append(target)
        return True

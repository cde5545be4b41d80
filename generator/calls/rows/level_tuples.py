"""Combinations of the levels of a few factors each, numbered, so that arrays can be kept over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.rows.feasibility import FREE, Model, Row, Solver

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Factors = tuple[int, ...]
"""Places of factors in their model, rising."""
Tuples = dict[Factors, set[tuple[int, ...]]]
"""Sets of factors, and for each the combinations of their levels."""


def factor_sets(model: Model, strength: int) -> list[Factors]:
    """The sets of factors whose combinations are to be covered; none lies within another.

    They are all sets of `strength` factors, and the larger ones that the model's groups ask for.
    """
    count = len(model.sizes)
    found = dict.fromkeys(combinations(range(count), min(strength, count)))
    for group in model.groups:
        if group.strength > strength:
            found.update(dict.fromkeys(combinations(sorted(group.factors), group.strength)))
    parts = {part for each in found for width in range(len(each)) for part in combinations(each, width)}
    return [each for each in found if each not in parts]


class TupleTable:
    """Numbers of every combination of levels: those of the first set of factors, then the second's, ...

    A row that is to be numbered has one element more than there are factors: sets of fewer factors than the
    widest one are filled up with that one.
    """

    def __init__(self, sizes: Sequence[int], sets: Sequence[Factors]) -> None:
        self.sets = tuple(sets)
        width = max(map(len, sets), default=0)
        self.members: Numbers = np.full((len(sets), width), len(sizes), dtype=np.int64)
        self.strides: Numbers = np.zeros((len(sets), width), dtype=np.int64)
        self.starts: Numbers = np.zeros(len(sets), dtype=np.int64)
        self.total = 0
        for place, factors in enumerate(sets):
            stride = 1
            for position in reversed(range(len(factors))):
                self.members[place, position] = factors[position]
                self.strides[place, position] = stride
                stride *= sizes[factors[position]]
            self.starts[place] = self.total
            self.total += stride
        self._steps: list[Numbers] = []
        for factor in range(len(sizes)):
            steps = np.where(self.members == factor, self.strides, 0)
            self._steps.append(steps.sum(axis=-1))  # exact: integers

    def numbers(self, rows: Numbers) -> Numbers:
        """The numbers of the combinations that rows hold: one for each row and each set."""
        numbers: Numbers = np.repeat(self.starts[None], len(rows), axis=0)
        # A few factors make a set: adding them one by one is quicker than a sum along so short an axis.
        for place in range(self.members.shape[1]):
            numbers += rows[:, self.members[:, place]] * self.strides[:, place]
        return numbers

    def numbers_of(self, levels: Mapping[int, Numbers], count: int) -> Numbers:
        """The numbers for so many rows of which a few factors' levels are given, and the others are at 0."""
        numbers: Numbers = np.repeat(self.starts[None], count, axis=0)
        for factor, level in levels.items():
            numbers += level[:, None] * self._steps[factor]
        return numbers

    def strides_of(self, factor: int, chosen: Any) -> Numbers:
        """By how much a number grows with the level of one factor, in each of the chosen sets."""
        steps: Numbers = self._steps[factor][chosen]
        return steps

    def slice_of(self, place: int) -> slice:
        """The numbers of one set's combinations."""
        ends = (*self.starts[1:].tolist(), self.total)
        return slice(int(self.starts[place]), ends[place])

    def levels(self, place: int, numbers: Numbers, sizes: Sequence[int]) -> dict[int, Numbers]:
        """The levels, by factor, of combinations of one set, numbered from 0."""
        return {
            factor: (numbers // self.strides[place, position]) % sizes[factor]
            for position, factor in enumerate(self.sets[place])
        }

    def flags_of(self, place: int, tuples: Iterable[tuple[int, ...]]) -> Flags:
        """An array over the combinations of one set that is true for these."""
        here = self.slice_of(place)
        found = np.zeros(here.stop - here.start, dtype=np.bool_)
        width = len(self.sets[place])
        levels = np.array(sorted(tuples), dtype=np.int64).reshape(-1, width)
        found[levels @ self.strides[place, :width]] = True  # exact: integers
        return found

    def tuples(self, flags: Flags, sizes: Sequence[int]) -> Tuples:
        """The combinations for which an array is true."""
        found: Tuples = {}
        for place, factors in enumerate(self.sets):
            numbers = np.flatnonzero(flags[self.slice_of(place)])
            levels = self.levels(place, numbers, sizes).values()
            found[factors] = set(zip(*(level.tolist() for level in levels), strict=True))
        return found


def padded(rows: Sequence[Row] | Sequence[Sequence[int]], count: int) -> Numbers:
    """Rows as a table takes them."""
    array = np.zeros((len(rows), count + 1), dtype=np.int64)
    array[:, :count] = np.array(rows, dtype=np.int64).reshape(len(rows), count)
    return array


def feasible_flags(solver: Solver, table: TupleTable) -> Flags:
    """For each combination of a table whether some complete row has it; a solver remembers it of the sets."""
    if table.sets not in solver.feasible:
        solver.feasible[table.sets] = _feasible_flags(solver, table)
    return solver.feasible[table.sets]


def _feasible_flags(solver: Solver, table: TupleTable) -> Flags:
    model = solver.model
    found = np.zeros(table.total, dtype=np.bool_)
    for place, factors in enumerate(table.sets):
        here = table.slice_of(place)
        numbers = np.arange(here.stop - here.start)
        levels = [level.tolist() for level in table.levels(place, numbers, model.sizes).values()]
        for turn in range(here.start, here.stop):
            if found[turn]:
                continue
            partial = [FREE] * len(model.sizes)
            for factor, level in zip(factors, levels, strict=True):
                partial[factor] = level[turn - here.start]
            # Trying the levels in another order each time makes every solution show new combinations.
            row = solver.complete(partial, _Turned(model.sizes, turn))
            if row is not None:
                found[table.numbers(padded([row], len(model.sizes)))] = True
    return found


class _Turned(Sequence[Sequence[int]]):
    """For each factor its levels, from another one on at each turn; few of them are looked at."""

    def __init__(self, sizes: Sequence[int], turn: int) -> None:
        self._sizes = sizes
        self._turn = turn

    def __getitem__(self, factor: Any) -> Any:
        size = self._sizes[factor]
        first = self._turn % size
        return (*range(first, size), *range(first))

    def __len__(self) -> int:
        return len(self._sizes)


def feasible_tuples(solver: Solver, strength: int) -> Tuples:
    """Every combination of levels that is to be covered and that some complete row has."""
    table = TupleTable(solver.model.sizes, factor_sets(solver.model, strength))
    return table.tuples(feasible_flags(solver, table), solver.model.sizes)


def covered_tuples(model: Model, rows: Iterable[Row], strength: int) -> Tuples:
    """The combinations that are to be covered and that rows contain."""
    found: Tuples = {factor_set: set() for factor_set in factor_sets(model, strength)}
    for row in rows:
        for factors, values in found.items():
            values.add(tuple(row[factor] for factor in factors))
    return found

"""Covering arrays: few rows in which every feasible combination of `strength` levels occurs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from generator.calls.rows.feasibility import FREE, ExcludedLevels, Model, Row, Solver
from generator.calls.rows.level_tuples import Flags, Numbers, TupleTable, factor_sets, feasible_flags, padded
from opcert.vocabulary.errors import InternalError

CANDIDATES = 32
"""Rows that are tried for each row of an array."""
ATTEMPTS = 8
"""So many arrays are made, and the smallest is taken, where none is good enough."""
GOOD_ENOUGH = Fraction(5, 4)
"""So many times the rows that the set of factors with most tuples needs."""
QUICK = 20_000
"""A second array is made only of a model with so few combinations."""
_TIES = np.uint64(1 << 16)
"""Among levels that cover as much, a number below this decides."""
_SCRAMBLING = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT = np.uint64(31)
_Seed = Row | Mapping[int, Numbers]
"""What an array's row begins with: all its levels, or for some factors a level for each candidate."""


def cover(model: Model, strength: int = 2, mandatory: Iterable[Mapping[str, object]] = ()) -> list[Row]:
    """Rows that cover every feasible tuple of `strength` factors, the mandatory ones first.

    The model's groups are covered with their own strength where that is greater. A mandatory row gives levels
    to some or all factors; InternalError where the rules forbid one. The same model gives the same rows
    always.

    Source: the greedy construction row by row (Cohen, Dalal, Fredman and Patton, 1997): of some candidates,
    each filled level by level with what covers most, the one that covers most.
    """
    solver = Solver(model)
    seeds = [_mandatory_seed(model, solver, levels) for levels in mandatory]
    array = _Array(solver, strength)
    best = array.fill(seeds, 0)
    for attempt in range(1, ATTEMPTS if array.combinations <= QUICK else 1):
        if len(best) <= GOOD_ENOUGH * array.fewest:
            break
        best = min(best, array.fill(seeds, attempt), key=len)
    return best


def with_fixed(model: Model, levels: Mapping[str, object]) -> Model:
    """The model in which these factors have these levels alone; factors that it lacks are left out."""
    rules = tuple(
        ExcludedLevels(
            f"{name}={level}",
            (model.names.index(name),),
            frozenset((index,) for index, each in enumerate(model.levels[name]) if each != level),
        )
        for name, level in levels.items()
        if name in model.levels
    )
    return replace(model, rules=(*model.rules, *rules))


def _mandatory_seed(model: Model, solver: Solver, levels: Mapping[str, object]) -> _Seed:
    seed = {model.names.index(name): model.levels[name].index(level) for name, level in levels.items()}
    row = tuple(seed.get(factor, FREE) for factor in range(len(model.sizes)))
    if not solver.extendable(row):
        raise InternalError("a mandatory row breaks an exclusion", got=str(dict(levels)))
    return {factor: np.full(CANDIDATES, level) for factor, level in seed.items()} if FREE in row else row


class _Array:
    """An array that grows row by row, and the tuples that none of its rows has yet."""

    def __init__(self, solver: Solver, strength: int) -> None:
        self._solver = solver
        self._sizes = solver.model.sizes
        self._tuples = TupleTable(self._sizes, factor_sets(solver.model, strength))
        self._rules, self._forbidden = _forbidden_tuples(solver)
        self._feasible: Flags = feasible_flags(solver, self._tuples)
        self._missing: Flags = self._feasible.copy()
        self.combinations = self._tuples.total
        self.fewest = int(self._left().max(initial=0))
        self._rows: list[Row] = []
        self._attempt = 0

    def fill(self, seeds: Sequence[_Seed], attempt: int) -> list[Row]:
        """The rows of a whole array, those with the given seeds first; another array for each attempt."""
        self._attempt, self._rows, self._missing = attempt, [], self._feasible.copy()
        for seed in seeds:
            self._add_row(seed)
        while self._missing.any():
            self._add_row(self._hardest_tuples())
        return self._without_redundant(len(seeds))

    def _hardest_tuples(self) -> dict[int, Numbers]:
        """For each candidate a missing tuple of those factors that miss most, as levels by factor."""
        place = int(np.argmax(self._left()))
        numbers = np.flatnonzero(self._missing[self._tuples.slice_of(place)])
        chosen = numbers[self._scrambled(CANDIDATES, len(self._rows)) % np.uint64(len(numbers))]
        return self._tuples.levels(place, chosen, self._sizes)

    def _add_row(self, seed: _Seed) -> None:
        """Add a whole row, or the best of the rows that have a candidate's seed each."""
        if isinstance(seed, tuple):
            self._rows.append(seed)
            self._missing[self._tuples.numbers(padded([seed], len(seed)))] = False
            return
        weights = self._left()
        candidates, alive, numbers = self._candidates(seed, weights)
        covered = self._missing[numbers] @ weights  # exact: integers
        best = int(np.argmax(np.where(alive, covered, -1)))
        row: Row | None = tuple(candidates[best, :-1].tolist())
        if not alive[best]:
            partial = [int(seed[factor][0]) if factor in seed else FREE for factor in range(len(self._sizes))]
            row = self._solver.complete(partial)
        if row is None:
            raise InternalError("a row of a covering array cannot be completed", got=str(seed))
        self._rows.append(row)
        self._missing[numbers[best] if alive[best] else self._tuples.numbers(padded([row], len(row)))] = False

    def _without_redundant(self, keep: int) -> list[Row]:
        """The rows, without those, the last first, all of whose tuples others have; the first `keep` stay."""
        if not self._rows:
            return []
        numbers = self._tuples.numbers(padded(self._rows, len(self._sizes)))
        counts = np.bincount(numbers.reshape(-1), minlength=self._tuples.total)
        kept = list(self._rows)
        for place in range(len(self._rows) - 1, keep - 1, -1):
            if (counts[numbers[place]] > 1).all():
                counts[numbers[place]] -= 1
                del kept[place]
        return kept

    def _scrambled(self, count: int, turn: int) -> NDArray[np.uint64]:
        """Numbers in no order, others for each attempt and turn."""
        return _scrambled(count, self._attempt * 1_000_000 + turn)

    def _shuffled(self, turn: int) -> list[int]:
        order: list[int] = np.argsort(self._scrambled(len(self._sizes), turn), kind="stable").tolist()
        return order

    def _left(self) -> Numbers:
        """How many tuples each set of factors misses: so much a tuple of it counts."""
        if not len(self._tuples.starts):
            return self._tuples.starts
        left: Numbers = np.add.reduceat(  # exact: integers
            self._missing, self._tuples.starts, dtype=np.int64
        )
        return left

    def _candidates(self, seed: Mapping[int, Numbers], weights: Numbers) -> tuple[Numbers, Flags, Numbers]:
        """Rows with these levels, the other factors filled one after the other; which of them keep the rules.

        Each factor gets the level that covers most together with those that are there. With them come the
        numbers of the rows' combinations.
        """
        turn = len(self._rows)
        order = [factor for factor in self._shuffled(turn) if factor not in seed]
        rows = np.zeros((CANDIDATES, len(self._sizes) + 1), dtype=np.int64)
        for factor, levels in seed.items():
            rows[:, factor] = levels
        alive = np.ones(CANDIDATES, dtype=np.bool_)
        tuples_at, rules_at = (
            _completed_by(tuple_table, order) for tuple_table in (self._tuples, self._rules)
        )
        # Factors that are not filled yet are at 0, and add nothing.
        tuples, rules = (
            tuple_table.numbers_of(seed, CANDIDATES) for tuple_table in (self._tuples, self._rules)
        )
        for place, factor in enumerate(order):
            levels = np.arange(self._sizes[factor])
            numbers = _numbers_by_level(self._tuples, tuples, factor, levels, tuples_at[place])
            gains = weights[tuples_at[place]] @ self._missing[numbers].astype(np.int64)  # exact: integers
            ties = self._scrambled(gains.size, turn * len(order) + place).reshape(gains.shape) % _TIES
            scores = gains * int(_TIES) + ties.astype(np.int64)
            if len(rules_at[place]):
                numbers = _numbers_by_level(self._rules, rules, factor, levels, rules_at[place])
                scores[self._forbidden[numbers].any(axis=1)] = -1
            best = scores.argmax(axis=1)
            rows[:, factor] = best
            alive &= scores.max(axis=1) >= 0
            for table, held in ((self._tuples, tuples), (self._rules, rules)):
                held += best[:, None] * table.strides_of(factor, slice(None))
        return rows, alive, tuples


def _forbidden_tuples(solver: Solver) -> tuple[TupleTable, Flags]:
    """The combinations that the rules forbid, and the pairs that no complete row has."""
    model = solver.model
    pairs = TupleTable(model.sizes, list(combinations(range(len(model.sizes)), 2)))
    impossible = pairs.tuples(~feasible_flags(solver, pairs), model.sizes)
    narrowing = {factors: values for factors, values in impossible.items() if values}
    table = TupleTable(model.sizes, [*(rule.factors for rule in model.rules), *narrowing])
    forbidden = np.zeros(table.total, dtype=np.bool_)
    for place, values in enumerate([*(rule.forbidden for rule in model.rules), *narrowing.values()]):
        forbidden[table.slice_of(place)] = table.flags_of(place, values)
    return table, forbidden


def _completed_by(table: TupleTable, order: Sequence[int]) -> list[Numbers]:
    """For each factor of the order the sets of a table that are complete with it and not before."""
    places = np.full(int(table.members.max(initial=0)) + 1, -1, dtype=np.int64)
    for place, factor in enumerate(order):
        if factor < len(places):
            places[factor] = place
    last = places[table.members].max(axis=1, initial=-1)
    ranked = np.argsort(last, kind="stable")
    ends = np.searchsorted(last[ranked], np.arange(len(order) + 1)).tolist()
    return [ranked[first:end] for first, end in pairwise(ends)]


def _numbers_by_level(
    table: TupleTable, held: Numbers, factor: int, levels: Numbers, chosen: Numbers
) -> NDArray[np.int64]:
    """The numbers of the rows' combinations of some sets, for each level of a factor that is still at 0.

    `held` are the numbers as the rows are.
    """
    steps = table.strides_of(factor, chosen)
    numbers: Numbers = held[:, chosen, None] + (steps[:, None] * levels)[None]
    return numbers


def _scrambled(count: int, turn: int) -> NDArray[np.uint64]:
    """Numbers in no order, the same always: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    numbers = _counted(count) + np.uint64((turn + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in _SCRAMBLING:
        numbers = (numbers ^ numbers >> shift) * factor
    return numbers ^ numbers >> _LAST_SHIFT


@lru_cache(maxsize=256)
def _counted(count: int) -> NDArray[np.uint64]:
    return np.arange(count, dtype=np.uint64)

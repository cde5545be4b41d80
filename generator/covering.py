"""Covering arrays: few rows in which every feasible combination of `strength` levels occurs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from generator.feasibility import FREE, Model, Row, Solver, Tuples, feasible_tuples
from opcert.errors import InternalError


def cover(model: Model, strength: int = 2, mandatory: Iterable[Mapping[str, object]] = ()) -> list[Row]:
    """Rows that cover every feasible tuple of `strength` factors, the mandatory ones first.

    A mandatory row gives levels to some or all factors; InternalError where the rules forbid one. The same
    model gives the same rows always.

    Source: the in-parameter-order strategy (Lei and Tai, 1998), factor by factor, with a solver that
    refuses every partial row that no complete one extends.
    """
    solver = Solver(model)
    strength = min(strength, len(model.sizes))
    tuples = feasible_tuples(solver, strength)
    order = sorted(range(len(model.sizes)), key=lambda factor: (-model.sizes[factor], factor))
    rows = [_mandatory_row(model, solver, each) for each in mandatory]
    keep = len(rows)
    for place in range(strength, len(order) + 1):
        _grow(rows, order[:place], tuples, solver, strength)
    complete = _completed(rows, solver)
    return _without_redundant(complete, keep, strength)


def covered_tuples(rows: Iterable[Row], count: int, strength: int) -> Tuples:
    """The tuples of `strength` out of `count` factors that rows contain."""
    found: Tuples = {each: set() for each in combinations(range(count), strength)}
    for row in rows:
        for factors, values in found.items():
            values.add(tuple(row[factor] for factor in factors))
    return found


def _mandatory_row(model: Model, solver: Solver, levels: Mapping[str, object]) -> list[int]:
    row = [FREE] * len(model.sizes)
    for name, level in levels.items():
        row[model.names.index(name)] = model.levels[name].index(level)
    if not solver.extendable(row):
        raise InternalError("a mandatory row breaks an exclusion", got=str(dict(levels)))
    return row


def _grow(rows: list[list[int]], order: Sequence[int], tuples: Tuples, solver: Solver, strength: int) -> None:
    """Give the last factor of `order` levels: first in the rows that there are, then in further ones."""
    newest = order[-1]
    missing: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    for earlier in combinations(sorted(order[:-1]), strength - 1):
        masks: dict[tuple[int, ...], int] = {}
        factors = tuple(sorted((*earlier, newest)))
        place = factors.index(newest)
        for values in tuples[factors]:
            others = values[:place] + values[place + 1 :]
            masks[others] = masks.get(others, 0) | 1 << values[place]
        missing[earlier] = masks
    uses = [0] * solver.model.sizes[newest]
    for row in rows:
        value = row[newest] if row[newest] != FREE else _best_level(row, newest, missing, uses, solver)
        if value is not None:
            row[newest] = value
            uses[value] += 1
            _strike(row, newest, missing)
    for earlier, masks in missing.items():
        for others in sorted(masks):
            value = 0
            while masks[others] >> value:
                if masks[others] >> value & 1:
                    row = _place(rows, (*earlier, newest), (*others, value), solver)
                    _strike(row, newest, missing)
                value += 1


def _best_level(
    row: list[int],
    newest: int,
    missing: Mapping[tuple[int, ...], Mapping[tuple[int, ...], int]],
    uses: Sequence[int],
    solver: Solver,
) -> int | None:
    """The level that covers most missing tuples; None where none covers any (left free for later)."""
    gains = [0] * len(uses)
    for earlier, masks in missing.items():
        mask = masks.get(tuple(row[factor] for factor in earlier), 0)
        while mask:
            lowest = mask & -mask
            gains[lowest.bit_length() - 1] += 1
            mask ^= lowest
    for value in sorted(range(len(uses)), key=lambda each: (-gains[each], uses[each], each)):
        if gains[value] == 0:
            return None
        row[newest] = value
        if solver.extendable(row):
            return value
        row[newest] = FREE
    return None


def _strike(
    row: Sequence[int], newest: int, missing: dict[tuple[int, ...], dict[tuple[int, ...], int]]
) -> None:
    for earlier, masks in missing.items():
        others = tuple(row[factor] for factor in earlier)
        if masks.get(others, 0) >> row[newest] & 1:
            masks[others] ^= 1 << row[newest]


def _place(rows: list[list[int]], factors: Sequence[int], values: Sequence[int], solver: Solver) -> list[int]:
    """Put a tuple into the first row that has room for it, else into a row of its own."""
    for row in rows:
        if all(row[factor] in (FREE, value) for factor, value in zip(factors, values, strict=True)):
            trial = list(row)
            for factor, value in zip(factors, values, strict=True):
                trial[factor] = value
            if solver.extendable(trial):
                row[:] = trial
                return row
    fresh = [FREE] * len(solver.model.sizes)
    for factor, value in zip(factors, values, strict=True):
        fresh[factor] = value
    rows.append(fresh)
    return fresh


def _completed(rows: Sequence[Sequence[int]], solver: Solver) -> list[Row]:
    """Fill what is free with the levels least used so far."""
    uses = [[0] * size for size in solver.model.sizes]
    for row in rows:
        for factor, value in enumerate(row):
            if value != FREE:
                uses[factor][value] += 1
    complete: list[Row] = []
    for row in rows:
        wanted = [sorted(range(len(each)), key=each.__getitem__) for each in uses]
        full = solver.complete(row, wanted)
        if full is None:
            raise InternalError("a row of a covering array cannot be completed", got=str(row))
        for factor, value in enumerate(full):
            if row[factor] == FREE:
                uses[factor][value] += 1
        complete.append(full)
    return complete


def _without_redundant(rows: list[Row], keep: int, strength: int) -> list[Row]:
    """Drop rows, the last first, all of whose tuples other rows cover; the first `keep` stay."""
    factor_sets = list(combinations(range(len(rows[0])), strength)) if rows else []
    counts: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    for row in rows:
        for factors in factor_sets:
            key = (factors, tuple(row[factor] for factor in factors))
            counts[key] = counts.get(key, 0) + 1
    kept = list(rows)
    for number in range(len(rows) - 1, keep - 1, -1):
        keys = [(factors, tuple(rows[number][factor] for factor in factors)) for factors in factor_sets]
        if all(counts[key] > 1 for key in keys):
            for key in keys:
                counts[key] -= 1
            del kept[number]
    return kept

"""Covering arrays beside covertable's: rows, seconds, and how few rows there can be.

    uv run python -m benchmarks.covering            # pairs on a dozen models, triples on the largest operator
    uv run python -m benchmarks.covering --quick    # without the models that take covertable minutes

`product` is the largest number of combinations of two (three) factors that the constraints allow: as many
rows are needed at least. `bound` is a better one where the constraints say more: for each level of a factor
the largest set of levels of the others of which no two can stand in one row, added up. The answer is 1 where
an array has more rows than 1.25 times the larger of the two.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from time import process_time
from typing import Any

from covertable import make

from generator.asking.named_operators import first_operators
from generator.calls.rows.covering import cover
from generator.calls.rows.factors import factor_model
from generator.calls.rows.feasibility import FREE, ExcludedLevels, Model, Solver
from generator.calls.rows.level_tuples import feasible_tuples
from specs.files.library import load_spec

LIMIT = 1.25
WIDEST = 3
"""Of so many factors with the most levels the bound is tried."""
UNIFORM = {
    "3^4": [3] * 4,
    "3^13": [3] * 13,
    "4^15 3^17 2^29": [4] * 15 + [3] * 17 + [2] * 29,
    "2^20": [2] * 20,
}
"""Factors of equal size: known to need more rows than a product of two, whoever makes them."""


@dataclass(frozen=True)
class Measured:
    """Arrays of one model, made by us and by covertable."""

    name: str
    factors: int
    product: int
    bound: int
    rows: int
    seconds: float
    theirs: int | None
    their_seconds: float


def models() -> Iterator[tuple[str, Model]]:
    for operator in first_operators():
        yield str(operator), factor_model(load_spec(operator))
    for name, sizes in UNIFORM.items():
        yield name, Model({f"f{place}": tuple(range(size)) for place, size in enumerate(sizes)})


def measure(name: str, model: Model, strength: int, with_theirs: bool) -> Measured:
    product = max(map(len, feasible_tuples(Solver(model), strength).values()))
    started = process_time()
    rows = len(cover(model, strength))
    seconds = process_time() - started
    theirs, started = None, process_time()
    if with_theirs:
        theirs = covertable_rows(model, strength)
    bound = least_rows(model, strength) if model.rules else product
    return Measured(name, len(model.sizes), product, bound, rows, seconds, theirs, process_time() - started)


def covertable_rows(model: Model, strength: int) -> int:
    """How many rows covertable needs, under the same rules."""

    def allowed(row: Mapping[str, int], rule: ExcludedLevels) -> bool:
        names = [model.names[factor] for factor in rule.factors]
        return (
            any(name not in row for name in names) or tuple(row[name] for name in names) not in rule.forbidden
        )

    def keeps_the_rules(row: Mapping[str, int]) -> bool:
        return all(allowed(row, each) for each in model.rules)

    options: dict[str, Any] = {"length": strength}
    if model.rules:
        options["pre_filter"] = keeps_the_rules
    levels = {name: list(range(size)) for name, size in zip(model.names, model.sizes, strict=True)}
    return len(make(levels, **options))


def least_rows(model: Model, strength: int) -> int:
    """So many rows every array of that strength has at least."""
    widest = sorted(range(len(model.sizes)), key=lambda factor: -model.sizes[factor])
    return _least_rows(Solver(model), [], widest[:WIDEST], strength)


def _least_rows(solver: Solver, fixed: list[tuple[int, int]], widest: Sequence[int], strength: int) -> int:
    """The rows that have these levels: those of one factor's levels are apart from each other."""
    if strength == 1:
        return _largest_conflict(solver, fixed)
    counts = [0]
    for factor in widest:
        levels = [(factor, level) for level in range(solver.model.sizes[factor])]
        if factor not in dict(fixed):
            kept = [each for each in levels if _possible(solver, [*fixed, each])]
            counts.append(sum(_least_rows(solver, [*fixed, each], widest, strength - 1) for each in kept))
    return max(counts)


def _largest_conflict(solver: Solver, fixed: list[tuple[int, int]]) -> int:
    """Levels of other factors, as many as can be, of which no two stand in one row with the fixed ones."""
    sizes = solver.model.sizes
    levels = [
        (factor, level)
        for factor, size in enumerate(sizes)
        for level in range(size)
        if factor not in dict(fixed) and _possible(solver, [*fixed, (factor, level)])
    ]
    conflicts = [0] * len(levels)
    for one, other in combinations(range(len(levels)), 2):
        if levels[one][0] == levels[other][0] or not _possible(solver, [*fixed, levels[one], levels[other]]):
            conflicts[one] |= 1 << other
            conflicts[other] |= 1 << one
    return _largest_clique(conflicts, (1 << len(levels)) - 1, 0, 0)


def _possible(solver: Solver, levels: Sequence[tuple[int, int]]) -> bool:
    row = [FREE] * len(solver.model.sizes)
    for factor, level in levels:
        row[factor] = level
    return solver.extendable(row)


def _largest_clique(neighbours: Sequence[int], left: int, size: int, best: int) -> int:
    """Branch and bound: `left` are the nodes that may still join a clique of `size`."""
    best = max(best, size)
    while left and size + _colours(neighbours, left) > best:
        node = left.bit_length() - 1
        best = _largest_clique(neighbours, left & neighbours[node], size + 1, best)
        left &= ~(1 << node)
    return best


def _colours(neighbours: Sequence[int], left: int) -> int:
    """So many colours suffice, and so no clique has more nodes."""
    count = 0
    while left:
        count += 1
        free = left
        while free:
            node = free.bit_length() - 1
            left &= ~(1 << node)
            free &= ~(1 << node) & ~neighbours[node]
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    missed = 0
    print(
        "| model | t | factors | product | bound | rows | of product | of bound | seconds "
        "| covertable | seconds |"
    )
    print("|---" * 11 + "|")
    largest = max(models(), key=lambda each: sum(each[1].sizes) if each[1].rules else 0)
    for name, model, strength in [*((*each, 2) for each in models()), (*largest, 3)]:
        slow = strength > 2 or (quick and len(model.sizes) > 20)
        found = measure(name, model, strength, not slow)
        theirs = f"{found.theirs} | {found.their_seconds:.1f}" if found.theirs is not None else "not run | "
        print(
            f"| {name} | {strength} | {found.factors} | {found.product} | {found.bound} | {found.rows} "
            f"| {found.rows / found.product:.2f} | {found.rows / found.bound:.2f} | {found.seconds:.1f} "
            f"| {theirs} |",
            flush=True,
        )
        missed += name not in UNIFORM and found.rows > LIMIT * max(found.product, found.bound)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())

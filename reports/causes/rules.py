"""Rules, sets of conditions that the search for the best one tries, and how good each is.

Observations are numbered; a set of them is a number with their bits.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from heapq import heappushpop
from typing import NamedTuple

MOST_VALUES = 3
MOST_RULES = 40
"""Of the rules of one length so many are tried with a further condition."""

_PRECISION = 0.75
# What a set of conditions costs, in failing cases that it would have to explain more: a passing case that
# fulfils it, a condition, a further value in one, a negation. A note may be a little wrong, but not long.
_PASSING_COST = 1.0
_CONDITION_COST = 1.0
_VALUE_COST = 0.5
_NEGATION_COST = 0.25

Table = Sequence[tuple[str, Mapping[str, int]]]
"""Each feature with its values, and the observations that have each."""


class Literal(NamedTuple):
    """One condition: a feature by its place in the table, its values, and the observations that fulfil it.

    `cost` is what its length costs, beside being one more condition.
    """

    place: int
    values: tuple[str, ...]
    negated: bool
    mask: int
    cost: float


class SeparatingRule(NamedTuple):
    """Literals in the order of their places, the observations that fulfil them all, and their lengths."""

    literals: tuple[Literal, ...]
    mask: int
    places: tuple[int, ...] = ()
    negations: int = 0
    values: int = 0

    @property
    def cost(self) -> float:
        """What its length costs; the first condition is free."""
        return _CONDITION_COST * max(len(self.places) - 1, 0) + math.fsum(each.cost for each in self.literals)

    def narrowed(self, literal: Literal, mask: int) -> SeparatingRule:
        """The rule with one more condition; `mask` is what fulfils both."""
        position = bisect_right(self.places, literal.place)
        return SeparatingRule(
            (*self.literals[:position], literal, *self.literals[position:]),
            mask,
            (*self.places[:position], literal.place, *self.places[position:]),
            self.negations + literal.negated,
            self.values + len(literal.values),
        )


class Field(NamedTuple):
    """The observations by group, those that are to be explained, those that pass, and all that failed."""

    groups: Mapping[str, int]
    failing: int
    passing: int
    failed: int

    def separates(self, mask: int) -> bool:
        """Whether some of these observations fail, and at most a quarter of them pass."""
        hits, misses = (mask & self.failing).bit_count(), (mask & self.passing).bit_count()
        return hits > 0 and _is_precise(hits, misses)

    def covered(self, mask: int) -> int:
        """The failing observations in the groups where the mask separates."""
        covered = 0
        for members in self.groups.values():
            if self.separates(mask & members):
                covered |= mask & members & self.failing
        return covered

    def gain(self, mask: int) -> float:
        """Failing cases covered, less what the passing ones among them cost, where the rule separates."""
        total = 0.0
        failing, passing = mask & self.failing, mask & self.passing
        for members in self.groups.values():
            hits = (failing & members).bit_count()
            misses = (passing & members).bit_count() if hits else 0
            if hits and _is_precise(hits, misses):
                total += max(hits - _PASSING_COST * misses, 0.0)
        return total


def _is_precise(hits: int, misses: int) -> bool:
    return hits >= _PRECISION * (hits + misses)


def grow(
    rules: Sequence[SeparatingRule],
    literals: Sequence[Literal],
    table: Table,
    field: Field,
    least: float,
    fewest: int,
) -> list[tuple[float, SeparatingRule]]:
    """The best rules with one more condition that makes them narrower, the best first, with their scores.

    Each still covers a failing case. Rules of which not even the failing cases that fulfil them come to more
    than `least`, or that fewer than `fewest` of those that failed fulfil, are left out: no further condition
    makes them better.
    """
    grown: dict[tuple[Literal, ...], tuple[float, SeparatingRule]] = {}
    best: list[float] = [-math.inf] * MOST_RULES
    for rule in rules:
        base = rule.cost + (_CONDITION_COST if rule.literals else 0.0)
        if (rule.mask & field.failing).bit_count() - base <= least:
            continue
        several = _several_values(table, field.failing & rule.mask, rule.places)
        for literal in (*literals, *several):
            both = rule.mask & literal.mask
            hits = (both & field.failing).bit_count()
            cost = base + literal.cost
            # What passes only takes from what the hits come to.
            if not hits or hits - cost <= least or hits - cost < best[0]:
                continue
            if both == rule.mask or literal.place in rule.places:
                continue
            if (both & field.failed).bit_count() < fewest:
                continue
            score = field.gain(both) - cost
            if score < best[0]:
                continue
            together = rule.narrowed(literal, both)
            if together.literals not in grown:
                grown[together.literals] = score, together
                heappushpop(best, score)
    return sorted(grown.values(), key=_preference)[:MOST_RULES]


def _preference(scored: tuple[float, SeparatingRule]) -> tuple[float, int, int, tuple[int, ...]]:
    score, rule = scored
    return -score, rule.negations, rule.values, rule.places


def single_values(table: Table, failing: int) -> list[Literal]:
    """Each value of each feature that a failing case has, and (of three values and more) its negation."""
    literals = []
    for place, (_, masks) in enumerate(table):
        known = 0
        for mask in masks.values():
            known |= mask
        for value, mask in sorted(masks.items()):
            if mask & failing:
                literals.append(Literal(place, (value,), False, mask, 0.0))
            if len(masks) > 2 and known & ~mask & failing:
                literals.append(Literal(place, (value,), True, known & ~mask, _NEGATION_COST))
    return literals


def _several_values(table: Table, failing: int, used: Sequence[int]) -> list[Literal]:
    """For each feature with more values the two or three that the given failing cases have."""
    literals = []
    for place, (_, masks) in enumerate(table):
        if place in used:
            continue
        values = tuple(sorted(value for value, mask in masks.items() if mask & failing))
        if 2 <= len(values) <= MOST_VALUES and len(values) < len(masks) - 1:
            mask = 0
            for value in values:
                mask |= masks[value]
            literals.append(Literal(place, values, False, mask, _VALUE_COST * (len(values) - 1)))
    return literals

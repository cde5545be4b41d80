"""Rules, sets of conditions that the search for the best one tries, and how good each is.

Observations are numbered; a set of them is a number with their bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MOST_VALUES = 3
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
    """One condition: a feature by its place in the table, its values, and the observations that fulfil it."""

    place: int
    values: tuple[str, ...]
    negated: bool
    mask: int


class Rule(NamedTuple):
    """Literals in the order of their places, the observations that fulfil them all, and their lengths."""

    literals: tuple[Literal, ...]
    mask: int
    places: tuple[int, ...] = ()
    negations: int = 0
    values: int = 0

    @property
    def cost(self) -> float:
        """What its length costs; the first condition is free."""
        length = len(self.places)
        return (
            _CONDITION_COST * max(length - 1, 0)
            + _VALUE_COST * (self.values - length)
            + _NEGATION_COST * self.negations
        )

    def narrowed(self, literal: Literal, mask: int) -> Rule:
        """The rule with one more condition; `mask` is what fulfils both."""
        position = bisect_right(self.places, literal.place)
        return Rule(
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
        return hits > 0 and hits >= _PRECISION * (hits + misses)

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
        for members in self.groups.values():
            inside = mask & members
            if self.separates(inside):
                gain = (inside & self.failing).bit_count() - _PASSING_COST * (
                    inside & self.passing
                ).bit_count()
                total += max(gain, 0.0)
        return total


def grow(
    rules: Sequence[Rule],
    literals: Sequence[Literal],
    table: Table,
    field: Field,
    least: float,
    fewest: int,
) -> list[Rule]:
    """Every rule with one more condition that makes it narrower and still covers a failing case.

    Rules of which not even the failing cases that fulfil them come to more than `least`, or that fewer than
    `fewest` of those that failed fulfil, are left out: no further condition makes them better.
    """
    grown = {}
    for rule in rules:
        cost = rule.cost + (_CONDITION_COST if rule.literals else 0.0)
        if (rule.mask & field.failing).bit_count() - cost <= least:
            continue
        several = _several_values(table, field.failing & rule.mask, rule.places)
        for literal in [*literals, *several]:
            both = rule.mask & literal.mask
            hits = (both & field.failing).bit_count()
            if not hits or hits - cost <= least or both == rule.mask or literal.place in rule.places:
                continue
            if (both & field.failed).bit_count() < fewest:
                continue
            together = rule.narrowed(literal, both)
            grown[together.literals] = together
    return list(grown.values())


def single_values(table: Table, failing: int) -> list[Literal]:
    """Each value of each feature that a failing case has, and (of three values and more) its negation."""
    literals = []
    for place, (_, masks) in enumerate(table):
        known = 0
        for mask in masks.values():
            known |= mask
        for value, mask in sorted(masks.items()):
            if mask & failing:
                literals.append(Literal(place, (value,), False, mask))
            if len(masks) > 2 and known & ~mask & failing:
                literals.append(Literal(place, (value,), True, known & ~mask))
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
            literals.append(Literal(place, values, False, mask))
    return literals

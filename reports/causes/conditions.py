"""The smallest set of conditions that separates failing cases from passing ones.

Observations are numbered; a set of them is a number with their bits.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
        return _CONDITION_COST * max(len(self.places) - 1, 0) + math.fsum(
            literal.cost for literal in self.literals
        )

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


MOST_CONDITIONS = 3
# A set of conditions must explain more cases than it has conditions: with enough features to choose from, one
# failing case is always singled out by something.
_FEWEST = (2, 1, 3, 4)


@dataclass(frozen=True)
class Condition:
    """One feature with the values that it must have, or must not have (`negated`, one value)."""

    feature: str
    values: tuple[str, ...]
    negated: bool = False

    def holds(self, features: Mapping[str, str]) -> bool:
        """Whether a case with these features fulfils it; a case without the feature never does."""
        value = features.get(self.feature)
        return value is not None and (value in self.values) != self.negated

    def __str__(self) -> str:
        return f"{self.feature}{'≠' if self.negated else '='}{' or '.join(self.values)}"


@dataclass(frozen=True)
class Observation:
    """One case as the search sees it: the group that it is judged in, its features, whether it fails."""

    group: str
    features: Mapping[str, str]
    failing: bool


@dataclass(frozen=True)
class Separation:
    """Conditions, the groups in which they separate, and the positions of the failing cases covered."""

    conditions: tuple[Condition, ...]
    groups: tuple[str, ...]
    covered: frozenset[int]


def separate(observations: Sequence[Observation], features: Sequence[str]) -> list[Separation]:
    """Explain the failing observations by sets of conditions, the best first; what is left has none.

    `features` are the names that conditions may use, the preferred ones first. Each returned separation
    covers failing observations that no earlier one covers, and in each of its groups at most a quarter of the
    cases that fulfil it pass. Observations that neither fail nor pass must not be given.
    """
    groups = _masks(observation.group for observation in observations)
    kinds = _masks("failing" if observation.failing else "passing" for observation in observations)
    failing, passing = kinds.get("failing", 0), kinds.get("passing", 0)
    failed = failing
    table = [
        (name, _masks(observation.features.get(name) for observation in observations)) for name in features
    ]
    everything = SeparatingRule((), (1 << len(observations)) - 1)
    found: list[Separation] = []
    while failing:
        field = Field(groups, failing, passing, failed)
        best = _best(table, everything, field)
        if best is None:
            break
        conditions = (
            Condition(table[literal.place][0], literal.values, literal.negated) for literal in best.literals
        )
        separated = (name for name, members in groups.items() if field.separates(best.mask & members))
        covered = field.covered(best.mask)
        found.append(Separation(tuple(conditions), tuple(separated), _positions(covered)))
        failing &= ~covered
    return found


def _best(table: Table, everything: SeparatingRule, field: Field) -> SeparatingRule | None:
    """The rule of the highest score among those that explain enough."""
    literals = single_values(table, field.failing)
    scored = [(field.gain(everything.mask), everything)]
    best: SeparatingRule | None = None
    worth = -math.inf
    for size in range(MOST_CONDITIONS + 1):
        if size:
            rules = [rule for _, rule in scored]
            scored = grow(rules, literals, table, field, worth, _FEWEST[size])
        for score, rule in scored:
            support = (rule.mask & field.failed).bit_count()
            # Cases that an earlier separation explains support a later one, too, if they are not most of it.
            if support >= _FEWEST[size] and 2 * field.covered(rule.mask).bit_count() >= support:
                if score > worth:
                    best, worth = rule, score
                break
    return best


def _masks(values: Iterable[str | None]) -> dict[str, int]:
    """For each value the positions that have it; made of bits in a row, as a number grows with every one."""
    bits: dict[str, bytearray] = {}
    for position, value in enumerate(values):
        if value is not None:
            own = bits.setdefault(value, bytearray())
            own.extend(bytes((position >> 3) + 1 - len(own)))
            own[position >> 3] |= 1 << (position & 7)
    return {value: int.from_bytes(own, "little") for value, own in bits.items()}


def _positions(mask: int) -> frozenset[int]:
    raw = mask.to_bytes((mask.bit_length() + 7) // 8, "little")
    return frozenset(
        place << 3 | bit for place, byte in enumerate(raw) if byte for bit in range(8) if byte >> bit & 1
    )

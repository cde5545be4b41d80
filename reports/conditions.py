"""The smallest set of conditions that separates failing cases from passing ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_CONDITIONS = 3
MOST_VALUES = 3
_KEPT = 40
_PRECISION = 0.75
# What a set of conditions costs, in failing cases that it would have to explain more: a passing case that
# fulfils it, a condition, a further value in one, a negation. A note may be a little wrong, but not long.
_PASSING_COST = 1.0
_CONDITION_COST = 1.0
_VALUE_COST = 0.5
_NEGATION_COST = 0.25
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


@dataclass(frozen=True)
class _Literal:
    condition: Condition
    mask: int
    place: int


_Table = Sequence[tuple[str, Mapping[str, int]]]
"""Each feature with its values, and the observations that have each as bits of a number."""


@dataclass(frozen=True)
class _Rule:
    literals: tuple[_Literal, ...]
    mask: int

    @property
    def cost(self) -> float:
        """What its length costs; the first condition is free."""
        conditions = [each.condition for each in self.literals]
        further = sum(len(each.values) - 1 for each in conditions)
        negations = sum(each.negated for each in conditions)
        return (
            _CONDITION_COST * max(len(conditions) - 1, 0) + _VALUE_COST * further + _NEGATION_COST * negations
        )


def separate(observations: Sequence[Observation], features: Sequence[str]) -> list[Separation]:
    """Explain the failing observations by sets of conditions, the best first; what is left has none.

    `features` are the names that conditions may use, the preferred ones first. Each returned separation
    covers failing observations that no earlier one covers, and in each of its groups at most a quarter of the
    cases that fulfil it pass. Observations that neither fail nor pass must not be given.
    """
    groups: dict[str, int] = defaultdict(int)
    failing = passing = 0
    for position, each in enumerate(observations):
        groups[each.group] |= 1 << position
        if each.failing:
            failing |= 1 << position
        else:
            passing |= 1 << position
    failed = failing
    table = [(name, _masks(observations, name)) for name in features]
    everything = (1 << len(observations)) - 1
    found: list[Separation] = []
    while failing:
        best = _best(table, everything, groups, failing, failed, passing)
        if best is None:
            break
        found.append(best)
        for position in best.covered:
            failing &= ~(1 << position)
    return found


def _best(
    table: _Table,
    everything: int,
    groups: Mapping[str, int],
    failing: int,
    failed: int,
    passing: int,
) -> Separation | None:
    literals = _single_values(table, failing)
    rules = [_Rule((), everything)]
    best: _Rule | None = None
    worth = -math.inf
    for size in range(MOST_CONDITIONS + 1):
        if size:
            rules = _grow(rules, literals, table, failing)
        scored = sorted(
            ((_score(rule.mask, groups, failing, passing) - rule.cost, rule) for rule in rules),
            key=_preferred,
        )
        for score, rule in scored:
            covered = _covered(rule.mask, groups, failing, passing)
            support = (rule.mask & failed).bit_count()
            # Cases that an earlier separation explains support a later one, too, if they are not most of it.
            if support >= _FEWEST[size] and 2 * covered.bit_count() >= support:
                if score > worth:
                    best, worth = rule, score
                break
        rules = [rule for _, rule in scored[:_KEPT]]
    if best is None:
        return None
    return Separation(
        tuple(each.condition for each in best.literals),
        tuple(name for name, members in groups.items() if _separates(best.mask & members, failing, passing)),
        _positions(_covered(best.mask, groups, failing, passing)),
    )


def _grow(
    rules: Sequence[_Rule],
    literals: Sequence[_Literal],
    table: _Table,
    failing: int,
) -> list[_Rule]:
    """Every rule with one more condition that makes it narrower and still covers a failing case."""
    grown = {}
    for rule in rules:
        used = {each.condition.feature for each in rule.literals}
        several = _several_values(table, failing & rule.mask, used)
        for literal in [*literals, *several]:
            both = rule.mask & literal.mask
            if literal.condition.feature in used or both == rule.mask or not both & failing:
                continue
            together = tuple(sorted([*rule.literals, literal], key=lambda each: each.place))
            grown[tuple(each.condition for each in together)] = _Rule(together, both)
    return list(grown.values())


def _preferred(scored: tuple[float, _Rule]) -> tuple[float, int, int, tuple[int, ...]]:
    score, rule = scored
    conditions = [each.condition for each in rule.literals]
    return (
        -score,
        sum(each.negated for each in conditions),
        sum(len(each.values) for each in conditions),
        tuple(each.place for each in rule.literals),
    )


def _separates(mask: int, failing: int, passing: int) -> bool:
    hits, misses = (mask & failing).bit_count(), (mask & passing).bit_count()
    return hits > 0 and hits >= _PRECISION * (hits + misses)


def _covered(mask: int, groups: Mapping[str, int], failing: int, passing: int) -> int:
    covered = 0
    for members in groups.values():
        if _separates(mask & members, failing, passing):
            covered |= mask & members & failing
    return covered


def _score(mask: int, groups: Mapping[str, int], failing: int, passing: int) -> float:
    """Failing cases covered, less what the passing ones among them cost, where the rule separates."""
    total = 0.0
    for members in groups.values():
        inside = mask & members
        if _separates(inside, failing, passing):
            gain = (inside & failing).bit_count() - _PASSING_COST * (inside & passing).bit_count()
            total += max(gain, 0.0)
    return total


def _masks(observations: Sequence[Observation], feature: str) -> dict[str, int]:
    masks: dict[str, int] = defaultdict(int)
    for position, each in enumerate(observations):
        value = each.features.get(feature)
        if value is not None:
            masks[value] |= 1 << position
    return masks


def _single_values(table: _Table, failing: int) -> list[_Literal]:
    """Each value of each feature that a failing case has, and (of three values and more) its negation."""
    literals = []
    for place, (feature, masks) in enumerate(table):
        known = 0
        for mask in masks.values():
            known |= mask
        for value, mask in sorted(masks.items()):
            if mask & failing:
                literals.append(_Literal(Condition(feature, (value,)), mask, place))
            if len(masks) > 2 and known & ~mask & failing:
                literals.append(_Literal(Condition(feature, (value,), negated=True), known & ~mask, place))
    return literals


def _several_values(table: _Table, failing: int, used: set[str]) -> list[_Literal]:
    """For each feature with more values the two or three that the given failing cases have."""
    literals = []
    for place, (feature, masks) in enumerate(table):
        if feature in used:
            continue
        values = tuple(sorted(value for value, mask in masks.items() if mask & failing))
        if 2 <= len(values) <= MOST_VALUES and len(values) < len(masks) - 1:
            mask = 0
            for value in values:
                mask |= masks[value]
            literals.append(_Literal(Condition(feature, values), mask, place))
    return literals


def _positions(mask: int) -> frozenset[int]:
    return frozenset(position for position in range(mask.bit_length()) if mask >> position & 1)

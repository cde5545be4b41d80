"""The smallest set of conditions that separates failing cases from passing ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reports.causes.rules import Field, SeparatingRule, Table, grow, single_values

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
    groups = _masks(each.group for each in observations)
    kinds = _masks("failing" if each.failing else "passing" for each in observations)
    failing, passing = kinds.get("failing", 0), kinds.get("passing", 0)
    failed = failing
    table = [(name, _masks(each.features.get(name) for each in observations)) for name in features]
    everything = SeparatingRule((), (1 << len(observations)) - 1)
    found: list[Separation] = []
    while failing:
        field = Field(groups, failing, passing, failed)
        best = _best(table, everything, field)
        if best is None:
            break
        conditions = (Condition(table[each.place][0], each.values, each.negated) for each in best.literals)
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

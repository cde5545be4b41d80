"""What reports say of a case, whatever a runtime makes of it: type, demand, rule, features and size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any, NamedTuple

from conformance.suite.cases import CaseOutline
from conformance.suite.store import KeptWork
from conformance.suite.suites import Suite
from reports.text.value_text import attribute_text

ABSENT = "absent"
ELEMENT_TYPE = "element_type"
CONSTRAINT = "rule broken"


def case_features(case: CaseOutline) -> dict[str, str]:
    """What distinguishes a case from the others of its operator, by name, the preferred names first.

    Factor levels come first. An attribute that is no factor is one if its value is a word or a number. Each
    input has its rank, and whether it is absent, empty, or a single element.
    """
    features: dict[str, str] = {}
    if case.constraint is not None:
        features[CONSTRAINT] = case.constraint
    features.update({name: str(level) for name, level in case.levels.items() if name != ELEMENT_TYPE})
    for name, attribute in case.attributes.items():
        if name not in features and not isinstance(attribute.value, tuple):
            features[name] = attribute_text(attribute.value)
    features[ELEMENT_TYPE] = case.element_type
    for name, shape in case.shapes:
        if shape is None:
            features.setdefault(name, ABSENT)
            continue
        features[f"rank({name})"] = str(len(shape))
        count = math.prod(shape)
        features[f"elements({name})"] = _COUNTS[count] if count < len(_COUNTS) else "several"
    return features


_COUNTS = ("none", "one")


def feature_names(cases: Iterable[Mapping[str, str]]) -> list[str]:
    """Every feature's name, in the order of preference: levels and attributes before facts about inputs."""
    names: dict[str, None] = {}
    for features in cases:
        names.update(dict.fromkeys(features))
    return sorted(names, key=_preference)


def _preference(name: str) -> tuple[int, str]:
    if name == CONSTRAINT:
        return 0, name
    if name == ELEMENT_TYPE:
        return 2, name
    return (3 if "(" in name else 1), name


FEWEST_KEPT, MOST_KEPT = 2_000, 50_000
"""The facts of a suite of so many cases are kept: of fewer they are soon found, more are not in memory."""


class CaseFacts(NamedTuple):
    """A case's type, demand and rule, the features that distinguish it, and what orders it by size."""

    element_type: str
    demand: str
    constraint: str | None
    features: Mapping[str, str]
    size: tuple[int, int, int]


def facts_of(case: CaseOutline) -> CaseFacts:
    """The facts of a case."""
    there = [shape for _, shape in case.shapes if shape is not None]
    size = (sum(map(math.prod, there)), len(case.attributes), sum(map(len, there)))
    features = {intern(name): intern(level) for name, level in case_features(case).items()}
    return CaseFacts(case.element_type, case.demand, case.constraint, features, size)


def facts_in_order(suite: Suite, places: Sequence[int]) -> Iterable[CaseFacts]:
    """The facts of the cases at these places of a suite.

    Those of all cases stay in the user's cache; UserError where a case has to be read, and is damaged.
    """
    names = suite.case_ids
    read = (facts_of(suite.outline(names[place])) for place in places)
    if not FEWEST_KEPT <= len(names) <= MOST_KEPT:
        return read
    work = KeptWork("case-facts")
    key = work.key(suite.digest)
    kept = _unpack(work.find(key), len(names))
    if kept is not None:
        return [kept[place] for place in places]
    found = list(read)
    if len(found) == len(names):
        work.keep(key, _pack(found))
    return found


def _pack(cases: Iterable[CaseFacts]) -> dict[str, Any]:
    """As JSON: what many cases share stands there once."""
    shared: dict[tuple[Any, ...], int] = {}
    entries = []
    for each in cases:
        alike = (each.element_type, each.demand, each.constraint, tuple(each.features.items()))
        entries.append((shared.setdefault(alike, len(shared)), *each.size))
    return {"shared": list(shared), "cases": entries}


def _unpack(content: Any, count: int) -> Sequence[CaseFacts] | None:
    """The facts that were packed; None of anything else, or of another number of cases."""
    try:
        shared = [
            (intern(kind), intern(demand), rule, {intern(name): intern(level) for name, level in features})
            for kind, demand, rule, features in content["shared"]
        ]
        found = []
        for number, elements, attributes, ranks in content["cases"]:
            kind, demand, rule, features = shared[number]
            found.append(CaseFacts(kind, demand, rule, features, (elements, attributes, ranks)))
    except (KeyError, TypeError, ValueError, IndexError):
        return None
    return found if len(found) == count else None

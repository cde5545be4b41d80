"""The features of a case that a condition may name: its levels, attributes, inputs and broken rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from conformance.suite.cases import CaseOutline
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
    for name, each in case.attributes.items():
        if name not in features and not isinstance(each.value, tuple):
            features[name] = attribute_text(each.value)
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

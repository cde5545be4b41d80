"""Every change that makes sense for an operator: of its spec, of its kinds, and of its formula."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module

import generator.explanations
from generator.changes.attribute_changes import attribute_changes
from generator.changes.change import Change
from generator.changes.input_changes import input_changes
from generator.changes.kind_values import kind_changes
from generator.changes.reading_changes import reading_changes
from generator.changes.value_changes import value_changes
from specs.model import Spec

FamilyChanges = Callable[[Spec], Sequence[Change]]


@cache
def _families() -> Mapping[str, FamilyChanges]:
    """The function `changes` of each module in generator/explanations, by operator (`domain::Name`)."""
    found: dict[str, FamilyChanges] = {}
    for each in sorted(pkgutil.iter_modules(generator.explanations.__path__), key=lambda info: info.name):
        if each.name.startswith("_"):  # what several of the modules share
            continue
        module = import_module(f"generator.explanations.{each.name}")
        for operator in module.OPERATORS:
            found[operator] = module.changes
    return found


def find_changes(spec: Spec) -> tuple[Change, ...]:
    """The changes to try on calls of an operator version, each key once."""
    family = _families().get(f"{spec.operator.domain}::{spec.operator.name}")
    changes = [
        *attribute_changes(spec),
        *reading_changes(spec),
        *input_changes(spec),
        *value_changes(spec),
        *kind_changes(spec),
        *(family(spec) if family is not None else ()),
    ]
    return tuple({each.key: each for each in changes}.values())

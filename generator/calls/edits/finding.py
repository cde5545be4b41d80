"""Every change that makes sense for an operator: of its spec, and of its kinds."""

from __future__ import annotations

from generator.calls.edits.attribute_changes import attribute_changes
from generator.calls.edits.change import Change
from generator.calls.edits.input_changes import input_changes
from generator.calls.edits.kind_values import kind_changes
from generator.calls.edits.reading_changes import reading_changes
from generator.calls.edits.value_changes import value_changes
from specs.model.spec import Spec


def find_changes(spec: Spec) -> tuple[Change, ...]:
    """The changes to try on calls of an operator version, each key once."""
    changes = [
        *attribute_changes(spec),
        *reading_changes(spec),
        *input_changes(spec),
        *value_changes(spec),
        *kind_changes(spec),
    ]
    return tuple({each.key: each for each in changes}.values())

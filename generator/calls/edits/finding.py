"""Every change that makes sense for an operator: of its spec, and of its kinds."""

from __future__ import annotations

from collections.abc import Iterator

from generator.asking.calls import Call
from generator.calls.edits.attribute_changes import attribute_changes
from generator.calls.edits.change import Change, Changed
from generator.calls.edits.input_changes import input_changes
from generator.calls.edits.kind_values import kind_changes
from generator.calls.edits.value_changes import value_changes
from reference.registry import find_operator
from specs.model.spec import Reading, Spec


def find_changes(spec: Spec) -> tuple[Change, ...]:
    """The changes to try on calls of an operator version, each key once."""
    changes = [
        *attribute_changes(spec),
        *_reading_changes(spec),
        *input_changes(spec),
        *value_changes(spec),
        *kind_changes(spec),
    ]
    return tuple({each.key: each for each in changes}.values())


def _reading_changes(spec: Spec) -> Iterator[Change]:
    """The options not chosen of every settled reading; of an open one every option is accepted anyway.

    A settled reading of which the reference knows the chosen option alone cannot be changed.
    """
    known = find_operator(spec.operator, spec.reference_module).readings
    for reading in spec.readings:
        if reading.chosen is not None and reading.id in known:
            for option in reading.options:
                if option != reading.chosen:
                    yield _choose(reading, option)


def _choose(reading: Reading, option: str) -> Change:
    def apply(_spec: Spec, call: Call) -> Changed | None:
        return Changed(call, settled={reading.id: option}, before=reading.chosen)

    return Change(f"reading {reading.id}={option}", option, apply, subject=f"reading {reading.id}")

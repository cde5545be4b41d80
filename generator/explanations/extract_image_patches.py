"""What ExtractImagePatches is computed as by mistake: attributes ignored, or taken for each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from generator.calls import Call
from generator.changes.attribute_changes import set_attribute
from generator.changes.change import Change, Changed
from opcert.vocabulary.attributes import Attribute
from specs.model import Spec

OPERATORS = ("org.openvino::ExtractImagePatches",)


def changes(_spec: Spec) -> Sequence[Change]:
    """The changes of every version."""
    ones = Attribute("ints", (1, 1))
    return (
        set_attribute("rates", ones),
        set_attribute("strides", ones),
        _stride_of_patch(),
        *(_exchange(first, second) for first, second in combinations(("sizes", "strides", "rates"), 2)),
        *(_first_for_both(name) for name in ("sizes", "strides", "rates")),
    )


def _exchange(first: str, second: str) -> Change:
    def apply(_spec: Spec, call: Call) -> Changed | None:
        left, right = call.attributes.get(first), call.attributes.get(second)
        if left is None or right is None or left == right:
            return None
        return Changed(call.with_attribute(first, right).with_attribute(second, left))

    return Change(f"attributes {first} and {second} exchanged", f"{first} and {second} exchanged", apply)


def _first_for_both(name: str) -> Change:
    def apply(_spec: Spec, call: Call) -> Changed | None:
        given = call.attributes.get(name)
        if given is None or not isinstance(given.value, tuple) or len(set(given.value)) != 2:
            return None
        rows = int(given.numbers[0])
        return Changed(call.with_attribute(name, Attribute("ints", (rows, rows))))

    return Change(f"attribute {name} first", f"the first number of {name} for both axes", apply)


def _stride_of_patch() -> Change:
    def apply(_spec: Spec, call: Call) -> Changed | None:
        sizes, strides = call.attributes.get("sizes"), call.attributes.get("strides")
        if sizes is None or strides is None or sizes == strides:
            return None
        return Changed(call.with_attribute("strides", sizes))

    return Change("strides as sizes", "strides replaced by sizes", apply)

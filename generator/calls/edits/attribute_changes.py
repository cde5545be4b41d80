"""Changes of attributes that follow from the spec: other values, the default, another order of a list."""

from __future__ import annotations

from collections.abc import Iterator

from generator.asking.calls import Call
from generator.calls.edits.change import Change, Changed, attribute_value
from opcert.vocabulary.attributes import Attribute, AttributeValue, attribute
from specs.model.spec import AttributeSpec, Spec


def attribute_changes(spec: Spec) -> Iterator[Change]:
    """For every attribute: each other value that it may have, and each list turned round."""
    for name, each in spec.attributes.items():
        if each.kind is None:
            continue
        for value in _values(spec, each):
            yield set_attribute(name, value)
        if each.kind in ("ints", "floats", "strings"):
            yield reverse_attribute(name)
            if not each.required and each.default is None:
                yield leave_out_attribute(name)


def _values(spec: Spec, known: AttributeSpec) -> list[Attribute]:
    """Allowed values, the default, and the levels of the factor of that name, none twice."""
    plain: list[object] = list(known.allowed or ())
    if known.default is not None:
        plain.append(known.default)
    if known.kind in ("int", "float"):
        factors = (each.levels for each in spec.factors if each.name == known.name)
        plain += [level for levels in factors for level in levels if not isinstance(level, str)]
    found = {attribute(str(known.kind), each).value: attribute(str(known.kind), each) for each in plain}
    return list(found.values())


def set_attribute(name: str, value: Attribute) -> Change:
    """The attribute has that value, whatever the call gives."""

    def apply(spec: Spec, call: Call) -> Changed | None:
        before = attribute_value(spec, call, name)
        if name not in spec.attributes or before == value.value:
            return None
        return Changed(call.with_attribute(name, value), before=print_value(before))

    return Change(
        f"attribute {name}={print_value(value.value)}", print_value(value.value), apply, subject=name
    )


def reverse_attribute(name: str) -> Change:
    """The attribute's list is read from its end."""

    def apply(_spec: Spec, call: Call) -> Changed | None:
        given = call.attributes.get(name)
        if given is None or not isinstance(given.value, tuple) or given.value[::-1] == given.value:
            return None
        return Changed(call.with_attribute(name, Attribute(given.kind, given.value[::-1])))

    return Change(f"attribute {name} reversed", f"{name} in reverse order", apply)


def leave_out_attribute(name: str) -> Change:
    """The attribute is ignored."""

    def apply(_spec: Spec, call: Call) -> Changed | None:
        return Changed(call.with_attribute(name, None)) if name in call.attributes else None

    return Change(f"attribute {name} ignored", f"{name} ignored", apply)


def print_value(value: AttributeValue | None) -> str:
    """A value in the words of a change; `nothing` where there is none."""
    if value is None:
        return "nothing"
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)

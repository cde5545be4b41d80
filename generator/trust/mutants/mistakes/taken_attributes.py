"""Attributes that are left out, and taken to have another value than their default."""

from __future__ import annotations

from collections.abc import Iterator

from generator.asking.calls import Call
from generator.calls.edits.attribute_changes import print_value
from generator.trust.mutants.mistake import Mistake, Taken
from opcert.vocabulary.attributes import Attribute, attribute
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, room_of, versions_in
from specs.model.spec import AttributeSpec, Spec


def mistakes(spec: Spec) -> Iterator[Mistake]:
    for name, known in spec.attributes.items():
        if known.kind is None or known.required:
            continue
        for value in _others(spec, known):
            text = f"{name} taken for {print_value(value.value)} where it is left out"
            yield Mistake(f"{name}={print_value(value.value)}", text, _by_default(name, value))
        if known.default is not None:
            yield Mistake(f"{name} dropped", f"{name} ignored", _dropped(name))


def _others(spec: Spec, known: AttributeSpec) -> list[Attribute]:
    """Other defaults: of other versions, words that are allowed, and numbers beside this one."""
    plain: list[object] = []
    for each in _other_versions(spec):
        before = each.attributes.get(known.name)
        if before is not None and before.kind == known.kind and before.default is not None:
            plain.append(before.default)
    default = known.default
    if known.allowed:
        plain += list(known.allowed)
    elif isinstance(default, bool | str) or default is None:
        pass
    elif known.kind == "int":
        plain += [default + 1, default - 1]
    elif known.kind == "float":
        plain += [0.0, 1.0, 2 * default]
    made = [attribute(str(known.kind), each) for each in plain]
    return list({each.value: each for each in made if each.value != known.default_value}.values())


def _other_versions(spec: Spec) -> Iterator[Spec]:
    operator = spec.operator
    for version in versions_in(room_of(operator, OWN_FOLDER)):
        if version != operator.since_version:
            yield load_spec(type(operator)(operator.domain, operator.name, version))


def _by_default(name: str, value: Attribute) -> Taken:
    def taken(_spec: Spec, call: Call) -> Call | None:
        return None if name in call.attributes else call.with_attribute(name, value)

    return taken


def _dropped(name: str) -> Taken:
    def taken(_spec: Spec, call: Call) -> Call | None:
        return call.with_attribute(name, None) if name in call.attributes else None

    return taken

"""Changes of attributes that follow from the spec: other values, the default, another order of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.asking.named_operators import calls_are_declared
from generator.calls.edits.change import Change, Changed, attribute_value, exactly
from generator.calls.space.declared_kinds import make_kinds
from generator.calls.variables.kind import KindChange, ResultChange
from opcert.vocabulary.attributes import Attribute, AttributeValue, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from specs.language.evaluation import Operand
from specs.language.expressions import parse
from specs.model.call_scopes import scope_of
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
        factors = (factor.levels for factor in spec.factors if factor.name == known.name)
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


def kind_changes(spec: Spec) -> Iterator[Change]:
    """What the kinds of a declared operator bring; none of an operator without a declaration."""
    if calls_are_declared(spec):
        for kind in make_kinds(spec):
            yield from map(_change, kind.changes())


@dataclass(frozen=True)
class _Values:
    """The values of a call, as `generator.calls.variables.kind.CallValues`."""

    spec: Spec
    call: Call

    def shape(self, name: str) -> tuple[int, ...]:
        given = dict(self.call.inputs).get(name)
        if given is None:
            raise ValueError(f"{name} is left out")
        return given.shape

    def numbers(self, name: str) -> NDArray[Any]:
        given = dict(self.call.inputs).get(name)
        if given is not None:
            return given.array
        value = attribute_value(self.spec, self.call, name)
        if value is None:
            raise ValueError(f"{name} is left out")
        return np.asarray(value)

    def has(self, name: str) -> bool:
        given = dict(self.call.inputs).get(name)
        return given is not None or attribute_value(self.spec, self.call, name) is not None


def _change(by: KindChange) -> Change:
    if isinstance(by, ResultChange):
        return _computed(by)

    def apply(spec: Spec, call: Call) -> Changed | None:
        try:
            values = by.change(_Values(spec, call))
            made = _with_values(spec, call, values)
        except (ValueError, IndexError, ArithmeticError):
            return None  # the call does not have what the change is about
        if made.digest(spec.operator) == call.digest(spec.operator):
            return None
        before = None if by.subject is None else print_value(attribute_value(spec, call, by.subject))
        return Changed(made, before=before, breaks=frozenset(by.breaks))

    return Change(by.key, by.text, apply, subject=by.subject)


def taken_for(values: Mapping[str, str | None]) -> Change:
    """Attributes and inputs taken for what expressions over the call say; for None they are left out.

    The elements of a tensor are a list, of as many as it has.
    """

    def apply(spec: Spec, call: Call) -> Changed | None:
        try:
            names = scope_of(spec, call.attributes, dict(call.inputs))
            found = {
                name: None if text is None else parse(text).evaluate(names) for name, text in values.items()
            }
            made = _with_values(
                spec, call, {name: _in_shape(call, name, each) for name, each in found.items()}
            )
        except (UserError, KeyError, TypeError, ValueError, IndexError, ArithmeticError):
            return None  # the call does not have what the expressions are about
        return None if made.digest(spec.operator) == call.digest(spec.operator) else Changed(made)

    text = ", ".join(
        f"{name} {f'taken for {value}' if value else 'ignored'}" for name, value in values.items()
    )
    return Change(f"taken for {text}", text, apply)


def _in_shape(call: Call, name: str, value: Any) -> Any:
    """The elements of a list in the shape of the input that they stand for."""
    if isinstance(value, Operand):
        return np.asarray(value.values).reshape(value.shape)
    given = dict(call.inputs).get(name)
    return value if given is None else np.asarray(value).reshape(given.shape)


def _computed(by: ResultChange) -> Change:
    def apply(spec: Spec, call: Call) -> Changed | None:
        given = dict(call.inputs).get(by.of)
        if given is None:
            return None
        try:
            made = by.compute(_Values(spec, call))
        except (ValueError, IndexError, ArithmeticError):
            return None  # as above
        return Changed(call, expectations=exactly(spec.outputs[0].name, Tensor(given.element_type, made)))

    return Change(by.key, by.text, apply)


def _with_values(spec: Spec, call: Call, values: Any) -> Call:
    for name, value in values.items():
        known, given = spec.attributes.get(name), dict(call.inputs).get(name)
        if known is not None and known.kind is not None:
            plain = np.asarray(value).tolist()
            call = call.with_attribute(name, None if value is None else attribute(known.kind, plain))
        elif value is not None:
            kind = _type_of(spec, call, name) if given is None else given.element_type
            with np.errstate(over="ignore", invalid="ignore"):
                cast = np.asarray(value).astype(kind.storage)
            array = np.ascontiguousarray(cast).reshape(cast.shape)  # which gives a scalar an axis
            call = call.with_input(name, Tensor(kind, array))
        else:
            call = call.with_input(name, None)
    return call


def _type_of(spec: Spec, call: Call, name: str) -> ElementType:
    """The type of an input that is left out: that of others of its type variable, else its first one."""
    parameter = next(each for each in spec.inputs if each.name == name)
    given = dict(call.inputs)
    alike = (given.get(each.name) for each in spec.inputs if each.type == parameter.type)
    first = next((tensor for tensor in alike if tensor is not None), None)
    known = spec.types_of(parameter)
    return first.element_type if first is not None and len(known) != 1 else ELEMENT_TYPES[known[0]]

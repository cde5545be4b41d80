"""Which of a failing call's attributes matter, and which may as well have any other value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from generator.asking.calls import Call
from generator.exploring.shrinking.judged_calls import NOTHING_SAID, CallFailure, CallTrials
from generator.exploring.shrinking.known_space import Attempt, CallValidity
from generator.exploring.shrinking.reductions import with_type
from opcert.vocabulary.attributes import Attribute
from specs.model.spec import AttributeSpec

ELEMENT_TYPE = "element type"
MOST_OTHERS = 16
"""Other values that are tried for one attribute."""
MOST_HANGS = 4
"""After so many calls without an answer no more values are tried."""
_NUMBERS: dict[str, tuple[int | float, ...]] = {"int": (0, 1, 2, -1), "float": (0.0, 0.5, 1.0, -1.0, 2.0)}


@dataclass(frozen=True)
class Matter:
    """One attribute (or the element type) of a failing call.

    `value` is what it has there, its default included. With the values in `fails` the call fails in the same
    way, with those in `holds` it does not.
    """

    name: str
    value: str
    fails: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()

    def covers(self, space: CallValidity, call: Call) -> bool:
        """Whether a call has the value, or one with which it fails too; of a list, whether it has any."""
        if self.is_list and self.name in call.attributes:
            return True
        return value_text(space, call, self.name) in (self.value, *self.fails)

    @property
    def is_list(self) -> bool:
        return self.value.startswith("[")

    @property
    def decides(self) -> bool:
        """Whether another value makes the failure go away."""
        return bool(self.holds)

    def __str__(self) -> str:
        also = f", with {_either(self.fails)} too" if self.fails else ""
        if not self.decides:
            return f"{self.name} = {self.value}: any other value does as well"
        return f"{self.name} = {self.value}: matters{also}, not with {_either(self.holds)}"

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "fails": self.fails, "holds": self.holds}


def _either(values: Sequence[str]) -> str:
    shown = [*values[:6], "..."] if len(values) > 6 else list(values)
    return " or ".join(shown)


def find_matters(bench: CallTrials, attempt: Attempt, failure: CallFailure) -> tuple[Matter, ...]:
    """Try other values for every attribute, one at a time.

    Those that have no other value in a call of this kind (valid, or breaking the same rule) are left out.
    """
    found: dict[str, tuple[list[str], list[str]]] = {}
    hangs = bench.counts["timeout"]
    for name, value, call in _others(bench.space, attempt.call):
        other = bench.space.attempt(call, attempt.made_from)
        if other is None or other.breaks is not attempt.breaks:
            continue
        if bench.counts["timeout"] - hangs >= MOST_HANGS:
            break
        word, how = bench.outcome(other)
        # A call that fails in another way says nothing of this one.
        if word not in NOTHING_SAID and (how is None or how.like(failure)):
            fails, holds = found.setdefault(name, ([], []))
            (holds if how is None else fails).append(value)
    return tuple(
        Matter(name, value_text(bench.space, attempt.call, name), tuple(fails), tuple(holds))
        for name, (fails, holds) in found.items()
    )


def value_text(space: CallValidity, call: Call, name: str) -> str:
    """The value of an attribute in a call, or its element type, as text."""
    if name.startswith(ELEMENT_TYPE):
        given = dict(call.inputs).get(name.removeprefix(f"{ELEMENT_TYPE} of "), call.inputs[0][1])
        return "left out" if given is None else given.element_type.name
    return _text(space.value_of(call, name))


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if value is None:
        return "left out"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _others(space: CallValidity, call: Call) -> Iterator[tuple[str, str, Call]]:
    yield from _other_types(space, call)
    for known in space.spec.attributes.values():
        now = _text(space.value_of(call, known.name))
        for value in values_of(space, known)[:MOST_OTHERS]:
            if known.kind is not None and _text(value) != now:
                yield known.name, _text(value), call.with_attribute(known.name, Attribute(known.kind, value))
        if known.name in call.attributes and not known.has_default and not known.required:
            yield known.name, "left out", call.with_attribute(known.name, None)


def _other_types(space: CallValidity, call: Call) -> Iterator[tuple[str, str, Call]]:
    """Each group of inputs of one type in every other type that the documents give it."""
    given, seen = dict(call.inputs), set[str]()
    for place, parameter in enumerate(space.spec.inputs):
        tensor = given.get(parameter.name)
        if tensor is None or parameter.name in seen:
            continue
        group = space.same_type(parameter)
        seen.update(group)
        name = f"{ELEMENT_TYPE} of {parameter.name}" if place else ELEMENT_TYPE
        for kind in space.spec.types_of(parameter):
            if kind != tensor.element_type.name:
                yield name, kind, with_type(call, group, kind)


def values_of(space: CallValidity, known: AttributeSpec) -> list[Any]:
    """Values to try for an attribute that is no list: those allowed, else the factor's levels and numbers."""
    if known.kind not in ("int", "float", "string"):
        return []
    if known.allowed is not None:
        return list(known.allowed)
    levels = next((each.levels for each in space.spec.factors if each.name == known.name), ())
    wanted: Any = {"int": int, "float": float, "string": str}[known.kind]
    listed = [each for each in levels if isinstance(each, wanted) and not isinstance(each, bool)]
    # An int with levels is one of few; other numbers might be none of its values.
    more = _NUMBERS.get(known.kind, ()) if known.kind == "float" or not listed else ()
    return list(dict.fromkeys((*listed, *more)))

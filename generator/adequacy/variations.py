"""A call changed a little at random: in its attributes, and in inputs that hold few numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from generator.calls import Call
from generator.draws import Draw
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.tensors import Tensor
from specs.model import Spec

FEW = 16
"""Inputs behind the first one with at most so many elements are numbers that ask for something."""
_STEPS = (-3, -2, -1, 1, 2, 3)
_FACTORS = (0.5, 0.75, 1.25, 1.5, 2.0, -1.0)


def varied(spec: Spec, call: Call, draw: Draw) -> Call:
    """One to three numbers or words changed; the result need not be valid."""
    for _ in range(draw.integer(1, 3)):
        places = [(name, True) for name in spec.attributes if _values(spec, name) or name in call.attributes]
        places += [
            (name, False)
            for name, each in call.inputs[1:]
            if each is not None and 0 < each.array.size <= FEW and each.element_type.kind != "string"
        ]
        if not places:
            return call
        name, is_attribute = draw.choice(places)
        call = _other_attribute(spec, call, name, draw) if is_attribute else _other_input(call, name, draw)
    return call


def _values(spec: Spec, name: str) -> list[Any]:
    """The values that an attribute may have, where they can be listed: allowed ones, or a factor's levels."""
    known = spec.attributes[name]
    if known.kind is None:
        return []
    if known.allowed is not None:
        return list(known.allowed)
    levels = [level for each in spec.factors if each.name == name for level in each.levels]
    return (
        [] if known.kind not in ("int", "float") else [each for each in levels if not isinstance(each, str)]
    )


def _other_attribute(spec: Spec, call: Call, name: str, draw: Draw) -> Call:
    listed = _values(spec, name)
    if listed:
        return call.with_attribute(name, attribute(str(spec.attributes[name].kind), draw.choice(listed)))
    given = call.attributes[name]
    value = given.value
    if isinstance(value, tuple) and value and given.kind == "ints":
        place = draw.integer(0, len(value) - 1)
        items = [int(each) for each in given.numbers]
        items[place] += draw.choice(_STEPS)
        return call.with_attribute(name, Attribute(given.kind, tuple(items)))
    if isinstance(value, int | float):
        return call.with_attribute(name, replace(given, value=value + draw.choice(_STEPS)))
    return call


def _other_input(call: Call, name: str, draw: Draw) -> Call:
    given = call.input(name)
    assert given is not None
    changed = given.array.copy()
    flat = changed.reshape(-1)
    place = draw.integer(0, flat.size - 1)
    with np.errstate(all="ignore"):
        if given.element_type.is_integer:
            flat[place] = flat[place] + np.array(draw.choice(_STEPS)).astype(flat.dtype)
        elif flat.dtype.kind == "f":
            flat[place] = flat[place] * flat.dtype.type(draw.choice(_FACTORS))
    return call.with_input(name, Tensor(given.element_type, changed))

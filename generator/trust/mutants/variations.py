"""A call changed a little at random: in its attributes, in inputs that ask for something, and in its data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.calls.data.draws import Draw
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Spec

FEW = 16
"""Inputs behind the first one with at most so many elements are numbers that ask for something."""
MOST = 512
"""Elements of a first input that is changed."""
_STEPS = (-3, -2, -1, 1, 2, 3)
_FACTORS = (0.5, 0.75, 1.25, 1.5, 2.0, -1.0)
_LETTERS = "abZ09 é漢"


def varied(spec: Spec, call: Call, draw: Draw) -> Call:
    """One to three numbers or words changed; the result need not be valid."""
    for _ in range(draw.integer(1, 3)):
        places: list[str | int] = [
            name for name in spec.attributes if _values(spec, name) or name in call.attributes
        ]
        places += [
            at
            for at, (_, each) in enumerate(call.inputs)
            if each is not None and 0 < each.array.size <= (FEW if at else MOST)
        ]
        if not places:
            return call
        place = draw.choice(places)
        if isinstance(place, str):
            call = _other_attribute(spec, call, place, draw)
        else:
            call = _other_input(call, place, draw)
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


def _other_input(call: Call, at: int, draw: Draw) -> Call:
    name, given = call.inputs[at]
    assert given is not None
    changed = given.array.copy()
    flat = changed.reshape(-1)
    place = draw.integer(0, flat.size - 1)
    with np.errstate(all="ignore"):
        if given.element_type.is_packed:
            flat[place] = flat[draw.integer(0, flat.size - 1)]  # a sum may be beyond the type
        elif at == 0 and flat.dtype.kind in "iuf" and draw.integer(0, 1):
            _flip_bit(flat, place, draw)
        elif given.element_type.is_integer:
            flat[place] = flat[place] + np.array(draw.choice(_STEPS)).astype(flat.dtype)
        elif flat.dtype.kind == "f" and draw.integer(0, 1):
            flat[place] = flat[place] * flat.dtype.type(draw.choice(_FACTORS))
        elif given.element_type.kind == "bool":
            flat[place] = not flat[place]
        elif given.element_type.kind == "string" and draw.integer(0, 1):
            flat[place] = flat[place] + draw.choice(_LETTERS).encode()
        else:
            flat[place] = flat[draw.integer(0, flat.size - 1)]
    varied_one = (name, Tensor(given.element_type, changed))
    return replace(call, inputs=(*call.inputs[:at], varied_one, *call.inputs[at + 1 :]))


def _flip_bit(flat: NDArray[Any], place: int, draw: Draw) -> None:
    """One of an integer's last bits, or of a number's significand as far as half of its bits go."""
    bits = flat.view(f"u{flat.dtype.itemsize}")
    least = 4 if flat.dtype.kind in "iu" else 4 * flat.dtype.itemsize
    bits[place] ^= bits.dtype.type(1 << draw.integer(0, least - 1))

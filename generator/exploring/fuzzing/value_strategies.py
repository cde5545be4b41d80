"""Strategies for single values: elements of every type, numbers in lists, values of attributes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from generator.calls.solver.partial import OMITTED
from generator.exploring.fuzzing.wide_draws import bits, floats, fractions, texts, whole_numbers
from generator.exploring.shrinking.known_space import CallValidity
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.model.spec import AttributeSpec

ENDS = (2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**31), -(2**63))
"""Whole numbers at which narrower arithmetic overflows."""
_WORDS = ("", "other", "NEAREST", "\N{BULLET}")
_FACTORS = (0.5, 1.0, 2.0, 1.5, 0.25, 3.0, 1 / 3, 0.75, 0.6, 1.2, 2.5)


def elements(kind: ElementType) -> st.SearchStrategy[NDArray[Any]]:
    """One element, as an array of one in the type's storage."""
    if kind.kind == "bool":
        return st.booleans().map(lambda value: np.array([value]))
    if kind.kind == "string":
        return texts(4).map(_text)
    if kind.kind == "complex":
        return st.tuples(elements(kind.component), elements(kind.component)).map(
            lambda parts: np.concatenate(parts).view(kind.storage)
        )
    if kind.is_integer:
        low, high = kind.integer_range
        near = st.integers(max(low, -3), min(high, 9))
        return st.one_of(near, whole_numbers(low, high), st.sampled_from((low, high))).map(
            lambda value: np.array([value], dtype=kind.storage)
        )
    if not _rounds(kind):
        return bits(kind.bits).map(lambda pattern: np.array([pattern], dtype=kind.storage))
    return st.one_of(st.integers(-9, 9).map(float), floats(_width(kind))).map(
        lambda value: encode(kind, [value])
    )


def _rounds(kind: ElementType) -> bool:
    """Whether every float has a nearest element: not where NaN, or zero and signs, have none."""
    return kind.layout is not None and kind.layout.nan != "none"


def _width(kind: ElementType) -> int:
    """The width whose floats reach every corner of the type."""
    return 64 if kind.bits == 64 else 16 if kind.name == "float16" else 32


def _text(value: str) -> NDArray[Any]:
    found = np.empty(1, dtype=np.object_)
    found[0] = value.encode("utf-8", "surrogatepass")
    return found


def amounts(given: Tensor) -> st.SearchStrategy[NDArray[Any]]:
    """One number of a list that says how much: lengths, scales, pads, blocks."""
    kind = given.element_type
    if kind.is_integer:
        low, high = kind.integer_range
        ends = [each for each in ENDS if low <= each <= high] or [low, high]
        return st.one_of(st.integers(max(low, -3), min(high, 9)), st.sampled_from(ends)).map(
            lambda value: np.array([value], dtype=kind.storage)
        )
    if kind.is_float and _rounds(kind):
        plain = st.one_of(st.sampled_from(_FACTORS), fractions(-1, 4), floats(16))
        return plain.map(lambda value: encode(kind, [value]))
    return elements(kind)


def attribute_values(space: CallValidity, known: AttributeSpec, now: Any) -> st.SearchStrategy[Attribute]:
    """A value for an attribute; `now` is the one that it has."""
    kind = known.kind
    assert kind is not None
    listed = [
        each
        for each in (*(known.allowed or ()), *_levels(space, known.name))
        if _suits(each, kind.removesuffix("s"))
    ]
    one = _one_value(kind.removesuffix("s"), listed)
    if not kind.endswith("s"):
        return one.map(lambda value: Attribute(kind, value))
    items = list(now) if isinstance(now, list | tuple) else []
    changed = [st.lists(one, max_size=5), st.permutations(items)]
    if items:
        changed.append(
            st.tuples(st.integers(0, len(items) - 1), one).map(lambda new: _exchanged(items, *new))
        )
    return st.one_of(changed).map(lambda values: Attribute(kind, tuple(values)))


def _exchanged(items: list[Any], place: int, value: Any) -> list[Any]:
    return [*items[:place], value, *items[place + 1 :]]


def _levels(space: CallValidity, name: str) -> tuple[Any, ...]:
    """The levels of a factor of that name that are values of it."""
    found = next((each.levels for each in space.spec.factors if each.name == name), ())
    return tuple(each for each in found if each != OMITTED)


def _suits(value: Any, kind: str) -> bool:
    wanted = {"int": int, "float": int | float, "string": str}[kind]
    return isinstance(value, wanted) and not isinstance(value, bool)


def _one_value(kind: str, listed: list[Any]) -> st.SearchStrategy[Any]:
    if kind == "string":
        return st.sampled_from([*listed, *_WORDS])
    if kind == "int":
        numbers = st.one_of(st.integers(-3, 9), st.sampled_from(ENDS))
        return st.one_of(st.sampled_from(listed), numbers) if listed else numbers
    found = [fractions(-4, 4), floats(32)]
    if listed:
        found.append(st.sampled_from([_single(each) for each in listed]))
    return st.one_of(found)


def _single(value: float) -> float:
    """The nearest float32: attributes have no more."""
    return value if math.isnan(value) else float(np.float32(value))

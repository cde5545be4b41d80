"""Integers that ask for something (axes, indices, lengths, shapes), and are read otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from generator.asking.calls import Call
from generator.asking.tensor_edits import is_main, with_inputs
from generator.trust.mutants.mistake import Mistake, Taken
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Spec

Order = Callable[[Sequence[int]], Sequence[int]]
_MOST = 1 << 31


def mistakes(spec: Spec) -> Iterator[Mistake]:
    is_element = is_main(spec)
    for each in spec.inputs:
        types = spec.types_of(each)
        if not is_element(each) and all(name.startswith(("int", "uint")) for name in types):
            for word, text, order in _ORDERS:
                yield Mistake(f"{each.name} {word}", text.format(each.name), _of_input(each.name, order))
    for name, known in spec.attributes.items():
        if known.kind in ("int", "ints") and not known.allowed:
            for word, text, order in _ORDERS:
                yield Mistake(f"{name} {word}", text.format(name), _of_attribute(name, order))


def _of_input(name: str, order: Order) -> Taken:
    def exchange(given: Tensor) -> Tensor | None:
        flat = [int(each) for each in given.array.reshape(-1).tolist()]
        made = list(order(flat))
        low, high = given.element_type.integer_range
        if made == flat or len(made) != len(flat) or not all(low <= each <= high for each in made):
            return None
        array = np.array(made, dtype=given.array.dtype).reshape(given.shape)
        return Tensor(given.element_type, array)

    return lambda spec, call: with_inputs(spec, call, exchange, lambda each: each.name == name)


def _of_attribute(name: str, order: Order) -> Taken:
    def taken(_spec: Spec, call: Call) -> Call | None:
        given = call.attributes.get(name)
        if given is None:
            return None
        several = isinstance(given.value, tuple)
        before = [int(each) for each in given.numbers] if several else [int(str(given.value))]
        made = list(order(before))
        if made == before:
            return None
        return call.with_attribute(name, Attribute(given.kind, tuple(made) if several else made[0]))

    return taken


def _one_for_all(values: Sequence[int], place: int) -> Sequence[int]:
    return [values[place]] * len(values)


def _in_32_bits(values: Sequence[int]) -> Sequence[int]:
    return [(each + _MOST) % (2 * _MOST) - _MOST for each in values]


_ORDERS: tuple[tuple[str, str, Order], ...] = (
    ("first", "the first of {} for all", lambda values: _one_for_all(values, 0)),
    ("last", "the last of {} for all", lambda values: _one_for_all(values, -1)),
    ("sorted", "{} in ascending order", lambda values: sorted(values)),
    ("reversed", "{} in reverse order", lambda values: values[::-1]),
    ("from 1", "{} counted from 1", lambda values: [each - 1 for each in values]),
    ("one more", "{} one too great", lambda values: [each + 1 for each in values]),
    ("other end", "{} counted from the other end", lambda values: [-1 - each for each in values]),
    ("unsigned", "{} without signs", lambda values: [abs(each) for each in values]),
    ("at least 0", "negative {} taken for 0", lambda values: [max(each, 0) for each in values]),
    ("at most 1", "{} above 1 taken for 1", lambda values: [min(each, 1) for each in values]),
    ("in 32 bits", "{} in 32 bits", _in_32_bits),
)

"""Integers at the ends of their types, and sums that are beyond what a narrower sum holds by one.

Kernels add products of bytes in pairs of 16 bits, keep sums in the type of their operands, or go through
floating-point numbers: each is right until a sum leaves the bits that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, product

import numpy as np

from generator.asking.calls import Call
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

WORD = "ends"
BEYOND = "beyond"
_BITS = (8, 16, 24, 31, 32, 53)
"""What a sum is held in: bytes and words, and the significands of float and double."""
_COMPUTES = "integer_overflow"
"""The reading of operators that compute with integers."""
_BYTE = 8
_FEWEST = 4
"""Elements that meet in a sum, at least, where there is one."""
_TRIES = 6


def add_integer_ends(workshop: Workshop) -> None:
    """Of operators that compute with integers, cases at all ends of bytes, and with sums of more bits."""
    if not workshop.rows:
        return
    spec = workshop.spec
    alone = len(spec.inputs) == 1 and spec.inputs[0].option != "variadic" and not spec.attributes
    if _COMPUTES not in workshop.reference.readings or alone:
        return
    space = workshop.levels.space
    for types in _integer_types(space):
        kinds = [ELEMENT_TYPES[each] for each in types.values()]
        narrow = all(each.bits == _BYTE for each in kinds)
        ends = chain(_ends(kinds) if narrow else _beyond(kinds), _upper(kinds))
        wanted = (("_".join((word, *types.values())), numbers) for word, numbers in ends)
        for word, numbers in workshop.lacking("boundary", wanted):
            _add(workshop, word, types, numbers)


Numbers = tuple[tuple[int, ...], ...]
"""For each drawn input the numbers that stand in it in turn; zeros in those that have none."""


def _integer_types(space: CallSpace) -> Iterator[dict[str, str]]:
    """Integer types for the type variables of drawn inputs, all of bytes or all wider."""
    names = list(dict.fromkeys(f"type_{each.type}" for each in space.data))
    names = [name for name in names if name in space.types]
    levels = [[str(each) for each in space.factors[name] if _is_plain_integer(str(each))] for name in names]
    for chosen in product(*levels) if names else ():
        widths = {ELEMENT_TYPES[each].bits == _BYTE for each in chosen}
        if len(widths) == 1:
            yield dict(zip(names, chosen, strict=True))


def _is_plain_integer(name: str) -> bool:
    kind = ELEMENT_TYPES[name]
    return kind.is_integer and kind.bits is not None and kind.bits >= _BYTE


def _ends(kinds: list[ElementType]) -> Iterator[tuple[str, Numbers]]:
    """Each operand at either end of its type; and as far from their zero points as they can be."""
    first, last = kinds[0].integer_range, kinds[-1].integer_range
    for (at, one), (beside, other) in product(enumerate(first), enumerate(last)):
        yield f"{WORD}_{('low', 'high')[at]}_{('low', 'high')[beside]}", ((one,), (other,))
    yield f"{WORD}_widest", ((first[1],), (last[0],), (first[0],), (last[1],))
    odd = (first[1] // 3, last[1] // 3)
    yield f"{WORD}_odd_points", (first[::-1], (last[1],), odd[:1], odd[1:])


def _beyond(kinds: list[ElementType]) -> Iterator[tuple[str, Numbers]]:
    """A power of two among ones, beside ones: their sum has one bit more than what holds the power."""
    high = min(kind.integer_range[1] for kind in kinds)
    for bits in _BITS:
        if 2 << bits <= high:
            yield f"{BEYOND}_{bits}_bits", ((1 << bits, 1, 1, 1), (1,))


def _upper(kinds: list[ElementType]) -> Iterator[tuple[str, Numbers]]:
    """Unsigned numbers that would be negative ones, beside small ones."""
    if not any(kind.integer_range[0] for kind in kinds):
        high = min(kind.integer_range[1] for kind in kinds)
        yield "upper_half", ((high, 1, high // 2 + 1), (1, high, high // 2))


def _add(workshop: Workshop, word: str, types: Mapping[str, str], numbers: Numbers) -> None:
    """Keep the case of the first call with such numbers whose answer is one alone."""
    draw = workshop.draw(WORD, word)
    for turn in range(_TRIES):
        levels = {**(workshop.rows[0] if turn < _TRIES // 2 else {}), **types}
        levels.pop(DATA, None)
        call = workshop.levels.build_call(workshop.spec, levels, draw.child(str(turn)))
        made = None if call is None else _with_numbers(workshop, call.trimmed(), numbers)
        if made is None or workshop.has(made) or workshop.violations(made):
            continue
        with suppress(UnstableLength):
            case = workshop.make_valid("boundary", word, made, levels)
            if len(case.expectations) == 1 and case.expectations[0].outputs[0].expected.array.size:
                workshop.keep(made, case)
                return


def _with_numbers(workshop: Workshop, call: Call, numbers: Numbers) -> Call | None:
    """The call with such numbers in its drawn inputs; None where it has too few elements to tell."""
    drawn = [each.name for each in workshop.levels.space.data]
    given = [each for name, each in call.inputs if name in drawn and each is not None]
    if not given or max(each.array.size for each in given) < _FEWEST:
        return None
    inputs = tuple(
        (name, _filled(each, _numbers_at(numbers, drawn.index(name))))
        if each is not None and name in drawn and each.element_type.is_integer
        else (name, each)
        for name, each in call.inputs
    )
    return replace(call, inputs=inputs)


def _numbers_at(numbers: Numbers, place: int) -> tuple[int, ...]:
    """The numbers of a drawn input: operands come first, behind them zero points and what is added."""
    return numbers[place] if place < len(numbers) else (0,) if place > 1 else numbers[-1]


def _filled(given: Tensor, numbers: tuple[int, ...]) -> Tensor:
    values = np.resize(np.array(numbers, dtype=object), given.array.size).reshape(given.shape)
    return Tensor(given.element_type, values.astype(given.element_type.storage))

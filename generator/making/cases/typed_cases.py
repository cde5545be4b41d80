"""Cases for element types: integers at their ends, lengths around vectors in more types, pairs of types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.calls.data.data import fill
from generator.calls.rows.factors import first_types
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import Level
from generator.calls.variables.vector_lengths import LONG, MANY, lengths_around
from generator.making.cases.telling import meaningful
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor

ENDS = "ends"
BEYOND = "beyond"
_BITS = (8, 16, 24, 31, 32, 53)
"""What a sum is held in: bytes and words, and the significands of float and double."""
_COMPUTES = "integer_overflow"
"""The reading of operators that compute with integers."""
_BYTE = 8
_FEWEST = 4
"""Elements that meet in a sum, at least, where there is one."""
_TRIES_OF_ENDS = 6


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
        narrow = all(kind.bits == _BYTE for kind in kinds)
        ends = chain(_ends(kinds) if narrow else _beyond(kinds), _upper(kinds))
        wanted = (("_".join((word, *types.values())), numbers) for word, numbers in ends)
        for word, numbers in workshop.lacking("boundary", wanted):
            _add_ends(workshop, word, types, numbers)


Numbers = tuple[tuple[int, ...], ...]
"""For each drawn input the numbers that stand in it in turn; zeros in those that have none."""


def _integer_types(space: CallSpace) -> Iterator[dict[str, str]]:
    """Integer types for the type variables of drawn inputs, all of bytes or all wider."""
    names = list(dict.fromkeys(f"type_{parameter.type}" for parameter in space.data))
    names = [name for name in names if name in space.types]
    levels = [
        [str(factor) for factor in space.factors[name] if _is_plain_integer(str(factor))] for name in names
    ]
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
        yield f"{ENDS}_{('low', 'high')[at]}_{('low', 'high')[beside]}", ((one,), (other,))
    yield f"{ENDS}_widest", ((first[1],), (last[0],), (first[0],), (last[1],))
    odd = (first[1] // 3, last[1] // 3)
    yield f"{ENDS}_odd_points", (first[::-1], (last[1],), odd[:1], odd[1:])


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


def _add_ends(workshop: Workshop, word: str, types: Mapping[str, str], numbers: Numbers) -> None:
    """Keep the case of the first call with such numbers whose answer is one alone."""
    draw = workshop.draw(ENDS, word)
    for turn in range(_TRIES_OF_ENDS):
        levels = {**(workshop.rows[0] if turn < _TRIES_OF_ENDS // 2 else {}), **types}
        levels.pop(DATA, None)
        call = workshop.levels.build_call(workshop.spec, levels, draw.child(str(turn)))
        made = None if call is None else _with_numbers(workshop, call.trimmed(), numbers)
        case = None if made is None else workshop.attempt(word, made, levels, alone=True)
        if made is None or case is None or len(case.expectations) != 1:
            continue
        if case.expectations[0].outputs[0].expected.array.size:
            workshop.keep(made, case)
            return


def _with_numbers(workshop: Workshop, call: Call, numbers: Numbers) -> Call | None:
    """The call with such numbers in its drawn inputs; None where it has too few elements to tell."""
    drawn = [parameter.name for parameter in workshop.levels.space.data]
    given = [tensor for name, tensor in call.inputs if name in drawn and tensor is not None]
    if not given or max(tensor.array.size for tensor in given) < _FEWEST:
        return None
    inputs = tuple(
        (name, _filled(tensor, _numbers_at(numbers, drawn.index(name))))
        if tensor is not None and name in drawn and tensor.element_type.is_integer
        else (name, tensor)
        for name, tensor in call.inputs
    )
    return replace(call, inputs=inputs)


def _numbers_at(numbers: Numbers, place: int) -> tuple[int, ...]:
    """The numbers of a drawn input: operands come first, behind them zero points and what is added."""
    return numbers[place] if place < len(numbers) else (0,) if place > 1 else numbers[-1]


def _filled(given: Tensor, numbers: tuple[int, ...]) -> Tensor:
    low, high = given.element_type.integer_range
    held = [min(max(number, low), high) for number in numbers]
    values = np.resize(np.array(held, dtype=object), given.array.size).reshape(given.shape)
    return Tensor(given.element_type, values.astype(given.element_type.storage))


_TYPES_OF_KERNELS = ("float16", "int32", "int64", "int8", "uint8")
_CLASS = "distinct"


def add_lengths_in_types(workshop: Workshop) -> None:
    """For each such type the lengths that the plainest type has, those around its own vectors among them."""
    _, types = first_types(workshop.spec, workshop.model)
    if _CLASS not in workshop.model.levels.get(DATA, ()):
        return
    plain = _plain_calls(workshop)
    wanted = (
        (f"{word}_of_{name}", name, call)
        for name in _TYPES_OF_KERNELS
        if name in types
        for word, call in plain.items()
    )
    for word, name, call in workshop.lacking("boundary", wanted):
        made = _in_type(workshop, call, ELEMENT_TYPES[name])
        case = workshop.attempt(word, made)
        if case is None:
            continue
        # A shorter call where sums of so many numbers say nothing in the type.
        shorter, case = meaningful(workshop, made, case)
        if shorter is not made:
            word = word.replace(f"_{LONG}_", f"_{_longest(shorter)}_")
            case = workshop.make_valid("boundary", word, shorter)
        workshop.keep(shorter, case)


def _longest(call: Call) -> int:
    return max(length for _, tensor in call.inputs if isinstance(tensor, Tensor) for length in tensor.shape)


def _plain_calls(workshop: Workshop) -> dict[str, Call]:
    """The calls of the plainest type that are one longer than a vector, or long, by their words."""
    words = {f"length_{length}": f"length_{min(length, LONG)}" for length in (*lengths_around()[-2:], LONG)}
    return {
        words[str(case.id.word)]: workshop.calls[digest]
        for digest, case in workshop.cases.items()
        if case.id.family == "boundary" and case.demand == "answer" and case.id.word in words
    }


def _in_type(workshop: Workshop, call: Call, kind: ElementType) -> Call:
    """The call with inputs of the first one's type in another one, of distinct numbers, no axis too long."""
    draw = workshop.draw("lengths", kind.name)

    def drawn(place: int, name: str, given: Tensor | None) -> Tensor | None:
        if given is None:
            return None
        shape = tuple(LONG if length == MANY else length for length in given.shape)
        if name in workshop.main_inputs:
            return fill(kind, shape, _CLASS, draw.child(str(place)))
        return given if shape == given.shape else Tensor(given.element_type, _cut(given, shape))

    inputs = tuple((name, drawn(place, name, each)) for place, (name, each) in enumerate(call.inputs))
    return call.with_tensors(inputs)


def _cut(given: Tensor, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.ascontiguousarray(given.array[tuple(slice(length) for length in shape)])


PAIRS = "types"
PLAIN_TYPES = (
    *("float", "double", "float16", "bfloat16", "bool", "string"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
"""Types that processors compute with, or that every runtime has; the packed ones and eighths are rare."""
COMMON_TYPES = frozenset({"float", "float16", "int8", "uint8", "int32", "int64", "bool"})
"""Types that models mostly hold."""
OCCURRENCES, COMMON_OCCURRENCES = 2, 10
"""In so many cases a pair of plain types occurs at least, and in so many a pair of common ones."""
_ORDINARY = ("distinct", "random")
"""Ordinary data."""
_TRIES_OF_PAIRS = 3
"""Calls that are drawn for each case."""
_Pair = tuple[tuple[str, str], tuple[str, str]]
"""Two names of types, each with a type."""


@dataclass(frozen=True)
class _Types:
    """The types of a call: by type variable (`type_T`), and by the attributes that name one."""

    levels: Mapping[str, Mapping[str, Level]]
    """The level that each plain type has under a name."""
    variables: Mapping[str, str]
    """The name of each input's type variable."""
    decide: bool
    """Whether there are two, which elements of both go through together: a kernel is chosen by them."""

    def of(self, call: Call) -> dict[str, str]:
        """The types that a call has under each name."""
        found: dict[str, str] = {}
        for name, given in call.inputs:
            if isinstance(given, Tensor) and name in self.variables:
                found.setdefault(self.variables[name], given.element_type.name)
        for name, attribute in call.attributes.items():
            if name in self.levels and isinstance(attribute.value, int) and attribute.value in BY_CODE:
                found[name] = BY_CODE[attribute.value].name
        return found


def add_type_pairs(workshop: Workshop) -> None:
    """Cases until every pair of plain types occurs in some on ordinary data, of common types in more."""
    if not workshop.rows:
        return
    types = _types_of(workshop.levels.space)
    having = [(workshop.calls[digest], case) for digest, case in workshop.cases.items() if _has_data(case)]
    met = Counter(pair for call, _ in having for pair in _pairs(types.of(call)))
    # What is drawn is asked for many numbers at once, whatever their type.
    drawn = any(not case.expectations for _, case in having)
    for pair in _wanted(types):
        common = types.decide and not drawn and {name for _, name in pair} <= COMMON_TYPES
        lacking = (COMMON_OCCURRENCES if common else OCCURRENCES) - met[pair]
        for call, case in _cases(workshop, types, pair, lacking, met):
            workshop.keep(call, case)
            met.update(_pairs(types.of(call)))


def _types_of(space: CallSpace) -> _Types:
    named: dict[str, Mapping[str, Level]] = {
        name: {str(level): level for level in space.factors[name]} for name in space.types
    }
    named |= {kind.name: kind.named_types for kind in space.kinds}
    plain = {
        name: {each: level for each, level in levels.items() if each in PLAIN_TYPES}
        for name, levels in named.items()
    }
    variables = {parameter.name: f"type_{parameter.type}" for parameter in space.spec.inputs}
    found = {name: levels for name, levels in plain.items() if levels}
    by_data = {*space.types, *(kind.name for kind in space.kinds if kind.named_types and kind.mends)}
    return _Types(found, variables, decide=len(found) == 2 and found.keys() <= by_data)


def _pairs(types: Mapping[str, str]) -> Iterator[_Pair]:
    yield from combinations(sorted(types.items()), 2)


def _wanted(types: _Types) -> Iterator[_Pair]:
    for first, second in combinations(sorted(types.levels), 2):
        for one, other in product(types.levels[first], types.levels[second]):
            yield (first, one), (second, other)


def _has_data(case: Case) -> bool:
    """Whether a case must be answered, and no tensor of it is empty."""
    return case.demand == "answer" and all(given is None or given.array.size for _, given in case.inputs)


def _cases(
    workshop: Workshop, types: _Types, pair: _Pair, most: int, met: Counter[_Pair]
) -> Iterator[tuple[Call, Case]]:
    """At most so many new cases of calls that have a pair of types, on ordinary data."""
    word = "_".join((PAIRS, *(name for _, name in pair)))
    for levels, call in _calls(workshop, types, pair, met, most * _TRIES_OF_PAIRS) if most > 0 else ():
        case = workshop.attempt(word, call, levels)
        if case is not None and _has_data(case):
            yield meaningful(workshop, call, case)
            most -= 1
            if not most:
                return


def _calls(
    workshop: Workshop, types: _Types, pair: _Pair, met: Counter[_Pair], tries: int
) -> Iterator[tuple[Mapping[str, str], Call]]:
    """Calls that may have a pair of types: the plainest ones first, then such with other attributes."""
    space = workshop.levels.space
    draw = workshop.draw(PAIRS, *(text for each in pair for text in each))
    # The first row is the plainest one that has a call.
    plain = {name: level for name, level in workshop.rows[0].items() if name not in space.types}
    bases = [(plain, True), (plain, False), ({}, False)]
    for turn in range(tries):
        ordinary = {DATA: _ORDINARY[turn % len(_ORDINARY)]} if DATA in space.factors else {}
        while bases:
            base, with_others = bases[0]
            chosen = _with_others(types, pair, met) if with_others else dict(pair)
            levels = {**base, **ordinary}
            call = workshop.levels.build_call(workshop.spec, {**levels, **chosen}, draw.child(str(turn)))
            if call is not None and dict(pair).items() <= types.of(call).items():
                yield {**levels, **_levels_of(types, chosen)}, call.trimmed()
                break
            if base or call is None:
                bases.pop(0)
            else:
                break


def _levels_of(types: _Types, chosen: Mapping[str, str]) -> dict[str, str]:
    return {name: str(types.levels[name][each]) for name, each in chosen.items()}


def _with_others(types: _Types, pair: _Pair, met: Counter[_Pair]) -> dict[str, str]:
    """A pair of types, and for every other name the type that has met these the least."""
    chosen = dict(pair)
    for name in sorted(types.levels.keys() - chosen.keys()):

        def times(element_type: str, name: str = name) -> int:
            beside = {**chosen, name: element_type}
            return sum(met[each] for each in _pairs(beside) if (name, element_type) in each)

        chosen[name] = min(types.levels[name], key=times)
    return chosen

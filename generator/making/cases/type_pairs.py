"""Cases for pairs of element types: a kernel is often written, and often missing, for one pair alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, product

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import Level
from generator.making.cases.meaning import meaningful
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

WORD = "types"
PLAIN_TYPES = (
    *("float", "double", "float16", "bfloat16", "bool", "string"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
"""Types that processors compute with, or that every runtime has; the packed ones and eighths are rare."""
COMMON_TYPES = frozenset({"float", "float16", "int8", "uint8", "int32", "int64", "bool"})
"""Types that models mostly hold."""
OCCURRENCES, COMMON_OCCURRENCES = 2, 10
"""In so many cases a pair of plain types occurs at least, and in so many a pair of common ones."""
_CLASSES = ("distinct", "random")
"""Ordinary data."""
_TRIES = 3
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
        for name, each in call.attributes.items():
            if name in self.levels and isinstance(each.value, int) and each.value in BY_CODE:
                found[name] = BY_CODE[each.value].name
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
    word = "_".join((WORD, *(name for _, name in pair)))
    for levels, call in _calls(workshop, types, pair, met, most * _TRIES) if most > 0 else ():
        if workshop.has(call):
            continue
        with suppress(UnstableLength):
            case = workshop.make_valid("boundary", word, call, levels)
            if _has_data(case):
                yield meaningful(workshop, call, case)
                most -= 1
                if not most:
                    return


def _calls(
    workshop: Workshop, types: _Types, pair: _Pair, met: Counter[_Pair], tries: int
) -> Iterator[tuple[Mapping[str, str], Call]]:
    """Calls that may have a pair of types: the plainest ones first, then such with other attributes."""
    space = workshop.levels.space
    draw = workshop.draw(WORD, *(text for each in pair for text in each))
    # The first row is the plainest one that has a call.
    plain = {name: level for name, level in workshop.rows[0].items() if name not in space.types}
    bases = [(plain, True), (plain, False), ({}, False)]
    for turn in range(tries):
        ordinary = {DATA: _CLASSES[turn % len(_CLASSES)]} if DATA in space.factors else {}
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

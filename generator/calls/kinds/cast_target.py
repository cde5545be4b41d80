"""The element type that elements are cast to, and elements of which the documents say what they become."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType, FloatLayout
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import Number, encode, largest, numbers, smallest_subnormal
from reference.numbers.powers_of_two import holds_powers_alone
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_WHOLE = ("0", "1", "-3", "12", "100", "-128", "127", "7")
_DECIMAL = (
    "3.14",
    "1000",
    "1e-5",
    "1E8",
    "-0.5",
    "INF",
    "-inf",
    "NaN",
    "+INF",
    "0.1",
    "-2.5e3",
    "0",
    "1.5",
    "16777217",
)
_FRACTIONS = (
    Fraction(1, 2),
    Fraction(-1, 2),
    Fraction(3, 2),
    Fraction(5, 2),
    Fraction(-7, 4),
    Fraction(1, 4),
)
_PLAIN_NUMBERS = (
    Fraction(1, 2),
    Fraction(-5, 4),
    Fraction(314, 100),
    Fraction(1000),
    Fraction(-12345, 8),
    Fraction(7),
)


def data_for_cast(tensor: Tensor, data: str, target: ElementType) -> Tensor:
    """The tensor with elements of which the documents say what they become.

    Floats lie within the range of integers, have few digits where they become texts, and are ties or ends of
    narrower floats where the class of data is `ties` or `large_offset`; texts write numbers.
    """
    own, count = tensor.element_type, tensor.array.size
    if own.kind == "string" and target.kind != "string":
        words = _words(target)
        texts = np.empty(count, dtype=np.object_)
        texts[:] = [words[at % len(words)].encode() for at in range(count)]
        return Tensor(own, texts.reshape(tensor.shape))
    if not own.is_float:
        return tensor
    given: list[Number] = numbers(own, tensor.array)
    wanted: list[Number]
    if target.is_integer:
        low, high = target.integer_range
        wanted = [_inside(each, low, high, at) for at, each in enumerate(given)]
    elif target.kind == "string":
        wanted = [_readable(each, at) for at, each in enumerate(given)]
    elif target.layout is not None and target.bits < own.bits and data in ("ties", "large_offset"):
        wanted = [(_tie if data == "ties" else _end)(target.layout, at) for at in range(count)]
    elif target.is_float and target.layout is None:
        wanted = [_positive(each, at, data) for at, each in enumerate(given)]
    else:
        return tensor
    if own.layout is None:
        wanted = [_size(each) or Fraction(1) for each in wanted]
    return Tensor(own, encode(own, wanted).reshape(tensor.shape))


def told_numbers(target: ElementType) -> list[float]:
    """Numbers of which a table or a rule says what each becomes in a narrow type; float32 has them all.

    Special values, the least and the greatest numbers with those around them and between them and their
    neighbours, and numbers far beyond; of integers those of the range alone, since the others are undefined.
    """
    if target.is_integer:
        low, high = target.integer_range
        inside = [low, high, 0, low + 0.5, high - 0.5, 0.5, 1, high - 1, low + 1]
        return [float(number) for number in inside if low <= number <= high]
    specials = [0.0, -0.0, math.inf, -math.inf, math.nan]
    if holds_powers_alone(target):
        beside = [1.0, 1.25, 1.5, 1.75, 3.0]
        scales = [math.ldexp(1.0, each) for each in (127, -126, -127)]
        ends = [scale * part for scale in scales for part in (1, 0.75, 1.5)]
        return [0.0, math.inf, math.nan, *beside, *ends]
    assert target.layout is not None
    most, least = float(largest(target.layout)), float(smallest_subnormal(target.layout))
    step = math.ldexp(1.0, target.layout.greatest_exponent - target.layout.precision + 1)
    ends = [most, most - step, most + step / 4, most + step / 2, most + step * 3 / 4, most + step, 4 * most]
    small = [least, least / 2, least * 0.75, least * 1.5, least / 4]
    return [*specials, *(sign * end for end in (*ends, *small) for sign in (1, -1))]


def told_texts(target: ElementType) -> tuple[str, ...]:
    """Texts of numbers of which a table says what each becomes in a narrow type of floats."""
    if holds_powers_alone(target):
        return ("INF", "NaN", "1", "1e38", "3", "0.3", "1e-5")
    return ("INF", "-INF", "NaN", "0", "1e38", "-1e38", "0.3", "-1.5", "1e-5")


def _words(target: ElementType) -> tuple[str, ...]:
    if not target.is_integer:
        positive = tuple(each for each in _DECIMAL if not each.startswith("-"))
        return positive if target.layout is None else _DECIMAL
    low, high = target.integer_range
    return tuple(each for each in _WHOLE if low <= int(each) <= high)


def _inside(value: Number, low: int, high: int, at: int) -> Number:
    """The number where its neighbours are integers of the range; else one of that kind with a fraction."""
    if math.isfinite(value) and low < value < high:
        return value
    near = _FRACTIONS[at % len(_FRACTIONS)]
    return near if low < near < high else Fraction(0)


def _readable(value: Number, at: int) -> Number:
    if math.isfinite(value) and (value == 0 or Fraction(1, 1000) <= _size(value) < 100000):
        return value
    return _PLAIN_NUMBERS[at % len(_PLAIN_NUMBERS)]


def _positive(value: Number, at: int, data: str) -> Number:
    """A number of either neighbour of a power of two, or beside the ends of float8e8m0."""
    if data == "large_offset":
        ends = (Fraction(2) ** 127, Fraction(3, 2) * Fraction(2) ** 126, Fraction(2) ** -126, Fraction(0))
        return ends[at % len(ends)]
    if data == "ties":
        return Fraction((4, 5, 6, 7, 9, 11)[at % 6], 4) * Fraction(2) ** (at % 9 - 4)
    return _size(value)


def _tie(layout: FloatLayout, at: int) -> Fraction:
    """Half-way between two numbers of the layout: one bit more than it holds, or half its smallest number."""
    if at % 7 == 6:
        return smallest_subnormal(layout) * (2 * (at % 5) + 1) / 2
    sign = -1 if at % 3 == 1 else 1
    odd = (1 << layout.precision) + 2 * (at % (1 << (layout.precision - 1))) + 1
    return sign * Fraction(odd, 1 << layout.precision) * Fraction(2) ** (at % 5 - 2)


def _end(layout: FloatLayout, at: int) -> Fraction:
    """The greatest number, or beyond it by quarters of the step below it."""
    most = largest(layout)
    step = Fraction(2) ** (layout.greatest_exponent - layout.precision + 1)
    return (-1 if at % 2 else 1) * (most + step * (at // 2 % 6) / 4)


def _size(value: Number) -> Number:
    return -value if value < 0 else value


_GROUPS: Mapping[Level, tuple[str, ...]] = {
    "float": ("float",),
    "half": ("float16", "bfloat16"),
    "double": ("double",),
    "float8": ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"),
    "float6": ("float6e2m3", "float6e3m2"),
    "float4": ("float4e2m1",),
    "power": ("float8e8m0",),
    "signed": ("int8", "int16", "int32", "int64"),
    "unsigned": ("uint8", "uint16", "uint32", "uint64"),
    "packed": ("int4", "uint4", "int2", "uint2"),
    "bool": ("bool",),
    "string": ("string",),
}
_NO_TYPES = (0, 999)


_PLAIN = (
    "float",
    "int32",
    "uint32",
    "double",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "int16",
    "int8",
    "bool",
)
"""Types of which each is turned into those of its width."""


@dataclass(frozen=True)
class CastTarget(Kind):
    """A type of a type variable, by its number, or that of another input; the input's data suits it."""

    of: InputName
    variable: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        beside = tuple(each for each in ("saturate", "round_mode") if self.subject.has(each))
        return (self.name, *beside) if self._by_number else beside

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.of,)

    @property
    def needs(self) -> frozenset[str]:
        target = () if self._by_number else (f"level:type_{self.variable.text}",)
        return self.type_levels(self.of).union(target)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        known, has = set(self._types()), self.subject.has
        groups = tuple(each for each, types in _GROUPS.items() if known & set(types))
        found: dict[str, tuple[Level, ...]] = {self.name: groups} if self._by_number else {}
        if has("saturate"):
            found["saturate"] = (OMITTED, 0, 1)
        if has("round_mode"):
            found["round_mode"] = (OMITTED, "up", "down", "nearest")
        return found

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        known = self._types()
        if not self._by_number:
            yield self._beside(levels, self._target(scope))
            return
        wanted = levels[self.name]
        # A group of types, or the one that is asked for by its own name.
        for name in draw.shuffled([each for each in _GROUPS.get(wanted, (str(wanted),)) if each in known]):
            target = ELEMENT_TYPES[name]
            yield {self.name: target.code, **self._beside(levels, target)}

    def _beside(self, levels: Mapping[str, Level], target: ElementType) -> dict[str, Any]:
        """saturate and round_mode where they say something: elsewhere some runtimes refuse the call."""
        found = {name: levels[name] for name in ("saturate", "round_mode") if self.subject.has(name)}
        applies = self._applies(target)
        return {name: each if each != OMITTED and applies[name] else None for name, each in found.items()}

    @staticmethod
    def _applies(target: ElementType) -> dict[str, bool]:
        return {
            "saturate": target.bits == 8 and target.is_float,
            "round_mode": target.name == "float8e8m0",
        }

    def _from(self, name: str) -> dict[str, Any]:
        return {f"level:type_{self._input_type}": name}

    @property
    def named_types(self) -> Mapping[str, Level]:
        return {name: _group_of(name) for name in self._types()} if self._by_number else {}

    def _to(self, target: ElementType) -> dict[str, Any]:
        if not self._by_number:
            return {f"level:type_{self.variable.text}": target.name}
        return {self.name: target.code, f"level:{self.name}": _group_of(target.name)}

    def _ways(self, target: ElementType) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
        """The attributes that say something of a type, in words and in bindings."""
        told = [name for name, applies in self._applies(target).items() if applies and self.subject.has(name)]
        options = {"saturate": (0, 1), "round_mode": ("up", "down", "nearest")}
        for chosen in product(*(options[name] for name in told)):
            given = dict(zip(told, chosen, strict=True))
            levels = {f"level:{name}": each for name, each in given.items()}
            yield (
                tuple(f"{name}_{each}" for name, each in given.items()),
                {**self._to(target), **given, **levels},
            )

    def _target(self, scope: Partial) -> ElementType:
        return self.type_of(scope, self.name)

    def rules(self) -> Iterable[Constraint]:
        if self._by_number:
            codes = sorted(ELEMENT_TYPES[each].code for each in self._types())
            yield self.rule(f"{self.name}_value", f"{self.name} in {codes!r}")
        if self.subject.has("saturate"):
            yield self.rule("saturate_value", "saturate in [0, 1]", about="saturate")
        if self.subject.has("round_mode"):
            modes = "round_mode in ['up', 'down', 'nearest']"
            yield self.rule("round_mode_value", modes, about="round_mode")
        target = f"{self.name} == {{}}" if self._by_number else f"element_type({self.name}) == {{!r}}"
        if "string" in self._sources():
            word = target.format(ELEMENT_TYPES["string"].code if self._by_number else "string")
            texts = f"element_type({self.of}) == 'string' and not ({word})"
            yield self.rule(f"{self.of}_is_number", f"all(is_number(each) for each in {self.of})", texts)

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Of each narrow type what is told of it, in each way of saturating and rounding that it has."""
        shape = scope.shape(self.of)
        for name in self._types():
            target = ELEMENT_TYPES[name]
            if target.kind in ("string", "bool") or target.bits > 16:
                continue
            for words, ways in self._ways(target):
                for part, told in _filling(np.array(told_numbers(target)), shape):
                    word = "_".join((f"{part}numbers_to", name, *words))
                    yield word, {**self._from("float"), **ways, self.of: told}
            if target.is_float and "string" in self._sources():
                for part, texts in _filling(np.array(told_texts(target), dtype=object), shape):
                    bound = {**self._from("string"), **self._to(target), self.of: texts}
                    yield f"{part}texts_to_{name}", bound

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """From each type to another of as many bits."""
        for source in _PLAIN:
            for target in _PLAIN:
                alike = ELEMENT_TYPES[source].bits == ELEMENT_TYPES[target].bits and source != target
                if alike and source in self._sources() and target in self._types():
                    ways = {name: None for name in ("saturate", "round_mode") if self.subject.has(name)}
                    bound = {**self._from(source), **self._to(ELEMENT_TYPES[target]), **ways}
                    yield f"as_wide_{source}_to_{target}", bound

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self.subject.has("saturate"):
            yield "saturate_value", {"saturate": 2}
        if self.subject.has("round_mode"):
            yield "round_mode_value", {"round_mode": "away"}
        allowed = {ELEMENT_TYPES[name].code for name in self._types()}
        others = [code for code in sorted(BY_CODE) if code not in allowed]
        for code in (*_NO_TYPES, *others[:1]) if self._by_number else ():
            yield f"{self.name}_value", {self.name: code}
        if self.type_of(scope, self.of).kind == "string":
            words = np.full(scope.shape(self.of), "Hello World!", dtype=object)
            number = {self.name: ELEMENT_TYPES["float"].code} if self._by_number else {}
            yield f"{self.of}_is_number", {self.of: words, **number}

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        if self._by_number:
            target = BY_CODE.get(int(scope.find(self.name) or 0), tensor.element_type)
        else:
            target = self._target(scope)
        return data_for_cast(tensor, str(scope.level("data")), target)

    @property
    def _by_number(self) -> bool:
        return self.subject.attribute(self.name) is not None

    @property
    def _input_type(self) -> str:
        return self.subject.parameter(self.of).type

    def _sources(self) -> tuple[str, ...]:
        return self.subject.types_of(self._input_type)

    def _types(self) -> tuple[str, ...]:
        return self.subject.types_of(self.variable.text)


def _group_of(element_type: str) -> Level:
    return next(group for group, types in _GROUPS.items() if element_type in types)


def _filling(values: NDArray[Any], shape: tuple[int, ...]) -> Iterator[tuple[str, NDArray[Any]]]:
    """All the values in arrays of a shape, the first of them again where they do not fill the last one."""
    size = max(prod(shape), 1)
    for begin in range(0, len(values), size):
        yield "further_" if begin else "", np.resize(np.roll(values, -begin), shape)

"""The element type that elements are cast to, and elements of which the documents say what they become."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.cast_data import data_for_cast, told_numbers, told_texts
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import Expression
from specs.model.spec import Constraint

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
            if target.kind in ("string", "bool") or target.bits > 8:
                continue
            for words, ways in self._ways(target):
                for part, numbers in _filling(np.array(told_numbers(target)), shape):
                    word = "_".join((f"{part}numbers_to", name, *words))
                    yield word, {**self._from("float"), **ways, self.of: numbers}
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

"""Constants: one of several attributes, a tensor of one element, what fills places, what is left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level, SingleKind
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import smallest_subnormal
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Constant(Kind):
    """A constant: one of the `attributes`, a tensor of one `element`, what is to `fill` new places.

    What is `left_out` has no value in any call: an attribute of which no document says what it may be. A list
    that is `listed` has the plainest values that there are: a document says no more than how long it is.
    """


_SHAPES: Mapping[Level, tuple[int, ...]] = {
    "matrix": (2, 3),
    "scalar": (),
    "vector": (5,),
    "empty": (0,),
    "empty_axis": (2, 0, 3),
    "many_axes": (1, 2, 1, 2, 1),
}
_FIRST: Mapping[str, Any] = {
    "value_float": 1.5,
    "value_floats": [1.5, -0.25, 0.0],
    "value_int": -7,
    "value_ints": [3, 0, -2],
    "value_string": "opcert",
    "value_strings": ["a", "", "é"],
}


@dataclass(frozen=True)
class _AttributeConstant(Constant):
    """Exactly one of the attributes that the version has for it; a sparse tensor is never the one.

    A tensor has one of the types of a type variable.
    """

    variable: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(self.subject.spec.attributes)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "form": tuple(cover for cover in self.covers if not cover.startswith("sparse"))[::-1],
            "value_type": self._types(),
            "value_shape": tuple(_SHAPES),
            "value_data": ("distinct", "random", "constant"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        form = str(levels["form"])
        yield self._bindings(form, _FIRST.get(form) or self._tensor(levels, draw))

    def _tensor(self, levels: Mapping[str, Level], draw: Draw) -> Tensor:
        kind, wanted = str(levels["value_type"]), str(levels["value_data"])
        known = data_classes(kind)
        return fill(kind, _SHAPES[levels["value_shape"]], wanted if wanted in known else known[0], draw)

    def _bindings(self, form: str, value: Any) -> Bindings:
        return {name: value if name == form else None for name in self.covers}

    def rules(self) -> Iterable[Constraint]:
        listed = ", ".join(f"present({cover})" for cover in self.covers)
        yield self.rule("one_form", f"sum([{listed}]) == 1", about=self.covers[0])

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if len(self.covers) > 1:
            both = [cover for cover in self.covers if cover in _FIRST][:2]
            if len(both) > 1:
                yield "one_form", {**self._bindings(both[0], _FIRST[both[0]]), both[1]: _FIRST[both[1]]}
            yield "one_form", self._bindings("", None)

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for name, value in (("value_floats", []), ("value_ints", []), ("value_strings", []), ("value_int", 0),
                            ("value_float", 0.0), ("value_string", "")):  # fmt: skip
            if name in self.covers:
                yield f"{name}_empty", self._bindings(name, value)

    def _types(self) -> tuple[str, ...]:
        return self.subject.types_of(self.variable.text)


@dataclass(frozen=True)
class _OneElement(SingleKind):
    """A tensor with one axis of one element, of one of the types of a type variable."""

    variable: Expression

    def levels(self) -> tuple[Level, ...]:
        return self._names()

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Tensor]:
        yield fill(str(level), (1,), "random", draw)

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_single", f"len({self.name}) == 1", self.given)
        allowed = list(self._names())
        yield self.rule(f"{self.name}_type", f"element_type({self.name}) in {allowed!r}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        names = self._names()
        for shape in ((2,), (0,)):
            yield f"{self.name}_single", {self.name: fill(names[0], shape, "random", draw)}
        for other in [each for each in ("string", "complex64") if each not in names]:
            yield f"{self.name}_type", {self.name: fill(other, (1,), "random", draw)}

    def _names(self) -> tuple[str, ...]:
        return self.subject.types_of(self.variable.text)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True)
class _FillValue(SingleKind):
    """A number of the input's type; of a floating-point type also -0, NaN, infinity and a subnormal one."""

    def levels(self) -> tuple[Level, ...]:
        return ("ordinary", "negative_zero", "nan", "infinity", "subnormal")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[float]:
        layout = self.type_of(scope, self.name).layout
        if level == "ordinary":
            # Quarters, which no floating-point type rounds; whole numbers for the others.
            number = draw.integer(1, 100)
            yield number / 4 if layout is not None else number
        elif layout is not None and layout.nan == "ieee":
            found = {"negative_zero": -0.0, "nan": math.nan, "infinity": math.inf}
            yield found.get(str(level), float(smallest_subnormal(layout)))


@dataclass(frozen=True)
class _LeftOut(SingleKind):
    """Nothing, in every call."""

    def levels(self) -> tuple[Level, ...]:
        return ()

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        yield from ()


@dataclass(frozen=True)
class _PlainList(SingleKind):
    """A list of as many values as `length` says, all different: 0, 1, 2, ..., or `k0`, `k1`, ...

    The first number is `first`, where it is given.
    It is given where `when` holds, and left out where it does not.
    """

    length: Expression = field(kw_only=True)
    first: Expression | None = field(default=None, kw_only=True)
    when: Expression | None = field(default=None, kw_only=True)

    @property
    def needs(self) -> frozenset[str]:
        found = super().needs
        return found | self.type_levels(*(name for name in found if self.subject.input(name) is not None))

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return super().factors() if self.when is None else {self.name: ("plain",)}

    def levels(self) -> tuple[Level, ...]:
        return ("plain",)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        meant = self.when is None or bool(scope.value(self.when))
        yield self._first(int(scope.value(self.length))) if meant else None

    def _first(self, count: int) -> list[Any]:
        attribute = self.subject.attribute(self.name)
        kind = attribute.kind if attribute is not None else "ints"
        if kind == "strings":
            return [f"k{number}" for number in range(count)]
        first = 0 if self.first is None else int(self.first.evaluate({}))
        return [float(number) if kind == "floats" else number for number in range(first, first + count)]

    def rules(self) -> Iterable[Constraint]:
        if self.when is not None:
            yield self.rule(f"{self.name}_given", f"present({self.name}) == ({self.when.text})")
        yield self.rule(f"{self.name}_length", f"len({self.name}) == {self.length.text}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if scope.find(self.name) is not None:
            yield f"{self.name}_length", {self.name: self._first(int(scope.value(self.length)) + 1)}


Constant.variants = {
    "attributes": _AttributeConstant,
    "element": _OneElement,
    "fill": _FillValue,
    "left_out": _LeftOut,
    "listed": _PlainList,
}

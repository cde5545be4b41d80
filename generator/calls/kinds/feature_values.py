"""One number for each feature, or one for all: how inputs are scaled and imputed, and how wide they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.kinds.lookup import listed_keys
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    Kind,
    KindChange,
    Level,
    ValueChange,
    misread_as,
)
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Constraint

_OFFSETS = (0.5, -2.0, 3.25, 0.1, 0.0, 100.0, -0.75, 1e-3)
_WIDTHS = "inputdimensions"
_SCALES = (2.0, -0.5, 0.3, 1.0, 10.0, 0.25, -3.0, 0.0)


@dataclass(frozen=True)
class FeatureValues(Kind):
    """Numbers that belong to the features of an input, which lie along its last axis."""

    of: InputName

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shape:{self.of}"}) | self.type_levels(self.of)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"length": ("each", "one")}

    def length(self, level: Level, scope: Partial) -> int:
        """How many numbers there are, of a level."""
        return 1 if level == "one" else int(scope.shape(self.of)[-1])

    def lengths(self, name: str) -> str:
        """A condition on the length of a list: that of the last axis, or one for all."""
        return f"len({name}) == 1 or len({name}) == shape({self.of})[-1]"


@dataclass(frozen=True)
class _Scaling(FeatureValues):
    """What is taken from a number, and what the difference is multiplied with."""

    covered: ClassVar[tuple[str, ...]] = ("offset", "scale")

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        count = self.length(levels["length"], scope)
        if len(scope.shape(self.of)) != 2 and levels["length"] == "each":
            return
        yield {
            "offset": np.resize(draw.shuffled(_OFFSETS), count).tolist(),
            "scale": np.resize(draw.shuffled(_SCALES), count).tolist(),
        }

    def rules(self) -> Iterable[Constraint]:
        both = "present(offset) and present(scale)"
        yield self.rule("both_given", both, about="scale")
        same = "len(offset) == len(scale)"
        yield self.rule("same_length", same, both, about="scale", otherwise="error")
        fits = f"len(scale) == 1 or (rank({self.of}) == 2 and len(scale) == shape({self.of})[-1])"
        yield self.rule("length_fits", fits, f"{both} and {same}", about="scale")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield "both_given", {"offset": None}
        yield "both_given", {"scale": None}
        width = int(scope.shape(self.of)[-1]) if scope.shape(self.of) else 0
        for count in (width + 1, max(width - 1, 2)):
            yield "length_fits", {"offset": [0.5] * count, "scale": [2.0] * count}
            yield "same_length", {"offset": [0.5] * count, "scale": [2.0]}

    def changes(self) -> Iterable[KindChange]:
        for name in self.covered:
            yield from misread_as(
                name, ("reversed", "{}: from the last to the first", lambda numbers: numbers[::-1])
            )
        yield ValueChange("scale inverted", "scale: the reciprocals", _inverted)


def _inverted(given: CallValues) -> Bindings:
    scale = given.numbers("scale")
    if not np.all(scale):
        raise ValueError("zero has no reciprocal")
    return {"scale": 1 / scale}


@dataclass(frozen=True)
class _Imputed(FeatureValues):
    """A number that is replaced, and what by: floats in a tensor of floats, whole numbers in one of these."""

    covered: ClassVar[tuple[str, ...]] = (
        "imputed_value_floats",
        "imputed_value_int64s",
        "replaced_value_float",
        "replaced_value_int64",
    )

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {**super().factors(), "replaced": ("nan_or_least", "number", "infinity", OMITTED)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        kind, level = self.type_of(scope, self.of), str(levels["replaced"])
        count = self.length(levels["length"], scope)
        found: dict[str, Any] = dict.fromkeys(self.covered)
        if kind.is_float:
            replaced: Any = {"nan_or_least": math.nan, "infinity": math.inf, "number": -0.1}.get(level)
            end, numbers = "float", draw.shuffled((0.5, -2.0, 0.1, 7.0, 1e10, -0.0))
        else:
            low, high = kind.integer_range
            replaced = {"nan_or_least": low, "infinity": high, "number": -1}.get(level)
            end, numbers = "int64", draw.shuffled((5, -7, 1000, high - 1, low + 1, 0))
        found[f"imputed_value_{end}s"] = (numbers * (count // len(numbers) + 1))[:count]
        found[f"replaced_value_{end}"] = replaced
        yield found

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.of,)

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        """Every third element, from the first on, is the one that is replaced."""
        end = "float" if tensor.element_type.is_float else "int64"
        replaced = scope.find(f"replaced_value_{end}")
        array = np.array(tensor.array)
        array.reshape(-1)[::3] = np.float32(replaced or 0) if end == "float" else replaced or 0
        return Tensor(tensor.element_type, array)

    def rules(self) -> Iterable[Constraint]:
        floats, whole = "imputed_value_floats", "imputed_value_int64s"
        one = f"sum([present({floats}), present({whole})]) == 1"
        yield self.rule("one_of_imputed", one, about=floats)
        of_floats = f"element_type({self.of}) in FLOATS"
        fits = f"present({floats}) == ({of_floats})"
        yield self.rule("imputed_of_type", fits, one, about=floats)
        for name in (floats, whole):
            lengths = self.lengths(name)
            yield self.rule(f"{name}_length", lengths, f"present({name})", about=name)
        within = "all(LOW[element_type({0})] <= each <= HIGH[element_type({0})] for each in {1})"
        integers = f"present({whole}) and not ({of_floats})"
        yield self.rule(
            "imputed_within_type", within.format(self.of, whole), integers, about="summary", otherwise="error"
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        kind, width = self.type_of(scope, self.of), int(scope.shape(self.of)[-1])
        none = {"imputed_value_floats": None, "imputed_value_int64s": None}
        own, other = ("floats", "int64s") if kind.is_float else ("int64s", "floats")
        yield "one_of_imputed", none
        yield "one_of_imputed", {"imputed_value_floats": [1.0], "imputed_value_int64s": [1]}
        yield "imputed_of_type", {**none, f"imputed_value_{other}": [1]}
        for count in (width + 1, max(width - 1, 2)):
            yield f"imputed_value_{own}_length", {f"imputed_value_{own}": [1] * count}
        if kind.name == "int32":
            yield "imputed_within_type", {"imputed_value_int64s": [kind.integer_range[1] + 1]}

    def changes(self) -> Iterable[KindChange]:
        for name in self.covered[:2]:
            yield from misread_as(
                name,
                ("reversed", "{}: from the last to the first", lambda numbers: numbers[::-1]),
                ("of the first", "{}: the first one for all", lambda numbers: numbers[[0] * len(numbers)]),
            )


@dataclass(frozen=True)
class _Widths(FeatureValues):
    """How many features each tensor of a variadic input has, and the shapes of these tensors."""

    covered: ClassVar[tuple[str, ...]] = (_WIDTHS,)

    @property
    def binds(self) -> tuple[str, ...]:
        return (f"shapes:{self.of}",)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            f"{self.of}_count": (2, 1, 3),
            "widths": ("different", "equal", "ones"),
            "rows": ("several", "one"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        count, rows = int(levels[f"{self.of}_count"]), 1 if levels["rows"] == "one" else draw.integer(2, 5)
        equal = draw.integer(2, 4)
        drawn = {"equal": [equal] * count, "ones": [1] * count}
        widths = drawn.get(str(levels["widths"]), draw.shuffled(range(1, 6))[:count])
        yield {f"shapes:{self.of}": [(rows, width) for width in widths], _WIDTHS: widths}

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("widths_given", f"present({_WIDTHS})", about=_WIDTHS)
        flat = f"all(rank(each) == 2 for each in {self.of})"
        yield self.rule("matrices", flat)
        rows = f"all(shape(each)[0] == shape({self.of}[0])[0] for each in {self.of})"
        yield self.rule("same_rows", rows, flat)
        same = f"{_WIDTHS} == [shape(each)[1] for each in {self.of}]"
        yield self.rule("widths_of_inputs", same, f"present({_WIDTHS}) and {flat}")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        key = f"shapes:{self.of}"
        shapes = [tuple(each) for each in scope.find(key)]
        widths = [each[1] for each in shapes if len(each) == 2]
        yield "widths_given", {_WIDTHS: None}
        yield "widths_of_inputs", {_WIDTHS: [*widths, 2]}
        yield "widths_of_inputs", {_WIDTHS: [*widths[:-1], widths[-1] + 1]}
        yield "matrices", {key: [*shapes[:-1], (*shapes[-1], 1)]}
        if len(shapes) > 1:
            yield "same_rows", {key: [*shapes[:-1], (shapes[-1][0] + 1, shapes[-1][1])]}


@dataclass(frozen=True)
class _Names(FeatureValues):
    """A name for each feature, a text or a whole number."""

    covered: ClassVar[tuple[str, ...]] = ("classlabels_int64s", "classlabels_strings")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shape:{self.of}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"labels": ("int64s", "strings")}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        yield self._named(str(levels["labels"]), int(scope.shape(self.of)[-1]), draw)

    def _named(self, form: str, count: int, draw: Draw) -> dict[str, Any]:
        known = listed_keys("string" if form == "strings" else "int64", "many")[:count]
        return {**dict.fromkeys(self.covered), f"classlabels_{form}": draw.shuffled(known)}

    def rules(self) -> Iterable[Constraint]:
        whole, texts = self.covered
        one = f"present({whole}) != present({texts})"
        yield self.rule("one_of_labels", one, about="summary", otherwise="error")
        names = f"({texts} if present({texts}) else {whole})"
        each = f"len({names}) == shape({self.of})[-1]"
        yield self.rule("a_name_each", each, one, about="summary", otherwise="error")
        yield self.rule("names_distinct", f"len(set({names})) == len({names})", one, about=whole)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        width = int(scope.shape(self.of)[-1])
        yield "one_of_labels", dict.fromkeys(self.covered)
        yield "one_of_labels", {name: self._named(name[12:], width, draw)[name] for name in self.covered}
        for name in self.covered:
            for count in (width + 1, width - 1):
                yield "a_name_each", self._named(name[12:], count, draw)
            names = self._named(name[12:], width, draw)
            yield "names_distinct", {**names, name: [*names[name][:-1], names[name][0]]}

    def changes(self) -> Iterable[KindChange]:
        for name in self.covered:
            yield from misread_as(name, ("reversed", "{}: from the last to the first", _reversed))


def _reversed(given: Any) -> Any:
    return given[::-1]


FeatureValues.variants = {"scaling": _Scaling, "imputed": _Imputed, "widths": _Widths, "names": _Names}

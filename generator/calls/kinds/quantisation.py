"""What a tensor is quantised with: scales and zero points, along which axis, and in which types."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, KindChange, Level
from generator.calls.variables.misreadings import scale_changes
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode, numbers
from reference.shared.scales import scale_places
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_STEPS = (0.5, 1.5, -0.5, -1.5, 2.5, 3.5, -2.5, 6.5, 1.0, -3.5, 4.5, 0.25, 0.75)
"""Quotients beside which rounding modes part; each of both parities comes first."""
_BESIDE = (Fraction(1, 2), Fraction(0), Fraction(-1, 2), Fraction(1), Fraction(3, 2), Fraction(100))


def data_at_steps(
    tensor: Tensor, data: str, *, scales: Any, zeros: Any, kind: ElementType, axis: int, block_size: int
) -> Tensor:
    """The tensor with ties of the steps where its data is `ties`, with their ends for `large_offset`."""
    if data not in ("ties", "large_offset") or scales is None:
        return tensor
    scale = np.asarray(scales, dtype=np.float64)
    try:
        places = scale_places(tensor.shape, scale.shape, axis, block_size).reshape(-1)
    except (IndexError, ValueError):
        return tensor  # a call that is to be refused
    shifts = np.zeros(scale.size) if zeros is None or not kind.is_integer else np.resize(zeros, scale.size)
    wanted = []
    for at, place in enumerate(places.tolist()):
        quotient = _tie(kind, at) if data == "ties" else _end(kind, at, int(shifts[place]))
        wanted.append(quotient * Fraction(float(scale.reshape(-1)[place])))
    own = tensor.element_type
    if own.is_integer:
        low, high = own.integer_range
        whole = np.array([min(max(round(number), low), high) for number in wanted], dtype=own.storage)
        return Tensor(own, whole.reshape(tensor.shape))
    return Tensor(own, encode(own, wanted).reshape(tensor.shape))


def _tie(kind: ElementType, at: int) -> Fraction:
    """A quotient half-way between two elements of the type, or not quite."""
    if kind.is_integer:
        return Fraction(_STEPS[at % len(_STEPS)])
    known = _finite(kind)
    place = at * 5 % (len(known) - 1)
    return (known[place] + known[place + 1]) / 2


def _end(kind: ElementType, at: int, zero: int) -> Fraction:
    """A quotient at an end of the range, or beside it by parts of a step."""
    sign, beside = (1, -1)[at % 2], _BESIDE[at // 2 % len(_BESIDE)]
    if kind.is_integer:
        low, high = kind.integer_range
        return (high if sign > 0 else low) - zero + sign * beside
    known = _finite(kind)
    return sign * (known[-1] + beside * (known[-1] - known[-2]))


@cache
def _finite(kind: ElementType) -> Sequence[Fraction]:
    """The numbers of a type of at most 8 bits that are not below zero, in order."""
    codes = np.arange(1 << (kind.bits - 1), dtype=kind.storage)
    return sorted({Fraction(number) for number in numbers(kind, codes) if np.isfinite(float(number))})


LENGTHS = "lengths_of_scales"
GRANULARITY = "granularity"
"""The name that the shape of the scales is bound under."""
_BLOCKS = ("blocks", "ragged_blocks", "one_block", "blocks_of_one")


@dataclass(frozen=True)
class Quantisation(Kind):
    """The scales and zero points (`scales`) of a quantised input, or the `axis` along which they differ."""

    of: InputName
    scale: Expression
    zero_point: Expression


@dataclass(frozen=True)
class _QuantisedAxis(Quantisation):
    """It covers axis and block_size as far as there are, and binds the shape of the scales.

    One scale for all, one for each place along an axis, or one for each block of places there.
    """

    covered: ClassVar[tuple[str, ...]] = ("axis", "block_size")

    @property
    def binds(self) -> tuple[str, ...]:
        return (LENGTHS,) if self.covers else ()

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shape:{self.of}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        if not self.covers:
            return {}
        blocks = _BLOCKS if self.subject.has("block_size") else ()
        return {
            GRANULARITY: ("tensor", "axis", *blocks),
            "axis": ("first", "inner", "negative", OMITTED),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shape, named = scope.shape(self.of), levels["axis"]
        rank, how = len(shape), levels[GRANULARITY]
        if how not in ("tensor", "axis") and rank < 2:
            return
        places: Sequence[int] = {
            "first": range(1),
            "inner": range(1, rank - 1),
            "negative": range(-rank, 0),
        }.get(str(named), range(1, min(rank, 2)) if how == "axis" else range(1, 2))
        for at in draw.shuffled(places):
            given = None if named == OMITTED else at
            if how == "tensor":
                # The axis says nothing there; what is not left out lies in its range for all that.
                yield self._bound(given, None, ())
            elif how == "axis":
                yield self._bound(given, None, (shape[at],))
            else:
                for size in draw.child(str(at)).shuffled(_sizes(how, shape[at])):
                    count = -(-shape[at] // size)
                    yield self._bound(given, size, (*shape[: at % rank], count, *shape[at % rank + 1 :]))

    def _bound(self, axis: int | None, block: int | None, lengths: tuple[int, ...]) -> dict[str, Any]:
        blocks = {"block_size": block} if "block_size" in self.covers else {}
        return {"axis": axis, **blocks, LENGTHS: list(lengths)}

    def rules(self) -> Iterable[Constraint]:
        if not self.covers:
            return
        x, scale = self.of, self.scale.text
        several = f"rank({scale}) > 0 and shape({scale}) != [1]"
        inside = f"-rank({x}) <= axis < rank({x})"
        yield self.rule("axis_range", inside, several, about="axis")
        found = f"granularity(shape({x}), shape({scale}), axis)"
        allowed = "!= 'none'" if self.subject.has("block_size") else "in ['tensor', 'axis']"
        yield self.rule(f"{scale}_shape", f"{found} {allowed}", f"not ({several}) or {inside}", about=scale)
        if self.subject.has("block_size"):
            fits = f"block_fits(shape({x}), shape({scale}), axis, block_size)"
            blocked = f"{several} and {found} == 'block'"
            yield self.rule("block_size_range", fits, blocked, about="block_size")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if not self.covers:
            return
        scale, shape = self.scale.text, scope.shape(self.of)
        rank, last = len(shape), shape[-1] if shape else 1
        along: dict[str, Any] = {scale: np.ones(last), self.zero_point.text: None}
        if self.subject.has("block_size"):
            along["block_size"] = None
        for axis in (rank, -rank - 1, 2**31 - 1):
            yield "axis_range", {**along, "axis": axis}
        for wrong in (np.ones(last + 1), np.ones((2, *shape))):
            yield f"{scale}_shape", {**along, "axis": rank - 1, scale: wrong}
        if self.subject.has("block_size"):
            blocks = {**along, "axis": rank - 1, scale: np.ones((*shape[:-1], 1))}
            for size in (0, -1, last - 1):
                yield "block_size_range", {**blocks, "block_size": size}


def _sizes(how: Level, length: int) -> list[int]:
    """The sizes of blocks of which an axis has several, or one, or as many as places."""
    if how == "one_block":
        return [length] * (length > 1)
    if how == "blocks_of_one":
        return [1]
    return [each for each in range(2, length) if bool(length % each) == (how == "ragged_blocks")]


_ATTRIBUTES = ("output_dtype", "precision")
_PRECISIONS = ("float", "float16", "bfloat16")
_SCALES: Mapping[Level, tuple[float, ...]] = {
    "powers": (0.5, 2.0, 0.25, 4.0, 1.0),
    "one": (1.0,),
    "ordinary": (0.1, 3.0, 0.7, 1.7, 0.013),
}
_WHOLE: Mapping[Level, tuple[float, ...]] = {"powers": (2, 4, 8), "one": (1,), "ordinary": (3, 5, 10)}


@dataclass(frozen=True)
class _QuantisedScales(Quantisation):
    """It covers scale and zero point, of the lengths that `axis` binds, output_dtype and precision.

    The tensor that is quantised has ties and ends of its steps as elements where its data is to be ties, or
    to have a large offset.
    """

    @property
    def covers(self) -> tuple[str, ...]:
        own = tuple(attribute for attribute in _ATTRIBUTES if self.subject.has(attribute))
        return (*own, self.scale.text, self.zero_point.text)

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.of,) if self._quantises else ()

    @property
    def needs(self) -> frozenset[str]:
        return self.type_levels(self.of, self.scale.text, self.zero_point.text) | {LENGTHS}

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        has = self.subject.has
        found: dict[str, tuple[Level, ...]] = {self.scale.text: tuple(_SCALES)}
        found[self.zero_point.text] = ("some", "zero", "end", OMITTED)
        if has("output_dtype"):
            others = () if self._quantises else self._output_types()
            found["output_dtype"] = (OMITTED, *(others or ("given",)))
        if has("precision"):
            found["precision"] = (OMITTED, *_PRECISIONS)
        return found

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        # What types and levels alone leave impossible hangs on no shape.
        scale, zero = self.type_of(scope, self.scale.text), self.type_of(scope, self.zero_point.text)
        numbers = (_WHOLE if scale.is_integer else _SCALES)[levels[self.scale.text]]
        if scale.name == "float8e8m0":
            numbers = tuple(_nearest_power_of_two(number) for number in numbers)
        zero_level = levels[self.zero_point.text]
        if zero.name == "int32" and zero_level not in ("zero", OMITTED):
            return
        if not self._names_output_type(levels, scale, zero):
            return
        found: dict[str, Any] = dict.fromkeys(self.covers)
        lengths = tuple(scope.find(LENGTHS) or ())
        drawn, count = draw.child("scale").shuffled(numbers), prod(lengths)
        found[self.scale.text] = np.array([drawn[at % len(drawn)] for at in range(count)]).reshape(lengths)
        if zero_level != OMITTED:
            found[self.zero_point.text] = _zeros(zero_level, zero, count, draw).reshape(lengths)
        if levels.get("precision", OMITTED) != OMITTED:
            found["precision"] = ELEMENT_TYPES[str(levels["precision"])].code
        if (given := levels.get("output_dtype", OMITTED)) != OMITTED:
            found["output_dtype"] = (zero if self._quantises else ELEMENT_TYPES[str(given)]).code
        yield found

    def _names_output_type(self, levels: Mapping[str, Level], scale: ElementType, zero: ElementType) -> bool:
        """Whether something names the type that the output has by the levels."""
        if levels.get("output_dtype", OMITTED) != OMITTED:
            return True
        if self._quantises:
            return levels[self.zero_point.text] != OMITTED or zero.name == "uint8"
        return scale.name in self._output_types() or not self.subject.has("output_dtype")

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        return data_at_steps(
            tensor,
            str(scope.level("data")),
            scales=scope.find(self.scale.text),
            zeros=scope.find(self.zero_point.text),
            kind=self.type_of(scope, self.zero_point.text),
            axis=1 if scope.find("axis") is None else int(scope.find("axis")),
            block_size=int(scope.find("block_size") or 0),
        )

    def rules(self) -> Iterable[Constraint]:
        x, scale, zero = self.of, self.scale.text, self.zero_point.text
        modern = self.subject.has("axis")
        yield self.rule(f"{scale}_not_zero", f"all(each != 0 for each in {scale})", about=scale)
        given = f"present({zero})"
        # Examples of the pages have a scale of shape () and a zero point of shape (1,), models the reverse.
        alone = f"all(each in [[], [1]] for each in [shape({zero}), shape({scale})])"
        yield self.rule(f"{zero}_shape", f"shape({zero}) == shape({scale}) or {alone}", given, about=zero)
        if not self._quantises:
            nothing = f"all(each == 0 for each in {zero})"
            yield self.rule(
                f"{zero}_of_int32", nothing, f"{given} and element_type({x}) == 'int32'", about=zero
            )
        if not modern:
            yield self.rule(f"{scale}_shape", f"rank({scale}) == 0", about=scale)
        if self.subject.has("output_dtype"):
            codes = sorted(ELEMENT_TYPES[output_type].code for output_type in self._output_types())
            known = f"output_dtype in {[0, *codes]!r}"
            yield self.rule("output_dtype_value", known, about="output_dtype")
            if self._quantises:
                agrees = f"output_dtype == type_code(element_type({zero}))"
                told = f"{given} and output_dtype in {codes!r}"
                yield self.rule(
                    "output_dtype_of_zero_point", agrees, told, about="output_dtype", otherwise="error"
                )

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        scales = np.asarray(scope.find(self.scale.text))
        if self.type_of(scope, self.scale.text).name != "float8e8m0":
            yield "negative_scale", {self.scale.text: -scales}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        scale, zero = self.scale.text, self.zero_point.text
        given = np.asarray(scope.find(scale))
        wrong = np.array(given)
        wrong.reshape(-1)[-1:] = 0
        yield f"{scale}_not_zero", {scale: wrong}
        more = np.ones((2, *given.shape))
        yield f"{zero}_shape", {zero: more}
        has = self.subject.has
        if not has("axis"):
            yield f"{scale}_shape", {scale: more, zero: None}
        if not self._quantises and self.type_of(scope, zero).name == "int32":
            yield f"{zero}_of_int32", {zero: np.full(given.shape, 3)}
        if has("output_dtype"):
            yield "output_dtype_value", {"output_dtype": 999}
            yield "output_dtype_value", {"output_dtype": ELEMENT_TYPES["int64"].code}
            for other in self._output_types() if self._quantises else ():
                yield "output_dtype_of_zero_point", {"output_dtype": ELEMENT_TYPES[other].code}

    def changes(self) -> Iterable[KindChange]:
        return scale_changes(self.subject, self.of, self.scale.text, self.zero_point.text)

    @property
    def _quantises(self) -> bool:
        return self.subject.parameter(self.zero_point.text).type != self.subject.parameter(self.of).type

    def _output_types(self) -> tuple[str, ...]:
        return self.subject.types_of(self.subject.spec.outputs[0].type)


def _zeros(level: Level, kind: ElementType, count: int, draw: Draw) -> NDArray[Any]:
    """Zero points of a level."""
    if level == "zero":
        return np.zeros(count)
    if not kind.is_integer:
        # "usually not used" says the text of these types: in one of the levels they are other than zero.
        used = (0.5, -1.0, 2.0) if level == "end" else (0.0,)
        return np.array([used[at % len(used)] for at in range(count)])
    low, high = kind.integer_range
    if level == "end":
        return np.full(count, draw.choice((low, high)), dtype=object)
    # Odd ones tell a sum that is rounded from a rounded quotient to which they are added.
    middle = (low + high) // 2
    drawn = [middle + number for number in draw.child("zeros").numbers(-high // 8, high // 8, count)]
    return np.array([min(max(each | 1, low), high) for each in drawn], dtype=object)


def _nearest_power_of_two(number: float) -> float:
    """The power of two whose exponent is the number's logarithm, rounded."""
    significand, exponent = math.frexp(number)
    return math.ldexp(1.0, exponent if significand * significand > 0.5 else exponent - 1)


Quantisation.variants = {"axis": _QuantisedAxis, "scales": _QuantisedScales}

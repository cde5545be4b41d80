"""QuantizeLinear and DequantizeLinear: integers and narrow floats in steps of a scale."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import trunc
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain
from reference.answers.quantised import InfinityToFnuz, as_integers, as_narrow_floats
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import held
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.scales import scale_places

QuotientOfIntegers = Annotated[Choice[Literal["real", "truncated"]], AsReading]
_REAL: Choice[Literal["real", "truncated"]] = Choice("real")
_SATURATED: Choice[Literal["saturated", "nan"]] = Choice("saturated")
UNSIGNED, SINGLE = ELEMENT_TYPES["uint8"], ELEMENT_TYPES["float"]


@reference_operator("ai.onnx::QuantizeLinear", segments=(24,))
def quantize_linear(
    x: Tensor,
    y_scale: Numbers,
    y_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
    version: int,
    quotient_of_integers: QuotientOfIntegers,
    infinity_to_fnuz: InfinityToFnuz,
) -> Answer:
    """y = saturate((x / y_scale) + y_zero_point), the quotient rounded. Source: QuantizeLinear, Summary."""
    kind = _named(output_dtype, UNSIGNED) if y_zero_point is None else y_zero_point.element_type
    places = scale_places(x.shape, y_scale.shape, axis, block_size)
    scale, zeros = y_scale.gather(places), None
    working = replace(scale.working, element_type=_divided_in(precision, scale.working.element_type, x))
    if y_zero_point is not None:
        zeros = Numbers.of(y_zero_point, working).reshape(y_scale.shape).gather(places)
    quotient = held(Numbers.of(x, working), working) / held(scale, working)
    working.note_chain(quotient.beyond_type())
    if scale.is_integer and not precision and quotient_of_integers.ask() == "truncated":
        quotient = _truncated(quotient, x, scale)
    if kind.is_integer:
        return as_integers(kind, quotient, zeros)
    total = quotient if zeros is None else quotient + zeros
    reading = infinity_to_fnuz if version < 24 else None
    return as_narrow_floats(kind, total, saturate=bool(saturate), infinity_to_fnuz=reading)


def _divided_in(precision: int, scale: ElementType, x: Tensor) -> ElementType:
    """The precision of the division: as told, or else that of the scale, where it is one to compute in."""
    kind = _named(precision, scale)
    kind = x.element_type if kind.layout is None else kind
    return kind if kind.is_float else SINGLE


def _named(code: int, otherwise: ElementType) -> ElementType:
    """The element type of a number that is not 0."""
    if code and code not in BY_CODE:
        raise OutsideDomain("a number of no element type", got=str(code))
    return BY_CODE[code] if code else otherwise


def _truncated(quotient: Numbers, x: Tensor, scale: Numbers) -> Numbers:
    """The quotient of integers as programs that compute with integers have it: without its fraction."""
    given = Numbers.of(x)
    pairs = zip(given.value.fractions(), scale.value.fractions(), strict=True)
    whole = [trunc(Fraction(trunc(one), other)) for one, other in pairs]
    exact = Numbers.exact(np.array(whole, dtype=object).reshape(x.shape), quotient.working)
    return exact.where(given.finite, quotient)


@reference_operator("ai.onnx::DequantizeLinear")
def dequantize_linear(
    x: Tensor,
    x_scale: Numbers,
    x_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Numbers:
    """y = (x - x_zero_point) * x_scale, in the type of the output. Source: DequantizeLinear, Summary."""
    kind = _named(output_dtype, x_scale.working.element_type)
    if kind.layout is None:
        raise OutsideDomain("x_scale is of no type that y may have, and output_dtype names none")
    working = replace(x_scale.working, element_type=kind)
    places = scale_places(x.shape, x_scale.shape, axis, block_size)
    distance = held(Numbers.of(x, working), working)
    if x_zero_point is not None:
        zeros = Numbers.of(x_zero_point, working).reshape(x_scale.shape).gather(places)
        apart = Numbers.of(x, working) - zeros
        # A program of few bits has both in its own type first.
        narrow = distance
        distance = whichever(apart, lambda: narrow - held(zeros, working)) if working.is_narrow else apart
    return distance * held(x_scale, working).gather(places)


@reference_operator("com.microsoft::QuantizeLinear")
def quantize_linear_contributed(
    x: Tensor, y_scale: Numbers, y_zero_point: Tensor | None = None, *, axis: int = 1
) -> Answer:
    """As ai.onnx QuantizeLinear, along an axis only where that is given. Source: QuantizeLinear, Summary."""
    return quantize_linear(
        x, y_scale, y_zero_point, axis=axis, version=13,
        quotient_of_integers=_REAL, infinity_to_fnuz=_SATURATED,
    )  # fmt: skip


@reference_operator("com.microsoft::DequantizeLinear")
def dequantize_linear_contributed(
    x: Tensor, x_scale: Numbers, x_zero_point: Tensor | None = None, *, axis: int = 1
) -> Numbers:
    """y = (x - x_zero_point) x_scale. Source: DequantizeLinear, Summary."""
    return dequantize_linear(x, x_scale, x_zero_point, axis=axis)

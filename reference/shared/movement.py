"""What the reference operators that move data and compute nothing have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.numbers.numbers import bits_of, storage_of
from reference.readings.choices import AsReading, Choice

Subnormals = Annotated[Choice[Literal["kept", "flushed"]], AsReading]
NegativeZeros = Annotated[Choice[Literal["kept", "lost"]], AsReading]
Accumulation = Annotated[Choice[Literal["float32", "input"]], AsReading]
Overflow = Annotated[Choice[Literal["saturate", "wrap"]], AsReading]

CLASSIC_TYPES = (
    "bool", "string", "float16", "bfloat16", "float", "double", "complex64", "complex128",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
"""The sixteen element types that ONNX calls all tensor types up to opset 18."""


def read_integers(given: Tensor) -> tuple[int, ...]:
    """The elements of an integer tensor in row-major order, as Python integers."""
    return tuple(int(each) for each in given.array.reshape(-1).tolist())


def blank(element_type: ElementType, shape: Sequence[int], string: bytes = b"") -> NDArray[Any]:
    """An array in the type's storage that holds zeros, False, or the given string."""
    fill: object = string if element_type.kind == "string" else 0
    return np.full(tuple(shape), fill, dtype=element_type.storage)


def moved(
    output: Tensor,
    subnormals: Choice[str],
    negative_zeros: Choice[str],
    alternatives: Mapping[int, tuple[Any, ...]] | None = None,
) -> Answer:
    """The answer to a call that moved elements; `alternatives` are others that may stand in a place.

    Every bit is kept, but for subnormal numbers where they are `flushed`, which become zero or stay within
    their size of it (a runtime may flush what it computes with and leave what it copies), and negative zeros
    where they are `lost`; in either case a zero may have either sign. Asks where there are any.
    """
    further = dict(alternatives or {})
    held = [output]
    if further:
        held.append(_tensor_of(output.element_type, list(chain.from_iterable(further.values()))))
    found = [_losses(each) for each in held]
    flush = any(each.subnormal.any() for each in found) and subnormals.ask() == "flushed"
    lose = any(each.negative_zero.any() for each in found) and negative_zeros.ask() == "lost"
    elements = _changed(output, flush, lose) if flush or lose else None
    if elements is None:
        return Answer(output, None, further or None)
    for index, given in further.items():
        changed = _changed(_tensor_of(output.element_type, given), flush, lose)
        more = () if changed is None else (each.item() for each in changed)
        further[index] = tuple(dict.fromkeys((*given, *more)))
    # A distance is asked, not equal bits: the two zeros are equal numbers.
    allowed = _size_of_subnormals(output) if flush else np.zeros(output.shape)
    return Answer(Tensor(output.element_type, elements), allowed, further or None)


@dataclass(frozen=True)
class _Losses:
    """The bits of elements, part by part, and where programs may lose a number or the sign of a zero."""

    bits: NDArray[np.uint64]
    subnormal: NDArray[np.bool_]
    negative_zero: NDArray[np.bool_]


def _losses(given: Tensor) -> _Losses:
    kind = given.element_type.component
    if kind.layout is None:
        nothing = np.zeros(0, dtype=np.bool_)
        return _Losses(np.zeros(0, dtype=np.uint64), nothing, nothing)
    bits = bits_of(np.ascontiguousarray(given.array).reshape(-1).view(kind.storage))
    sign = np.uint64(1 << (kind.bits - 1))
    # Zero wraps around to the greatest integer.
    below = (bits & (sign - np.uint64(1))) - np.uint64(1)
    subnormal = below < np.uint64((1 << (kind.layout.precision - 1)) - 1)
    # Where these bits are NaN there is one zero alone.
    negative = (bits == sign) & (kind.layout.nan != "negative_zero")
    return _Losses(bits, subnormal, negative)


def _size_of_subnormals(given: Tensor) -> NDArray[np.float64]:
    """By element the size of a subnormal number, of the greater one of a complex number's parts; else 0."""
    layout, losses = given.element_type.component.layout, _losses(given)
    if layout is None:
        return np.zeros(given.shape)
    below = np.uint64((1 << (layout.precision - 1)) - 1)
    units = np.where(losses.subnormal, losses.bits & below, np.uint64(0)).astype(np.float64)
    sizes = np.ldexp(units, layout.least_exponent - layout.precision + 1)
    return np.asarray(sizes.reshape(*given.shape, -1).max(axis=-1))


def _tensor_of(element_type: ElementType, elements: Sequence[Any]) -> Tensor:
    return Tensor(element_type, np.array(elements, dtype=element_type.storage))


def _changed(given: Tensor, flush: bool, lose: bool) -> NDArray[Any] | None:
    """The elements without subnormal numbers or without negative zeros; None where nothing changes."""
    kind = given.element_type.component
    if kind.layout is None:
        return None
    losses = _losses(given)
    changed = losses.bits
    if flush:
        # A type in which the sign alone is NaN has one zero.
        sign = np.uint64(0 if kind.layout.nan == "negative_zero" else 1 << (kind.bits - 1))
        changed = np.where(losses.subnormal, changed & sign, changed)
    if lose:
        changed = np.where(losses.negative_zero, np.uint64(0), changed)
    if (changed == losses.bits).all():
        return None
    return storage_of(kind, changed).view(given.element_type.storage).reshape(given.shape)

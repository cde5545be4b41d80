"""Elements that a runtime computes otherwise, loses, leaves out or puts elsewhere, whatever the operator.

What a document leaves open is no mistake: there the judge accepts the answer, and it counts as equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import Exchange, is_main, main_tensor, with_inputs, with_outputs
from generator.making.cases.telling import held_in
from generator.trust.mutants.mistake import Mistake, of_inputs, of_outputs
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import bits_of, decode, encode, largest, layout_of, smallest_normal, storage_of
from reference.numbers.powers_of_two import holds_powers_alone
from specs.model.spec import Spec

Change = Callable[[NDArray[Any]], NDArray[Any] | None]


def cut_strings(spec: Spec) -> Iterator[Mistake]:
    """Strings that are cut at a NUL, or at another length, or lose what is no plain text."""
    if any("string" in spec.types_of(parameter) for parameter in spec.inputs):
        for word, text, change in _CUTS:
            yield of_inputs(word, text, partial(_each_word, change))


def _each_word(change: Callable[[bytes], bytes], given: Tensor) -> Tensor | None:
    if given.element_type.kind != "string":
        return None
    array = np.empty(given.shape, dtype=object)
    array.reshape(-1)[:] = [change(word) for word in given.array.flat]
    return Tensor(given.element_type, array)


_CUTS: tuple[tuple[str, str, Callable[[bytes], bytes]], ...] = (
    ("at NUL", "strings cut at a NUL", lambda text: text.partition(b"\0")[0]),
    ("at one", "strings cut after the first byte", lambda text: text[:1]),
    ("at 15", "strings cut after 15 bytes", lambda text: text[:15]),
    (
        "ASCII",
        "bytes beyond ASCII as question marks",
        lambda text: bytes(min(each, 63) if each > 127 else each for each in text),
    ),
    ("stripped", "strings without blanks at their ends", lambda text: text.strip(b" \t\r\n")),
    ("upper case", "letters in upper case", lambda text: text.upper()),
)


_LANES = (4, 8, 16)
_TILE = 4


def kernel_loops(_spec: Spec) -> Iterator[Mistake]:
    """What loops of kernels get wrong: rests of vectors, rows of tiles, batches, and lanes."""
    for lanes in _LANES:
        vectors = f"in each row behind whole vectors of {lanes}"
        yield _of_arrays(f"rest copied of {lanes}", f"{vectors} those before them", _rest_from(lanes, -lanes))
        yield _of_arrays(f"rest of last {lanes}", f"{vectors} the first ones again", _rest_from(lanes, None))
    yield _of_arrays("third batch", "the third of several batches is the second", _third_as_second)
    yield _of_arrays("tile row", "the last row of a tile is the one before it", partial(_last_of_tile, -2))
    yield _of_arrays(
        "tile column", "the last column of a tile is the one before it", partial(_last_of_tile, -1)
    )
    yield _of_arrays("middle of vector", "an element inside a vector is the one before", _middle)


def _of_arrays(key: str, text: str, change: Change) -> Mistake:
    def exchange(given: Tensor) -> Tensor | None:
        made = change(given.array)
        return None if made is None else Tensor(given.element_type, made)

    return of_outputs(key, text, exchange)


def _rest_from(lanes: int, end: int | None) -> Change:
    """Along the last axis, where that is no multiple of a vector, other elements for those of the rest.

    They are those before `end`, or the first ones where it is None.
    """

    def change(array: NDArray[Any]) -> NDArray[Any] | None:
        length = array.shape[-1] if array.ndim else 0
        rest = length % lanes
        if length <= lanes or not rest:
            return None
        found = array.copy()
        found[..., -rest:] = array[..., :rest] if end is None else array[..., -rest + end : end]
        return found

    return change


def _third_as_second(array: NDArray[Any]) -> NDArray[Any] | None:
    if array.ndim < 2 or array.shape[0] < 3:
        return None
    found = array.copy()
    found[2] = array[1]
    return found


def _last_of_tile(axis: int, array: NDArray[Any]) -> NDArray[Any] | None:
    if array.ndim < 2 or array.shape[axis] < _TILE:
        return None
    places = np.arange(array.shape[axis])
    places[_TILE - 1 :: _TILE] -= 1
    return np.take(array, places, axis)


def _middle(array: NDArray[Any]) -> NDArray[Any] | None:
    if array.size <= max(_LANES):
        return None
    found = array.copy().reshape(-1)
    found[max(_LANES) // 2] = found[max(_LANES) // 2 - 1]
    return found.reshape(array.shape)


def unfinished_elements(_spec: Spec) -> Iterator[Mistake]:
    """Elements that are left out or stand elsewhere: the rest after vectors, the last one, other shapes."""
    for lanes in (4, 16):
        text = f"the elements after whole vectors of {lanes} not computed"
        yield _of_arrays(f"rest of {lanes}", text, partial(_without_rest, lanes))
    yield _of_arrays("last", "the last element not computed", partial(_blank_from, -1))
    yield _of_arrays(
        "squeezed",
        "axes of length 1 left out",
        lambda array: array.squeeze() if 1 in array.shape else None,
    )
    yield _of_arrays(
        "column-major",
        "the elements in column-major order",
        lambda array: np.ascontiguousarray(array.T).reshape(array.shape) if array.ndim > 1 else None,
    )
    yield _of_arrays(
        "scalar as vector",
        "a scalar as a vector of one element",
        lambda array: None if array.shape else array.reshape(1),
    )


def _without_rest(lanes: int, array: NDArray[Any]) -> NDArray[Any] | None:
    size = array.size
    return _blank_from(size - size % lanes, array) if size > lanes and size % lanes else None


def _blank_from(place: int, array: NDArray[Any]) -> NDArray[Any] | None:
    """The elements with nothing from a place on."""
    if not array.size:
        return None
    found = array.copy().reshape(-1)
    found[place:] = b"" if array.dtype == np.object_ else 0
    return found.reshape(array.shape)


_ROUNDED: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("double in float", {"double": "float"}),
    ("floats in half the bits", {"double": "float16", "float": "bfloat16", "float16": "float8e5m2"}),
    ("32 bits through float", {"int32": "float", "uint32": "float"}),
    ("64 bits through double", {"int64": "double", "uint64": "double"}),
    ("integers in half the bits", {"int64": "int32", "uint64": "uint32", "int32": "int16", "int16": "int8"}),
)
"""Types, and what elements of them are turned into and back."""
_SAME_BITS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("unsigned as signed", {f"uint{bits}": f"int{bits}" for bits in (2, 4, 8, 16, 32, 64)}),
    ("signed as unsigned", {f"int{bits}": f"uint{bits}" for bits in (2, 4, 8, 16, 32, 64)}),
    (
        "floats of other bits",
        {
            "float16": "bfloat16",
            "bfloat16": "float16",
            "float8e4m3fn": "float8e4m3fnuz",
            "float8e4m3fnuz": "float8e4m3fn",
            "float8e5m2": "float8e4m3fn",
            "float8e5m2fnuz": "float8e5m2",
        },
    ),
)
"""Types of one width, of which the one's bits are taken for the other's."""
_NARROW = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int4", "uint4", "int2", "uint2")
_WIDE = ELEMENT_TYPES["int64"]


def other_arithmetic(spec: Spec) -> Iterator[Mistake]:
    """Elements that are computed with, or held, in another type than their own."""
    if not spec.inputs:
        return
    for word, narrowed in _ROUNDED:
        yield from _passed_through(word, narrowed)
    types = spec.types_of(spec.inputs[0])
    for word, pairs in _SAME_BITS:
        known = {one: other for one, other in pairs.items() if one in types and other in types}
        if known:
            yield _read_as(word, known)
    if _WIDE.name in types:
        yield _saturated()


def _passed_through(word: str, narrowed: Mapping[str, str]) -> Iterator[Mistake]:
    """Of the inputs that have the first one's type, and of the outputs that have it."""

    def through(given: Tensor) -> Tensor | None:
        narrow = narrowed.get(given.element_type.name)
        return None if narrow is None else held_in(given, ELEMENT_TYPES[narrow])

    listed = ", ".join(f"{one} in {other}" for one, other in narrowed.items())
    yield of_inputs(f"inputs {word}", f"inputs held in another type ({listed})", through, of_main=True)
    yield of_outputs(f"outputs {word}", f"outputs held in another type ({listed})", through, of_main=True)


def _read_as(word: str, pairs: Mapping[str, str]) -> Mistake:
    def there(given: Tensor) -> Tensor | None:
        other = pairs.get(given.element_type.name)
        return None if other is None else _bits_as(given, ELEMENT_TYPES[other])

    def back_of(kind: ElementType) -> Exchange:
        return lambda given: _bits_as(given, kind)

    listed = ", ".join(f"{one} for {other}" for one, other in pairs.items())
    return _computed_in(word, f"the bits of a type taken for another's ({listed})", there, back_of)


def _saturated() -> Mistake:
    def there(given: Tensor) -> Tensor | None:
        narrow = given.element_type.name in _NARROW
        return Tensor(_WIDE, given.array.astype(np.int64)) if narrow else None

    def back_of(kind: ElementType) -> Exchange:
        return lambda given: Tensor(kind, np.clip(given.array, *kind.integer_range).astype(kind.storage))

    return _computed_in("saturated", "integers computed in 64 bits and clamped", there, back_of)


def _computed_in(
    key: str,
    text: str,
    there: Exchange,
    back_of: Callable[[ElementType], Exchange],
) -> Mistake:
    """Inputs in another type, and the outputs that have the first input's type back in it."""

    def taken(spec: Spec, call: Call) -> Call | None:
        return with_inputs(spec, call, there, is_main(spec))

    def made(spec: Spec, call: Call, answer: Answered) -> Response | None:
        first = main_tensor(call)
        if first is None:
            return None
        return with_outputs(spec, call, answer, back_of(first.element_type), is_main(spec))

    return Mistake(key, text, taken, made)


def _bits_as(given: Tensor, other: ElementType) -> Tensor:
    flat = np.ascontiguousarray(given.array).reshape(-1)
    if other.is_packed:
        # One element a byte, which holds the value.
        span, low = 1 << other.bits, other.integer_range[0]
        flat = ((flat.astype(np.int16) - low) % span + low).astype(other.storage)
    else:
        flat = flat.view(other.storage)
    return Tensor(other, flat.reshape(given.shape))


Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class _Loss:
    """What becomes of some numbers, of their bits; `accepted_by` are the readings that leave it open."""

    word: str
    text: str
    lose: Callable[[ElementType, Bits], Bits]
    accepted_by: tuple[str, ...] = ()
    known_at_entry: bool = False
    """Whether a change of the inputs does it already, by which failures are explained."""


def special_values(_spec: Spec) -> Iterator[Mistake]:
    """NaN, infinities, negative zeros and subnormal numbers that are lost on the way in, or out."""
    for loss in _LOSSES:
        lose, accepted = partial(_lost, loss), loss.accepted_by
        if not loss.known_at_entry:
            yield of_inputs(f"inputs {loss.word}", f"{loss.text} in the inputs", lose, accepted_by=accepted)
        yield of_outputs(f"outputs {loss.word}", f"{loss.text} in the outputs", lose, accepted_by=accepted)


def _lost(loss: _Loss, given: Tensor) -> Tensor | None:
    kind = given.element_type.component
    if kind.layout is None or holds_powers_alone(kind) or not given.array.size:
        return None
    flat = np.ascontiguousarray(given.array).reshape(-1).view(kind.storage)
    bits = bits_of(flat)
    lost = loss.lose(kind, bits)
    if (lost == bits).all():
        return None
    array = storage_of(kind, lost).view(given.element_type.storage).reshape(given.shape)
    return Tensor(given.element_type, array)


def _special(kind: ElementType, bits: Bits) -> NDArray[np.float64]:
    return decode(kind, storage_of(kind, bits)).special


def _pattern(kind: ElementType, number: Fraction | float) -> np.uint64:
    return np.uint64(bits_of(encode(kind, [number]))[0])


def _nan_to_zero(kind: ElementType, bits: Bits) -> Bits:
    return np.where(np.isnan(_special(kind, bits)), np.uint64(0), bits)


def _infinity_to_greatest(kind: ElementType, bits: Bits) -> Bits:
    special, top = _special(kind, bits), largest(layout_of(kind))
    bits = np.where(special == np.inf, _pattern(kind, top), bits)
    return np.where(special == -np.inf, _pattern(kind, -top), bits)


def _infinity_to_nan(kind: ElementType, bits: Bits) -> Bits:
    if kind.layout is None or kind.layout.nan == "none":
        return bits
    return np.where(np.isinf(_special(kind, bits)), _pattern(kind, float("nan")), bits)


def _no_negative_zero(kind: ElementType, bits: Bits) -> Bits:
    if kind.layout is None or kind.layout.nan == "negative_zero":
        return bits
    return np.where(bits == np.uint64(1 << (kind.bits - 1)), np.uint64(0), bits)


def _no_subnormals(kind: ElementType, bits: Bits) -> Bits:
    sign = np.uint64(1 << (kind.bits - 1))
    size, least = bits & (sign - np.uint64(1)), _pattern(kind, smallest_normal(layout_of(kind)))
    tiny = (size > 0) & (size < least)
    signed = kind.layout is not None and kind.layout.nan != "negative_zero"
    return np.where(tiny, bits & sign if signed else np.uint64(0), bits)


_LOSSES = (
    _Loss("NaN as zero", "NaN becomes 0", _nan_to_zero),
    _Loss("infinity as greatest", "infinities become the greatest finite numbers", _infinity_to_greatest),
    _Loss("infinity as NaN", "infinities become NaN", _infinity_to_nan),
    _Loss(
        "negative zero as zero",
        "negative zeros become positive",
        _no_negative_zero,
        ("negative_zeros", "zero_sign"),
        known_at_entry=True,
    ),
    _Loss("subnormals as zero", "subnormal numbers become zeros", _no_subnormals, ("subnormals",), True),
)

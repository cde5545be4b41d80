"""Elements that are computed with, or held, in another type than their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import Exchange, is_main, main_tensor, with_inputs, with_outputs
from generator.making.cases.narrowing import held_in
from generator.trust.mutants.mistake import Mistake
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Spec

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


def mistakes(spec: Spec) -> Iterator[Mistake]:
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

    def taken(spec: Spec, call: Call) -> Call | None:
        return with_inputs(spec, call, through, is_main(spec))

    def made(spec: Spec, call: Call, answer: Answered) -> Response | None:
        return with_outputs(spec, call, answer, through, is_main(spec))

    listed = ", ".join(f"{one} in {other}" for one, other in narrowed.items())
    yield Mistake(f"inputs {word}", f"inputs held in another type ({listed})", taken)
    yield Mistake(f"outputs {word}", f"outputs held in another type ({listed})", made=made)


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
        return (
            None
            if first is None
            else with_outputs(spec, call, answer, back_of(first.element_type), is_main(spec))
        )

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

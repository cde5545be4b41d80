"""Elements of every type, and answers that are wrong, for the tests of patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.output_comparison import compare_output
from conformance.judging.patterns import find_pattern
from conformance.suite.cases import ExpectedOutput
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor

SHAPE = (3, 4, 5, 5)
Array = NDArray[Any]
Change = Callable[[Array], Array]
ALL = sorted(ELEMENT_TYPES)
FLOATS = ["float", "double", "float16", "bfloat16"]
INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]


def draw(element_type: ElementType, seed: int, shape: tuple[int, ...] = SHAPE) -> Array:
    """Elements in storage: finite numbers of ordinary size, as different as the type has them."""
    source = np.random.default_rng(seed)
    if element_type.kind == "string":
        made = np.empty(shape, dtype=np.object_)
        made.reshape(-1)[:] = [f"s{integer}".encode() for integer in source.integers(0, 500, made.size)]
        return made
    if element_type.kind == "bool":
        return np.asarray(source.random(shape) > 0.5)
    if element_type.is_integer:
        low, high = element_type.integer_range
        least, greatest = (low // 4, high // 4) if not element_type.is_packed else (low, high)
        return np.asarray(source.integers(least, greatest, shape, endpoint=True)).astype(element_type.storage)
    if element_type.kind == "complex":
        parts = source.uniform(-9, 9, (2, *shape))
        return np.asarray(parts[0] + 1j * parts[1]).astype(element_type.storage)
    if element_type.is_packed:
        return np.asarray(source.integers(0, 15, shape, endpoint=True)).astype(np.uint8)
    if element_type.bits == 8:
        found: Array = np.asarray(source.integers(1, 0x70, shape)).astype(np.uint8)
        return found
    return encode(element_type, source.uniform(-9, 9, shape))


def encode(element_type: ElementType, values: Array) -> Array:
    """Numbers in storage; bfloat16 by cutting off what it has no room for."""
    if element_type.name == "bfloat16":
        bits = np.asarray(values, dtype=np.float32).view(np.uint32) >> np.uint32(16)
        return np.asarray(bits).astype(np.uint16)
    return np.asarray(values).astype(element_type.storage)


def pattern_of(
    name: str,
    expected: Array,
    got: Array,
    allowed: Array | None = None,
    inputs: tuple[tuple[str, Tensor], ...] = (),
) -> str | None:
    element_type = ELEMENT_TYPES[name]
    wanted = ExpectedOutput("Y", Tensor(element_type, expected), allowed)
    answer = Tensor(element_type, got)
    compared = compare_output(wanted, answer)
    assert compared.difference in ("value", "shape"), "the planted fault changes nothing"
    return find_pattern(wanted, answer, compared.wrong, inputs)


def spoil(element_type: ElementType, array: Array, where: Array) -> Array:
    """A copy in which every element of a mask is wrong in its own way."""
    spoiled = array.copy()
    if element_type.kind == "string":
        spoiled[where] = [each + b"!" for each in spoiled[where]]
    elif element_type.kind == "bool":
        spoiled[where] = ~spoiled[where]
    elif element_type.kind == "complex":
        spoiled[where] += np.random.default_rng(5).uniform(1, 9, int(where.sum()))
    elif element_type.is_packed:
        low, high = element_type.integer_range if element_type.is_integer else (0, 15)
        moved = spoiled[where].astype(np.int64)
        moved += np.random.default_rng(5).integers(1, high - low, int(where.sum()), endpoint=True)
        spoiled[where] = ((moved - low) % (high - low + 1) + low).astype(element_type.storage)
    else:
        bits = spoiled.view(f"u{spoiled.itemsize}")
        steps = np.random.default_rng(5).integers(1, 12, int(where.sum()))
        bits[where] = bits[where] ^ steps.astype(bits.dtype)
    return spoiled

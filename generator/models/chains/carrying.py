"""What becomes of allowed errors and accepted values that go through an operator that computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from conformance.suite.cases import Alternative, ExpectedOutput
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.registry.body_runs import MOVING as MOVING
from reference.registry.body_runs import NEVER_FARTHER as NEVER_FARTHER

ONE_BY_ONE = frozenset({"Abs", "Cast", "Clip", "Identity", "Neg", "Not", "Relu"})
"""Operators of which each element that comes out is that of the same place that went in."""


def is_exact(value: ExpectedOutput) -> bool:
    """Whether every right program holds exactly this value."""
    return not value.alternatives and (value.allowed is None or not value.allowed.any())


def with_open_zeros(value: ExpectedOutput) -> Tensor | None:
    """The value with the other sign at each zero whose sign is open; None where there is no such zero.

    Where a distance is allowed, if only that of 0, both zeros are one number to the judge.
    """
    array, kind = value.expected.array, value.expected.element_type
    if value.allowed is None or array.dtype.kind not in "fc":
        return None
    open_ones = array == 0
    if not open_ones.any():
        return None
    return Tensor(kind, np.where(open_ones, -array, array).astype(array.dtype))


def same_but_for_zeros(ones: Sequence[ExpectedOutput], others: Sequence[ExpectedOutput]) -> bool:
    """Whether outputs are the same numbers, whatever the signs of zeros among them."""
    return all(_same_numbers(one.expected, other.expected) for one, other in zip(ones, others, strict=True))


def _same_numbers(one: Tensor, other: Tensor) -> bool:
    left, right = one.array, other.array
    if one.element_type is not other.element_type or left.shape != right.shape:
        return False
    return one == other or np.array_equal(left, right, equal_nan=left.dtype.kind in "fc")


def opened_by(one: ExpectedOutput, other: ExpectedOutput) -> ExpectedOutput:
    """What came out; with a distance of 0 allowed, so that signs of zeros are open, where others came."""
    if one.allowed is not None or one.expected == other.expected:
        return one
    return replace(one, allowed=np.zeros(one.expected.shape))


def numbered(values: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], list[str]]:
    """Tensors in whose place the elements have numbers from 1 on, and in which order they were counted."""
    found: dict[str, Tensor] = {}
    first, order = 1, []
    for name, value in values.items():
        count = value.array.size
        numbers = np.arange(first, first + count, dtype=np.int64).reshape(value.shape)
        found[name] = Tensor(ELEMENT_TYPES["int64"], numbers)
        first += count
        order.append(name)
    return found, order


def carried(name: str, expected: Tensor, numbers: Tensor, sources: list[ExpectedOutput]) -> ExpectedOutput:
    """What came out with the errors and further values that went in; `numbers` say which each element is.

    `sources` are in the order in which `numbered` counted their elements; 0 is none of them.
    """
    errors = [np.zeros(1)]
    further: dict[int, tuple[object, ...]] = {}
    first = 1
    for source in sources:
        size = source.expected.array.size
        errors.append(np.zeros(size) if source.allowed is None else source.allowed.reshape(-1))
        further |= {first + one.index: one.values for one in source.alternatives}
        first += size
    flat = numbers.array.reshape(-1)
    allowed = np.concatenate(errors)[flat].reshape(expected.shape)
    found = tuple(
        Alternative(index, further[number]) for index, number in enumerate(flat.tolist()) if number in further
    )
    # Even where all of it is 0: then signs of zeros may be open.
    return ExpectedOutput(name, expected, allowed, found)


def substituted(value: ExpectedOutput, place: int) -> Tensor:
    """The expected tensor with the further value at a place of its list, where an element has so many."""
    array = value.expected.array.copy()
    flat = array.reshape(-1)
    for alternative in value.alternatives:
        if place < len(alternative.values):
            flat[alternative.index] = alternative.values[place]
    return Tensor(value.expected.element_type, array)

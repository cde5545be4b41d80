"""Unique by loops over slices, and Col2Im by laying one block after the other into an image."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import cmp_to_key
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import UnstableLength
from tests.reference.loops import answer, answers, indices, some_shape
from tests.reference.test_number_arrays import accepted

KNOWN: dict[str, list[Any]] = {
    "string": [b"b", b"a", b"", b"ab"],
    "bool": [False, True],
    "uint64": [0, 2**63, 1],
}


def compare(one: list[Any], other: list[Any]) -> int:
    """By the first elements that differ, as Python orders them."""
    for left, right in zip(one, other, strict=True):
        if left != right:
            return -1 if left < right else 1
    return 0


def listed(slices: Tensor, axis: int | None) -> list[list[Any]]:
    if axis is None:
        return [[each] for each in slices.array.reshape(-1).tolist()]
    rows = np.moveaxis(slices.array, axis, 0)
    return [np.asarray(rows[at]).reshape(-1).tolist() for at in range(len(rows))]


@pytest.mark.parametrize("name", ["float", "int8", "uint64", "string", "bool", "float16"])
@pytest.mark.parametrize("is_sorted", [0, 1])
def test_different_slices_in_their_order(name: str, is_sorted: int) -> None:
    random = Random(f"{name}{is_sorted}")
    known = KNOWN.get(name, [0, 1, -1])
    for _ in range(200):
        shape = some_shape(random, 1, 3, (1, 2, 4))
        data = np.array([random.choice(known) for _ in indices(shape)], dtype=object).reshape(shape)
        X = tensor(data if name == "string" else data.astype(np.array(known).dtype), name)
        axis = random.choice([None, *range(-len(shape), len(shape))])
        got = answers("Unique", 11, {"X": X}, axis=axis, sorted=is_sorted, outputs=4)
        values, first, inverse, counts = (each.expected for each in got)
        slices = listed(X, axis)
        kept = [each for at, each in enumerate(slices) if each not in slices[:at]]
        if is_sorted:
            kept.sort(key=cmp_to_key(compare))
        assert listed(values, axis) == kept
        assert first.array.tolist() == [slices.index(each) for each in kept]
        assert inverse.array.tolist() == [kept.index(each) for each in slices]
        assert counts.array.tolist() == [sum(each == other for other in slices) for each in kept]


def test_zeros_of_either_sign_are_one_element() -> None:
    X = tensor(np.array([0.0, 1.0, -0.0], np.float32))
    values, _, inverse, _ = answers("Unique", 11, {"X": X})
    assert values.expected.array.tolist() == [0, 1]
    assert inverse.expected.array.tolist() == [0, 1, 0]
    assert [np.signbit(alternative) for alternative in (values.alternatives or {})[0]] == [False, True]


@pytest.mark.parametrize("values", [[np.nan, 1.0], [0.0, 1e-42]])
def test_what_is_different_may_hang_on_what_no_text_says(values: list[float]) -> None:
    with pytest.raises(UnstableLength):
        answers("Unique", 11, {"X": tensor(np.array(values, np.float32))})


def test_blocks_laid_into_an_image() -> None:
    random = Random(5)
    for _ in range(300):
        rank = random.choice([2, 2, 3])
        block, strides, dilations, blocks = (
            tuple(random.randint(1, most) for _ in range(rank)) for most in (3, 3, 2, 3)
        )
        reach = [(b - 1) * d + 1 for b, d in zip(block, dilations, strict=True)]
        full = [(n - 1) * s + r for n, s, r in zip(blocks, strides, reach, strict=True)]
        begin = [random.randint(0, 1) if each > 2 else 0 for each in full]
        end = [random.randint(0, 1) if each > 2 else 0 for each in full]
        more = [random.randrange(stride) for stride in strides]
        image = [f + m - b - e for f, m, b, e in zip(full, more, begin, end, strict=True)]
        batch, channels, size = random.randint(1, 2), random.randint(1, 2), int(np.prod(block))
        shape = (batch, channels * size, int(np.prod(blocks)))
        columns = tensor(np.array([random.gauss(0, 1) for _ in indices(shape)]).reshape(shape), "float")
        given = {"input": columns, "image_shape": image, "block_shape": list(block)}
        told = {"strides": strides, "dilations": dilations, "pads": (*begin, *end)}
        (got,) = answers("Col2Im", 18, given, **told)
        padded = np.zeros((batch, channels, *(f + m for f, m in zip(full, more, strict=True))))
        in_float32 = padded.astype(np.float32)
        for number, place in enumerate(itertools.product(*map(range, blocks))):
            for element, offset in enumerate(itertools.product(*map(range, block))):
                at = tuple(
                    p * s + o * d for p, s, o, d in zip(place, strides, offset, dilations, strict=True)
                )
                for image_number, channel in indices((batch, channels)):
                    held = columns.array[image_number, channel * size + element, number]
                    padded[(image_number, channel, *at)] += held
                    in_float32[(image_number, channel, *at)] += held
        cut = (slice(None), slice(None), *(slice(b, b + n) for b, n in zip(begin, image, strict=True)))
        assert got.expected.shape == (batch, channels, *image)
        np.testing.assert_allclose(got.expected.array, padded[cut], rtol=1e-6, atol=1e-6)
        assert accepted(got, in_float32[cut]).all()


def test_overlapping_integers_are_counted() -> None:
    ones = tensor(np.ones((1, 4, 4), np.int64))
    got = answer("Col2Im", 18, {"input": ones, "image_shape": [3, 3], "block_shape": [2, 2]})
    assert Counter(got.array.reshape(-1).tolist()) == {1: 4, 2: 4, 4: 1}

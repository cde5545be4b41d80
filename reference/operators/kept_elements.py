"""Trilu, Where, Unique and BitCast: which elements are kept, and elements that are read anew."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, UnstableLength
from reference.numbers.sort_keys import sort_keys
from reference.registry import reference_operator
from reference.shared.movement import NegativeZeros, Subnormals, blank, moved


@reference_operator("ai.onnx::Trilu")
def triangle(input: Tensor, k: int = 0, *, upper: int = 1) -> Tensor:
    """The elements on and above diagonal k, or on and below it, and zeros. Source: Trilu, Summary."""
    rows, columns = np.ogrid[: input.shape[-2], : input.shape[-1]]
    kept = columns - rows >= k if upper else columns - rows <= k
    return Tensor(input.element_type, np.where(kept, input.array, blank(input.element_type, input.shape)))


@reference_operator("com.microsoft::Trilu")
def upper_or_lower_triangle(X: Tensor, k: int = 0, *, upper: int = 1) -> Tensor:
    """As ai.onnx Trilu. Source: Trilu, Summary."""
    return triangle(X, k, upper=upper)


@reference_operator("ai.onnx::Where")
def where(condition: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    """Elements of X where the condition holds, of Y elsewhere, all broadcast. Source: Where, Summary."""
    return Tensor(X.element_type, np.where(condition.array, X.array, Y.array))


@reference_operator("ai.onnx::BitCast")
def bit_cast(input: Tensor, *, to: int) -> Answer:
    """The same bits as elements of another type of the same width. Source: BitCast, Summary."""
    kind = BY_CODE[to]
    flat = np.ascontiguousarray(input.array).reshape(-1)
    if kind.is_packed:
        # One element a byte, of which an integer type holds the value and any other the pattern.
        patterns = flat.view(np.uint8) & np.uint8((1 << kind.bits) - 1)
        half = 1 << (kind.bits - 1) if kind.kind == "signed" else 0
        elements = (patterns.astype(np.int16) ^ half) - half
    else:
        elements = flat.view(kind.storage)
    return Answer(Tensor(kind, elements.astype(kind.storage).reshape(input.shape)))


Groups = list[list[int]]


@reference_operator("ai.onnx::Unique")
def unique(
    X: Tensor,
    *,
    axis: int | None = None,
    sorted: int = 1,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> tuple[Answer, ...]:
    """The different slices in ascending order, or that of their first occurrence; where these are, the place
    among them of each slice of X, and how often each is there.

    How many there are beside NaN, or where subnormal numbers may be zero, no document says.
    Source: Unique, Summary, axis and sorted.
    """
    slices = X.array.reshape(-1) if axis is None else np.moveaxis(X.array, axis, 0)
    groups = _groups(_keys(X, slices, flushed=False), bool(sorted))
    if groups != _groups(_keys(X, slices, flushed=True), bool(sorted)):
        raise UnstableLength("how many different elements there are hangs on subnormal numbers")
    first = np.array([each[0] for each in groups], dtype=np.int64)
    inverse = np.zeros(len(slices), dtype=np.int64)
    for place, group in enumerate(groups):
        inverse[group] = place
    taken = slices[first]
    values = taken if axis is None else np.moveaxis(taken, 0, axis)
    others = _others(X, slices, groups)
    if axis is not None:
        others = np.moveaxis(others, 0, axis)
    different = np.flatnonzero([one is not None for one in others.reshape(-1)]).tolist()
    alternatives = {at: others.reshape(-1)[at] for at in different}
    counts = np.array([len(each) for each in groups], dtype=np.int64)
    output = Tensor(X.element_type, np.ascontiguousarray(values))
    return (
        moved(output, subnormals, negative_zeros, alternatives or None),
        *(Answer(Tensor(ELEMENT_TYPES["int64"], each)) for each in (first, inverse, counts)),
    )


@reference_operator("com.microsoft::Unique")
def unique_by_occurrence(
    x: Tensor, *, subnormals: Subnormals, negative_zeros: NegativeZeros
) -> tuple[Answer, ...]:
    """As ai.onnx Unique of a flat tensor that is not sorted, without the places of first occurrences.

    Source: Unique, Summary, idx, counts.
    """
    values, _, places, counts = unique(x, sorted=0, subnormals=subnormals, negative_zeros=negative_zeros)
    return values, places, counts


def _keys(X: Tensor, slices: NDArray[Any], *, flushed: bool) -> list[tuple[Any, ...]]:
    """For each slice what orders it: its elements in row-major order."""
    kind = X.element_type
    flat = np.ascontiguousarray(slices).reshape(-1)
    if kind.kind == "complex":
        flat = flat.view(kind.component.storage)
    found = sort_keys(Tensor(kind.component, flat), flushed=flushed)
    if found.nan.any():
        raise UnstableLength("no document says whether one NaN is another")
    parts = 2 if kind.kind == "complex" else 1
    rows = found.keys.reshape(len(slices), parts * prod(slices.shape[1:]))
    return [tuple(each) for each in rows.tolist()]


def _groups(keys: list[tuple[Any, ...]], ascending: bool) -> Groups:
    """The places of equal slices, in their order."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    order = sorted(groups) if ascending else [*groups]
    return [groups[each] for each in order]


def _others(X: Tensor, slices: NDArray[Any], groups: Groups) -> NDArray[np.object_]:
    """By element of the different slices, those of equal slices: zeros of either sign; None where one is."""
    found = np.full((len(groups), *slices.shape[1:]), None, dtype=object)
    if X.element_type.component.layout is None:
        return found
    for place, group in enumerate(groups):
        for index in np.ndindex(slices.shape[1:] if len(group) > 1 else (0,)):
            held = {each.tobytes(): each.item() for each in (slices[(at, *index)] for at in group)}
            if len(held) > 1:
                found[(place, *index)] = tuple(held.values())
    return found

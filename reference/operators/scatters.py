"""Scatter, ScatterElements, ScatterND and TensorScatter: updates put into a copy of a tensor."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry import reference_operator
from reference.shared.movement import NegativeZeros, Subnormals
from reference.shared.scattering import Accumulation, Overflow, ScatterReadings, scattered


@reference_operator("ai.onnx::Scatter")
def scatter(data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0) -> Tensor:
    """output[i][indices[i][j]] = updates[i][j] for axis 1, and so on. Source: Scatter, Summary."""
    array = data.array.copy()
    array.reshape(-1)[_flat_places(data.shape, indices, axis)] = updates.array
    return Tensor(data.element_type, array)


@reference_operator("ai.onnx::ScatterElements")
def scatter_elements(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    axis: int = 0,
    reduction: str = "none",
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
) -> Answer:
    """output[i][indices[i][j]] = f(output[i][indices[i][j]], updates[i][j]) for axis 1: in any order.

    Source: ScatterElements, Summary and reduction.
    """
    readings = ScatterReadings(subnormals, negative_zeros, accumulation_type, integer_overflow)
    return scattered(data, _flat_places(data.shape, indices, axis), updates, reduction, readings)


@reference_operator("ai.onnx::ScatterND")
def scatter_nd(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    reduction: str = "none",
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
) -> Answer:
    """output[tuple(indices[idx])] = f(output[tuple(indices[idx])], updates[idx]) for each idx, in any order.

    Source: ScatterND, Summary and reduction.
    """
    readings = ScatterReadings(subnormals, negative_zeros, accumulation_type, integer_overflow)
    length = indices.shape[-1]
    strides = _strides(data.shape)
    chosen = indices.array.astype(np.int64) % np.array([max(each, 1) for each in data.shape[:length]])
    starts = (chosen * strides[:length]).sum(axis=-1)  # exact: integers
    places = starts[..., None] + np.arange(prod(data.shape[length:]))
    return scattered(data, places, updates, reduction, readings)


@reference_operator("ai.onnx::TensorScatter")
def tensor_scatter(
    past_cache: Tensor,
    update: Tensor,
    write_indices: tuple[int, ...] | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Tensor:
    """For each batch the update along the axis from its write index on, which goes round in mode circular.

    Source: TensorScatter, Summary.
    """
    array = past_cache.array.copy()
    caches, added = np.moveaxis(array, axis, 1), np.moveaxis(update.array, axis, 1)
    starts = (0,) * array.shape[0] if write_indices is None else write_indices
    for batch, start in enumerate(starts):
        places = start + np.arange(added.shape[1])
        caches[batch, places % caches.shape[1] if mode == "circular" else places] = added[batch]
    return Tensor(past_cache.element_type, array)


def _flat_places(shape: tuple[int, ...], indices: Tensor, axis: int) -> NDArray[np.intp]:
    """Of each update its place among all elements: its own index, but that of `indices` along the axis."""
    places = list(np.indices(indices.shape))
    places[axis] = indices.array.astype(np.int64) % max(shape[axis], 1)
    strides = _strides(shape)
    return np.asarray(sum(each * stride for each, stride in zip(places, strides, strict=True)), dtype=np.intp)


def _strides(shape: tuple[int, ...]) -> NDArray[np.int64]:
    return np.array([prod(shape[axis + 1 :]) for axis in range(len(shape))], dtype=np.int64)

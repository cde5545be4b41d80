"""Gather, GatherElements and GatherND: elements and slices by their indices, which count from either end."""

from __future__ import annotations

from math import prod

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.registry import reference_operator


@reference_operator("ai.onnx::Gather")
def gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """For each index a slice across the axis, in whose place the axes of `indices` are.

    Source: Gather, Summary.
    """
    at = axis % len(data.shape)
    found = np.take(data.array, indices.array.reshape(-1), at)
    return Tensor(data.element_type, found.reshape((*data.shape[:at], *indices.shape, *data.shape[at + 1 :])))


@reference_operator("ai.onnx::GatherElements")
def gather_elements(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """out[i][j][k] = data[i][indices[i][j][k]][k] for axis 1, and so on. Source: GatherElements, Summary."""
    places = list(np.indices(indices.shape))
    places[axis] = indices.array
    return Tensor(data.element_type, data.array[tuple(places)])


@reference_operator("ai.onnx::GatherND")
def gather_nd(data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """For each tuple of the last axis of `indices` the slice at data[batch, tuple].

    Source: GatherND, Summary.
    """
    length, tuples = indices.shape[-1], indices.shape[:-1]
    batches = prod(data.shape[:batch_dims])
    rows = data.array.reshape(batches, *data.shape[batch_dims:])
    places = indices.array.reshape(batches, prod(tuples[batch_dims:]), length)
    found = rows[(np.arange(batches)[:, None], *(places[..., axis] for axis in range(length)))]
    return Tensor(data.element_type, found.reshape((*tuples, *data.shape[batch_dims + length :])))

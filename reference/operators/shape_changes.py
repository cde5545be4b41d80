"""Reshape, Flatten, Squeeze, Unsqueeze, ExpandDims, Expand, Tile, Shape and Size: elements stay in order."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, OutsideDomain
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator


@reference_operator("ai.onnx::Reshape")
def reshape(data: Tensor, shape: tuple[int, ...], *, allowzero: int = 0) -> Tensor:
    """A 0 of `shape` is the input's extent at that place, unless allowed; -1 is what is left over.

    Source: Reshape, Summary and allowzero.
    """
    wanted = [
        data.shape[place] if extent == 0 and not allowzero else extent for place, extent in enumerate(shape)
    ]
    if -1 in wanted:
        others = prod(each for each in wanted if each != -1)
        wanted[wanted.index(-1)] = data.array.size // others if others else 0
    return Tensor(data.element_type, data.array.reshape(wanted))


@reference_operator("ai.onnx::Flatten")
def flatten(input: Tensor, *, axis: int = 1) -> Tensor:
    """A matrix of (d_0 x ... x d_(axis-1)) rows of all other elements.

    Source: Flatten, Summary and Output.
    """
    lengths = prod(input.shape[:axis]), prod(input.shape[axis:])
    return Tensor(input.element_type, input.array.reshape(lengths))


@reference_operator("ai.onnx::Squeeze")
def squeeze(data: Tensor, axes: tuple[int, ...] | None = None) -> Tensor:
    """Without the axes that are listed, all of length 1 where none are. Source: Squeeze, Summary."""
    rank = len(data.shape)
    if axes is None:
        gone = {axis for axis in range(rank) if data.shape[axis] == 1}
    else:
        gone = {axis % rank for axis in axes}
        if any(data.shape[axis] != 1 for axis in gone):
            raise OutsideDomain("an axis to be left out that is not of length 1")
    left = [extent for axis, extent in enumerate(data.shape) if axis not in gone]
    return Tensor(data.element_type, data.array.reshape(left))


@reference_operator("ai.onnx::Unsqueeze")
def unsqueeze(data: Tensor, axes: tuple[int, ...]) -> Tensor:
    """With axes of length 1 at these places of the output. Source: Unsqueeze, Summary."""
    rank = len(data.shape) + len(axes)
    added = {axis % rank for axis in axes}
    extents = iter(data.shape)
    wanted = [1 if axis in added else next(extents) for axis in range(rank)]
    return Tensor(data.element_type, data.array.reshape(wanted))


@reference_operator("com.microsoft::ExpandDims")
def with_one_more_axis(X: Tensor, axis: int) -> Tensor:
    """X with an axis of length 1 at that place of the output. Source: ExpandDims, axis."""
    return unsqueeze(X, (axis,))


@reference_operator("ai.onnx::Expand")
def expand(
    input: Tensor,
    shape: tuple[int, ...],
    *,
    complex_infinities: Annotated[Choice[Literal["moved", "multiplied"]], AsReading],
) -> Tensor:
    """Broadcast to what the two shapes are broadcast to, as numpy.array(input) * numpy.ones(shape).

    Source: Expand, Summary.
    """
    wanted = np.broadcast_shapes(input.shape, shape)
    array = np.broadcast_to(input.array, wanted).copy()
    if input.element_type.kind == "complex":
        strange = ~np.isfinite(array.real), ~np.isfinite(array.imag)
        if (strange[0] | strange[1]).any() and complex_infinities.ask() == "multiplied":
            # (a + bi)(1 + 0i) has a - b * 0 and b + a * 0: NaN beside what is not finite.
            array.real[strange[1]] = np.nan
            array.imag[strange[0]] = np.nan
    return Tensor(input.element_type, array)


@reference_operator("ai.onnx::Tile")
def tile(input: Tensor, repeats: tuple[int, ...]) -> Tensor:
    """Element i of an axis of the output is element i modulo its length.

    Source: Tile, Summary and repeats.
    """
    places = [
        np.arange(extent * times) % max(extent, 1) for extent, times in zip(input.shape, repeats, strict=True)
    ]
    # What a tensor of no axes holds would come out bare, no array.
    return Tensor(input.element_type, np.asarray(input.array[np.ix_(*places)], dtype=input.array.dtype))


@reference_operator("ai.onnx::Shape")
def shape_of(data: Tensor, *, start: int = 0, end: int | None = None) -> Answer:
    """The extents from `start` up to `end`, counted from the end where negative, clamped to [0, r].

    Source: Shape, Summary, start and end.
    """
    return Answer(tensor(list(data.shape[slice(start, end)]), "int64"))


@reference_operator("ai.onnx::Size")
def size_of(data: Tensor) -> Answer:
    """How many elements there are. Source: Size, Summary."""
    return Answer(tensor(prod(data.shape), "int64"))

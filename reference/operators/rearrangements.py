"""Transpose, Concat, Split, Slice, Roll, DepthToSpace, SpaceToDepth, ReverseSequence: elements moved."""

from __future__ import annotations

from itertools import accumulate
from typing import Annotated

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.registry import OutputCount, reference_operator


@reference_operator("ai.onnx::Transpose")
def transpose(data: Tensor, *, perm: tuple[int, ...] | None = None) -> Tensor:
    """Axis i of the output is axis perm[i]; the axes are reversed by default.

    Source: Transpose, Summary, perm.
    """
    return Tensor(data.element_type, np.transpose(data.array, perm))


@reference_operator("ai.onnx::Concat")
def concatenate(inputs: tuple[Tensor, ...], *, axis: int) -> Tensor:
    """The tensors one after the other along an axis. Source: Concat, Summary."""
    arrays = [each.array for each in inputs]
    return Tensor(inputs[0].element_type, np.concatenate(arrays, axis))


@reference_operator("ai.onnx::Split")
def split_up(
    input: Tensor,
    split: tuple[int, ...] | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
    outputs: Annotated[int, OutputCount],
) -> tuple[Tensor, ...]:
    """Parts of the lengths `split`, else as many equal ones as there are outputs, the last one smaller.

    Source: Split, Summary, split and num_outputs.
    """
    if split is None:
        extent, parts = input.shape[axis], outputs if num_outputs is None else num_outputs
        chunk = -(-extent // parts)
        split = (*(chunk,) * (parts - 1), extent - chunk * (parts - 1))
    ends = list(accumulate(split))
    found = np.split(input.array, ends[:-1], axis)
    return tuple(Tensor(input.element_type, each) for each in found)


@reference_operator("ai.onnx::Slice")
def slice_out(
    data: Tensor,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    axes: tuple[int, ...] | None = None,
    steps: tuple[int, ...] | None = None,
) -> Tensor:
    """Of each axis the elements start, start + step, ... before end, which count from its end where negative.

    Forwards both are clamped to [0, extent]; backwards start to [0, extent - 1], end to [-1, extent - 1].
    Source: Slice, Summary, axes and steps.
    """
    rank = len(data.shape)
    places = [np.arange(extent) for extent in data.shape]
    chosen = range(len(starts)) if axes is None else [axis % rank for axis in axes]
    by = (1,) * len(starts) if steps is None else steps
    for axis, start, end, step in zip(chosen, starts, ends, by, strict=True):
        extent = data.shape[axis]
        start, end = (each + extent if each < 0 else each for each in (start, end))
        last = extent if step > 0 else extent - 1
        first = 0 if step > 0 else -1
        places[axis] = np.arange(min(max(start, 0), last), min(max(end, first), last), step)
    array = data.array[np.ix_(*places)] if places else data.array
    return Tensor(data.element_type, array)


@reference_operator("ai.onnx::DepthToSpace")
def depth_to_space(input: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Channels become blocks: of [row, column, C] by default, of [C, row, column] in mode CRD.

    Source: DepthToSpace, Summary.
    """
    n, channels, height, width = input.shape
    depth = channels // (blocksize * blocksize)
    if mode == "DCR":
        blocks = input.array.reshape(n, blocksize, blocksize, depth, height, width)
        ordered = blocks.transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = input.array.reshape(n, depth, blocksize, blocksize, height, width)
        ordered = blocks.transpose(0, 1, 4, 2, 5, 3)
    return Tensor(input.element_type, ordered.reshape(n, depth, height * blocksize, width * blocksize))


@reference_operator("ai.onnx::SpaceToDepth")
def space_to_depth(input: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Blocks become channels, which DepthToSpace reverses: [row, column, C], or [C, row, column] in mode CRD.

    Source: SpaceToDepth, Summary; the order before version 28 from the Summary of DepthToSpace.
    """
    n, depth, height, width = input.shape
    high, wide = height // blocksize, width // blocksize
    blocks = input.array.reshape(n, depth, high, blocksize, wide, blocksize)
    ordered = blocks.transpose((0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4))
    return Tensor(input.element_type, ordered.reshape(n, depth * (blocksize * blocksize), high, wide))


@reference_operator("ai.onnx::ReverseSequence")
def reverse_sequence(
    input: Tensor,
    sequence_lens: tuple[int, ...],
    *,
    batch_axis: int = 1,
    time_axis: int = 0,
) -> Tensor:
    """For each batch the first sequence_lens[i] elements in reverse, then the others. Source: its Summary."""
    rows = np.moveaxis(input.array, (time_axis, batch_axis), (0, 1))
    times, lengths = np.ogrid[: rows.shape[0], : rows.shape[1]][0], np.asarray(sequence_lens, dtype=np.int64)
    sources = np.where(times < lengths, lengths - 1 - times, times)
    turned = rows[sources, np.arange(rows.shape[1])]
    return Tensor(input.element_type, np.moveaxis(turned, (0, 1), (time_axis, batch_axis)))


@reference_operator("org.openvino::Roll")
def roll(data: Tensor, shift: tuple[int, ...], axes: tuple[int, ...]) -> Tensor:
    """Elements shifted along axes, from the end to the beginning. Source: Roll, Detailed description."""
    return Tensor(data.element_type, np.roll(data.array, shift, axes))

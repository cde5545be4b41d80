"""Sequences of tensors, made, changed and taken apart, and optionals that hold one or a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, OutsideDomain, nothing, sequence_of
from reference.registry import reference_operator

Parts = tuple[Tensor, ...]


@reference_operator("ai.onnx::SequenceEmpty")
def make_empty(*, dtype: int = 1) -> Answer:
    """A sequence of no tensor, of the type `dtype`. Source: SequenceEmpty, Summary."""
    del dtype  # of no tensor nothing shows it
    return sequence_of(())


@reference_operator("ai.onnx::SequenceConstruct")
def make_sequence(inputs: Parts) -> Answer | Tensor:
    """The tensors in their order. Source: SequenceConstruct, Summary."""
    return sequence_of(inputs)


@reference_operator("ai.onnx::SequenceAt")
def take_from(input_sequence: Parts, position: int) -> Tensor:
    """The tensor at `position`, from the back where that is negative. Source: SequenceAt, Summary."""
    return input_sequence[_place(position, len(input_sequence))]


@reference_operator("ai.onnx::SequenceInsert")
def insert_into(input_sequence: Parts, tensor: Tensor, position: int | None = None) -> Answer | Tensor:
    """The tensor comes before the one at `position`, or behind all. Source: SequenceInsert, Summary."""
    length = len(input_sequence)
    if position is not None and not -length <= position <= length:
        raise OutsideDomain("a position beyond a sequence", got=str(position), expected=f"of {length}")
    place = length if position is None else position + length * (position < 0)
    return sequence_of((*input_sequence[:place], tensor, *input_sequence[place:]))


@reference_operator("ai.onnx::SequenceErase")
def erase_from(input_sequence: Parts, position: int = -1) -> Answer | Tensor:
    """All tensors but the one at `position`, by default the last. Source: SequenceErase, Summary."""
    place = _place(position, len(input_sequence))
    return sequence_of((*input_sequence[:place], *input_sequence[place + 1 :]))


def _place(position: int, length: int) -> int:
    """A position from the front; raises OutsideDomain where nothing is there."""
    if not -length <= position < length:
        raise OutsideDomain("a position beyond a sequence", got=str(position), expected=f"of {length}")
    return position % length


@reference_operator("ai.onnx::SequenceLength")
def count_tensors(input_sequence: Parts) -> Answer:
    """How many tensors there are, int64 without axes. Source: SequenceLength, Summary."""
    return Answer(tensor(np.array(len(input_sequence), np.int64)))


@reference_operator("ai.onnx::ConcatFromSequence")
def concatenate_sequence(input_sequence: Parts, *, axis: int, new_axis: int = 0) -> Tensor:
    """The tensors one after the other along an axis, which `new_axis` makes for it.

    Source: ConcatFromSequence, Summary.
    """
    arrays = [each.array for each in input_sequence]
    shapes = {array.shape if new_axis else _without(array.shape, axis) for array in arrays}
    if len(shapes) != 1:
        raise OutsideDomain("a sequence of no tensors, or of such as do not go together")
    joined = np.stack(arrays, axis) if new_axis else np.concatenate(arrays, axis)
    return Tensor(input_sequence[0].element_type, joined)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The extents of the other axes."""
    if not -len(shape) <= axis < len(shape):
        raise OutsideDomain("an axis beyond the rank of a tensor", got=str(axis))
    return tuple(extent for each, extent in enumerate(shape) if each != axis % len(shape))


@reference_operator("ai.onnx::SplitToSequence")
def split_to_sequence(
    input: Tensor, split: Tensor | None = None, *, axis: int = 0, keepdims: int = 1
) -> Answer | Tensor:
    """Parts of the lengths `split`; where that is one number, as many of this length as there are, the last
    one of what is left. Left out it is 1, and the axis goes with `keepdims` 0.

    Source: SplitToSequence, Summary, keepdims.
    """
    extent = input.shape[axis]
    ends = list(accumulate(_lengths(split, extent)))
    parts = np.split(input.array, ends[:-1], axis) if ends else []
    if split is None and not keepdims:
        parts = [np.squeeze(part, axis) for part in parts]
    return sequence_of(tuple(Tensor(input.element_type, part) for part in parts))


def _lengths(split: Tensor | None, extent: int) -> Sequence[int]:
    if split is not None and split.shape:
        return [int(each) for each in split.array]
    chunk = 1 if split is None else int(split.array)
    return [min(chunk, extent - begin) for begin in range(0, extent, chunk)]


@reference_operator("ai.onnx::Optional")
def make_optional(input: Tensor | Parts | None = None, *, type: object = None) -> Answer | Tensor:
    """An optional that holds the input, or nothing of a type. Source: Optional, Summary."""
    del type  # what is nothing shows none
    return _held(input)


@reference_operator("ai.onnx::OptionalGetElement")
def open_optional(input: Tensor | Parts) -> Answer | Tensor:
    """What an optional holds, and what is none as it is. Source: OptionalGetElement, Summary."""
    return _held(input)


@reference_operator("ai.onnx::OptionalHasElement")
def holds_element(input: Tensor | Parts | None = None) -> Answer:
    """Whether there is something: false of an optional of nothing, and where there is no input.

    Source: OptionalHasElement, Summary.
    """
    return Answer(tensor(np.array(input is not None)))


def _held(value: Tensor | Parts | None) -> Answer | Tensor:
    if value is None:
        return nothing()
    return sequence_of(value) if isinstance(value, tuple) else value

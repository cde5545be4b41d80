"""Outputs that a worked example states as slices of its inputs, computable for any concrete input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.errors import UserError

Bounds = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Assignment:
    """One assignment: `result[target] = inputs[source][index]`; an empty index means the whole array."""

    target: tuple[Bounds, ...]
    source: str
    index: tuple[Bounds, ...]


@dataclass(frozen=True)
class Relation:
    """An output as assignments of slices of inputs, made one after the other.

    `shape` is that of the zeros which the assignments go into; None where the only step is the output itself.
    """

    shape: tuple[int, ...] | None
    steps: tuple[Assignment, ...]

    def apply(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """The output for concrete inputs, in their element type; zeros are empty strings for strings.

        Raises UserError where an input is missing or its slices do not fit.
        """
        result: NDArray[Any] | None = None
        for step in self.steps:
            if step.source not in inputs:
                raise UserError("the relation needs an input that is not given", got=repr(step.source))
            piece = inputs[step.source][_slices(step.index)]
            if self.shape is None:
                result = np.array(piece)
                continue
            if result is None:
                result = np.full(self.shape, b"" if piece.dtype == np.object_ else 0, dtype=piece.dtype)
            try:
                result[_slices(step.target)] = piece
            except ValueError as error:
                raise UserError(f"the relation's slices do not fit: {error}") from None
        if result is None:
            raise UserError("the relation has no step")
        return result


def _slices(index: tuple[Bounds, ...]) -> tuple[slice, ...]:
    return tuple(slice(*each) for each in index)


def write_index(index: tuple[Bounds, ...]) -> str:
    """The text of an index: `5:15, 1:8, :`."""
    parts = []
    for start, stop, step in index:
        text = f"{'' if start is None else start}:{'' if stop is None else stop}"
        parts.append(text if step is None else f"{text}:{step}")
    return ", ".join(parts)


def read_index(text: str) -> tuple[Bounds, ...]:
    """The inverse of `write_index`; raises UserError on anything else."""
    index: list[Bounds] = []
    for part in text.split(",") if text.strip() else []:
        fields = part.strip().split(":")
        if len(fields) not in (2, 3):
            raise UserError("not an index", got=repr(text), expected="slices such as 5:15, 1:8, :")
        try:
            numbers = [int(each) if each.strip() else None for each in fields]
        except ValueError:
            raise UserError("not an index", got=repr(text), expected="slices such as 5:15, 1:8, :") from None
        index.append((numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None))
    return tuple(index)

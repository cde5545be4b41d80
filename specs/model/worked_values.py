"""Worked examples as a spec holds them: calls that a document prints, their tensors, slices of inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.errors import UserError
from specs.model.signature_parts import Source

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
            numbers = [int(field) if field.strip() else None for field in fields]
        except ValueError:
            raise UserError("not an index", got=repr(text), expected="slices such as 5:15, 1:8, :") from None
        index.append((numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None))
    return tuple(index)


@dataclass(frozen=True)
class Value:
    """A tensor of a worked example: shape, flattened elements, and element type (our name) where stated.

    `data` is None where the document fixes the shape alone (random data). An output may then have a
    `relation`, which computes it from any input. `decimals` is the greatest number of digits that the
    document printed behind a decimal point (numpy prints 8 at most, and fewer only where they are all that
    there are); None where whole numbers or code were read. `items` makes it a sequence of tensors (or of
    sequences): then shape is (), and there is no data.
    """

    shape: tuple[int, ...]
    data: tuple[Any, ...] | None
    element_type: str | None
    source: Source | None = None
    decimals: int | None = None
    relation: Relation | None = None
    items: tuple[Value | None, ...] | None = None

    @property
    def printed(self) -> bool:
        """Whether the document states the elements."""
        if self.items is not None:
            return all(item is not None and item.printed for item in self.items)
        return self.data is not None or self.relation is not None


@dataclass(frozen=True)
class Example:
    """A worked example: one call and the outputs printed for it.

    Names are the operator's own. `inputs` is in the operator's order; an omitted optional input has the name
    "". A value is None where nothing is known of it, not even its shape (computed by code that is not read).
    `repaired` says that the importer mended a slip of the document, which is then a finding.
    """

    id: str
    attributes: Mapping[str, Any]
    inputs: tuple[tuple[str, Value | None], ...]
    outputs: tuple[tuple[str, Value | None], ...]
    source: Source
    note: str | None = None
    repaired: bool = False

    @property
    def printed(self) -> bool:
        """Whether the document states what comes out."""
        return any(output is not None and output.printed for _, output in self.outputs)

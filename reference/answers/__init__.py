"""What a reference operator answers: exact expectations with the error allowed to each element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers.draws import Demand


@dataclass(frozen=True, eq=False)
class Answer:
    """One output: the correctly rounded values, and what an honest runtime may return instead.

    `allowed` is float64 of the output's shape, rounded up (infinity: any value); None asks for equal bits.
    `alternatives` maps a flat row-major index to further storage values that are as good. Slices across the
    first axis may be in any order where it is `unordered`. A sequence is its length, and `parts` are the
    tensors in it; an optional that holds nothing has None for them. `demands` hold beside the values. What is
    not `valued` is drawn: there `expected` is only what an honest runtime may return, and the demands say
    all. `shown` is that where `expected` has alternatives of which no fixed choice is honest.
    """

    expected: Tensor
    allowed: NDArray[np.float64] | None = None
    alternatives: Mapping[int, tuple[Any, ...]] | None = None
    unordered: bool = False
    parts: tuple[Answer | Tensor, ...] | None = ()
    is_sequence: bool = False
    demands: tuple[Demand, ...] = ()
    valued: bool = True
    shown: Tensor | None = None

    @property
    def honest(self) -> Tensor:
        """What a runtime that is right may return."""
        return self.expected if self.shown is None else self.shown


def sequence_of(parts: tuple[Answer | Tensor, ...]) -> Answer:
    """The answer of an output that is a sequence of tensors."""
    return Answer(tensor(np.array(len(parts), np.int64)), parts=parts, is_sequence=True)


def nothing() -> Answer:
    """The answer of an output that is an optional which holds nothing."""
    return Answer(tensor(np.array(False)), parts=None)


class OutsideDomain(OpcertError):
    """A call for which the operator's documents define no result."""


class UnstableLength(OpcertError):
    """A call in which an output length, or whether there is a value at all, hangs on rounding: routes differ.

    The generator raises it, too, where one of the open readings leaves a call without a result: neither makes
    a test.
    """

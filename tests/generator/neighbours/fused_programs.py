"""Fused programs in numpy float32, honest ones in several orders and faulty ones, of chains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from generator.models.chains.chain_cases import case_of_chain
from generator.models.chains.chains import Chain
from opcert.vocabulary.tensors import Tensor

Array = NDArray[Any]
F = np.float32
Order = Callable[[Array], Array]
"""How a program adds up what lies along the last axis."""


def forwards(terms: Array) -> Array:
    """One after the other."""
    total = np.zeros(terms.shape[:-1], F)
    for place in range(terms.shape[-1]):
        total = (total + terms[..., place]).astype(F)
    return total


def backwards(terms: Array) -> Array:
    """One after the other from the end."""
    return forwards(terms[..., ::-1])


def pairwise(terms: Array) -> Array:
    """Halves first."""
    count = terms.shape[-1]
    if count <= 1:
        return forwards(terms)
    half = count // 2
    return (pairwise(terms[..., :half]) + pairwise(terms[..., half:])).astype(F)


def widely(terms: Array) -> Array:
    """In double, rounded once."""
    total: Array = terms.astype(np.float64).sum(-1).astype(F)
    return total


ORDERS: tuple[Order, ...] = (forwards, backwards, pairwise, widely)


def convolve(x: Array, w: Array, order: Order, strides: tuple[int, int] = (1, 1), pads: Any = ()) -> Array:
    """A convolution of images without groups; `pads` as the operator has them."""
    if len(pads):
        x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    high, wide = w.shape[2:]
    rows = (x.shape[2] - high) // strides[0] + 1
    columns = (x.shape[3] - wide) // strides[1] + 1
    out = np.zeros((x.shape[0], w.shape[0], rows, columns), F)
    for row in range(rows):
        for column in range(columns):
            top, left = row * strides[0], column * strides[1]
            window = x[:, None, :, top : top + high, left : left + wide]
            terms = (window * w[None]).astype(F)
            out[:, :, row, column] = order(terms.reshape(*terms.shape[:2], -1))
    return out


def multiply(left: Array, right: Array, order: Order) -> Array:
    """A product of two matrices."""
    return order((left[:, None, :] * right.T[None]).astype(F))


def passes(case: Case, *outputs: Array) -> bool:
    """Whether the judge takes arrays for a right answer to a case."""
    expected = case.expectations[0].outputs
    tensors = tuple(
        Tensor(output.expected.element_type, np.asarray(one, output.expected.element_type.storage))
        for output, one in zip(expected, outputs, strict=True)
    )
    return judge(case, Answered(tensors)).verdict == "pass"


def chosen(chains: Iterator[Chain], word: str, **levels: str) -> Chain:
    """The first chain of a word with these levels."""
    return next(
        chain for chain in chains if chain.word == word and levels.items() <= dict(chain.levels).items()
    )


def with_case(chain: Chain) -> tuple[Case, dict[str, Array]]:
    """The case of a chain, and its data by name."""
    return case_of_chain(chain), {name: tensor.array for name, tensor in chain.data.items()}

"""What random operators are right by: not values, but what must hold of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import bits_of, storage_of

Rng = np.random.Generator  # may differ: no suite holds what it draws
Family = Literal["uniform", "normal", "bernoulli", "categorical"]
NARROWEST = 24
"""Random numbers may have so many bits where a type holds more: those of a float32."""
SEVERAL = 4.0
"""Rounded numbers on the way from random bits to a draw, each of which may move a probability by a step."""


@dataclass(frozen=True)
class Drawn:
    """An output whose elements are independent draws of a distribution, told by its family and parameters.

    `rows` are equal parts of output and parameters; `resolution` is how far the steps of honest random
    numbers may move a probability.
    """

    family: Family
    parameters: tuple[float, ...]
    resolution: float
    rows: int = 1


@dataclass(frozen=True)
class Between:
    """Every element of an output lies at one of two ends or between them; a `whole` one is an integer."""

    low: float
    high: float
    whole: bool = False


@dataclass(frozen=True)
class Repeated:
    """A second run of the call, loaded anew, answers the same: it names the seed."""


@dataclass(frozen=True)
class MaskedBy:
    """An output is 0 where the output at this place is false, with `exactly` nowhere else."""

    place: int
    exactly: bool


Demand = Drawn | Between | Repeated | MaskedBy


def resolution_of(element_type: ElementType, steps: float = SEVERAL) -> float:
    """How far random numbers of a type may move a probability, in steps of the numbers between 0 and 1."""
    layout = element_type.layout
    bits = NARROWEST if layout is None else min(layout.precision, NARROWEST)
    return steps * math.ldexp(1.0, -bits)


def sample(element_type: ElementType, shape: Sequence[int], drawn: Drawn) -> Tensor:
    """Draws as an honest program returns them, the same for the same question. They stand in no suite.

    Shape: `shape`, of the element type.
    """
    key = crc32(repr((drawn, tuple(shape))).encode())
    rng = Rng(np.random.Philox(key))  # may differ: what is drawn is right all the same
    count, each = math.prod(shape), len(drawn.parameters) // drawn.rows
    rows = max(drawn.rows, 1)
    found = [
        _draws(rng, drawn.family, np.array(drawn.parameters[row * each : (row + 1) * each]), count // rows)
        for row in range(rows)
    ]
    values = np.concatenate(found) if found else np.zeros(0)
    if element_type.name == "bfloat16":
        # Cut off instead of rounded, as some programs do; no suite holds what is drawn here.
        elements = storage_of(element_type, bits_of(values.astype(np.float32)) >> np.uint64(16))
    else:
        elements = np.asarray(values.astype(element_type.storage))
    return Tensor(element_type, elements.reshape(tuple(shape)))


def _draws(rng: Rng, family: Family, parameters: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    match family:
        case "uniform":
            return rng.uniform(parameters[0], parameters[1], count)
        case "normal":
            return rng.normal(parameters[0], parameters[1], count)
        case "bernoulli":
            return np.where(rng.random(count) < np.resize(parameters, count), 1.0, 0.0)
    sums = np.cumsum(parameters)  # may differ: in the last bit, which moves no probability that is told
    places = np.searchsorted(sums, rng.random(count), "right")
    return np.minimum(places, parameters.size - 1).astype(np.float64)

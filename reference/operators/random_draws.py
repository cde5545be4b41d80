"""RandomNormal, RandomUniform, both like a tensor, Bernoulli and Multinomial: right by how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from opcert.vocabulary.element_types import BY_CODE, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.draws import SEVERAL, Between, Demand, Drawn, Repeated, resolution_of, sample
from reference.numbers.enclosures import nearest_value
from reference.numbers.numbers import numbers
from reference.registry import reference_operator

_FARTHEST = 745
"""The logarithm of a probability that no double holds."""
_BITS = 80


@reference_operator("ai.onnx::RandomNormal")
def random_normal(
    *,
    shape: tuple[int, ...],
    dtype: int = 1,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Answer:
    """Draws of a normal distribution with this mean and standard deviation. Source: RandomNormal, Summary."""
    return _normal(BY_CODE[dtype], shape, mean, scale, seed)


@reference_operator("ai.onnx::RandomNormalLike")
def random_normal_like(
    input: Tensor,
    *,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Answer:
    """The same in the shape of the input, of its type or `dtype`. Source: RandomNormalLike, Summary."""
    kind = input.element_type if dtype is None else BY_CODE[dtype]
    return _normal(kind, input.shape, mean, scale, seed)


@reference_operator("ai.onnx::RandomUniform")
def random_uniform(
    *,
    shape: tuple[int, ...],
    dtype: int = 1,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
) -> Answer:
    """Draws of a uniform distribution from `low` to `high`. Source: RandomUniform, Summary."""
    return _uniform(BY_CODE[dtype], shape, low, high, seed)


@reference_operator("ai.onnx::RandomUniformLike")
def random_uniform_like(
    input: Tensor,
    *,
    dtype: int | None = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
) -> Answer:
    """The same in the shape of the input, of its type or `dtype`. Source: RandomUniformLike, Summary."""
    kind = input.element_type if dtype is None else BY_CODE[dtype]
    return _uniform(kind, input.shape, low, high, seed)


@reference_operator("ai.onnx::Bernoulli")
def bernoulli(input: Tensor, *, dtype: int | None = None, seed: float | None = None) -> Answer:
    """1 with the probability that stands in its place, else 0. Source: Bernoulli, Summary and Outputs."""
    kind = input.element_type if dtype is None else BY_CODE[dtype]
    chances = tuple(map(float, numbers(input.element_type, input.array)))
    drawn = Drawn("bernoulli", chances, resolution_of(input.element_type))
    return _answer(kind, input.shape, drawn, seed, Between(0, 1, whole=True))


@reference_operator("ai.onnx::Multinomial")
def multinomial(input: Tensor, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None) -> Answer:
    """Of each row so many classes k with the probability exp(x[k]) / sum exp(x).

    Source: Multinomial, Inputs and Outputs.
    """
    rows, classes = input.shape
    logarithms = [Fraction(each) for each in numbers(input.element_type, input.array)]
    chances = [
        each for row in range(rows) for each in _chances(logarithms[row * classes : (row + 1) * classes])
    ]
    resolution = resolution_of(input.element_type, classes + 2 * SEVERAL)
    drawn = Drawn("categorical", tuple(chances), min(resolution, 0.5), rows)
    return _answer(BY_CODE[dtype], (rows, sample_size), drawn, seed, Between(0, classes - 1, whole=True))


def _normal(kind: ElementType, shape: Sequence[int], mean: float, scale: float, seed: float | None) -> Answer:
    drawn = Drawn("normal", (_held(mean), _held(scale)), resolution_of(kind))
    return _answer(kind, shape, drawn, seed)


def _uniform(kind: ElementType, shape: Sequence[int], low: float, high: float, seed: float | None) -> Answer:
    """The ends are rounded to the type, and so are products and sums that come to them."""
    ends = (_held(low), _held(high))
    beside = max(*map(abs, ends), ends[1] - ends[0]) * resolution_of(kind)
    drawn = Drawn("uniform", ends, resolution_of(kind))
    return _answer(kind, shape, drawn, seed, Between(ends[0] - beside, ends[1] + beside))


def _answer(
    kind: ElementType, shape: Sequence[int], drawn: Drawn, seed: float | None, *others: Demand
) -> Answer:
    """What is drawn, the same again where there is a seed; of no elements nothing can be told."""
    demands = (*others, *([drawn] if math.prod(shape) else []), *([] if seed is None else [Repeated()]))
    return Answer(sample(kind, shape, drawn), demands=demands, valued=False)


def _held(value: float) -> float:
    """What a float attribute holds: a float32."""
    return float(np.float32(value))


def _chances(logarithms: Sequence[Fraction]) -> list[float]:
    """The probabilities of which these are the logarithms, but for a common term."""
    weights = [_exponential(each - max(logarithms)) for each in logarithms]
    return [float(each / sum(weights)) for each in weights]


def _exponential(exponent: Fraction) -> Fraction:
    """The exponential of what is not above 0; 0 where no double holds it."""
    if exponent == 0 or -exponent > _FARTHEST:
        return Fraction(exponent == 0)
    return nearest_value(lambda ball: ball.exp(), exponent, _BITS)

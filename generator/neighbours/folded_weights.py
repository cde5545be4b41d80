"""A normalization or scale that is folded into the weights before it: what that may cost beside two nodes.

The two nodes compute `s (sum w x + b - m) + c`, with `s` made of the scale and the root of the variance. A
fused one computes `sum (s w) x + (s (b - m) + c)`, with weights that were rounded once they were made. Every
term of either meets as many roundings as it has factors and sums behind it, and none is larger than it is in
`T = |s| (sum |w| |x| + |b| + |m|) + |c|`; docs/bounds.md counts them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import ExpectedOutput
from generator.neighbours.chains import Link
from generator.neighbours.node_answers import answers
from opcert.vocabulary.tensors import Tensor
from reference.estimates import unit_roundoff

Floats = NDArray[np.float64]
SUMS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
"""Operators that add up products with weights."""
_SLACK = math.ldexp(1, -40)
_ROUNDINGS = 9
"""Of a term beside those of the sum: four of the factor (sum under the root, root, quotient by the
reciprocal), its product with the weight, and with the bias less the mean that difference and two sums."""


def folds(producer: Link, consumer: Link) -> bool:
    """Whether runtimes fold the second node into the weights of the first."""
    return producer.operator.name in SUMS and consumer.operator.name == "BatchNormalization"


def folded_error(producer: Link, consumer: Link, values: Mapping[str, Tensor]) -> Floats:
    """The error allowed to each element of a normalization behind a sum, however it is folded.

    `values` are those of both nodes by name, those between them among them. Raises Unpushed where `answers`
    does.
    """
    summed = [values[name] if name else None for name in producer.inputs]
    factors = {name: each for name, each in producer.attributes.items() if name in ("alpha", "beta")}
    bare = {name: each for name, each in producer.attributes.items() if name not in factors}
    sizing = {name: replace(each, value=abs(each.numbers[0])) for name, each in factors.items()}
    sizes = answers(
        replace(producer, attributes=bare | sizing),
        [None if each is None else _absolute(each) for each in summed],
    )
    counts = answers(
        replace(producer, attributes=bare), [None if each is None else _ones(each) for each in summed]
    )
    size = sizes[0].outputs[0].expected.array.astype(np.float64)
    terms = counts[0].outputs[0].expected.array.astype(np.float64).max(initial=1.0)
    scale, bias, mean, variance = (values[name].array.astype(np.float64) for name in consumer.inputs[1:])
    stated = consumer.attributes.get("epsilon")
    epsilon = float(np.float32(1e-5)) if stated is None else float(stated.numbers[0])
    factor = np.abs(scale) / np.sqrt(variance + epsilon)
    across = (slice(None), *([np.newaxis] * (size.ndim - 2)))
    total: Floats = factor[across] * (size + np.abs(mean)[across]) + np.abs(bias)[across]
    layout = values[consumer.inputs[0]].element_type.layout
    if layout is None:
        raise TypeError("a normalization of numbers without a significand")
    roundings = (terms + _ROUNDINGS) * unit_roundoff(layout)
    # Each (1 + u) once; a few operations in float64 on top.
    allowed: Floats = np.nextafter(roundings / (1 - roundings) * total * (1 + _SLACK), np.inf)
    return allowed


def widened(output: ExpectedOutput, error: Floats) -> ExpectedOutput:
    """An output that may be as far away as either says: by its own node alone, or folded."""
    own = np.zeros(output.expected.shape) if output.allowed is None else output.allowed
    return replace(output, allowed=np.maximum(own, error))


def _absolute(value: Tensor) -> Tensor:
    return Tensor(value.element_type, np.abs(value.array))


def _ones(value: Tensor) -> Tensor:
    return Tensor(value.element_type, np.ones_like(value.array))

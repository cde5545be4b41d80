"""What the reference of one node answers, and what folding a normalization into weights may cost.

Two nodes compute `s (sum w x + b - m) + c`, with `s` made of the scale and the root of the variance. A
fused one computes `sum (s w) x + (s (b - m) + c)`, with weights that were rounded once they were made. Every
term of either meets as many roundings as it has factors and sums behind it, and none is larger than it is in
`T = |s| (sum |w| |x| + |b| + |m|) + |c|`; docs/why-believe.md counts them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Expectation, ExpectedOutput
from generator.asking.answered_outputs import asked_outputs
from generator.asking.calls import Call
from generator.asking.expectations import expect
from generator.asking.questions import describe
from generator.calls.space.space import open_space
from generator.calls.space.stated_rules import stated_rules
from generator.making.operators.discovery import load_rules
from generator.models.chains.chains import Link
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.numbers.working import unit_roundoff
from reference.registry import reference_of
from reference.registry.reference_operator import ReferenceOperator
from specs.files.library import load_spec
from specs.model.spec import Spec


class Unpushed(OpcertError):
    """Nobody can say exactly enough what comes out of a chain; the message says at which node."""


_REPEATING = ("ai.onnx::Loop", "ai.onnx::Scan")


@lru_cache(maxsize=512)
def rules_and_reference(operator: OperatorName) -> tuple[Spec, ReferenceOperator]:
    """The spec of an operator with its rules, and its reference; UserError where it lacks one."""
    spec = load_rules(operator)
    if operator.unversioned in _REPEATING:
        # Loops of models run as often as they like, and carry states of several shapes.
        spec = stated_rules(open_space(load_spec(operator)))
    return spec, reference_of(spec)


def call_of_node(
    link: Link, tensors: Sequence[Tensor | None], outputs: tuple[str, ...] | None = None
) -> Call:
    """The call of a node with these inputs; UserError where nothing is known of its operator."""
    spec, _ = rules_and_reference(link.operator)
    names = [parameter.name for parameter in spec.inputs]
    names += names[-1:] * (len(tensors) - len(names))
    return Call(link.attributes, tuple(zip(names, tensors, strict=False)), outputs=outputs).trimmed()


def answers(link: Link, tensors: Sequence[Tensor | None]) -> tuple[Expectation, ...]:
    """What one node's reference expects of it; raises Unpushed where it defines nothing of plain tensors."""
    spec, reference = rules_and_reference(link.operator)
    call = call_of_node(link, tensors, asked_outputs(spec, link.outputs))
    try:
        found = expect(spec, reference, call)
    except OpcertError as error:
        said = f"what {link.operator.short} would be given there has no result that is defined"
        raise Unpushed(said, got=f"{describe(call)}: {error}") from error
    if any(expectation.unordered for expectation in found):
        raise Unpushed(f"{link.operator} leaves the order of what comes out open")
    return found


Floats = NDArray[np.float64]
SUMS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
"""Operators that add up products with weights."""
_FACTORS = frozenset({"alpha", "beta"})
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
    bare = {name: attribute for name, attribute in producer.attributes.items() if name not in _FACTORS}
    counts = answers(
        replace(producer, attributes=bare), [None if tensor is None else _ones(tensor) for tensor in summed]
    )
    size = sizes_of_sum(producer, summed)
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


def sizes_of_sum(link: Link, given: Sequence[Tensor | None]) -> Floats:
    """What a sum of products comes to where each of them, and the bias, counts as its absolute value.

    Rounded as the operator's results are. Raises Unpushed where `answers` does.
    """
    positive = {
        name: replace(attribute, value=abs(attribute.numbers[0])) if name in _FACTORS else attribute
        for name, attribute in link.attributes.items()
    }
    tensors = [None if tensor is None else _absolute(tensor) for tensor in given]
    (found, *_) = answers(replace(link, attributes=positive), tensors)
    return found.outputs[0].expected.array.astype(np.float64)


def widened(output: ExpectedOutput, error: Floats) -> ExpectedOutput:
    """An output that may be as far away as either says: by its own node alone, or folded."""
    own = np.zeros(output.expected.shape) if output.allowed is None else output.allowed
    return replace(output, allowed=np.maximum(own, error))


def _absolute(value: Tensor) -> Tensor:
    return Tensor(value.element_type, np.abs(value.array))


def _ones(value: Tensor) -> Tensor:
    return Tensor(value.element_type, np.ones_like(value.array))

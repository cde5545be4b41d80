"""FlexAttention: attention whose scores and weights are changed by graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from onnx import GraphProto

from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from reference.answers import OutsideDomain
from reference.functions.functions import function_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.registry.body_runs import read_tensor
from reference.shared.attention_weights import scaled_products, scaling, weighed, weights_of
from reference.shared.standardization import cast_back

_NODES: Mapping[str, Callable[..., Numbers]] = {
    "Identity": lambda value: value,
    "Neg": lambda value: -value,
    "Tanh": lambda value: function_of("tanh", value),
    "Add": lambda one, other: one + other,
    "Sub": lambda one, other: one - other,
    "Mul": lambda one, other: one * other,
    "Div": lambda one, other: one / other,
}


def modified(graph: Graph | None, numbers: Numbers) -> Numbers:
    """What the graph gives of the one tensor that it takes; without a graph the tensor itself.

    Raises OutsideDomain for a graph with other nodes than are computed here, or of another form.
    """
    if graph is None:
        return numbers
    proto = GraphProto()
    proto.ParseFromString(graph.raw)
    if len(proto.input) != 1 or len(proto.output) != 1:
        raise OutsideDomain("a modifier takes one tensor and gives one")
    values = {each.name: Numbers.of(read_tensor(each), numbers.working) for each in proto.initializer}
    values[proto.input[0].name] = numbers
    for node in proto.node:
        compute = None if node.domain or node.attribute else _NODES.get(node.op_type)
        if compute is None or len(node.output) != 1 or any(each not in values for each in node.input):
            raise OutsideDomain("a node of a modifier that is not computed here", got=node.op_type)
        values[node.output[0]] = compute(*(values[each] for each in node.input))
    found = values.get(proto.output[0].name)
    if found is None or found.shape != numbers.shape:
        raise OutsideDomain("a modifier gives a tensor of the shape of what it takes")
    return found


@reference_operator("ai.onnx.preview::FlexAttention")
def flexible_attention(
    Q: Numbers,
    K: Numbers,
    V: Numbers,
    *,
    prob_mod: Graph | None = None,
    scale: Fraction | None = None,
    score_mod: Graph | None = None,
    softmax_precision: int | None = None,
    scale_precision: Annotated[Choice[Literal["type", "float32"]], AsReading],
) -> Numbers:
    """prob_mod(Softmax(score_mod(Q K' scale))) V; each head of keys is for as many heads of queries in a row.

    Source: FlexAttention, Summary and every attribute.
    """
    working = Q.working
    places = np.arange(Q.shape[1]) // (Q.shape[1] // K.shape[1])
    k, v = (each.arranged(lambda it: it[:, places]) for each in (K, V))
    scores = scaled_products(Q, k, *scaling(working, Q.shape[3], scale, scale_precision))
    wide = ELEMENT_TYPES["double" if working.element_type.name == "double" else "float"]
    kind = wide if softmax_precision is None else BY_CODE[softmax_precision]
    if kind != working.element_type:
        scores = cast_back(scores, replace(working, element_type=kind, accumulation=Choice("input")))
    scores = modified(score_mod, scores)
    weights = weights_of(scores, scores.sign != -np.inf)
    # No sentence says what comes where no key is left, or the greatest score is infinite.
    unclear = (scores.sign == -np.inf).all(axis=-1, keepdims=True)
    unclear = unclear | ((scores.sign == np.inf) | np.isnan(scores.sign)).any(axis=-1, keepdims=True)
    weights = modified(prob_mod, opened(weights, unclear) if unclear.any() else weights)
    return weighed(cast_back(weights, working), v)

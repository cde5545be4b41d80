"""FlexAttention: attention whose scores and weights are changed by graphs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.attention_weights import scaled_products, scaling, weighed, weights_of
from reference.shared.modifiers import modified
from reference.shared.standardization import cast_back


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

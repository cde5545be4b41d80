"""MoE and QMoE token by token in double, and planted faults."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.reference.test_contributed_attentions import hold
from tests.reference.test_contributed_operators import Array, Asked, Program, draw, normal, unpacked, without


def bent(
    hidden: Array, kind: str, parts: tuple[Array, Array], alpha: float, beta: float, limit: float
) -> Array:
    match kind:
        case "relu":
            return np.asarray(np.maximum(hidden, 0))
        case "gelu":
            return np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in hidden])
        case "silu":
            return np.asarray(hidden / (1 + np.exp(-hidden)))
        case "swiglu":
            gate, linear = np.minimum(parts[0], limit), np.clip(parts[1], -limit, limit)
            return np.asarray(gate / (1 + np.exp(-alpha * gate)) * (linear + beta))
    return hidden


def mixed(
    *,
    data: Array,
    router_probs: Array,
    fc1_experts_weights: Array,
    fc2_experts_weights: Array,
    fc1_experts_bias: Array | None = None,
    fc2_experts_bias: Array | None = None,
    fc3_experts_weights: Array | None = None,
    fc3_experts_bias: Array | None = None,
    k: int = 1,
    activation_type: str = "relu",
    activation_alpha: float = 1,
    activation_beta: float = 0,
    normalize_routing_weights: int = 0,
    swiglu_fusion: int = 0,
    swiglu_limit: float = math.inf,
    least: bool = False,
) -> Array:
    """Each token through its experts, one after the other."""
    rows = data.reshape(-1, data.shape[-1])
    found = np.zeros(rows.shape)

    def layer(weights: Array, bias: Array | None, expert: int, row: Array) -> Array:
        return np.asarray(weights[expert] @ row + (0 if bias is None else bias[expert]))

    for token, row in enumerate(rows):
        probs = router_probs[token]
        shares = np.exp(probs) / np.exp(probs).sum()
        chosen = sorted(range(len(probs)), key=lambda expert: probs[expert], reverse=not least)[:k]
        whole = sum(shares[expert] for expert in chosen) if normalize_routing_weights else 1
        for expert in chosen:
            hidden = layer(fc1_experts_weights, fc1_experts_bias, expert, row)
            if fc3_experts_weights is not None:
                parts = hidden, layer(fc3_experts_weights, fc3_experts_bias, expert, row)
            else:
                half = len(hidden) // 2
                parts = (hidden[0::2], hidden[1::2]) if swiglu_fusion == 1 else (hidden[:half], hidden[half:])
            inner = bent(hidden, activation_type, parts, activation_alpha, activation_beta, swiglu_limit)
            found[token] += (
                shares[expert] / whole * layer(fc2_experts_weights, fc2_experts_bias, expert, inner)
            )
    return found.reshape(data.shape)


def of_packed(
    *,
    expert_weight_bits: int,
    block_size: int | None = None,
    unsigned: bool = False,
    high_first: bool = False,
    **given: Any,
) -> Array:
    """The same of weights that are taken out of their bytes first."""
    for layer in ("fc1", "fc2", "fc3"):
        packed = given.pop(f"{layer}_experts_weights", None)
        scales = given.pop(f"{layer}_scales", None)
        if packed is None:
            continue
        count = packed.shape[2] * 8 // expert_weight_bits
        weights = np.zeros((*packed.shape[:2], count))
        for expert, row in np.ndindex(*packed.shape[:2]):
            numbers = unpacked(packed[expert, row], expert_weight_bits, count)
            if high_first:
                numbers = [numbers[at + 1 - 2 * (at % 2)] for at in range(count)]
            for at, number in enumerate(numbers):
                scale = scales[expert, row] if block_size is None else scales[expert, row, at // block_size]
                weights[expert, row, at] = (
                    number - (0 if unsigned else 1 << (expert_weight_bits - 1))
                ) * scale
        given[f"{layer}_experts_weights"] = weights
    return mixed(**given)


def experts(count: int, hidden: int, inner: int, **given: Any) -> Asked:
    """Five tokens; biases and the third layer where they are given."""
    numbers = ("k", "activation_type", "activation_alpha", "activation_beta", "normalize_routing_weights",
               "swiglu_fusion", "swiglu_limit")  # fmt: skip
    attributes = {name: given.pop(name) for name in numbers if name in given}
    wide = inner * (2 if attributes.get("swiglu_fusion") else 1)
    inputs = {
        "input": normal(5, hidden),
        "router_probs": normal(5, count),
        "fc1_experts_weights": normal(count, wide, hidden),
        "fc2_experts_weights": normal(count, hidden, inner),
        **given,
    }
    plain = ("fc3_experts_weights", "k", "swiglu_fusion", "activation_type")
    left_out = [name for name in (*given, *attributes) if name not in plain]
    if attributes["activation_type"] not in ("relu", "swiglu"):
        left_out.append("activation_type")
    faults: dict[str, Program] = {f"{name} left out": without(name, of=mixed) for name in left_out}
    faults["the least"] = lambda **each: mixed(**each, least=True)
    return Asked("MoE", inputs, mixed, faults, attributes)


def packed(bits: int, block: int | None, **attributes: Any) -> Asked:
    count, hidden, inner = 3, 32, 16
    wide = inner * (2 if attributes.get("swiglu_fusion") else 1)

    def weights(rows: int, columns: int) -> Array:
        return draw.integers(0, 256, (count, rows, columns * bits // 8), dtype=np.uint8)

    def scales(rows: int, columns: int) -> Array:
        return normal(count, rows, *(() if block is None else (columns // block,)), scale=0.02)

    inputs = {
        "input": normal(5, hidden),
        "router_probs": normal(5, count),
        "fc1_experts_weights": weights(wide, hidden),
        "fc1_scales": scales(wide, hidden),
        "fc2_experts_weights": weights(hidden, inner),
        "fc2_scales": scales(hidden, inner),
    }
    faults: dict[str, Program] = {"no middle": lambda **each: of_packed(**each, unsigned=True)}
    if bits == 4:
        faults["high bits first"] = lambda **each: of_packed(**each, high_first=True)
    attributes |= {"expert_weight_bits": bits} | ({} if block is None else {"block_size": block})
    return Asked("QMoE", inputs, of_packed, faults, attributes)


EACH = (
    experts(
        4, 3, 2, k=2, activation_type="relu", fc1_experts_bias=normal(4, 2), fc2_experts_bias=normal(4, 3)
    ),
    experts(3, 4, 3, k=2, activation_type="silu", normalize_routing_weights=1),
    experts(3, 4, 3, k=1, activation_type="gelu"),
    experts(3, 3, 4, k=2, activation_type="identity"),
    experts(
        3, 4, 3, k=1, activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.5, activation_beta=1.0
    ),
    experts(3, 4, 3, k=2, activation_type="swiglu", swiglu_fusion=2, swiglu_limit=0.5),
    experts(
        3,
        4,
        3,
        k=1,
        activation_type="swiglu",
        fc3_experts_weights=normal(3, 3, 4),
        fc3_experts_bias=normal(3, 3),
    ),
    packed(4, None, k=2),
    packed(8, None, k=1, activation_type="silu"),
    packed(4, 16, k=2, activation_type="swiglu", swiglu_fusion=1),
)


@pytest.mark.parametrize("asked", EACH, ids=lambda asked: f"{asked.name}-{dict(asked.attributes)}")
def test_answers_are_those_of_loops_and_faults_are_noticed(asked: Asked) -> None:
    hold(asked)

"""MoE and QMoE: each token goes through a few of many small networks, whose results are weighed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers.orders import greater_of, lesser_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.operators.exponential_units import gaussian_unit
from reference.operators.packed_weights import unpacked
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.attention_weights import products, weights_of
from reference.shared.cell_activations import sigmoid
from reference.shared.recurrences import blocks, part_of
from reference.sums.summation import total

Router = Annotated[Choice[Literal["logits", "weights"]], AsReading]
GeluForm = Annotated[Choice[Literal["erf", "tanh"]], AsReading]


@dataclass(frozen=True)
class _Activation:
    """The activation between the layers, by its name; the gated one has numbers of its own."""

    name: str
    alpha: Fraction
    beta: Fraction
    limit: Fraction | None
    gelu_form: GeluForm

    def __call__(self, x: Numbers) -> Numbers:
        match self.name:
            case "relu":
                return _clamped(x, Fraction(0), None)
            case "gelu":
                form = "none" if self.gelu_form.ask() == "erf" else "tanh"
                return gaussian_unit(
                    x, approximate=form, infinity_in_formula=Choice("nan"), constants_of_body=Choice("exact")
                )
            case "silu":
                return x * sigmoid(x)
        return x

    def gated(self, gate: Numbers, linear: Numbers) -> Numbers:
        """G sigmoid(alpha G) (L + beta) of both clamped. Source: MoE, Summary."""
        if self.limit is not None:
            gate, linear = _clamped(gate, None, self.limit), _clamped(linear, -self.limit, self.limit)
        return gate * sigmoid(gate * self.alpha) * (linear + self.beta)


def _clamped(x: Numbers, low: Fraction | None, high: Fraction | None) -> Numbers:
    found = x if low is None else greater_of(x, x.lift(low).broadcast(x.shape), Choice("propagates"))
    return found if high is None else lesser_of(found, x.lift(high).broadcast(x.shape), Choice("propagates"))


@dataclass(frozen=True, eq=False)
class _Layer:
    """Weights (experts, outputs, inputs) and biases of one layer of all experts."""

    weights: Numbers
    bias: Numbers | None

    def of(self, rows: Numbers, experts: NDArray[np.intp]) -> Numbers:
        """What the experts that are named (tokens, k) make of rows (tokens, k, inputs)."""
        own = self.weights.arranged(lambda each: each[experts])
        wide = rows.reshape((*rows.shape[:2], 1, rows.shape[2]))
        found = products(wide, own).arranged(lambda each: each[:, :, 0])
        return found if self.bias is None else found + self.bias.arranged(lambda each: each[experts])


@dataclass(frozen=True, eq=False)
class _Experts:
    """The layers of all experts, and how the first ones are put together."""

    first: _Layer
    second: _Layer
    third: _Layer | None
    fusion: int
    activation: _Activation

    def of(self, rows: Numbers, experts: NDArray[np.intp]) -> Numbers:
        hidden = self.first.of(rows, experts)
        if self.activation.name != "swiglu":
            return self.second.of(self.activation(hidden), experts)
        if self.third is not None:
            gate, linear = hidden, self.third.of(rows, experts)
        elif self.fusion == 1:
            pairs = hidden.reshape((*hidden.shape[:-1], hidden.shape[-1] // 2, 2))
            gate, linear = (part_of(pairs, place, -1) for place in range(2))
        else:
            gate, linear = blocks(hidden, 2)
        return self.second.of(self.activation.gated(gate, linear), experts)


def _mixed(
    input: Numbers, probs: Numbers, experts: _Experts, k: int, normalized: int, router: Choice[str]
) -> Numbers:
    """The results of the k experts with the greatest probabilities, weighed by these, for each token.

    Where the last of them may have no more than one that is left out either may be taken.
    """
    tokens, hidden = prod(input.shape[:-1]), input.shape[-1]
    weights = weights_of(probs, np.ones(probs.shape, dtype=np.bool_)) if router.ask() == "logits" else probs
    sizes = probs.value.floats()
    order = np.argsort(-sizes, axis=-1, kind="stable")
    chosen = order[:, :k]
    shares = weights.arranged(lambda each: np.take_along_axis(each, chosen, axis=-1))
    if normalized:
        shares = shares / total(shares, -1, keepdims=True)
    rows = input.reshape((tokens, 1, hidden)).broadcast((tokens, k, hidden))
    found = total(experts.of(rows, chosen) * shares.reshape((tokens, k, 1)), 1)
    tied = np.zeros(tokens, dtype=np.bool_)
    if k < sizes.shape[1]:
        last, next_one = (np.take_along_axis(weights.value.floats(), order, -1)[:, at] for at in (k - 1, k))
        error = np.take_along_axis(weights.error, order, -1)
        tied = last - next_one <= error[:, k - 1] + error[:, k]
    return (opened(found, tied[:, None]) if tied.any() else found).reshape(input.shape)


@reference_operator("com.microsoft::MoE")
def mixture_of_experts(
    input: Numbers,
    router_probs: Numbers,
    fc1_experts_weights: Numbers,
    fc1_experts_bias: Numbers | None = None,
    fc2_experts_weights: Numbers | None = None,
    fc2_experts_bias: Numbers | None = None,
    fc3_experts_weights: Numbers | None = None,
    fc3_experts_bias: Numbers | None = None,
    *,
    k: int = 1,
    activation_type: str = "relu",
    activation_alpha: Fraction = Fraction(1),
    activation_beta: Fraction = Fraction(0),
    normalize_routing_weights: int = 0,
    swiglu_fusion: int = 0,
    swiglu_limit: Fraction | None = None,
    use_sparse_mixer: int = 0,
    meaning_of_probs: Router,
    gelu_form: GeluForm,
) -> Numbers:
    """Each token through the k experts that its probabilities name: two layers and an activation between.

    Source: MoE, Summary, k, normalize_routing_weights, swiglu_fusion, every input.
    """
    assert fc2_experts_weights is not None, "it is required"
    third = None if fc3_experts_weights is None else _Layer(fc3_experts_weights, fc3_experts_bias)
    activation = _Activation(activation_type, activation_alpha, activation_beta, swiglu_limit, gelu_form)
    first, second = (
        _Layer(fc1_experts_weights, fc1_experts_bias),
        _Layer(fc2_experts_weights, fc2_experts_bias),
    )
    experts = _Experts(first, second, third, swiglu_fusion, activation)
    return _mixed(input, router_probs, experts, k, normalize_routing_weights, meaning_of_probs)


@reference_operator("com.microsoft::QMoE")
def quantised_mixture_of_experts(
    input: Numbers,
    router_probs: Numbers,
    fc1_experts_weights: Tensor,
    fc1_scales: Tensor,
    fc1_experts_bias: Numbers | None = None,
    fc2_experts_weights: Tensor | None = None,
    fc2_scales: Tensor | None = None,
    fc2_experts_bias: Numbers | None = None,
    fc3_experts_weights: Tensor | None = None,
    fc3_scales: Tensor | None = None,
    fc3_experts_bias: Numbers | None = None,
    *,
    k: int = 1,
    activation_type: str = "relu",
    activation_alpha: Fraction = Fraction(1),
    activation_beta: Fraction = Fraction(0),
    block_size: int | None = None,
    expert_weight_bits: int = 4,
    normalize_routing_weights: int = 0,
    swiglu_fusion: int = 0,
    swiglu_limit: Fraction | None = None,
    use_sparse_mixer: int = 0,
    meaning_of_probs: Router,
    gelu_form: GeluForm,
) -> Numbers:
    """MoE of weights (q - the middle of the range) times the scale of their row, or of their block of it.

    The low bits of a byte come first, as in MatMulNBits. Source: QMoE, Summary, block_size, every input.
    """
    assert fc2_experts_weights is not None, "it is required"
    assert fc2_scales is not None, "it is required"

    def numbers(packed: Tensor, scales: Tensor) -> Numbers:
        whole = unpacked(packed.array, expert_weight_bits).astype(object) - (1 << (expert_weight_bits - 1))
        factor = Numbers.of(scales, input.working)
        if block_size is None:
            return Numbers.exact(whole, input.working) * factor.reshape((*factor.shape, 1))
        block = np.arange(whole.shape[-1]) // block_size
        return Numbers.exact(whole, input.working) * factor.arranged(lambda each: each[..., block])

    third = None
    if fc3_experts_weights is not None and fc3_scales is not None:
        third = numbers(fc3_experts_weights, fc3_scales)
    return mixture_of_experts(
        input, router_probs, numbers(fc1_experts_weights, fc1_scales), fc1_experts_bias,
        numbers(fc2_experts_weights, fc2_scales), fc2_experts_bias, third, fc3_experts_bias,
        k=k, activation_type=activation_type, activation_alpha=activation_alpha,
        activation_beta=activation_beta, normalize_routing_weights=normalize_routing_weights,
        swiglu_fusion=swiglu_fusion, swiglu_limit=swiglu_limit, meaning_of_probs=meaning_of_probs,
        gelu_form=gelu_form,
    )  # fmt: skip

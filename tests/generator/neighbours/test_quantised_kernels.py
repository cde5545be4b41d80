"""Operators between DequantizeLinear and QuantizeLinear: right programs pass, wrong ones are noticed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import pytest

from conformance.suite.cases import Case
from generator.models.chains.chain_cases import case_of_chain
from generator.models.neighbours.neighbour_suite import BESIDE, OLDEST, weave_in
from generator.models.neighbours.patterns import quantised_kernels
from tests.generator.neighbours.fused_programs import ORDERS, Array, F, Order, multiply
from tests.generator.neighbours.wrong_fusions import Step, Wrong, evaluated, is_right, noticed

OPSET = 21
"""The evaluator knows no version of QuantizeLinear before 19; the data are the same in all."""
BOTH = ("ties", "real")


@cache
def cases() -> Mapping[str, Sequence[Case]]:
    found = defaultdict(list)
    for chain in quantised_kernels.chains(weave_in(OPSET)):
        found[chain.word.removeprefix("qdq_")].append(case_of_chain(chain))
    return found


def of(word: str, data: Sequence[str] = BOTH) -> list[Case]:
    return [case for case in cases()[word] if case.levels["data"] in data]


WORDS = [
    "add", "add_relu", "average_pool", "average_pool_border", "concat", "conv", "conv_channels",
    "conv_clip", "conv_depthwise", "conv_pointwise", "conv_pool_matmul", "conv_relu",
    "conv_transpose_behind", "conv_weight_zero", "gemm", "gemm_factors", "global_average_pool", "matmul",
    "matmul_channels", "matmul_given", "matmul_heads", "max_pool", "mul", "relu", "reshape",
    "resize_linear", "resize_nearest", "sigmoid", "softmax", "softmax_rows", "transpose",
    "transpose_matmul", "transpose_reshape",
]  # fmt: skip


def test_these_are_all_words() -> None:
    assert sorted(cases()) == WORDS


@pytest.mark.parametrize("word", WORDS)
def test_nodes_one_after_the_other_are_right(word: str) -> None:
    for case in of(word):
        outputs, _ = evaluated(case)
        assert is_right(case, outputs), case.levels


def test_two_integers_are_accepted_only_beside_a_tie() -> None:
    for several in cases().values():
        for case in several:
            (expectation, *_) = case.expectations
            (output,) = expectation.outputs
            assert output.allowed is None or not output.allowed.any()
            assert len(output.alternatives) <= 0.1 * output.expected.array.size
            assert case.levels["data"] == "real" or not output.alternatives
            for alternative in output.alternatives:
                (other,) = alternative.values
                assert abs(int(other) - int(output.expected.array.reshape(-1)[alternative.index])) == 1


def quantised_by(rounded: Callable[[Array, Array], Array], *, wrap: bool = False) -> Wrong:
    def wrong(step: Step) -> Array:
        value, scale, zero = (np.asarray(each) for each in step.inputs)
        whole = rounded(value.astype(np.float64) / scale, zero.astype(np.float64))
        info = np.iinfo(zero.dtype)
        return (whole.astype(np.int64) if wrap else np.clip(whole, info.min, info.max)).astype(zero.dtype)

    return wrong


ROUNDINGS = {
    "truncated": quantised_by(lambda q, z: np.trunc(q) + z),
    "down": quantised_by(lambda q, z: np.floor(q) + z),
    "away": quantised_by(lambda q, z: np.copysign(np.floor(np.abs(q) + 0.5), q) + z),
    "up": quantised_by(lambda q, z: np.floor(q + 0.5) + z),
    "zero_point_first": quantised_by(lambda q, z: np.rint(q + z)),
}
WITHOUT_TIES = {"sigmoid", "softmax", "softmax_rows", "conv_pool_matmul"}
"""None of their results is a half."""


@pytest.mark.parametrize("rounding", ["truncated", "down"])
@pytest.mark.parametrize("word", WORDS)
def test_what_is_not_rounded_to_the_nearest_is_noticed(word: str, rounding: str) -> None:
    found, tried = noticed(of(word), "QuantizeLinear", ROUNDINGS[rounding])
    assert found == tried > 0


@pytest.mark.parametrize("rounding", ["away", "up", "zero_point_first"])
@pytest.mark.parametrize("word", sorted(set(WORDS) - WITHOUT_TIES))
def test_halves_that_do_not_become_even_are_noticed(word: str, rounding: str) -> None:
    found, tried = noticed(of(word, ("ties",)), "QuantizeLinear", ROUNDINGS[rounding])
    assert found == tried > 0


def integers_before(step: Step) -> list[Array]:
    """What was dequantised for a node, less its zero points, as whole numbers."""
    found = []
    for place in range(len(step.inputs)):
        x, _, zero = step.before(place).inputs
        axis = step.before(place).attributes.get("axis", 1)
        shape = [-1 if at == axis % x.ndim else 1 for at in range(x.ndim)] if np.ndim(zero) else []
        found.append(x.astype(np.float64) - np.reshape(zero, shape).astype(np.float64))
    return found


def scaled_once(how: str, axis: int) -> Wrong:
    """Sums of integers, scaled by one factor: with a quotient, or with the reciprocal of the last scale."""

    def fused(step: Step) -> Array:
        node = step.before(0)
        sums = node.honest(*integers_before(node))[0]
        scales = [np.asarray(node.before(place).inputs[1], F) for place in range(min(len(node.inputs), 2))]
        product = (scales[0] * scales[1]).astype(F) if len(scales) > 1 else scales[0]
        _, last, zero = step.inputs
        factor = product / last if how == "quotient" else product * (F(1) / last)
        if np.ndim(factor):
            factor = np.reshape(factor, [-1 if at == axis else 1 for at in range(sums.ndim)])
        whole = np.rint((sums.astype(F) * factor.astype(F)).astype(F)) + float(zero)
        info = np.iinfo(zero.dtype)
        return np.asarray(np.clip(whole, info.min, info.max), zero.dtype)

    return fused


SCALED_ONCE = (
    "conv", "conv_channels", "conv_depthwise", "conv_pointwise", "conv_weight_zero", "gemm", "matmul",
    "matmul_channels", "matmul_given", "mul", "average_pool", "global_average_pool", "max_pool",
)  # fmt: skip


@pytest.mark.parametrize("how", ["quotient", "reciprocal"])
@pytest.mark.parametrize("word", SCALED_ONCE)
def test_integers_that_are_scaled_once_are_right(word: str, how: str) -> None:
    for case in of(word):
        outputs, done = evaluated(case, "QuantizeLinear", scaled_once(how, 1))
        assert done
        assert is_right(case, outputs), case.levels


@pytest.mark.parametrize("data", BOTH)
def test_integers_that_are_scaled_before_they_are_added_are_right(data: str) -> None:
    def fused(step: Step) -> Array:
        node = step.before(0)
        _, last, zero = step.inputs
        terms = [
            (whole.astype(F) * F(np.asarray(node.before(place).inputs[1], F) / last)).astype(F)
            for place, whole in enumerate(integers_before(node))
        ]
        whole = np.rint((terms[0] + terms[1]).astype(F)) + float(zero)
        info = np.iinfo(zero.dtype)
        return np.asarray(np.clip(whole, info.min, info.max), zero.dtype)

    for case in of("add", (data,)):
        outputs, _ = evaluated(case, "QuantizeLinear", fused)
        assert is_right(case, outputs), case.levels


@pytest.mark.parametrize(
    "word", ["conv", "conv_channels", "gemm", "matmul", "matmul_given", "mul", "conv_pointwise"]
)
def test_what_wraps_is_noticed(word: str) -> None:
    wrong = quantised_by(lambda q, z: np.rint(q) + z, wrap=True)
    assert noticed(of(word), "QuantizeLinear", wrong)[0] > 0


def one_scale(step: Step) -> Array | None:
    x, scale, zero = step.inputs
    if np.ndim(scale) == 0:
        return None
    found: Array = ((x.astype(np.int64) - np.int64(zero[0])) * scale[0]).astype(F)
    return found


def no_zero_point(step: Step) -> Array | None:
    x, scale, zero = step.inputs
    return (x.astype(np.int64) * scale).astype(F) if np.ndim(zero) == 0 and zero != 0 else None


def border_of_integers(step: Step) -> Array | None:
    pads = step.attributes.get("pads")
    made = step.before(0)
    if not pads or made.node.op_type != "DequantizeLinear":
        return None
    _, scale, zero = made.inputs
    half = len(pads) // 2
    around = [(0, 0), (0, 0), *((pads[place], pads[half + place]) for place in range(half))]
    padded = np.pad(step.inputs[0], around, constant_values=-float(zero) * float(scale))
    return step.with_attributes(padded.astype(F), *step.inputs[1:], pads=None)


def border_of_zeros(step: Step) -> Array:
    padded = np.pad(step.inputs[0], [(0, 0), (0, 0), (1, 1), (1, 1)])
    return step.with_attributes(padded, pads=None)


def without_bias(step: Step) -> Array | None:
    if len(step.inputs) < 3:
        return None
    return step.honest(*step.inputs[:2], np.zeros_like(step.inputs[2]))[0]


def first_scale(step: Step) -> Array:
    _, scale, zero = step.before(0).inputs
    others = [step.before(place).inputs[0] for place in range(1, len(step.inputs))]
    again = [((other.astype(np.int64) - np.int64(zero)) * scale).astype(F) for other in others]
    return step.honest(step.inputs[0], *again)[0]


def dropped(step: Step) -> Array:
    found: Array = step.inputs[0]
    return found


def not_moved(step: Step) -> Array:
    return np.reshape(step.inputs[0], step.result().shape)


def pairs_in_sixteen_bits(step: Step) -> Array:
    (x, scale, zero), (w, scales, _) = (step.before(place).inputs for place in (0, 1))
    products = x.astype(np.int64)[:, :, None] * w.astype(np.int64)[None]
    odd = products.shape[1] % 2
    products = np.pad(products, [(0, 0), (0, odd), (0, 0)])
    pairs = np.clip(products[:, ::2] + products[:, 1::2], -(1 << 15), (1 << 15) - 1)
    sums = pairs.sum(1) - np.int64(zero) * w.astype(np.int64).sum(0)
    return np.asarray(sums * (scale * scales), F)


def factor_of_all(step: Step) -> Array:
    alpha, beta = step.attributes["alpha"], step.attributes["beta"]
    left, right, bias = step.inputs
    return np.asarray(F(alpha) * (left.T @ right + F(beta) * bias), F)


def mean_of_integers(step: Step) -> Array:
    x, scale, zero = step.before(0).inputs
    means = np.rint(x.astype(np.float64).mean((2, 3), keepdims=True))
    return np.asarray((means - float(zero)) * float(scale), F)


def hard(step: Step) -> Array:
    return np.asarray(np.clip(step.inputs[0] / 6 + 0.5, 0, 1), F)


def quantised_before(step: Step) -> bool:
    return step.node.input[0] in step.makers and step.before(0).node.op_type == "QuantizeLinear"


PLANTED: dict[str, tuple[str, Wrong, str]] = {
    "one scale for all channels": (
        "DequantizeLinear", one_scale, "conv_channels conv_pointwise conv_relu gemm matmul_channels"),
    "zero points that are left in": (
        "DequantizeLinear", no_zero_point, "conv conv_weight_zero matmul matmul_given add mul concat"),
    "a border of integers 0": ("Conv", border_of_integers, "conv conv_channels conv_depthwise conv_relu"),
    "a border of integers 0 of a pool": ("AveragePool", border_of_integers, "average_pool_border"),
    "a border of zeros of a pool": ("MaxPool", border_of_zeros, "max_pool"),
    "a border that does not count": (
        "AveragePool", lambda step: step.with_attributes(count_include_pad=0), "average_pool_border"),
    "no bias": ("Conv", without_bias, "conv_channels conv_depthwise conv_relu conv_clip conv_weight_zero"),
    "no bias of Gemm": ("Gemm", without_bias, "gemm gemm_factors"),
    "alpha of the bias": ("Gemm", factor_of_all, "gemm_factors"),
    "the first scale for both": ("Add", first_scale, "add add_relu"),
    "the first scale for both factors": ("Mul", first_scale, "mul"),
    "the first scale for all parts": ("Concat", first_scale, "concat"),
    "the first scale for both matrices": ("MatMul", first_scale, "matmul_given"),
    "no Relu": ("Relu", dropped, "conv_relu add_relu relu"),
    "no Clip": ("Clip", dropped, "conv_clip"),
    "only one limit": ("Clip", lambda step: np.minimum(step.inputs[0], step.inputs[2]), "conv_clip"),
    "not turned": (
        "Transpose", not_moved,
        "transpose transpose_reshape transpose_matmul matmul_heads conv_transpose_behind"),
    "the nearest instead of between": (
        "Resize", lambda step: step.with_attributes(mode="nearest"), "resize_linear"),
    "other coordinates": (
        "Resize",
        lambda step: step.with_attributes(coordinate_transformation_mode="asymmetric"), "resize_linear"),
    "the ceiling": ("Resize", lambda step: step.with_attributes(nearest_mode="ceil"), "resize_nearest"),
    "the mean as an integer": ("GlobalAveragePool", mean_of_integers, "global_average_pool"),
    "a hard sigmoid": ("Sigmoid", hard, "sigmoid"),
    "along the last axis": ("Softmax", lambda step: step.with_attributes(axis=1), "softmax_rows"),
    "along all of it": (
        "Softmax", lambda step: (np.exp(step.inputs[0]) / np.exp(step.inputs[0]).sum()).astype(F), "softmax"),
    "between not rounded": ("DequantizeLinear", lambda step: (
        step.before(0).inputs[0] if quantised_before(step) else None), "conv_pool_matmul"),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_wrong_fusion_is_noticed(fault: str) -> None:
    name, wrong, words = PLANTED[fault]
    for word in words.split():
        found, tried = noticed(of(word), name, wrong)
        assert found == tried > 0, word


def test_pairs_of_products_that_saturate_in_sixteen_bits_are_noticed() -> None:
    unsigned = [case for case in of("matmul_channels", ("real",)) if case.levels["type"] == "uint8"]
    found, tried = noticed(unsigned, "MatMul", pairs_in_sixteen_bits)
    assert found == tried == 1


@pytest.mark.parametrize("word", ["reshape", "transpose", "resize_nearest", "concat", "relu", "max_pool"])
def test_a_pair_that_is_dropped_around_what_moves_is_noticed(word: str) -> None:
    def same_scale(step: Step) -> Array:
        link = step
        while link.node.op_type != "DequantizeLinear":
            link = link.before(0)
        return step.honest(step.inputs[0], link.inputs[1], link.inputs[2])[0]

    found, tried = noticed(of(word), "QuantizeLinear", same_scale)
    assert found == tried > 0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("word", ["matmul", "transpose_matmul", "matmul_heads"])
def test_sums_in_any_order_are_right(word: str, order: Order) -> None:
    for case in of(word):
        outputs, done = evaluated(
            case, "MatMul", lambda step: multiply(step.inputs[0], step.inputs[1], order)
        )
        assert done
        assert is_right(case, outputs), case.levels


ASKED = {
    "Conv", "Gemm", "MatMul", "Add", "Mul", "Resize", "AveragePool", "GlobalAveragePool", "MaxPool", "Concat",
    "Softmax", "Sigmoid", "Relu", "Reshape", "Transpose",
}  # fmt: skip


@cache
def beside(opset: int) -> Mapping[str, Case]:
    chains = list(quantised_kernels.chains_beside(weave_in(opset)))
    assert {link.operator.name for chain in chains for link in chain.links} >= ASKED
    return {chain.word: case_of_chain(chain) for chain in chains}


@pytest.mark.parametrize("opset", [13, 25, 28])
def test_each_operator_is_asked_in_the_versions_of_other_opsets(opset: int) -> None:
    assert {case.operator.since_version for case in beside(opset).values()} == {opset}
    for word, case in beside(opset).items():
        one, other = (each.expectations[0].outputs[0] for each in (case, beside(OPSET)[word]))
        assert (one.expected, one.alternatives) == (other.expected, other.alternatives)


def test_the_suite_without_a_number_has_three_opsets() -> None:
    assert {OLDEST, *BESIDE} == {13, 17, 25}
    assert {each.levels["opset"] for several in cases().values() for each in several} == {str(OPSET)}

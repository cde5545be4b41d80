"""Fusions at the sizes of kernels: right programs pass, and each wrong fusion is noticed by its chains."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pytest

from conformance.suite.cases import Case
from generator.models.chains.chain_cases import case_of_chain
from generator.models.neighbours.neighbour_suite import weave_in
from generator.models.neighbours.patterns.axes import wide_axes
from generator.models.neighbours.patterns.convolutions import wide_convolutions
from generator.models.neighbours.patterns.normalizations import written_out
from generator.models.neighbours.patterns.products import wide_products
from tests.generator.neighbours.fused_programs import Array, F
from tests.generator.neighbours.wrong_fusions import Step, Wrong, evaluated, is_right, noticed

WEAVE = weave_in(21)
PATTERNS = (wide_axes, wide_convolutions, wide_products, written_out)
WORDS = [
    "attention_written_out", "cast_cast", "conv_add", "conv_add_relu", "conv_bn", "conv_bn_relu", "conv_clip",
    "conv_mul", "conv_relu", "conv_transpose_bn", "gelu_written_out", "gemm_add", "layer_norm_written_out",
    "matmul_add", "matmul_mul", "matmul_transpose", "pad_conv", "reshape_transpose",
    "reshape_transpose_reshape", "rms_norm_written_out", "slice_slice", "softmax_mul", "transpose_argmax",
    "transpose_cumsum", "transpose_gemm", "transpose_logsoftmax", "transpose_matmul",
    "transpose_matmul_add_relu", "transpose_reducemax", "transpose_reducemean", "transpose_reducesum",
    "transpose_reshape", "transpose_softmax", "transpose_transpose",
]  # fmt: skip


@cache
def cases() -> Mapping[str, Sequence[Case]]:
    found = defaultdict(list)
    for pattern in PATTERNS:
        for chain in pattern(WEAVE):
            found[chain.word.removeprefix("wide_")].append(case_of_chain(chain))
    return found


def test_these_are_all_words() -> None:
    assert sorted(cases()) == WORDS


@pytest.mark.parametrize("word", WORDS)
def test_nodes_one_after_the_other_are_right(word: str) -> None:
    for case in cases()[word]:
        outputs, _ = evaluated(case)
        assert is_right(case, outputs), case.levels


def perm_of(step: Step) -> list[int]:
    return list(step.attributes["perm"])


def turned(step: Step, perm: Sequence[int]) -> Array | None:
    """Turned by another permutation, where that fails for its shape no sooner than for its numbers."""
    found: Array = np.transpose(step.inputs[0], perm)
    return found if list(perm) != perm_of(step) and found.shape == step.result().shape else None


def not_turned(step: Step) -> Array | None:
    return None if perm_of(step) == sorted(perm_of(step)) else step.inputs[0].reshape(step.result().shape)


def last_two_turned(step: Step) -> Array | None:
    axes = list(range(len(perm_of(step))))
    return turned(step, [*axes[:-2], axes[-1], axes[-2]])


def turned_back(step: Step) -> Array | None:
    return turned(step, [int(axis) for axis in np.argsort(perm_of(step))])


def batch_left(step: Step) -> Array | None:
    perm = perm_of(step)
    return turned(step, [*sorted(perm[:-2]), *perm[-2:]])


def turned_last(step: Step) -> Array | None:
    """Both permutations in the other order."""
    if step.node.input[0] not in step.makers:
        return None
    before = step.before(0)
    first, second = perm_of(before), perm_of(step)
    if first == second:
        return np.reshape(before.inputs[0], step.result().shape)
    return np.transpose(np.transpose(before.inputs[0], second), first)


def dropped(step: Step) -> Array:
    found: Array = step.inputs[0]
    return found


def without(place: int) -> Wrong:
    """With zeros in place of an input."""

    def wrong(step: Step) -> Array | None:
        if len(step.inputs) <= place:
            return None
        inputs = [np.zeros_like(each) if at == place else each for at, each in enumerate(step.inputs)]
        return step.honest(*inputs)[0]

    return wrong


def last_term_left_out(step: Step) -> Array:
    left = step.inputs[0].copy()
    left[(slice(None), -1) if step.node.op_type == "Conv" else (..., -1)] = 0
    return step.honest(left, *step.inputs[1:])[0]


def addend_as_row(step: Step) -> Array | None:
    y, addend = step.inputs
    if addend.size < 3 or (addend.shape[-1:] == addend.shape and addend.size == y.shape[-1]):
        return None
    row = np.resize(addend.reshape(-1), y.shape[-1])
    return None if np.array_equal(step.honest(y, row)[0], step.result()) else step.honest(y, row)[0]


def factor_as_row(step: Step) -> Array | None:
    y, factor = step.inputs
    turned_factor = factor.reshape(-1, 1) if factor.ndim == 1 else factor.reshape(-1)
    return step.honest(y, turned_factor)[0]


def channels_for_width(step: Step) -> Array:
    y, other = step.inputs
    return step.honest(y, other.reshape(-1) if other.ndim == 3 else other.reshape(-1, 1, 1))[0]


def scaled_as_gemm(name: str) -> Wrong:
    def wrong(step: Step) -> Array:
        factor = F(step.before(0).attributes[name])
        return step.honest(step.inputs[0], step.inputs[1] * factor)[0]

    return wrong


def relu_before_sum(step: Step) -> Array:
    y, addend = step.before(0).inputs
    found: Array = np.maximum(y, 0) + addend
    return found


def normalized(epsilon: float | None = None, *, channel: bool = False, bias: bool = False) -> Wrong:
    def wrong(step: Step) -> Array | None:
        y, scale, shift, mean, variance = step.inputs
        small = step.attributes["epsilon"] if epsilon is None else epsilon
        factor = (scale / np.sqrt(variance + F(small))).astype(F)
        if channel:
            factor = np.full_like(factor, factor[0])
        across = (slice(None), *[np.newaxis] * (y.ndim - 2))
        found: Array = (y - mean[across]) * factor[across] + shift[across]
        if bias:
            if len(step.before(0).inputs) < 3:
                return None
            own = step.before(0).inputs[2]
            found = found - (own * factor)[across] + own[across]
        return found.astype(F)

    return wrong


def half_epsilon(wrong: Wrong) -> Wrong:
    """Where it is large enough to matter beside what is allowed."""
    return lambda step: wrong(step) if step.attributes["epsilon"] > 0.1 else None


def one_limit(place: int) -> Wrong:
    def wrong(step: Step) -> Array | None:
        if len(step.inputs) <= place or step.inputs[place] is None:
            return None
        keep = 3 - place
        found: Array = step.inputs[0]
        if len(step.inputs) > keep and step.inputs[keep] is not None:
            found = (np.maximum if keep == 1 else np.minimum)(found, step.inputs[keep])
        return found

    return wrong


def padded_with_zeros(step: Step) -> Array | None:
    return None if len(step.inputs) < 3 else step.honest(step.inputs[0], step.inputs[1])[0]


def sides_exchanged(step: Step) -> Array:
    pads = step.inputs[1]
    return step.honest(step.inputs[0], np.concatenate([pads[4:], pads[:4]]), *step.inputs[2:])[0]


def value_in_own_pads(step: Step) -> Array | None:
    pads, before = step.attributes["pads"], step.before(0)
    if not any(pads) or len(before.inputs) < 3:
        return None
    around = [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])]
    padded = np.pad(step.inputs[0], around, constant_values=before.inputs[2])
    return step.with_attributes(padded, *step.inputs[1:], pads=None)


def merged(step: Step) -> Array | None:
    """The last of the casts alone."""
    if step.node.input[0] not in step.makers:
        return None
    with np.errstate(all="ignore"):
        return step.honest(step.before(0).inputs[0])[0]


def last_alone(step: Step) -> Array | None:
    if step.node.input[0] not in step.makers:
        return None
    return step.honest(step.before(0).inputs[0], *step.inputs[1:])[0]


def first_alone(step: Step) -> Array | None:
    return step.inputs[0] if step.node.input[0] in step.makers else None


def one_step(step: Step) -> Array | None:
    """Starts and ends that are right, and the step of the last alone."""
    if step.node.input[0] not in step.makers or len(step.inputs) < 5 or abs(step.before(0).inputs[4][0]) == 1:
        return None
    x, rows = step.before(0).inputs[0], step.result()
    start = int(np.flatnonzero((x == rows[0, 0]).any(1))[0])
    found: Array = x[start :: int(step.inputs[4][0])][: len(rows)]
    return found


def before_it_was_turned(step: Step) -> Array:
    return step.honest(step.before(0).inputs[0], *step.inputs[1:])[0]


def scaled_before(step: Step) -> Array:
    softmax = step.before(0)
    return softmax.honest((softmax.inputs[0] * step.inputs[1]).astype(F))[0]


def root(change: str) -> Wrong:
    def wrong(step: Step) -> Array:
        small, count = F(2.0**-4), step.before(0).before(0).inputs[0].shape[-1]
        variance = step.inputs[0] - small
        if change == "beside":
            found = np.sqrt(variance) + small
        elif change == "none":
            found = np.sqrt(variance)
        else:
            found = np.sqrt(variance * F(count) / F(count - 1) + small)
        return np.asarray(found, F)

    return wrong


def large(wrong: Wrong) -> Wrong:
    """Of sums with more than epsilon."""
    return lambda step: wrong(step) if step.inputs[1].size > 1 else None


def squares_without_mean(step: Step) -> Array:
    x = step.inputs[0]
    return step.honest((x - x.mean(-1, keepdims=True)).astype(F), *step.inputs[1:])[0]


def by_tanh(step: Step) -> Array:
    x = step.inputs[0].astype(np.float64) * np.sqrt(2)
    return np.asarray(np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)), F)


def by_erf(step: Step) -> Array:
    x = step.before(0).before(0).inputs[0]
    return np.array([math.erf(each / math.sqrt(2)) for each in x.reshape(-1)], F).reshape(x.shape)


def no_scale(step: Step) -> Array | None:
    return step.inputs[0] if step.inputs[1].size == 1 else None


def mask_before_scale(step: Step) -> Array | None:
    scaled = step.before(0)
    if scaled.node.op_type not in ("Mul", "Div"):
        return None
    return scaled.honest((scaled.inputs[0] + step.inputs[1]).astype(F), scaled.inputs[1])[0]


def over_queries(step: Step) -> Array:
    return step.with_attributes(axis=2)


def last_key_skipped(step: Step) -> Array:
    scores = step.inputs[0].copy()
    scores[..., -1] = -np.inf
    return step.honest(scores)[0]


def heads_exchanged(step: Step) -> Array | None:
    if step.node.input[0] not in step.makers or step.before(0).node.op_type != "Softmax":
        return None
    return step.honest(step.inputs[0], step.inputs[1][:, ::-1])[0]


TURNED = "transpose_matmul transpose_gemm transpose_matmul_add_relu"
ALONG = (
    "transpose_argmax transpose_cumsum transpose_logsoftmax transpose_reducemax transpose_reducemean "
    "transpose_reducesum transpose_softmax"
)
PLANTED: dict[str, tuple[str, Wrong, str]] = {
    "perm ignored": ("Transpose", not_turned, TURNED),
    "perm taken as a turn of the matrix": ("Transpose", last_two_turned, "transpose_matmul transpose_gemm"),
    "perm taken backwards": ("Transpose", turned_back, "transpose_matmul"),
    "the batch left in its order": ("Transpose", batch_left, "transpose_matmul"),
    "not turned back": ("Transpose", not_turned, "matmul_transpose"),
    "the last term of a sum left out": (
        "MatMul", last_term_left_out, "transpose_matmul matmul_add matmul_mul matmul_transpose"),
    "the last term of Gemm left out": ("Gemm", last_term_left_out, "transpose_gemm gemm_add"),
    "the last channel left out": (
        "Conv", last_term_left_out, "conv_bn conv_bn_relu conv_add conv_mul conv_relu conv_clip pad_conv"),
    "flags of Gemm turned over": (
        "Gemm", lambda step: step.with_attributes(transA=1 - step.attributes.get("transA", 0)),
        "transpose_gemm"),
    "no bias of Gemm": ("Gemm", without(2), "transpose_gemm gemm_add"),
    "nothing added": ("Add", dropped, "matmul_add gemm_add conv_add conv_add_relu transpose_matmul_add_relu"),
    "what is added as a row": ("Add", addend_as_row, "matmul_add gemm_add"),
    "alpha of what is added": ("Add", scaled_as_gemm("alpha"), "gemm_add"),
    "beta of what is added": ("Add", scaled_as_gemm("beta"), "gemm_add"),
    "rows for columns": ("Mul", factor_as_row, "matmul_mul"),
    "channels for width": ("Add", channels_for_width, "conv_add"),
    "factors of channels for width": ("Mul", channels_for_width, "conv_mul"),
    "no Relu": ("Relu", dropped, "conv_relu conv_add_relu conv_bn_relu transpose_matmul_add_relu"),
    "Relu before the sum": ("Relu", relu_before_sum, "conv_add_relu transpose_matmul_add_relu"),
    "no epsilon": (
        "BatchNormalization", half_epsilon(normalized(0.0)), "conv_bn conv_bn_relu conv_transpose_bn"),
    "the default epsilon": (
        "BatchNormalization", half_epsilon(normalized(1e-5)), "conv_bn conv_bn_relu conv_transpose_bn"),
    "the first channel's factor": (
        "BatchNormalization", normalized(channel=True), "conv_bn conv_bn_relu conv_transpose_bn"),
    "the bias not scaled": (
        "BatchNormalization", normalized(bias=True), "conv_bn conv_bn_relu conv_transpose_bn"),
    "no mean": ("BatchNormalization", without(3), "conv_bn conv_bn_relu conv_transpose_bn"),
    "no lower limit": ("Clip", one_limit(1), "conv_clip"),
    "no upper limit": ("Clip", one_limit(2), "conv_clip"),
    "zeros for the value of Pad": ("Pad", padded_with_zeros, "pad_conv"),
    "sides of Pad exchanged": ("Pad", sides_exchanged, "pad_conv"),
    "the value of Pad in the convolution's pads": ("Conv", value_in_own_pads, "pad_conv"),
    "two casts are one": ("Cast", merged, "cast_cast"),
    "reshaped and not turned": (
        "Transpose", not_turned, "reshape_transpose reshape_transpose_reshape transpose_reshape"),
    "turned in the other order": ("Transpose", turned_last, "transpose_transpose"),
    "the last slice alone": ("Slice", last_alone, "slice_slice"),
    "the first slice alone": ("Slice", first_alone, "slice_slice"),
    "the last step alone": ("Slice", one_step, "slice_slice"),
    "scaled before the exponential": ("Mul", scaled_before, "softmax_mul"),
    "not scaled": ("Mul", dropped, "softmax_mul"),
    "epsilon beside the root": ("Sqrt", root("beside"), "layer_norm_written_out rms_norm_written_out"),
    "no epsilon under the root": ("Sqrt", root("none"), "layer_norm_written_out rms_norm_written_out"),
    "one term less in the variance": ("Sqrt", root("less"), "layer_norm_written_out"),
    "no mean taken away": ("Sub", dropped, "layer_norm_written_out"),
    "no shift": ("Add", large(dropped), "layer_norm_written_out"),
    "a mean taken away": ("Pow", squares_without_mean, "rms_norm_written_out"),
    "tanh for erf": ("Erf", by_tanh, "gelu_written_out"),
    "erf for tanh": ("Tanh", by_erf, "gelu_written_out"),
    "scores not scaled": ("Mul", no_scale, "attention_written_out"),
    "scores not divided": ("Div", no_scale, "attention_written_out"),
    "no mask": ("Add", dropped, "attention_written_out"),
    "the mask before the scale": ("Add", mask_before_scale, "attention_written_out"),
    "a sum over queries": ("Softmax", over_queries, "attention_written_out"),
    "the last key skipped": ("Softmax", last_key_skipped, "attention_written_out"),
    "keys not turned": ("Transpose", not_turned, "attention_written_out"),
    "values of the other head": ("MatMul", heads_exchanged, "attention_written_out"),
} | {
    f"{name} along the axis of before": (name, before_it_was_turned, word)
    for word in ALONG.split()
    for name in ("ArgMax", "CumSum", "LogSoftmax", "ReduceMax", "ReduceMean", "ReduceSum", "Softmax")
    if name.lower() == word.removeprefix("transpose_")
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_wrong_fusion_is_noticed(fault: str) -> None:
    name, wrong, words = PLANTED[fault]
    for word in words.split():
        found, tried = noticed(cases()[word], name, wrong)
        assert found == tried > 0, word


def test_each_word_has_a_wrong_fusion() -> None:
    assert {word for _, _, words in PLANTED.values() for word in words.split()} == set(WORDS)

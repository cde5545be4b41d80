"""Honest fused programs are right, in any order of summation; faulty ones are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from generator.models.neighbours.neighbour_suite import weave_in
from generator.models.neighbours.patterns import quantisation
from generator.models.neighbours.patterns.axes import around_casts
from generator.models.neighbours.patterns.convolutions import around_convolutions
from generator.models.neighbours.patterns.folds import around_constants, around_movement
from generator.models.neighbours.patterns.normalizations import around_normalizations
from generator.models.neighbours.patterns.products import around_products
from tests.generator.neighbours.fused_programs import (
    ORDERS,
    Array,
    F,
    Order,
    chosen,
    convolve,
    multiply,
    passes,
    with_case,
)

WEAVE = weave_in(17)


@pytest.mark.parametrize("epsilon", ["half", "default"])
@pytest.mark.parametrize("bias", ["given", "none"])
def test_a_normalization_that_is_folded_into_weights(epsilon: str, bias: str) -> None:
    chain = chosen(around_convolutions(WEAVE), "conv_bn", bias=bias, epsilon=epsilon)
    case, data = with_case(chain)
    x, w = data["X"], data["C1"]
    b = data["C2"] if bias == "given" else np.zeros(4, F)
    scale, shift, mean, variance = (data[name] for name in chain.links[1].inputs[1:])
    small = F(0.5 if epsilon == "half" else 1e-5)

    def folded(order: Order, factor: Array, offset: Array) -> Array:
        weights = (w * factor[:, None, None, None]).astype(F)
        return (convolve(x, weights, order) + offset[:, None, None]).astype(F)

    by_root = (scale / np.sqrt(variance + small)).astype(F)
    by_reciprocal = (scale * (F(1) / np.sqrt(variance + small)).astype(F)).astype(F)
    for factor in (by_root, by_reciprocal):
        for order in ORDERS:
            assert passes(case, folded(order, factor, ((b - mean) * factor + shift).astype(F)))
            plain = (convolve(x, w, order) + b[:, None, None]).astype(F)
            apart = (plain - mean[:, None, None]) * factor[:, None, None] + shift[:, None, None]
            assert passes(case, apart.astype(F))
    order, beside = ORDERS[0], (scale / (np.sqrt(variance) + small)).astype(F)
    assert epsilon == "default" or not passes(case, folded(order, beside, (b - mean) * beside + shift))
    assert not passes(case, folded(order, by_root, (shift - mean).astype(F)))
    if bias == "given":
        assert not passes(case, folded(order, by_root, (-mean * by_root + shift).astype(F)))
        assert not passes(case, folded(order, by_root, (b - mean * by_root + shift).astype(F)))


def test_relu_behind_a_sum_is_not_dropped_and_not_put_before_it() -> None:
    chain = chosen(around_convolutions(WEAVE), "conv_add_relu")
    case, data = with_case(chain)
    y = convolve(data["X"], data["C1"], ORDERS[0], pads=[1, 1, 1, 1]) + data["C2"][:, None, None]
    assert passes(case, np.maximum(y + data["X"], 0))
    assert not passes(case, y + data["X"])
    assert not passes(case, np.maximum(y, 0) + data["X"])


@pytest.mark.parametrize(("word", "value"), [("nothing", 0), ("value", 2), ("value_and_own_pads", 3)])
def test_padding_goes_into_a_convolution_only_with_its_value(word: str, value: int) -> None:
    chain = chosen(around_convolutions(WEAVE), "pad_conv", pads=word)
    case, data = with_case(chain)
    x, pads = data["X"], [0, 0, 0, 0] if word != "value_and_own_pads" else [1, 1, 1, 1]
    names = chain.links[1].inputs
    w, b = data[names[1]], data[names[2]]
    padded = np.pad(x, [(0, 0), (0, 0), (1, 2), (2, 1)], constant_values=value).astype(F)
    for order in ORDERS:
        assert passes(case, convolve(padded, w, order, pads=pads) + b[:, None, None])
    # What a program does that moves the pads into the convolution, or asks for the wrong value.
    moved = [1 + pads[0], 2 + pads[1], 2 + pads[2], 1 + pads[3]]
    assert passes(case, convolve(x, w, ORDERS[0], pads=moved) + b[:, None, None]) is (value == 0)
    other = np.pad(x, [(0, 0), (0, 0), (1, 2), (2, 1)], constant_values=value + 1).astype(F)
    assert not passes(case, convolve(other, w, ORDERS[0], pads=pads) + b[:, None, None])


def test_a_bias_before_a_convolution_is_not_there_in_its_border() -> None:
    chain = chosen(around_convolutions(WEAVE), "add_conv", pads="1")
    case, data = with_case(chain)
    x, a, w, b = (data[name] for name in ("X", "C1", "C2", "C3"))
    assert passes(case, convolve(x + a, w, ORDERS[2], pads=[1] * 4) + b[:, None, None])
    folded = b + (w * a).sum((1, 2, 3))
    assert not passes(case, convolve(x, w, ORDERS[2], pads=[1] * 4) + folded[:, None, None])


@pytest.mark.parametrize("shape", ["columns", "rows", "full", "scalar"])
def test_a_product_with_a_bias(shape: str) -> None:
    chain = chosen(around_products(WEAVE), "matmul_add", bias=shape, first="product")
    case, data = with_case(chain)
    x, w, bias = data["X"], data["C1"], data["C2"]
    start = np.broadcast_to(bias, (4, 4))
    for order in ORDERS:
        assert passes(case, multiply(x, w, order) + bias)
        # Fused, the sum begins with the bias.
        terms = np.concatenate([start[..., None], x[:, None, :] * w.T[None]], -1)
        assert passes(case, order(terms.astype(F)))
    assert not passes(case, multiply(x, w, ORDERS[0]))
    if shape == "rows":
        assert not passes(case, multiply(x, w, ORDERS[0]) + bias.T)


@pytest.mark.parametrize("turned", ["left", "right", "both"])
def test_only_the_factor_that_is_turned_is_turned(turned: str) -> None:
    chain = chosen(around_products(WEAVE), "transpose_matmul", turned=turned, right="given", perm="1 0")
    case, data = with_case(chain)
    x, y = data["X"], data["X2"]
    right = {"left": (x.T, y), "right": (x, y.T), "both": (x.T, y.T)}
    for name, (one, other) in right.items():
        for order in ORDERS:
            assert passes(case, multiply(one, other, order)) is (name == turned)


@pytest.mark.parametrize("data_class", ["plain", "real"])
@pytest.mark.parametrize("square", ["Pow", "Mul"])
def test_a_normalization_that_is_written_out(data_class: str, square: str) -> None:
    chain = chosen(around_normalizations(WEAVE), "layer_norm_written_out", data=data_class, square=square)
    case, data = with_case(chain)
    x = data["X"]
    scale, bias = data[chain.spelled[0].inputs[1]], data[chain.spelled[0].inputs[2]]
    epsilon = F(11.0 if data_class == "plain" else 2.0**-16)
    for order in ORDERS:
        mean = (order(x) / F(4))[..., None]
        apart = (x - mean).astype(F)
        variance = (order(apart * apart) / F(4))[..., None]
        root = np.sqrt(variance + epsilon)
        assert passes(case, apart / root * scale + bias)
        assert passes(case, apart * (F(1) / root) * scale + bias)
        assert not passes(case, apart / root * scale)
        assert not passes(case, apart / root * (scale + bias))
        assert data_class == "real" or not passes(case, apart / (np.sqrt(variance) + epsilon) * scale + bias)
        three = (order(apart * apart) / F(3))[..., None]
        assert not passes(case, apart / np.sqrt(three + epsilon) * scale + bias)


def test_what_looks_like_a_normalization_is_none() -> None:
    case, data = with_case(chosen(around_normalizations(WEAVE), "epsilon_beside_root"))
    apart = data["X"] - data["X"].mean(-1, keepdims=True)
    variance = (apart * apart).mean(-1, keepdims=True)
    assert passes(case, apart / (np.sqrt(variance + 11) + 4))
    assert not passes(case, apart / np.sqrt(variance + 11))
    assert not passes(case, apart / np.sqrt(variance + 15))


@pytest.mark.parametrize("bias", ["added", "none"])
def test_gelu_that_is_written_out(bias: str) -> None:
    chain = chosen(around_normalizations(WEAVE), "gelu_written_out", half="half_last", bias=bias)
    case, data = with_case(chain)
    x = data["X"] if bias == "none" else (data["X"] + data["C1"]).astype(F)
    erf = np.vectorize(math.erf, otypes=[np.float64])

    def gelu(root: float, half: float = 0.5) -> Array:
        grown = (F(1) + erf((x / F(root)).astype(F)).astype(F)).astype(F)
        found: Array = ((x * grown).astype(F) * F(half)).astype(F)
        return found

    assert passes(case, gelu(math.sqrt(2)))
    grown = (F(1) + erf((x * F(math.sqrt(0.5))).astype(F)).astype(F)).astype(F)
    assert passes(case, (x * F(0.5)).astype(F) * grown)
    assert passes(case, (0.5 * x.astype(np.float64) * (1 + erf(x / math.sqrt(2)))).astype(F))
    approximate = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    for wrong in (approximate, gelu(2), gelu(1), gelu(math.sqrt(2), 1.0), np.maximum(x, 0)):
        assert not passes(case, wrong)


def test_quantised_and_back_is_not_nothing() -> None:
    chain = chosen(quantisation.chains(WEAVE), "quantise_dequantise", zero="128", to="uint8")
    case, data = with_case(chain)
    x = data["X"]
    assert passes(case, (np.clip(np.rint(x / 0.5) + 128, 0, 255) - 128) * 0.5)
    assert not passes(case, x)
    assert not passes(case, np.rint(x / 0.5) * 0.5)
    assert not passes(case, (np.clip(np.trunc(x / 0.5) + 128, 0, 255) - 128) * 0.5)


@pytest.mark.parametrize("pads", ["0", "1"])
def test_a_quantised_convolution(pads: str) -> None:
    chain = chosen(quantisation.chains(WEAVE), "quantised_conv", zero="128", weight_zero="0",
                   bias="given", pads=pads)  # fmt: skip
    case, data = with_case(chain)
    x, w = (
        data["X"].astype(np.int64),
        next(each for each in data.values() if each.ndim == 4 and len(each) == 3),
    )
    b = next(each for each in data.values() if each.shape == (3,))
    around = [int(pads)] * 4

    def fused(zero: int = 128, bias: Array = b, filler: int = 0) -> Array:
        shifted = (x - zero).astype(F)
        if pads == "1":
            shifted = np.pad(shifted, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=filler)
        sums = convolve(shifted, w.astype(F), ORDERS[0])
        whole = sums * F(0.5 * 0.25 / 4.0) + bias[:, None, None] / F(4.0)
        found: Array = np.clip(np.rint(whole) + 60, 0, 255)
        return found

    real = convolve(((x - 128) * 0.5).astype(F), (w * 0.25).astype(F), ORDERS[1], pads=around)
    assert passes(case, np.clip(np.rint((real + b[:, None, None]) / 4) + 60, 0, 255))
    assert passes(case, fused())
    assert not passes(case, fused(zero=0))
    assert not passes(case, fused(bias=np.zeros(3, F)))
    if pads == "1":
        assert not passes(case, fused(filler=-128))


def test_halves_become_even_before_the_zero_point_is_added() -> None:
    case, data = with_case(chosen(quantisation.chains(WEAVE), "halves_back", zero="3"))
    x = data["X"]
    assert passes(case, (np.clip(np.rint(x / 0.5) + 3, 0, 255) - 3) * 0.5)
    assert not passes(case, (np.clip(np.rint(x / 0.5 + 3), 0, 255) - 3) * 0.5)


def test_casts_are_not_shortened() -> None:
    case, data = with_case(chosen(around_casts(WEAVE), "cast_cast", types="float int32 float"))
    x = data["X"]
    assert passes(case, np.trunc(x))
    assert passes(case, np.floor(x)), "how a number becomes an integer is open"
    assert not passes(case, x)
    case, data = with_case(chosen(around_casts(WEAVE), "cast_cast", types="int32 float int32"))
    assert passes(case, data["X"].astype(F).astype(np.int64))
    assert not passes(case, data["X"])
    case, data = with_case(chosen(around_casts(WEAVE), "cast_cast", types="float float16 float"))
    with np.errstate(over="ignore"):
        assert passes(case, data["X"].astype(np.float16).astype(F))
    assert not passes(case, data["X"])


@pytest.mark.parametrize("pieces", ["swapped", "gap", "overlapping", "twice", "inner"])
def test_slices_together_are_not_the_whole(pieces: str) -> None:
    case, data = with_case(chosen(around_movement(WEAVE), "slice_concat", pieces=pieces, axis="1"))
    x = data["X"]
    expected = case.expectations[0].outputs[0].expected
    assert expected.shape != x.shape or not passes(case, x)
    assert passes(case, expected.array)
    whole, data = with_case(chosen(around_movement(WEAVE), "slice_concat", pieces="whole", axis="1"))
    assert passes(whole, data["X"])


def test_a_zero_of_a_shape_copies_what_stands_between() -> None:
    case, data = with_case(chosen(around_movement(WEAVE), "reshape_reshape", shapes="(6, 4) (0, 2, 2)"))
    x = data["X"]
    assert passes(case, x.reshape(6, 2, 2))
    assert not passes(case, x.reshape(2, 6, 2))


def test_constants_fold_in_their_own_type() -> None:
    case, _ = with_case(chosen(around_constants(WEAVE), "folded_cast"))
    assert passes(case, np.array([16777216, 4], F))
    case, _ = with_case(chosen(around_constants(WEAVE), "folded_division"))
    assert passes(case, np.array([6, 8, 3]))
    assert not passes(case, np.array([7, 9, 5]))


def test_nothing_is_lost_of_numbers_that_are_none() -> None:
    case, data = with_case(chosen(around_constants(WEAVE), "neg_mul_zero"))
    with np.errstate(invalid="ignore"):
        right = (-data["X"] * F(0)).reshape(2, 4)
    assert passes(case, right)
    assert not passes(case, np.zeros((2, 4), F))
    case, data = with_case(chosen(around_constants(WEAVE), "neg_sub_itself"))
    assert not passes(case, np.zeros(8, F))


def test_the_sign_of_a_zero_is_open() -> None:
    case, data = with_case(chosen(around_constants(WEAVE), "neg_add_zero"))
    assert passes(case, (-data["X"] + F(0)).reshape(2, 4))
    assert passes(case, (-data["X"]).reshape(2, 4)), "no document says which zero it is"

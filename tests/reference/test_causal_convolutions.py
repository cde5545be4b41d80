"""CausalConvWithState against plain loops with mpmath, onnx's own evaluator, and programs that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from onnx.helper import make_node
from onnx.reference import ReferenceEvaluator

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.registry import find_operator
from tests.reference.loops import indices
from tests.reference.test_number_arrays import accepted

Arrays = dict[str, Any]


def drawn(random: Random, *, given: bool | None = None) -> Arrays:
    """Arrays of one call with integers in halves, so that every sum of products is exact in float32."""
    batch, channels, length, reach = (random.randint(1, most) for most in (2, 3, 6, 5))
    shapes: dict[str, tuple[int, ...]] = {"input": (batch, channels, length), "weight": (channels, 1, reach)}
    if random.random() < 0.5:
        shapes["bias"] = (channels,)
    if given or (given is None and random.random() < 0.5):
        shapes["past_state"] = (batch, channels, reach - 1)
    return {
        name: np.array([random.randint(-6, 6) / 2 for _ in indices(shape)], np.float32).reshape(shape)
        for name, shape in shapes.items()
    }


def asked(given: Arrays, activation: str, name: str = "float", **readings: str) -> tuple[Answer, ...]:
    reference = find_operator(OperatorName("ai.onnx", "CausalConvWithState", 27))
    tensors = {each: tensor(array, name) for each, array in given.items()}
    return reference.evaluate({"activation": activation}, tensors, readings)


def sums(given: Arrays) -> Any:
    """The sum for each place by its definition: what lies before the first place is the state, or zero."""
    data, weight = given["input"], given["weight"]
    reach = weight.shape[2]
    found = np.zeros(data.shape)
    for image, channel, place in indices(data.shape):
        for offset in range(reach):
            at = place - (reach - 1 - offset)
            before = (
                given["past_state"][image, channel, reach - 1 + at] if at < 0 and "past_state" in given else 0
            )
            one = data[image, channel, at] if at >= 0 else before
            found[image, channel, place] += float(weight[channel, 0, offset]) * float(one)
        if "bias" in given:
            found[image, channel, place] += float(given["bias"][channel])
    return found


def weighed(x: float) -> float:
    with mpmath.workprec(200):
        return float(mpmath.mpf(x) / (1 + mpmath.exp(-mpmath.mpf(x))))


def state(given: Arrays) -> Any:
    """The last places of the state, or zeros, and the input."""
    shape = given["input"].shape
    kept = given["weight"].shape[2] - 1
    found = np.zeros((*shape[:2], kept), np.float32)
    for image, channel, place in indices(found.shape):
        at = shape[2] - kept + place
        if at >= 0:
            found[image, channel, place] = given["input"][image, channel, at]
        elif "past_state" in given:
            found[image, channel, place] = given["past_state"][image, channel, kept + at]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["none", "silu", "swish"])
def test_the_definition(activation: str) -> None:
    random = Random(5)
    for _ in range(300):
        given = drawn(random)
        output, kept = asked(given, activation)
        wanted = sums(given)
        if activation != "none":
            wanted = np.vectorize(weighed, otypes=[float])(wanted)
        np.testing.assert_array_equal(output.expected.array, wanted.astype(np.float32))
        np.testing.assert_array_equal(kept.expected.array, state(given))
        assert kept.allowed is None or not kept.allowed.any()


@pytest.mark.slow
@pytest.mark.parametrize(("activation", "name"), [("none", "float"), ("silu", "float"), ("swish", "float16")])
def test_the_evaluator_of_onnx(activation: str, name: str) -> None:
    random = Random(6)
    for _ in range(300):
        typed = np.float16 if name == "float16" else np.float32
        given = {part: array.astype(typed) for part, array in drawn(random).items()}
        node = make_node(
            "CausalConvWithState",
            [part if part in given else "" for part in ("input", "weight", "bias", "past_state")],
            ["output", "present_state"],
            activation=activation,
        )
        wanted = ReferenceEvaluator(node).run(None, given)
        output, kept = asked(given, activation, name, accumulation_type="input")
        got_output, got_state = list(wanted)
        assert accepted(output, got_output).all()
        np.testing.assert_array_equal(kept.expected.array, got_state)


def float32(given: Arrays, activate: Callable[[Any], Any]) -> Any:
    """A program in float32: a sum from the last element of the kernel on, bias first."""
    data, weight = given["input"], given["weight"]
    reach = weight.shape[2]
    past = given.get("past_state", np.zeros((*data.shape[:2], reach - 1), np.float32))
    every = np.concatenate([past, data], axis=2)
    found = np.zeros_like(data) + given.get("bias", np.zeros(data.shape[1], np.float32))[:, None]
    for offset in reversed(range(reach)):
        found = found + weight[:, 0, offset, None] * every[:, :, offset : offset + data.shape[2]]
    return activate(found)


def as_written(x: Any) -> Any:
    return x * (np.float32(1) / (np.float32(1) + np.exp(-x)))


def as_quotient(x: Any) -> Any:
    return x / (np.float32(1) + np.exp(-x))


def by_tanh(x: Any) -> Any:
    return x * (np.float32(0.5) * (np.tanh(np.float32(0.5) * x) + np.float32(1)))


@pytest.mark.slow
@pytest.mark.parametrize("activate", [as_written, as_quotient])
def test_honest_programs_are_accepted(activate: Callable[[Any], Any]) -> None:
    """Among them those that make 0 of a sigmoid that is no normal number."""
    random = Random(7)
    for _ in range(300):
        given = drawn(random)
        for name in ("input", "weight", "bias"):
            if name in given:
                given[name] = (given[name] * np.float32(random.uniform(0.1, 4))).astype(np.float32)
        output, _ = asked(given, "silu", subnormals="flushed")
        with np.errstate(over="ignore"):
            assert accepted(output, float32(given, activate)).all()


def reversed_kernel(given: Arrays) -> Arrays:
    return given | {"weight": given["weight"][:, :, ::-1]}


def without_state(given: Arrays) -> Arrays:
    return {name: array for name, array in given.items() if name != "past_state"}


def state_turned(given: Arrays) -> Arrays:
    return given | {"past_state": given["past_state"][:, :, ::-1]}


@pytest.mark.parametrize("spoil", [reversed_kernel, without_state, state_turned])
def test_what_is_spoilt_is_refused(spoil: Callable[[Arrays], Arrays]) -> None:
    random = Random(8)
    refused = 0
    for _ in range(100):
        given = drawn(random, given=True)
        output, _ = asked(given, "none")
        refused += not accepted(output, float32(spoil(given), lambda x: x)).all()
    assert refused > 50


def test_a_sigmoid_with_an_absolute_error_is_refused() -> None:
    given: Arrays = {
        "input": np.array([[[-17, -9, -5]]], np.float32),
        "weight": np.ones((1, 1, 1), np.float32),
    }
    output, _ = asked(given, "silu")
    assert not accepted(output, float32(given, by_tanh)).any()
    assert accepted(output, float32(given, as_written)).all()

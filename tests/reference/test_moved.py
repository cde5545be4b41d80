"""What may become of subnormal numbers and zeros that are moved, and of integers between two axes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from conformance.judging.output_comparison import compare_output
from generator.asking.calls import Call
from generator.asking.expectations import expect, expected_output
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.readings.choices import Choice
from reference.registry import find_operator
from reference.shared.movement import moved
from specs.files.library import load_spec
from tests.reference import resize_by_loops
from tests.reference.resize_calls import single
from tests.reference.test_resize_types import floats, resize

INF = math.inf
MOVERS: dict[str, dict[str, Any]] = {
    "ai.onnx::CenterCropPad-18": {"shape": tensor([4], "int64")},
    "com.microsoft::Pad-1": {"pads": tensor([0, 0], "int64")},
    "ai.onnx::Resize-19": {"scales": tensor([1.0], "float")},
    "ai.onnx::Resize-10": {"scales": tensor([1.0], "float")},
}


def handled(X: Tensor, subnormals: Any, negative_zeros: Any) -> Answer:
    return moved(X, Choice(subnormals), Choice(negative_zeros))


def accepts(answer: Any, got: Tensor) -> bool:
    return compare_output(expected_output("Y", answer), got).difference is None


@pytest.mark.parametrize("name", ["float", "double", "float16", "bfloat16", "complex64", "complex128"])
def test_what_may_be_lost_of_moved_elements(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    part = kind.component
    unsigned = f"u{np.dtype(part.storage).itemsize}"
    sign = 1 << (part.bits - 1)
    least_normal = 1 << (part.layout.precision - 1) if part.layout else 0
    bits = np.array([0, sign, 1, sign | (least_normal - 1), least_normal, sign | least_normal], unsigned)
    X = Tensor(kind, bits.view(part.storage).view(kind.storage))
    flushed, signless = bits.copy(), bits.copy()
    flushed[2], flushed[3] = 0, sign
    signless[1] = 0
    positive = flushed.copy()
    positive[3] = 0
    lost = Tensor(kind, signless.view(part.storage).view(kind.storage))
    zeros = [Tensor(kind, each.view(part.storage).view(kind.storage)) for each in (flushed, positive)]
    assert handled(X, "kept", "kept").expected == X
    strict = handled(X, "kept", "kept")
    assert accepts(strict, X)
    assert not any(accepts(strict, zero) for zero in (*zeros, lost))
    assert handled(X, "flushed", "kept").expected == zeros[0]
    assert all(accepts(handled(X, "flushed", "kept"), zero) for zero in zeros)
    # What is flushed in one input may be kept in another.
    some = flushed.copy()
    some[3] = bits[3]
    assert accepts(handled(X, "flushed", "kept"), X)
    assert accepts(handled(X, "flushed", "kept"), Tensor(kind, some.view(part.storage).view(kind.storage)))
    assert handled(X, "kept", "lost").expected == lost
    assert accepts(handled(X, "kept", "lost"), X)
    assert not any(accepts(handled(X, "kept", "lost"), zero) for zero in zeros)
    assert all(accepts(handled(X, "flushed", "lost"), zero) for zero in zeros)
    # The least normal number is no subnormal one, and another number is no zero.
    wrong = Tensor(
        kind, np.where(bits == least_normal, 0, bits).astype(unsigned).view(part.storage).view(kind.storage)
    )
    assert not accepts(handled(X, "flushed", "lost"), wrong)


@pytest.mark.parametrize("operator", MOVERS)
def test_every_mover_says_what_it_leaves_open(operator: str) -> None:
    found = find_operator(OperatorName.parse(operator))
    tiny = float(np.finfo(np.float32).smallest_subnormal)
    X = tensor(np.array([1, -0.0, -tiny, 2], np.float32))
    inputs = {found.inputs[0]: X, **MOVERS[operator]}
    for behaviour, option, wanted, wrong in (
        ("subnormals", "flushed", [1, -0.0, -0.0, 2], -2 * tiny),
        ("negative_zeros", "lost", [1, 0.0, -tiny, 2], tiny),
    ):
        (answer,) = found.evaluate({}, inputs, {behaviour: option})
        assert answer.expected == tensor(np.array(wanted, np.float32))
        assert answer.alternatives is None
        assert not accepts(answer, tensor(np.array([1, 0.0, wrong, 2], np.float32)))
    call = Call({}, tuple(inputs.items()))
    expectations = expect(load_spec(found.operator), found, call)
    named = [expectation.behaviours for expectation in expectations]
    assert [each["subnormals"] for each in named] == [("kept",), ("kept",), ("flushed",), ("flushed",)]
    assert [each["negative_zeros"] for each in named] == [("kept",), ("lost",), ("kept",), ("lost",)]


def steps_by_loops(values: np.ndarray[Any, Any], scales: list[float], order: list[int]) -> list[int]:
    """Each axis exactly by itself, rounded to the nearest integer, halves upwards, after it."""
    shape, data = values.shape, [Fraction(int(each)) for each in values.reshape(-1)]
    for axis in order:
        call = resize_by_loops.Call(
            shape, tuple(data), (single(scales[axis]),), axes=(axis,), mode="linear", antialias=True
        )
        shape, exact = resize_by_loops.resize(call)
        data = [Fraction(math.floor(each + Fraction(1, 2))) for each in exact]
    return [int(number) for number in data]


@pytest.mark.parametrize(
    ("option", "order"), [("from_last_axis", [2, 1, 0]), ("from_first_axis", [0, 1, 2]), ("once", None)]
)
@pytest.mark.parametrize("name", ["uint8", "int32"])
def test_integers_may_be_rounded_between_axes(name: str, option: str, order: list[int] | None) -> None:
    values = np.array([[3, 9, 22, 7], [5, 100, 31, 2], [8, 77, 1, 4], [6, 13, 50, 9]], np.int64).reshape(
        2, 2, 4
    )
    scales = [1.0, 0.5, 0.5]
    answer = resize(
        tensor(values, name),
        scales=scales,
        mode="linear",
        antialias=1,
        readings={"integer_conversion": "half_up", "integer_steps": option},
    )
    exact = resize_by_loops.resize(
        resize_by_loops.Call(
            values.shape,
            tuple(map(int, values.reshape(-1))),
            tuple(map(single, scales)),
            mode="linear",
            antialias=True,
        )
    )[1]
    once = [math.floor(each + Fraction(1, 2)) for each in exact]
    wanted = once if order is None else steps_by_loops(values, scales, order)
    assert answer.expected.array.reshape(-1).tolist() == wanted
    assert answer.alternatives is None
    if order is not None:
        assert wanted != once


def test_integers_have_steps_with_a_filter_alone() -> None:
    x = tensor(np.arange(64).reshape(4, 4, 4) ** 2 % 251, "uint8")
    for antialias, same in ((0, True), (1, False)):
        once, steps = (
            resize(
                x,
                scales=[0.5, 0.5, 0.5],
                mode="cubic",
                antialias=antialias,
                readings={"integer_conversion": "half_up", "integer_steps": each},
            )
            for each in ("once", "from_first_axis")
        )
        assert (once.expected == steps.expected) is same


def test_one_axis_has_no_steps() -> None:
    x = tensor([[3, 9, 22, 7]], "uint8")
    answers = [
        resize(x, scales=[1.0, 0.5], mode="linear", readings={"integer_steps": each})
        for each in ("once", "from_last_axis", "from_first_axis")
    ]
    assert answers[0].expected == answers[1].expected == answers[2].expected


def test_an_integer_in_doubt_between_axes_leaves_what_follows_in_doubt() -> None:
    # Every other exact result ends in one half, which float32 may come to lie beside.
    values = np.array([[0, 15], [0, 15]])
    answer = resize(
        tensor(values, "uint8"),
        sizes=[3, 31],
        mode="linear",
        antialias=1,
        coordinate_transformation_mode="align_corners",
        readings={"integer_conversion": "half_up", "integer_steps": "from_last_axis"},
    )
    assert answer.expected.array[1].tolist() == [(index + 1) // 2 for index in range(31)]
    assert answer.alternatives is not None
    assert all(31 + index in answer.alternatives for index in answer.alternatives if index < 31)


@pytest.mark.parametrize(
    "readings",
    [{"integer_conversion": "truncate"}, {"integer_conversion": "half_up", "integer_overflow": "wrap"}],
)
def test_nobody_truncates_or_wraps_between_axes(readings: dict[str, str]) -> None:
    x = tensor([[3, 9, 22, 7], [5, 100, 31, 2]], "uint8")
    call: dict[str, Any] = {"scales": [0.5, 0.5], "mode": "linear", "antialias": 1}
    once, steps = (
        resize(x, readings=readings | {"integer_steps": each}, **call) for each in ("once", "from_last_axis")
    )
    assert once.expected == steps.expected


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_axes_that_are_not_listed_may_be_weighed(mode: str) -> None:
    X = Tensor(ELEMENT_TYPES["float"], floats(0, 0, 0, -INF).array.reshape(2, 2))
    call: dict[str, Any] = {"axes": (0,), "sizes": [1], "mode": mode, "version": 19}
    alone = resize(X, **call)
    assert alone.expected.array.tolist() == [[0.0, -INF]]
    assert 0 not in (alone.alternatives or {})
    weighed = resize(X, readings={"unlisted_axes": "weighed"}, **call)
    assert weighed.expected.array.tolist() == [[0.0, -INF]]
    assert [math.isnan(alternative) for alternative in (weighed.alternatives or {})[0]] == [True]
    finite = Tensor(ELEMENT_TYPES["float"], floats(0, 0, 0, 1).array.reshape(2, 2))
    plain = [resize(finite, readings={"unlisted_axes": each}, **call) for each in ("untouched", "weighed")]
    assert plain[0].expected == plain[1].expected
    assert plain[1].alternatives is None

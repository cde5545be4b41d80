"""QLinear operators of com.microsoft against fractions of Python, and planted faults."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.registry import find_operator

Array = NDArray[Any]
Exact = Callable[..., Array]
"""What a call comes to in steps of the output, before it is rounded: fractions, or double."""
draw = np.random.default_rng(2046)
NEAR = Fraction(1, 10**4)
"""Part of a step: as near to a tie either integer is as good, of sums of few numbers in float32."""


@dataclass(frozen=True)
class Quantised:
    """A call, what it comes to in fractions, and what programs with a mistake come to."""

    name: str
    inputs: Mapping[str, Array]
    exact: Exact
    output: tuple[str, str]
    faults: Mapping[str, Exact]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def answer(self) -> Answer:
        operator = find_operator(OperatorName("com.microsoft", self.name, 1))
        given = {name: tensor(array) for name, array in self.inputs.items()}
        return operator.evaluate(self.attributes, given)[0]

    def worked_out(self, exact: Exact) -> tuple[Array, Array]:
        """The integers of a program, and where the other neighbour is as good."""
        scale, zero = (self.inputs.get(name) for name in self.output)
        assert scale is not None
        first = next(array for array in self.inputs.values() if array.dtype in (np.uint8, np.int8))
        info = np.iinfo(first.dtype)
        given = {"data_" if name == "data" else name: array for name, array in self.inputs.items()}
        real = np.asarray(exact(**given, **self.attributes), dtype=object)
        quotients = [Fraction(each) / Fraction(float(scale)) for each in real.reshape(-1)]
        shift = 0 if zero is None else int(zero)
        whole = [min(max(round(each) + shift, int(info.min)), int(info.max)) for each in quotients]
        near = [abs(each % 1 - Fraction(1, 2)) < NEAR for each in quotients]
        return np.array(whole).reshape(real.shape), np.array(near).reshape(real.shape)


def real(steps: Array, scale: Array, zero: Array | None = None) -> Array:
    """The numbers that steps stand for, as fractions."""
    shift = 0 if zero is None else int(zero)
    listed = [(int(each) - shift) * Fraction(float(scale)) for each in steps.reshape(-1)]
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found.reshape(steps.shape)


def mapped(function: Callable[[Any], Any], numbers: Array) -> Array:
    found = np.empty(numbers.size, dtype=object)
    found[:] = [function(number) for number in numbers.reshape(-1)]
    return found.reshape(numbers.shape)


def steps(kind: str, *shape: int) -> Array:
    info = np.iinfo(kind)
    return draw.integers(info.min, info.max + 1, shape, dtype=kind)


def scale(number: float) -> Array:
    return np.array(number, dtype=np.float32)


def zero(kind: str, number: int) -> Array:
    return np.array(number, dtype=kind)


def sum_of(A: Array, B: Array, C_scale: Array, **given: Array) -> Array:
    first = real(A, given["A_scale"], given.get("A_zero_point"))
    second = real(B, given["B_scale"], given.get("B_zero_point"))
    return np.asarray(first + second)


def product_of(A: Array, B: Array, C_scale: Array, **given: Array) -> Array:
    first = real(A, given["A_scale"], given.get("A_zero_point"))
    return np.asarray(first * real(B, given["B_scale"], given.get("B_zero_point")))


def without(*names: str, of: Exact) -> Exact:
    return lambda **given: of(**{name: value for name, value in given.items() if name not in names})


def instead(of: Exact, **other: Any) -> Exact:
    return lambda **given: of(**given | other)


def of_two(name: str, kind: str, exact: Exact, step: float) -> Quantised:
    inputs = {
        "A": steps(kind, 3, 1, 17),
        "A_scale": scale(0.37),
        "A_zero_point": zero(kind, 37),
        "B": steps(kind, 4, 1),
        "B_scale": scale(0.71),
        "B_zero_point": zero(kind, 29),
        "C_scale": scale(step),
        "C_zero_point": zero(kind, 33),
    }
    faults = {
        "no zero point of A": without("A_zero_point", of=exact),
        "no zero point of B": without("B_zero_point", of=exact),
        "scales exchanged": lambda **given: exact(
            **given | {"A_scale": given["B_scale"], "B_scale": given["B_scale"]}
        ),
    }
    return Quantised(name, inputs, exact, ("C_scale", "C_zero_point"), faults)


def sigmoid(X: Array, X_scale: Array, X_zero_point: Array | None = None, **_: Array) -> Array:
    return mapped(lambda x: Fraction(1 / (1 + math.exp(-x))), real(X, X_scale, X_zero_point))


def leaky(
    X: Array, X_scale: Array, X_zero_point: Array | None = None, alpha: float = 0.01, **_: Array
) -> Array:
    slope = Fraction(float(np.float32(alpha)))
    return mapped(lambda x: x if x >= 0 else x * slope, real(X, X_scale, X_zero_point))


def softmax(
    X: Array, X_scale: Array, x_zero_point: Array | None = None, axis: int = -1, opset: int = 13, **_: Array
) -> Array:
    numbers = real(X, X_scale, x_zero_point)
    shape = numbers.shape
    if opset < 13:
        lead = math.prod(shape[: axis % len(shape)])
        numbers, axis = numbers.reshape((lead, -1)), 1
    powers = mapped(lambda x: math.exp(x), numbers).astype(np.float64)
    return mapped(Fraction, powers / powers.sum(axis, keepdims=True)).reshape(shape)


def chosen(condition: Array, X: Array, Y: Array, **given: Array) -> Array:
    first = real(X, given["x_scale"], given["x_zero_point"])
    return np.where(condition, first, real(Y, given["y_scale"], given["y_zero_point"]))


def mean(
    data_: Array,
    data_scale: Array,
    data_zero_point: Array | None = None,
    *,
    axes: Sequence[int],
    keepdims: int = 1,
    **_: Array,
) -> Array:
    numbers = real(data_, data_scale, data_zero_point)
    count = math.prod(numbers.shape[axis] for axis in axes)
    return np.asarray(numbers.sum(axis=tuple(axes), keepdims=bool(keepdims)) / Fraction(count))


def pooled(
    X: Array,
    x_scale: Array,
    x_zero_point: Array | None = None,
    *,
    kernel_shape: Sequence[int],
    pads: Sequence[int] = (0, 0, 0, 0),
    strides: Sequence[int] = (1, 1),
    count_include_pad: int = 0,
    channels_last: int = 0,
    padding: int = 0,
    **_: Array,
) -> Array:
    """Window by window, of two spatial axes."""
    numbers = real(X, x_scale, x_zero_point)
    numbers = np.moveaxis(numbers, -1, 1) if channels_last else numbers
    *lead, high, wide = numbers.shape
    rows, columns = (
        range(-pads[at], extent + pads[at + 2] - kernel_shape[at] + 1, strides[at])
        for at, extent in enumerate((high, wide))
    )
    found = np.empty((*lead, len(rows), len(columns)), dtype=object)
    for (at, top), (to, left) in product(enumerate(rows), enumerate(columns)):
        window = numbers[..., max(top, 0) : top + kernel_shape[0], max(left, 0) : left + kernel_shape[1]]
        inside, whole = math.prod(window.shape[-2:]), math.prod(kernel_shape)
        added = window.sum(axis=(-2, -1)) + padding * (whole - inside)
        found[..., at, to] = added / Fraction(whole if count_include_pad else inside)
    return np.moveaxis(found, 1, -1) if channels_last else found


def pooled_globally(X: Array, channels_last: int = 0, **given: Any) -> Array:
    shape = X.shape[1:-1] if channels_last else X.shape[2:]
    return pooled(X, kernel_shape=shape, channels_last=channels_last, **given)


def one_input(name: str, x: str, y: str, kind: str, sizes: tuple[float, float]) -> dict[str, Array]:
    return {
        f"{x}_scale": scale(sizes[0]),
        f"{name}_zero_point": zero(kind, 37),
        f"{y}_scale": scale(sizes[1]),
        f"{y}_zero_point": zero(kind, 20),
    }


def asked() -> Iterator[Quantised]:
    for kind in ("uint8", "int8"):
        yield of_two("QLinearAdd", kind, sum_of, 0.9171)
        yield of_two("QLinearMul", kind, product_of, 61.5)
        whole = np.arange(*((0, 256) if kind == "uint8" else (-128, 128)), dtype=kind).reshape(16, 16)
        ends = ("Y_scale", "Y_zero_point")
        yield Quantised(
            "QLinearSigmoid",
            {"X": whole, **one_input("X", "X", "Y", kind, (0.071, 0.0051))},
            sigmoid,
            ends,
            {"no zero point": without("X_zero_point", of=sigmoid)},
        )
        yield Quantised(
            "QLinearLeakyRelu",
            {"X": whole, **one_input("X", "X", "Y", kind, (0.371, 0.513))},
            leaky,
            ends,
            {"no slope": instead(leaky, alpha=1.0), "a slope of 0.01": without("alpha", of=leaky)},
            {"alpha": 0.3},
        )
        for opset, axis in ((13, 1), (13, -1), (12, 1)):
            yield Quantised(
                "QLinearSoftmax",
                {"X": steps(kind, 2, 5, 3), **one_input("x", "X", "y", kind, (0.0371, 0.0031))},
                softmax,
                ("y_scale", "y_zero_point"),
                {"the other axis": instead(softmax, axis=0), "one scale": instead(softmax, X_scale=scale(1))},
                {"axis": axis, "opset": opset},
            )
        yield Quantised(
            "QLinearWhere",
            {
                "condition": draw.integers(0, 2, (3, 1, 7)).astype(np.bool_),
                "X": steps(kind, 5, 1),
                "x_scale": scale(0.37),
                "x_zero_point": zero(kind, 37),
                "Y": steps(kind, 3, 5, 7),
                "y_scale": scale(0.71),
                "y_zero_point": zero(kind, 29),
                "z_scale": scale(0.4171),
                "z_zero_point": zero(kind, 33),
            },
            chosen,
            ("z_scale", "z_zero_point"),
            {
                "the others": lambda condition, **given: chosen(~condition, **given),
                "one scale": lambda **given: chosen(**given | {"y_scale": given["x_scale"]}),
            },
        )
        for axes, keepdims in (((1,), 1), ((0, 2), 0)):
            yield Quantised(
                "QLinearReduceMean",
                {"data": steps(kind, 3, 5, 4), **one_input("data", "data", "reduced", kind, (0.37, 0.117))},
                mean,
                ("reduced_scale", "reduced_zero_point"),
                {"other axes": instead(mean, axes=(2,) if keepdims else (0, 1))},
                {"axes": axes, "keepdims": keepdims},
            )
        for last, counted in product((0, 1), (0, 1)):
            yield Quantised(
                "QLinearAveragePool",
                {"X": steps(kind, 2, 5, 6, 4), **one_input("x", "x", "y", kind, (0.37, 0.317))},
                pooled,
                ("y_scale", "y_zero_point"),
                {
                    "padding counts or not": instead(pooled, count_include_pad=1 - counted),
                    "no zero point": without("x_zero_point", of=pooled),
                    **({"padding of steps": instead(pooled, padding=-13)} if counted else {}),
                },
                {
                    "kernel_shape": (3, 2),
                    "pads": (1, 0, 1, 1),
                    "strides": (2, 1),
                    "count_include_pad": counted,
                    "channels_last": last,
                },
            )
        for last in (0, 1):
            yield Quantised(
                "QLinearGlobalAveragePool",
                {"X": steps(kind, 2, 3, 3, 4), **one_input("x", "x", "y", kind, (0.37, 0.417))},
                pooled_globally,
                ("y_scale", "y_zero_point"),
                {"the other layout": instead(pooled_globally, channels_last=1 - last)},
                {"channels_last": last},
            )


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_tensors_of_other_steps_are_joined(kind: str, axis: int) -> None:
    lengths = (4, 1, 3)
    parts = [steps(kind, *((length, 3) if axis == 0 else (3, length))) for length in lengths]
    scales = [scale(number) for number in (0.37, 0.25, 0.71)]
    zeros = [zero(kind, number) for number in (37, 0, 29)]
    triples = zip(parts, scales, zeros, strict=True)
    inputs = tuple(tensor(array) for triple in triples for array in triple)
    own, shift = scale(0.4171), zero(kind, 33)
    operator = find_operator(OperatorName("com.microsoft", "QLinearConcat", 1))
    given: dict[str, Any] = {"Y_scale": tensor(own), "Y_zero_point": tensor(shift), "inputs": inputs}
    answer = operator.evaluate({"axis": axis}, given)[0]
    info = np.iinfo(kind)

    def joined(order: Sequence[int]) -> Array:
        numbers = [real(parts[at], scales[to], zeros[to]) for at, to in enumerate(order)]
        exact = np.concatenate(numbers, axis) / Fraction(float(own))
        whole = mapped(lambda each: min(max(round(each) + 33, int(info.min)), int(info.max)), exact)
        return whole.astype(np.int64)

    assert outside(answer, joined((0, 1, 2))) == 0
    assert answer.allowed is not None
    assert np.count_nonzero(answer.allowed) <= 1
    for wrong in ((0, 0, 0), (2, 1, 0)):
        assert outside(answer, joined(wrong))


def outside(answer: Answer, found: Array) -> int:
    """How many elements no honest program has."""
    expected = answer.expected.array.astype(np.int64)
    if expected.shape != found.shape:
        return max(expected.size, 1)
    allowed = np.zeros(expected.shape) if answer.allowed is None else answer.allowed
    return int(np.count_nonzero(np.abs(expected - found) > allowed))


@pytest.mark.parametrize("call", list(asked()), ids=lambda call: f"{call.name}-{dict(call.attributes)}")
def test_steps_are_those_of_fractions_and_faults_are_noticed(call: Quantised) -> None:
    answer, (found, near) = call.answer(), call.worked_out(call.exact)
    expected = answer.expected.array.astype(np.int64)
    assert expected.shape == found.shape
    assert not np.count_nonzero((expected != found) & ~near)
    assert answer.allowed is not None
    assert not np.count_nonzero((answer.allowed > 0) & ~near)
    assert np.count_nonzero(near) <= 2
    for what, program in call.faults.items():
        assert outside(answer, call.worked_out(program)[0]), what


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_numbers_become_steps_and_steps_numbers(kind: str, axis: int | None) -> None:
    """Of float32 along an axis: what a scale of the other axis or a zero point left out gives is told."""
    info, count = np.iinfo(kind), 5
    shape = () if axis is None else (count,)
    scales = draw.uniform(0.01, 0.4, shape).astype(np.float32)
    zeros = draw.integers(0, info.max // 2, shape).astype(kind)
    numbers = draw.normal(0, 30, (count, count)).astype(np.float32)
    along = (count, 1) if axis == 0 else (1, count)
    own, shifts = (np.broadcast_to(each.reshape(along if shape else ()), (5, 5)) for each in (scales, zeros))
    attributes = {} if axis is None else {"axis": axis}

    def whole(number: Any, step: Any, zero: Any) -> int:
        found = round(Fraction(float(number)) / Fraction(float(step))) + int(zero)
        return min(max(found, int(info.min)), int(info.max))

    given = {"x": numbers, "y_scale": scales, "y_zero_point": zeros}
    inputs = {name: tensor(array) for name, array in given.items()}
    forth = find_operator(OperatorName("com.microsoft", "QuantizeLinear", 1)).evaluate(attributes, inputs)[0]
    steps_of_it = np.vectorize(whole, otypes=[np.int64])(numbers, own, shifts)
    assert outside(forth, steps_of_it) == 0
    assert outside(forth, np.vectorize(whole, otypes=[np.int64])(numbers, own.T, shifts)) or axis is None
    assert outside(forth, np.vectorize(whole, otypes=[np.int64])(numbers, own, 0 * shifts))
    assert forth.allowed is not None
    assert np.count_nonzero(forth.allowed) <= 1
    given = {"x": forth.expected.array, "x_scale": scales, "x_zero_point": zeros}
    inputs = {name: tensor(array) for name, array in given.items()}
    back = find_operator(OperatorName("com.microsoft", "DequantizeLinear", 1)).evaluate(attributes, inputs)[0]
    apart = forth.expected.array.astype(np.int64) - shifts.astype(np.int64)
    np.testing.assert_array_equal(back.expected.array, (apart * own.astype(np.float64)).astype(np.float32))
    assert back.allowed is not None
    np.testing.assert_array_less(back.allowed, np.abs(back.expected.array) * 2.0**-23 + 1e-30)

"""QLinearMatMul and QLinearConv against loops over fractions, honest programs, and faulty ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from math import frexp
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.registry import find_operator
from tests.reference.windows_by_loops import some_sliding

Array = NDArray[Any]
F = np.float32
POWERS = (0.5, 0.25, 2.0, 1.0, 0.125)
ORDINARY = (0.0125, 0.3, 1.7, 0.07, 0.9)
RANGES = {"uint8": (0, 255), "int8": (-128, 127)}


@dataclass(frozen=True)
class Sum:
    """One element of the output: pairs of elements, and what belongs to them."""

    pairs: tuple[tuple[int, int], ...]
    zeros: tuple[int, int]
    scales: tuple[float, float]
    step: float
    zero: int
    kind: str
    bias: int = 0

    @property
    def distances(self) -> list[tuple[int, int]]:
        return [(one - self.zeros[0], other - self.zeros[1]) for one, other in self.pairs]

    @property
    def added(self) -> int:
        return sum(one * other for one, other in self.distances) + self.bias

    @property
    def exact(self) -> Fraction:
        return self.added * Fraction(self.scales[0]) * Fraction(self.scales[1]) / Fraction(self.step)


Program = Callable[[Sum], int]


def clamped(given: Sum, value: int) -> int:
    low, high = RANGES[given.kind]
    return min(max(value, low), high)


def finished(given: Sum, quotient: Any) -> int:
    return clamped(given, int(np.rint(quotient)) + given.zero)


def multiplied(given: Sum) -> int:
    return finished(given, F(given.added) * F(F(given.scales[0]) * F(given.scales[1]) / F(given.step)))


def by_reciprocal(given: Sum) -> int:
    one, other = map(F, given.scales)
    return finished(given, F(given.added) * F(one * F(other * F(F(1) / F(given.step)))))


def sum_scaled_first(given: Sum) -> int:
    one, other = map(F, given.scales)
    return finished(given, F(F(given.added) * F(one * other)) / F(given.step))


def dequantised(given: Sum, *, backwards: bool = False) -> int:
    one, other = map(F, given.scales)
    found = F(F(given.bias) * F(one * other))
    pairs = list(reversed(given.distances)) if backwards else given.distances
    for left, right in pairs:
        found = F(found + F(F(left) * one) * F(F(right) * other))
    return finished(given, F(found / F(given.step)))


def in_double(given: Sum) -> int:
    return finished(given, given.added * (given.scales[0] * given.scales[1] / given.step))


def fixed_point(given: Sum, *, twice: bool = False) -> int:
    """A multiplier of 31 bits and one rounding, halves to even; or rounded before the last shift as well."""
    fraction, power = frexp(given.scales[0] * given.scales[1] / given.step)
    product = given.added * round(fraction * 2**31)
    if not twice:
        return clamped(given, round(Fraction(product) / Fraction(2) ** (31 - power)) + given.zero)
    high = (product + (1 << 30)) >> 31
    shifted = Fraction(high) * Fraction(2) ** power
    whole = int(abs(shifted) + Fraction(1, 2))
    return clamped(given, (whole if shifted > 0 else -whole) + given.zero)


def wrapped(given: Sum) -> int:
    low, high = RANGES[given.kind]
    return (int(np.rint(float(given.exact))) + given.zero - low) % (high - low + 1) + low


def rounded(how: Callable[[Fraction], int], *, behind: bool = False) -> Program:
    def found(given: Sum) -> int:
        if behind:
            return clamped(given, how(given.exact + given.zero))
        return clamped(given, how(given.exact) + given.zero)

    return found


def changed(**more: Callable[[Sum], Any]) -> Program:
    def found(given: Sum) -> int:
        other = replace(given, **{name: each(given) for name, each in more.items()})
        return clamped(other, round(other.exact) + other.zero)

    return found


HONEST: dict[str, Program] = {
    "multiplied": multiplied,
    "by reciprocal": by_reciprocal,
    "sum scaled first": sum_scaled_first,
    "dequantised": dequantised,
    "dequantised backwards": lambda given: dequantised(given, backwards=True),
    "in double": in_double,
    "fixed point": fixed_point,
}
TIES: dict[str, Program] = {
    "halves up": rounded(lambda number: (2 * number + 1) // 2),
    "halves away": rounded(lambda number: int(abs(number) + Fraction(1, 2)) * (1 if number > 0 else -1)),
    "rounded behind the zero point": rounded(round, behind=True),
    "fixed point rounded twice": lambda given: fixed_point(given, twice=True),
}
FAULTS: dict[str, Program] = {
    "wrapped": wrapped,
    "truncated": rounded(lambda number: int(number)),
    "floored": rounded(lambda number: number // 1),
    "no zero point of the first": changed(zeros=lambda each: (0, each.zeros[1])),
    "no zero point of the second": changed(zeros=lambda each: (each.zeros[0], 0)),
    "no zero point of the output": changed(zero=lambda _: 0),
    "zero points exchanged": changed(zeros=lambda each: each.zeros[::-1]),
    "zero point of the output for the first": changed(zeros=lambda each: (each.zero, each.zeros[1])),
    "divided by a scale": changed(scales=lambda each: (1 / each.scales[0], each.scales[1])),
    "multiplied by the step": changed(step=lambda each: 1 / each.step),
    "the last pair left out": changed(pairs=lambda each: each.pairs[:-1]),
}
BIAS: dict[str, Program] = {
    "bias forgotten": changed(bias=lambda _: 0),
    "bias scaled once more": changed(bias=lambda each: round(each.bias * each.scales[0] * each.scales[1])),
    "bias in steps of the output": changed(bias=lambda each: round(each.bias * each.step)),
    "bias less the zero point": changed(bias=lambda each: each.bias - each.zeros[0]),
}


@dataclass(frozen=True)
class Case:
    """A call, and each element of its output by its place."""

    name: str
    version: int
    attributes: dict[str, Any]
    inputs: dict[str, Tensor]
    sums: dict[tuple[int, ...], Sum]

    @cached_property
    def answered(self) -> Answer:
        return self.answer()

    def answer(self, **reading: str) -> Answer:
        operator = find_operator(OperatorName("ai.onnx", self.name, self.version))
        return operator.evaluate(self.attributes, self.inputs, reading)[0]

    def wrong(self, program: Program, **reading: str) -> int:
        found = self.answer(**reading) if reading else self.answered
        assert found.allowed is not None
        return sum(
            abs(program(each) - int(found.expected.array[place])) > found.allowed[place]
            for place, each in self.sums.items()
        )


def drawn(random: Random, kind: str, shape: tuple[int, ...], zero: Array | None) -> Array:
    """Anywhere in the range, or a few steps from the zero point."""
    low, high = RANGES[kind]
    size = int(np.prod(shape))
    if zero is None:
        return np.array([random.randint(low, high) for _ in range(size)]).reshape(shape)
    near = np.array([random.randint(-3, 3) for _ in range(size)]).reshape(shape)
    return np.asarray(np.clip(near + zero, low, high))


def zeros_of(random: Random, kind: str, shape: tuple[int, ...]) -> Array:
    low, high = RANGES[kind]
    size = int(np.prod(shape))
    return np.array([(random.randint(low + 40, high - 40)) | 1 for _ in range(size)]).reshape(shape)


def scales_of(random: Random, shape: tuple[int, ...], *, powers: bool) -> Array:
    known = POWERS if powers else ORDINARY
    return np.array([random.choice(known) for _ in range(int(np.prod(shape)))], F).reshape(shape)


def step_of(random: Random, scales: tuple[Array, Array], *, powers: bool, near: bool, count: int) -> Any:
    unit = float(scales[0].max()) * float(scales[1].max())
    spread = 2 if near else 2 ** random.randint(6, 8) * max(count // 4, 1)
    return F(unit * spread * (1 if powers else 1.07))


def matrix_products(turns: int, *, powers: bool) -> Iterator[Case]:
    random = Random(f"matrices {powers}")
    for turn in range(turns):
        kinds = [random.choice(("uint8", "int8")) for _ in range(3)]
        lead = random.choice(((), (2,), (2, 3)))
        m, k, n = (random.randint(1, 5) for _ in range(3))
        shapes = {
            "a": random.choice(((), (1,))) if turn % 3 == 0 else (m,) if not lead else (*lead, m, 1),
            "b": random.choice(((), (1,))) if turn % 2 == 0 else (n,) if not lead else (*lead, 1, n),
        }
        scales = {name: scales_of(random, shape, powers=powers) for name, shape in shapes.items()}
        zeros = {name: zeros_of(random, kind, shapes[name]) for name, kind in zip("ab", kinds, strict=False)}
        spread_out = {
            name: np.broadcast_to(
                given[name].reshape((-1, 1))
                if name == "a" and not lead and given[name].ndim
                else given[name],
                (*lead, m, n),
            )
            for given, name in ((scales, "a"), (scales, "b"))
        }
        near = turn % 2 == 1
        wide = {
            "a": zeros["a"].reshape((-1, 1)) if zeros["a"].ndim == 1 and not lead else zeros["a"],
            "b": zeros["b"],
        }
        a = drawn(random, kinds[0], (*lead, m, k), wide["a"] if near else None)
        b = drawn(random, kinds[1], (*lead, k, n), wide["b"] if near else None)
        at_zero = {name: np.broadcast_to(wide[name], (*lead, m, n)) for name in "ab"}
        step = step_of(random, (scales["a"], scales["b"]), powers=powers, near=near, count=k)
        zero = int(zeros_of(random, kinds[2], ())[()])
        sums = {
            place: Sum(
                tuple((int(a[(*place[:-1], at)]), int(b[(*place[:-2], at, place[-1])])) for at in range(k)),
                (int(at_zero["a"][place]), int(at_zero["b"][place])),
                (float(spread_out["a"][place]), float(spread_out["b"][place])),
                float(step),
                zero,
                kinds[2],
            )
            for place in itertools.product(*map(range, (*lead, m, n)))
        }
        inputs = {
            "a": tensor(a, kinds[0]),
            "a_scale": tensor(scales["a"]),
            "a_zero_point": tensor(zeros["a"], kinds[0]),
            "b": tensor(b, kinds[1]),
            "b_scale": tensor(scales["b"]),
            "b_zero_point": tensor(zeros["b"], kinds[1]),
            "y_scale": tensor(np.array(step, F)),
            "y_zero_point": tensor(np.array(zero), kinds[2]),
        }
        yield Case("QLinearMatMul", random.choice((10, 21)), {}, inputs, sums)


def convolutions(turns: int, *, powers: bool) -> Iterator[Case]:
    random = Random(f"convolutions {powers}")
    for turn in range(turns):
        kinds = [random.choice(("uint8", "int8")) for _ in range(3)]
        sliding = some_sliding(random)
        group, channels, features = (random.randint(1, 2) for _ in range(3))
        x_shape = (random.randint(1, 2), group * channels, *sliding.extents)
        w_shape = (group * features, channels, *sliding.kernel)
        own: tuple[int, ...] = () if turn % 2 else (w_shape[0],)
        x_scale, w_scale = scales_of(random, (), powers=powers), scales_of(random, own, powers=powers)
        x_zero, w_zero = zeros_of(random, kinds[0], ()), zeros_of(random, kinds[1], own)
        by_filter = np.broadcast_to(w_zero, w_shape[:1])
        near = turn % 3 > 0
        x = drawn(random, kinds[0], x_shape, x_zero if near else None)
        shifted = by_filter.reshape((-1, *(1 for _ in w_shape[1:])))
        w = drawn(random, kinds[1], w_shape, shifted if near else None)
        count = int(np.prod(w_shape[1:]))
        step = step_of(random, (x_scale, w_scale), powers=powers, near=near, count=count)
        biases = [random.randint(-9, 9) * (1 if near else 500) | 1 for _ in range(w_shape[0])]
        zero = int(zeros_of(random, kinds[2], ())[()])
        sums = {}
        for sample, feature in itertools.product(range(x_shape[0]), range(w_shape[0])):
            first = feature // features * channels
            for output in itertools.product(*map(range, sliding.lengths)):
                pairs = [
                    (int(x[(sample, first + channel, *place)]), int(w[(feature, channel, *offset)]))
                    for channel in range(channels)
                    for offset, place, inside, _ in sliding.window(output)
                    if inside
                ]
                sums[(sample, feature, *output)] = Sum(
                    tuple(pairs),
                    (int(x_zero[()]), int(by_filter[feature])),
                    (float(x_scale), float(np.broadcast_to(w_scale, w_shape[:1])[feature])),
                    float(step),
                    zero,
                    kinds[2],
                    biases[feature],
                )
        inputs = {
            "x": tensor(x, kinds[0]),
            "x_scale": tensor(x_scale),
            "x_zero_point": tensor(x_zero, kinds[0]),
            "w": tensor(w, kinds[1]),
            "w_scale": tensor(w_scale),
            "w_zero_point": tensor(w_zero, kinds[1]),
            "y_scale": tensor(np.array(step, F)),
            "y_zero_point": tensor(np.array(zero), kinds[2]),
            "B": tensor(np.array(biases), "int32"),
        }
        yield Case("QLinearConv", 10, {**sliding.attributes, "group": group}, inputs, sums)


@cache
def cases_of(which: str, powers: bool) -> tuple[Case, ...]:
    if which == "matrices":
        return tuple(matrix_products(60, powers=powers))
    return tuple(convolutions(40, powers=powers))


CASES = ("matrices", "convolutions")


@pytest.mark.parametrize("powers", [True, False], ids=["powers", "ordinary"])
@pytest.mark.parametrize("which", CASES)
def test_values_are_those_of_fractions(which: str, powers: bool) -> None:
    for case in cases_of(which, powers):
        found = case.answered
        assert found.expected.array.size == len(case.sums)
        assert case.wrong(lambda each: clamped(each, round(each.exact) + each.zero)) == 0
        for place, each in case.sums.items():
            assert int(found.expected.array[place]) == clamped(each, round(each.exact) + each.zero)


@pytest.mark.parametrize("powers", [True, False], ids=["powers", "ordinary"])
@pytest.mark.parametrize("which", CASES)
def test_honest_programs_are_accepted(which: str, powers: bool) -> None:
    for case in cases_of(which, powers):
        for name, program in HONEST.items():
            assert case.wrong(program) == 0, name


@pytest.mark.parametrize("which", CASES)
def test_faulty_programs_are_not(which: str) -> None:
    for powers in (True, False):
        cases = cases_of(which, powers)
        for name, program in (FAULTS | (BIAS if which == "convolutions" else {})).items():
            assert sum(case.wrong(program) > 0 for case in cases) >= 3, name


@pytest.mark.parametrize("name", TIES)
def test_halves_go_to_even_where_the_text_says_so(name: str) -> None:
    assert sum(case.wrong(TIES[name]) > 0 for case in cases_of("matrices", True)) > 5


@pytest.mark.parametrize("name", list(TIES)[:3])
def test_halves_go_either_way_where_it_does_not(name: str) -> None:
    cases = cases_of("convolutions", True)
    assert sum(case.wrong(TIES[name], ties_of_steps="either") for case in cases) == 0
    assert sum(case.wrong(TIES[name], ties_of_steps="even") > 0 for case in cases) > 5


def test_no_exact_answer_has_another_beside_it() -> None:
    for case in cases_of("matrices", True):
        found = case.answered
        assert found.allowed is not None
        assert not found.allowed.any()


def test_padding_is_the_zero_point() -> None:
    """Not the number zero, which is another one where the zero point is not zero."""
    x = tensor(np.full((1, 1, 2), 7), "uint8")
    one, zero = tensor(np.array(1, F)), tensor(np.array(5), "uint8")
    inputs = {"x": x, "x_scale": one, "x_zero_point": zero, "w": tensor(np.full((1, 1, 2), 3), "uint8")}
    inputs |= {
        "w_scale": one,
        "w_zero_point": tensor(np.array(2), "uint8"),
        "y_scale": one,
        "y_zero_point": zero,
    }
    operator = find_operator(OperatorName("ai.onnx", "QLinearConv", 10))
    found = operator.evaluate({"pads": (1, 1)}, inputs)[0]
    assert found.expected.array.tolist() == [[[7, 9, 7]]]


def test_vectors_lose_their_axes() -> None:
    operator = find_operator(OperatorName("ai.onnx", "QLinearMatMul", 21))
    one, zero = tensor(np.array([1], F)), tensor(np.array([0]), "int8")
    shapes = (((3,), (3,), ()), ((3,), (3, 2), (2,)), ((4, 3), (3,), (4,)), ((3,), (2, 3, 4), (2, 4)))
    for a, b, y in shapes:
        given = {"a": tensor(np.ones(a), "int8"), "b": tensor(np.ones(b), "int8")}
        scales = {f"{each}_scale": one for each in "aby"} | {f"{each}_zero_point": zero for each in "aby"}
        found = operator.evaluate({}, given | scales)[0]
        assert found.expected.shape == y
        assert (found.expected.array == 3).all()

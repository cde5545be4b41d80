"""Random operators: honest programs over thousands of runs are never accused, planted faults always are.

The programs share no code with the reference: other generators, other routes to draws, other widths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from conformance.suite.distributions import Distributed
from conformance.suite.properties import runs_twice
from generator.asking.calls import Call
from generator.asking.demands import FALSE_ALARM, LEVEL, TESTS
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

Floats = NDArray[np.float64]
Rng = np.random.Generator
COUNT = 4099
WIDTHS = {"float16": np.float16, "float": np.float32, "double": np.float64}
ENGINES = (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64)
RUNS = 25
"""For each engine and width."""


@cache
def case_of(
    operator: str,
    attributes: tuple[tuple[str, str, object], ...] = (),
    inputs: tuple[tuple[str, Tensor], ...] = (),
    outputs: tuple[str, ...] | None = None,
) -> Case:
    given: Mapping[str, Attribute] = {name: attribute(kind, value) for name, kind, value in attributes}
    workshop = open_workshop(OperatorName.parse(f"ai.onnx::{operator}"), Options())
    return workshop.make_valid("cover", None, Call(given, inputs, outputs=outputs))


def normal_case(width: str = "float", seed: bool = False) -> Case:
    more = (("seed", "float", 5.0),) if seed else ()
    code = ELEMENT_TYPES[width].code
    return case_of(
        "RandomNormal-22",
        (
            ("shape", "ints", (COUNT,)), ("mean", "float", 2.5), ("scale", "float", 3.0),
            ("dtype", "int", code), *more,
        ),
    )  # fmt: skip


def uniform_case(width: str = "float") -> Case:
    ends = (("low", "float", -2.0), ("high", "float", 3.0), ("dtype", "int", ELEMENT_TYPES[width].code))
    return case_of("RandomUniform-22", (("shape", "ints", (COUNT,)), *ends))


CHANCES = (np.arange(COUNT) * 7 % 17 / 16).astype(np.float32)
LOGITS = np.array([[0, 1, -1, 2], [1, 1, 1, 1], [3, -2, 0, 0.5]], np.float32)


def bernoulli_case(width: str = "float") -> Case:
    given = tensor(CHANCES.astype(WIDTHS[width]), width)
    return case_of("Bernoulli-22", (("dtype", "int", 7),), (("input", given),))


def multinomial_case(width: str = "float") -> Case:
    given = tensor(LOGITS.astype(WIDTHS[width]), width)
    return case_of("Multinomial-22", (("sample_size", "int", COUNT),), (("input", given),))


def refused(case: Case, *outputs: object, kind: str) -> str | None:
    """Why one answer is not right; None where it is."""
    made = tuple(tensor(np.asarray(output), kind) for output in outputs)
    judgement = judge(case, Answered(made))
    return None if judgement.verdict == "pass" else str(judgement.reason)


# Honest programs


def bits(rng: Rng, width: str, count: int) -> Floats:
    """Numbers of [0, 1) as programs make them of random bits, as fine as the width."""
    fine = {"float16": 11, "float": 24, "double": 53}[width]
    return rng.integers(0, 1 << fine, count) / float(1 << fine)


def box_muller(rng: Rng, width: str) -> NDArray[np.floating]:
    kind = WIDTHS[width]
    one, two = (1 - bits(rng, "float", COUNT)).astype(np.float32), bits(rng, "float", COUNT)
    found = np.sqrt(-2 * np.log(one)) * np.cos(np.float32(2 * math.pi) * two.astype(np.float32))
    return np.asarray(kind(2.5) + kind(3) * found.astype(kind), kind)


def by_twelve(rng: Rng, width: str) -> NDArray[np.floating]:
    """Ziggurat, the route of numpy, drawn in the width where there is one."""
    wide = np.float64 if width == "double" else np.float32
    return (rng.standard_normal(COUNT, wide) * 3 + 2.5).astype(WIDTHS[width])


def uniforms(rng: Rng, width: str) -> NDArray[np.floating]:
    kind = WIDTHS[width]
    return np.asarray(kind(-2) + kind(5) * bits(rng, width, COUNT).astype(kind), kind)


def by_threshold(rng: Rng, width: str) -> NDArray[np.int64]:
    return (bits(rng, width, COUNT).astype(WIDTHS[width]) < CHANCES.astype(WIDTHS[width])).astype(np.int64)


def by_binomial(rng: Rng, width: str) -> NDArray[np.int64]:
    return rng.binomial(1, CHANCES.astype(WIDTHS[width]).astype(np.float64)).astype(np.int64)


def by_sums(rng: Rng, width: str) -> NDArray[np.int32]:
    """Cumulative sums of exponentials in the width, searched for a uniform number of it."""
    kind = WIDTHS[width]
    weights = np.exp((LOGITS - LOGITS.max(1, keepdims=True)).astype(kind))
    sums = np.cumsum(weights, axis=1, dtype=kind)
    found = [
        np.searchsorted(row, (bits(rng, width, COUNT).astype(kind) * row[-1]).astype(kind), "right")
        for row in sums
    ]
    return np.asarray(np.minimum(np.array(found), LOGITS.shape[1] - 1), np.int32)


def by_gumbel(rng: Rng, width: str) -> NDArray[np.int32]:
    """The greatest of logarithms with noise."""
    noise = rng.gumbel(size=(*LOGITS.shape, COUNT))
    return np.asarray(np.argmax(LOGITS[:, :, None] + noise, axis=1), np.int32)


PROGRAMS: dict[str, tuple[Callable[[str], Case], Callable[[Rng, str], NDArray[np.generic]], str | None]] = {
    "box muller": (normal_case, box_muller, None),
    "ziggurat": (normal_case, by_twelve, None),
    "uniform": (uniform_case, uniforms, None),
    "threshold": (bernoulli_case, by_threshold, "int64"),
    "binomial": (bernoulli_case, by_binomial, "int64"),
    "cumulative sums": (multinomial_case, by_sums, "int32"),
    "gumbel": (multinomial_case, by_gumbel, "int32"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "width", [pytest.param(name, marks=() if name == "float" else pytest.mark.nightly) for name in WIDTHS]
)
@pytest.mark.parametrize("program", PROGRAMS)
def test_honest_programs_are_never_accused(program: str, width: str) -> None:
    make_case, run, kind = PROGRAMS[program]
    case = make_case(width)
    told = [
        refused(case, run(Rng(engine(seed)), width), kind=kind or width)
        for engine in ENGINES
        for seed in range(RUNS)
    ]
    assert set(told) == {None}


def test_bfloat16_is_cut_off_or_rounded() -> None:
    case = case_of("RandomUniform-22", (("shape", "ints", (COUNT,)), ("dtype", "int", 16)))
    for seed in range(100):
        drawn = np.random.default_rng(seed).random(COUNT, np.float32)
        for add in (0, 0x8000):
            given = ((drawn.view(np.uint32) + np.uint32(add)) >> 16).astype(np.uint16)
            made = Tensor(ELEMENT_TYPES["bfloat16"], given.view(ELEMENT_TYPES["bfloat16"].storage))
            assert judge(case, Answered((made,))).verdict == "pass"


@pytest.mark.slow
def test_false_alarms_of_rows_and_of_dependence_are_no_more_than_stated() -> None:
    """At a rate that can be counted."""
    for demand, draw in (
        (Distributed("y", "normal", (0.0, 1.0), 0.01), lambda rng: rng.normal(size=(20, 20))),
        (
            Distributed("y", "categorical", (0.25, 0.75, 0.5, 0.5), 0.01, rows=2),
            lambda rng: np.stack([rng.random(200) >= 0.25, rng.random(200) >= 0.5]) * 1.0,
        ),
        (Distributed("y", "bernoulli", (0.2,), 0.01), lambda rng: (rng.random((20, 20)) < 0.2) * 1.0),
    ):
        told = [demand.violation(tensor(draw(np.random.default_rng(seed)), "double")) for seed in range(1000)]
        assert sum(each is not None for each in told) <= 20


def test_the_rate_of_one_test_is_that_of_a_suite_divided() -> None:
    demands = [
        distributed
        for case in (normal_case(), uniform_case(), bernoulli_case(), multinomial_case())
        for distributed in case.properties
        if isinstance(distributed, Distributed)
    ]
    assert [demand.false_alarm for demand in demands] == [FALSE_ALARM] * 4
    assert math.isclose(FALSE_ALARM * TESTS, LEVEL)
    assert LEVEL == 1e-9


# Planted faults

rng = np.random.default_rng(11)
NORMAL = rng.normal(2.5, 3, COUNT)
UNIFORM = rng.uniform(-2, 3, COUNT)
SEED_ZERO = rng.random(COUNT)
NORMAL_FAULTS = {
    "scale for variance": rng.normal(2.5, math.sqrt(3), COUNT),
    "mean ignored": rng.normal(0, 3, COUNT),
    "scale ignored": rng.normal(2.5, 1, COUNT),
    "uniform of that mean and deviation": rng.uniform(2.5 - 3 * math.sqrt(3), 2.5 + 3 * math.sqrt(3), COUNT),
    "in order": np.sort(NORMAL),
    "each twice": np.repeat(NORMAL, 2)[:COUNT],
    "one number for all": np.full(COUNT, 2.6),
    "magnitudes": 2.5 + np.abs(NORMAL - 2.5),
    "radius and angle of the same number": 2.5
    + 3 * np.sqrt(-2 * np.log(SEED_ZERO)) * np.cos(2 * math.pi * SEED_ZERO),
    "NaN": np.where(np.arange(COUNT) == 7, np.nan, NORMAL),
}
UNIFORM_FAULTS = {
    "low ignored": rng.uniform(0, 3, COUNT),
    "high ignored": rng.uniform(-2, 1, COUNT),
    "high for a width": rng.uniform(-2, 1, COUNT),
    "normal": np.clip(rng.normal(0.5, 5 / math.sqrt(12), COUNT), -2, 3),
    "beyond": np.where(np.arange(COUNT) == 7, 3.01, UNIFORM),
    "the mean of two": (rng.uniform(-2, 3, COUNT) + UNIFORM) / 2,
    "turned back and forth": np.stack([UNIFORM, 1 - UNIFORM]).T.reshape(-1)[:COUNT],
}
P = CHANCES.astype(np.float64)
BERNOULLI_FAULTS = {
    "1 with the other probability": rng.random(COUNT) >= P,
    "a coin": rng.random(COUNT) < 0.5,
    "the mean of the probabilities": rng.random(COUNT) < P.mean(),
    "one draw for all": np.full(COUNT, 0.3) < P,
    "a probability too far": rng.random(COUNT) < np.roll(P, 1),
    "rounded": np.round(P),
}


def categories(chances: NDArray[np.floating]) -> NDArray[np.int64]:
    """So many of each row with these weights."""
    return np.array([rng.choice(row.size, COUNT, p=row / row.sum()) for row in chances])


WEIGHTS = np.exp(LOGITS.astype(np.float64))
RIGHT = categories(WEIGHTS)
MULTINOMIAL_FAULTS = {
    "off by one": (RIGHT + 1) % 4,
    "from 1 on": RIGHT + 1,
    "logarithms for probabilities": categories(np.maximum(LOGITS, 1e-3).astype(np.float64)),
    "of equal probability": categories(np.ones((3, 4))),
    "the likeliest": np.tile(LOGITS.argmax(1)[:, None], (1, COUNT)),
    "the first row for all": categories(np.tile(WEIGHTS[:1], (3, 1))),
    "powers of two": categories(2.0**LOGITS),
    "in order": np.sort(RIGHT, axis=1),
    "below zero": np.where(np.arange(COUNT) == 7, -1, RIGHT),
}


@pytest.mark.parametrize("fault", NORMAL_FAULTS)
def test_wrong_normal_numbers_are_noticed(fault: str) -> None:
    assert refused(normal_case(), NORMAL.astype(np.float32), kind="float") is None
    assert refused(normal_case(), NORMAL_FAULTS[fault].astype(np.float32), kind="float") is not None


@pytest.mark.parametrize("fault", UNIFORM_FAULTS)
def test_wrong_uniform_numbers_are_noticed(fault: str) -> None:
    assert refused(uniform_case(), UNIFORM.astype(np.float32), kind="float") is None
    assert refused(uniform_case(), UNIFORM_FAULTS[fault].astype(np.float32), kind="float") is not None


@pytest.mark.parametrize("fault", BERNOULLI_FAULTS)
def test_wrong_coins_are_noticed(fault: str) -> None:
    assert refused(bernoulli_case(), BERNOULLI_FAULTS[fault].astype(np.int64), kind="int64") is not None


@pytest.mark.parametrize("fault", MULTINOMIAL_FAULTS)
def test_wrong_classes_are_noticed(fault: str) -> None:
    assert refused(multinomial_case(), RIGHT.astype(np.int32), kind="int32") is None
    assert refused(multinomial_case(), MULTINOMIAL_FAULTS[fault].astype(np.int32), kind="int32") is not None


def test_rows_that_repeat_each_other_are_noticed() -> None:
    case = case_of("RandomUniform-22", (("shape", "ints", (63, 65)),))
    whole = rng.random((63, 65), np.float32)
    assert refused(case, whole, kind="float") is None
    row = (rng.permutation(65) + 0.5) / 65
    told = refused(case, np.tile(row, (63, 1)).astype(np.float32), kind="float")
    assert "65 apart are alike" in str(told)


def test_type_shape_and_seed_are_demanded() -> None:
    case = normal_case(seed=True)
    assert runs_twice(case.properties)
    one, other = (tensor(array.astype(np.float32), "float") for array in (NORMAL, NORMAL[::-1]))
    assert judge(case, Answered((one, one))).verdict == "pass"
    assert "second run" in str(judge(case, Answered((one, other))).reason)
    assert refused(normal_case(), NORMAL, kind="double") is not None
    assert refused(normal_case(), NORMAL[:-1].astype(np.float32), kind="float") is not None
    halves = np.full(COUNT, 0.5, np.float32)
    given = (("input", tensor(CHANCES, "float")),)
    assert "no integers" in (refused(case_of("Bernoulli-22", (), given), halves, kind="float") or "")


def test_certain_coins_are_certain() -> None:
    given = np.array([0, 1, 1, 0, 1], np.float32)
    case = case_of("Bernoulli-15", (), (("input", tensor(given, "float")),))
    assert refused(case, given, kind="float") is None
    for place in range(given.size):
        wrong = np.where(np.arange(given.size) == place, 1 - given, given)
        assert refused(case, wrong, kind="float") is not None

"""Dropout: a copy where nothing trains, else zeros at random beside what is scaled; programs and faults."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from conformance.suite.distributions import Distributed
from conformance.suite.properties import Masked
from generator.asking.calls import Call
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

COUNT = 4099
BOTH = ("output", "mask")
DATA = (np.arange(COUNT) % 100 / 7 + 0.25).astype(np.float32) * np.where(np.arange(COUNT) % 3, 1, -1)
DATA = DATA.astype(np.float32)
RATIO = np.float32(0.1)
Outputs = tuple[NDArray[np.floating], NDArray[np.bool_]]


@cache
def case_of(
    version: int,
    data: Tensor,
    ratio: Tensor | float | None = None,
    trains: bool | None = None,
    outputs: tuple[str, ...] = BOTH,
    seed: int | None = None,
) -> Case:
    attributes = {} if seed is None else {"seed": attribute("int", seed)}
    inputs: tuple[tuple[str, Tensor | None], ...] = (("data", data),)
    if isinstance(ratio, float):
        attributes["ratio"] = attribute("float", ratio)
    elif version >= 12:
        mode = None if trains is None else tensor(np.array(trains))
        inputs = (*inputs, ("ratio", ratio), ("training_mode", mode))
    workshop = open_workshop(OperatorName.parse(f"ai.onnx::Dropout-{version}"), Options())
    return workshop.make_valid("cover", None, Call(attributes, inputs, outputs=outputs))


def training(outputs: tuple[str, ...] = BOTH) -> Case:
    return case_of(22, tensor(DATA), tensor(np.array(RATIO)), True, outputs)


def reason(case: Case, *outputs: NDArray[np.generic]) -> str | None:
    judgement = judge(case, Answered(tuple(map(tensor, outputs))))
    return None if judgement.verdict == "pass" else str(judgement.reason)


def dropped(seed: int, route: int = 0, data: NDArray[np.floating] = DATA, ratio: float = 0.1) -> Outputs:
    """What programs of three routes answer: the reciprocal, a quotient, everything in double."""
    kind = data.dtype.type
    keep = np.random.default_rng(seed).random(data.shape) >= ratio
    held = kind(ratio)
    match route:
        case 0:
            scaled = data * (kind(1) / (kind(1) - held)) * keep
        case 1:
            scaled = np.where(keep, data / (kind(1) - held), kind(0))
        case _:
            scaled = (data.astype(np.float64) / (1 - float(held)) * keep).astype(kind)
    return np.asarray(scaled, kind), keep


@pytest.mark.slow
@pytest.mark.parametrize("route", range(3))
def test_honest_programs_are_never_accused(route: int) -> None:
    both, alone = training(), training(("output",))
    for seed in range(40):
        output, mask = dropped(seed, route)
        assert reason(both, output, mask) is None
        assert reason(alone, output) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_other_types_of_data_and_ratio(kind: type[np.floating]) -> None:
    data = DATA.astype(kind)
    for share in (np.float16(0.25), np.float32(0.75), np.float64(0.1)):
        case = case_of(22, tensor(data), tensor(np.array(share)), True)
        for seed in range(4):
            for route in range(3):
                assert reason(case, *dropped(seed, route, data, float(share))) is None


OUTPUT, MASK = dropped(5)
SCALED = (DATA.astype(np.float64) / 0.9).astype(np.float32)
HALF = np.random.default_rng(1).random(COUNT) < 0.5
FAULTS: dict[str, Outputs] = {
    "not scaled": (np.where(MASK, DATA, np.float32(0)), MASK),
    "scaled by the ratio": (np.where(MASK, DATA * 10, np.float32(0)), MASK),
    "scaled twice": (np.where(MASK, SCALED / np.float32(0.9), np.float32(0)), MASK),
    "the ratio is what is kept": (np.where(~MASK, SCALED, np.float32(0)), ~MASK),
    "the mask says what is left out": (OUTPUT, ~MASK),
    "a mask of nothing but true": (OUTPUT, np.ones_like(MASK)),
    "another mask": (OUTPUT, dropped(6)[1]),
    "a half": (np.where(HALF, SCALED, np.float32(0)), HALF),
    "a copy": (DATA, np.ones_like(MASK)),
    "nothing left out": (SCALED, np.ones_like(MASK)),
    "everything left out": (np.zeros_like(DATA), np.zeros_like(MASK)),
    "the first tenth left out": (
        np.where(np.arange(COUNT) >= COUNT // 10, SCALED, np.float32(0)),
        np.arange(COUNT) >= COUNT // 10,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_noticed(fault: str) -> None:
    assert reason(training(), *FAULTS[fault]) is not None


def test_what_is_left_out_shows_without_a_mask() -> None:
    case = training(("output",))
    for fault in ("the ratio is what is kept", "a half", "nothing left out", "the first tenth left out"):
        assert reason(case, FAULTS[fault][0]) is not None, fault


def test_a_few_small_steps_too_far_are_noticed() -> None:
    far = np.where(MASK, SCALED * np.float32(1 + 16 * 2.0**-23), np.float32(0)).astype(np.float32)
    assert reason(training(), far, MASK) is not None


ZERO = tensor(np.array(0.0, np.float32))
SPECIAL = np.array([1.5, -0.0, math.nan, math.inf, -math.inf, 1e-40], np.float32)
COPIES: list[tuple[int, Tensor | None, bool | None]] = [
    (version, ratio, mode)
    for version in (12, 13, 22)
    for ratio, mode in (
        (None, None), (None, False), (ZERO, True), (ZERO, None), (tensor(np.array(RATIO)), False),
        (tensor(np.array(RATIO)), None),
    )
]  # fmt: skip


@pytest.mark.parametrize(("version", "ratio", "mode"), COPIES)
def test_where_nothing_trains_it_is_a_copy(version: int, ratio: Tensor | None, mode: bool | None) -> None:
    case = case_of(version, tensor(SPECIAL), ratio, mode)
    assert case.properties == ()
    ones = np.ones(SPECIAL.shape, np.bool_)
    assert reason(case, SPECIAL, ones) is None
    assert reason(case, SPECIAL, ~ones) is not None
    assert reason(case, SPECIAL * 2, ones) is not None
    assert reason(case, np.zeros_like(SPECIAL), ones) is not None
    assert reason(case, SPECIAL, ones.astype(np.float32)) is not None


def test_a_ratio_that_is_not_given_is_a_half_and_was_a_copy_in_one_sentence() -> None:
    data = tensor(DATA)
    half = np.where(HALF, DATA * 2, np.float32(0)).astype(np.float32)
    for version, open_ in ((12, True), (13, True), (22, False)):
        case = case_of(version, data, None, True)
        assert reason(case, half, HALF) is None
        assert (reason(case, DATA, np.ones_like(HALF)) is None) == open_
        assert any(isinstance(each, Distributed) for each in case.properties) != open_


@pytest.mark.parametrize("version", [7, 10])
def test_before_version_12_either_mode_is_right(version: int) -> None:
    case = case_of(version, tensor(DATA), 0.1, None, ("output",))
    assert reason(case, DATA) is None
    assert reason(case, OUTPUT) is None
    assert reason(case, np.where(MASK, DATA, np.float32(0))) is not None
    if version == 10:
        both = case_of(version, tensor(DATA), 0.1)
        assert reason(both, DATA, np.zeros(COUNT, np.bool_)) is None
        assert reason(both, DATA, np.ones(COUNT, np.float32)) is not None


def test_zeros_of_either_sign_and_products_with_infinity_are_left_out() -> None:
    case = case_of(22, tensor(SPECIAL), tensor(np.array(RATIO)), True)
    (masked,) = (each for each in case.properties if isinstance(each, Masked))
    assert not masked.exactly  # a zero among the data, and what may be flushed
    scaled = (SPECIAL.astype(np.float64) / (1 - float(RATIO))).astype(np.float32)
    ones = np.ones(SPECIAL.shape, np.bool_)
    assert reason(case, scaled, ones) is None
    some = np.array([True, False, False, False, True, False])
    for zero in (0.0, -0.0):
        assert reason(case, np.where(some, scaled, np.float32(zero)), some) is None
    with np.errstate(invalid="ignore"):
        assert reason(case, scaled * some, some) is None
    assert reason(case, np.where(some, scaled, np.float32(1)), some) is not None


def test_with_a_seed_both_outputs_are_the_same_again() -> None:
    case = case_of(22, tensor(DATA), tensor(np.array(RATIO)), True, BOTH, 3)
    assert reason(case, OUTPUT, MASK, OUTPUT, MASK) is None
    assert "second run" in str(reason(case, OUTPUT, MASK, *dropped(6)))

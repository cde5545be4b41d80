"""Attributes that the type of the tensors does not reach: nobody is blamed for what they become there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor
from tests.reference.test_open_nan import case_of, judged, made

NAN, INF = math.nan, math.inf
X = (-2.0, 0.0, 1.0, 3.0)


def by_masks(kind: str, alpha: float) -> Tensor:
    """LeakyRelu as onnx.reference has it: in the type of X, with a mask for each side."""
    given: Any = np.array(X, np.float16 if kind == "float16" else np.float32)
    above = (given > 0).astype(given.dtype)
    with np.errstate(all="ignore"):
        return made(kind, given * (above + (1 - above) * given.dtype.type(alpha)), (4,))


@pytest.mark.parametrize("alpha", [-4.8e20, 4.8e20, 65520.0])
def test_an_attribute_beyond_the_type_is_open(alpha: float) -> None:
    case = case_of("ai.onnx::LeakyRelu-16", {"alpha": alpha}, X=made("float16", X, (4,)))
    told = by_masks("float16", alpha)
    assert np.isnan(told.array.astype(np.float32)).any()
    assert judged(case, told).verdict == "pass"
    # Who computes in float32 gives what the formula says.
    assert judged(case, made("float16", [math.copysign(INF, -alpha), 0, 1, 3], (4,))).verdict == "pass"


@pytest.mark.parametrize(("kind", "alpha"), [("float16", 65519.0), ("float", 4.8e20), ("float16", 0.5)])
def test_one_within_the_type_is_not(kind: str, alpha: float) -> None:
    case = case_of("ai.onnx::LeakyRelu-16", {"alpha": alpha}, X=made(kind, X, (4,)))
    right = by_masks(kind, alpha)
    assert judged(case, right).verdict == "pass"
    assert judged(case, made(kind, [*right.array[:3].tolist(), NAN], (4,))).verdict == "mismatch"
    assert (
        judged(case, made(kind, [-2 * alpha if alpha < 65519 else -INF, 0, 1, 4], (4,))).verdict == "mismatch"
    )


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("Elu-22", {"alpha": 1e9}),
        ("Selu-22", {"gamma": 1e9}),
        ("HardSigmoid-22", {"alpha": 1e9}),
        ("HardSigmoid-22", {"beta": -1e9}),
        ("Celu-12", {"alpha": 1e9}),
        ("Shrink-9", {"bias": 1e9}),
    ],
)
def test_every_operator_that_computes_with_it_leaves_it_open(
    name: str, attributes: dict[str, object]
) -> None:
    given = "input" if name.startswith("Shrink") else "X"
    kind = "float" if name.startswith("Celu") else "float16"
    case = case_of(f"ai.onnx::{name}", attributes, **{given: made(kind, X, (4,))})
    wanted = (
        "mismatch" if kind == "float" else "pass"
    )  # Celu-12 has float32 alone, which holds every attribute
    assert judged(case, made(kind, [NAN] * 4, (4,))).verdict == wanted


def test_sums_with_such_a_factor_are_open() -> None:
    numbers = {"A": made("float16", [1, 2], (1, 2)), "B": made("float16", [1, 2], (2, 1))}
    case = case_of("ai.onnx::Gemm-13", {"beta": 1e9}, **numbers, C=made("float16", [0], (1, 1)))
    assert judged(case, made("float16", [NAN], (1, 1))).verdict == "pass"
    near = case_of("ai.onnx::Gemm-13", {"beta": 100.0}, **numbers, C=made("float16", [0], (1, 1)))
    assert judged(near, made("float16", [NAN], (1, 1))).verdict == "mismatch"


def test_what_is_compared_alone_is_no_less_decided() -> None:
    case = case_of("ai.onnx::ThresholdedRelu-22", {"alpha": 1e9}, X=made("float16", X, (4,)))
    assert judged(case, made("float16", [0, 0, 0, 0], (4,))).verdict == "pass"
    assert judged(case, made("float16", [0, 0, 0, 3], (4,))).verdict == "mismatch"
    beyond = case_of("ai.onnx::ThresholdedRelu-22", {"alpha": 1e9}, X=made("float16", [INF], (1,)))
    assert judged(beyond, made("float16", [INF], (1,))).verdict == "pass"
    assert judged(beyond, made("float16", [0], (1,))).verdict == "pass"
    clip = case_of("ai.onnx::Clip-6", {"min": -1e9, "max": 1e9}, input=made("float16", X, (4,)))
    assert judged(clip, made("float16", X, (4,))).verdict == "pass"
    assert judged(clip, made("float16", [NAN] * 4, (4,))).verdict == "mismatch"

"""Grades of failing cases: what they give, and what of it the model has as a constant."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from conformance.checked_models.model_calls import ModelCall, ModelNode, ModelValue
from opcert.vocabulary.tensors import Tensor, tensor
from reports.checked_models.call_evidence import CheckedCall, grade_of

PLAIN = tensor(np.array([1.0, -2.5, 0.0], np.float32))
NAN = tensor(np.array([1.0, np.nan], np.float32))
TINY = tensor(np.array([1e-40], np.float32))
WIDE = tensor(np.array([1 << 62, 3], np.int64))
FEW = tensor(np.array([-128, 127], np.int8))
NONE = tensor(np.zeros((0, 3), np.float32))


def grade(
    *cases: tuple[Tensor, ...], held: tuple[int, ...] = (), own: Tensor | None = None, ulps: Any = None
) -> str:
    """The grade of cases that give these; inputs at `held` are constants of the node, `own` where known."""
    values = tuple(
        ModelValue(f"x{at}", "float", None, is_constant=at in held, constant=own if at in held else None)
        for at in range(len(cases[0]))
    )
    node = ModelNode("0", "n", None, values, ())
    checked = CheckedCall(1, ModelCall(node, (node,)), "reference")
    inputs = {
        str(at): tuple((f"x{one}", each) for one, each in enumerate(case)) for at, case in enumerate(cases)
    }
    suite = SimpleNamespace(case=lambda name, call_alone: SimpleNamespace(inputs=inputs[name]))
    row = SimpleNamespace(worst={"ulps": ulps})
    failing: list[Any] = [
        SimpleNamespace(id=at, verdict="mismatch", element_type="float", row=row) for at in range(len(cases))
    ]
    results: Any = SimpleNamespace(suite=suite)
    return grade_of(failing, checked, results)


@pytest.mark.parametrize("special", [NAN, TINY, WIDE, NONE])
def test_special_values_are_told_where_each_case_has_one(special: Tensor) -> None:
    assert grade((PLAIN, special)) == "special"
    assert grade((PLAIN, special), (special, special)) == "special"
    assert grade((PLAIN, special), (PLAIN, PLAIN)) == "ordinary"


def test_all_of_a_small_integer_is_ordinary() -> None:
    assert grade((FEW,)) == "ordinary"


def test_values_in_the_place_of_a_constant_are_not_the_models() -> None:
    assert grade((PLAIN, NAN), held=(1,)) == "constant"
    assert grade((PLAIN, NAN), (NAN, NAN), held=(1,)) == "special"
    assert grade((PLAIN, NAN), held=(1,), own=PLAIN) == "constant"


def test_what_the_model_itself_has_is_ordinary_to_it() -> None:
    assert grade((PLAIN, NAN), held=(1,), own=NAN) == "ordinary"


@pytest.mark.parametrize(
    ("ulps", "told"), [(1, "inexact"), (64, "inexact"), (65, "ordinary"), (None, "ordinary")]
)
def test_few_steps_are_inexact(ulps: int | None, told: str) -> None:
    assert grade((PLAIN,), ulps=ulps) == told

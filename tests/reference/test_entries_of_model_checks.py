"""Which entry explains what runtimes make of models' calls: the one verified for it, and no wider one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from reference.readings.disagreements import load_disagreements
from specs.files.library import load_spec
from specs.language.evaluation import Operand
from specs.model.call_scopes import scope_of

LOST = "killed by SIGFPE at load"
OF_BEFORE = "openvino_dies_of_the_case_before"
BEYOND = "3 of 9 elements wrong; worst Y[0]: got 2e-07, expected 9.2e-10, 7.7e+06 times the allowed error"
GATES, OTHERS = ["Sigmoid", "Tanh", "Tanh"], ["Sigmoid", "Relu", "Tanh"]


def floats(*shape: int) -> Operand:
    return Operand("float", shape, ())


def first_entry(
    operator: str,
    inputs: Mapping[str, Operand | None],
    against: str,
    verdict: str,
    reason: str,
    **attributes: Any,
) -> str | None:
    """The id of the first entry that explains what a runtime made of a model's call."""
    name = OperatorName.parse(f"ai.onnx::{operator}")
    said = {each: attribute(kind, value) for each, (kind, value) in attributes.items()}
    names = scope_of(load_spec(name), said, inputs)
    case = f"{name.path}/cover/call_0123456789ab-0123456789ab"
    for disagreement in load_disagreements():
        if disagreement.explains(str(name), case, against, verdict, {}, reason, names):
            return disagreement.id
    return None


@pytest.mark.parametrize(
    ("data", "indices", "reason", "wanted"),
    [
        (floats(3, 5), Operand("int32", (0, 4), ()), LOST, "openvino_gather_of_nothing"),
        (floats(3, 0), Operand("int32", (2,), ()), LOST, "openvino_gather_of_nothing"),
        (floats(3, 5), Operand("int32", (2,), ()), LOST, None),
        (
            floats(3, 5),
            Operand("int32", (2,), ()),
            "killed by SIGSEGV at load",
            "openvino_dies_of_the_case_before",
        ),
    ],
)
def test_a_division_by_zero_is_no_broken_memory(
    data: Operand, indices: Operand, reason: str, wanted: str | None
) -> None:
    assert first_entry("Gather-13", {"data": data, "indices": indices}, "openvino", "crash", reason) == wanted


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (None, "tract_cells_by_approximations"),
        (GATES, "tract_cells_by_approximations"),
        (OTHERS, "tract_cells_ignore_clip_and_activations"),
    ],
)
def test_functions_by_default_are_read_where_they_are_named(names: list[str] | None, wanted: str) -> None:
    cell = {"X": floats(4, 2, 3), "W": floats(1, 8, 3), "R": floats(1, 8, 2)}
    given: dict[str, Any] = {"hidden_size": ("int", 2)}
    if names is not None:
        given["activations"] = ("strings", names)
    assert first_entry("LSTM-14", cell, "tract", "mismatch", BEYOND, **given) == wanted


@pytest.mark.parametrize(
    ("operator", "inputs", "against", "reason", "wanted"),
    [
        (
            "ReduceMax-13",
            {"data": floats(1, 2)},
            "tract",
            "got -3.4028235e+38, expected -Infinity, 1 ulp",
            "tract_reduce_max_of_infinities",
        ),
        (
            "ReduceMin-13",
            {"data": floats(1, 2)},
            "openvino",
            "got 3.4028235e+38, expected Infinity",
            "openvino_reduce_min_of_infinities",
        ),
        ("ReduceMax-13", {"data": floats(1, 2)}, "tract", "got 1.0, expected 2.0", None),
        (
            "Clip-13",
            {"input": floats(2), "min": floats()},
            "tract",
            "got Infinity, expected 3.4028235e+38",
            "tract_clip_without_max",
        ),
        (
            "Clip-13",
            {"input": floats(2), "min": floats(), "max": floats()},
            "tract",
            "got Infinity, expected 6.0",
            None,
        ),
        (
            "Div-14",
            {"A": floats(1), "B": floats()},
            "tract",
            "got -0.0, expected NaN",
            "tract_div_by_a_constant_infinity",
        ),
        (
            "Transpose-13",
            {"data": floats(0, 1)},
            "openvino",
            "output output is [1, 1] instead of [1, 0]",
            "openvino_transpose_of_nothing",
        ),
        (
            "Transpose-13",
            {"data": floats(2, 1)},
            "openvino",
            "output output is [2, 1] instead of [1, 2]",
            None,
        ),
    ],
)
def test_what_was_verified_is_explained_and_nothing_beside_it(
    operator: str, inputs: dict[str, Operand | None], against: str, reason: str, wanted: str | None
) -> None:
    assert (
        first_entry(
            operator,
            inputs,
            against,
            "mismatch",
            f"1 of 2 elements wrong; {reason}" if "instead" not in reason else reason,
        )
        == wanted
    )

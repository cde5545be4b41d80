"""Cases with open extents: those of the model alone are open, names are kept, and nothing else changes."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import ModelProto

from conformance.checked_models.model_calls import ModelCall, ModelValue
from conformance.models.case_models import build_model
from conformance.suite.cases import Case
from generator.models.check.making import FIXED, OPEN, SHAPES, cases_of_call, rows_to_open
from tests.generator.checking.made_calls import INFERRED, call, fed, fixed, weight


def extents(case: Case) -> dict[str, list[str | int]]:
    """What the model of a case says of its inputs: lengths, and names of those that are open."""
    model = ModelProto.FromString(build_model(case))
    return {
        value_info.name: [one.dim_param or one.dim_value for one in value_info.type.tensor_type.shape.dim]
        for value_info in model.graph.input
    }


def made(model: ModelCall, most: int = 6) -> tuple[list[Case], list[Case]]:
    """The cases of a call with fixed extents, and those with open ones."""
    cases = cases_of_call(model, most).cases
    assert cases
    of_level = {
        level: [each for each in cases if each.levels.get(SHAPES) == level] for level in (FIXED, OPEN)
    }
    return of_level[FIXED] or list(cases), of_level[OPEN]


def test_extents_are_open_where_the_model_leaves_them_open() -> None:
    fixed_ones, open_ones = made(call("MatMul-13", [fed("n", "s", 5), weight(5, 3)]))
    assert open_ones
    for case in open_ones:
        said = extents(case)
        assert said["A"][:2] == ["n0", "n1"]
        assert [type(each) for each in (*said["A"][2:], *said["B"])] == [int, int, int]
        onnx.checker.check_model(ModelProto.FromString(build_model(case)), full_check=True)
    assert all(isinstance(each, int) for case in fixed_ones for one in extents(case).values() for each in one)


def test_what_has_one_name_has_one_name() -> None:
    _, open_ones = made(call("Add-14", [fed("batch", 4), fed("batch", 4)]))
    assert open_ones
    assert all((extents(case)["A"][0], extents(case)["B"][0]) == ("n0", "n0") for case in open_ones)
    _, others = made(call("Add-14", [fed("batch", 4), fed("other", 4)]))
    assert {extents(other)["B"][0] for other in others} == {"n1"}


def test_a_case_with_open_extents_is_the_same_call_as_one_with_fixed_ones() -> None:
    fixed_ones, open_ones = made(call("Clip-13", [fed("n", 3), None, fixed(6.0, "float32")]))
    assert len({str(fixed_one.id) for fixed_one in (*fixed_ones, *open_ones)}) == len(fixed_ones) + len(
        open_ones
    )
    for case in open_ones:
        assert case.id.digest == case.call_digest()
        other = next(
            fixed_one for fixed_one in fixed_ones if {**fixed_one.levels, SHAPES: OPEN} == dict(case.levels)
        )
        assert [one for _, one in case.inputs] == [one for _, one in other.inputs]
        assert case.expectations == other.expectations
        assert case.attributes == other.attributes
    assert open_ones


def test_every_level_stands_in_a_case_with_open_extents() -> None:
    cases = cases_of_call(call("Relu-14", [fed("n", 3)]))
    assert cases.varied[SHAPES] == (FIXED, OPEN)
    open_ones = [each for each in cases.cases if each.levels[SHAPES] == OPEN]
    for name, levels in cases.varied.items():
        if name != SHAPES:
            assert {open_one.levels[name] for open_one in open_ones} == set(levels), name
    rows = [{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 1}, {"a": 2, "b": 2}]
    assert rows_to_open(rows) == (0, 1, 3)


def test_what_only_inference_leaves_open_is_not_asked_with_open_extents() -> None:
    """A runtime may infer more."""
    for extent in (None, INFERRED):
        assert not made(call("Relu-14", [fed("n", extent)]))[1]
    assert not made(call("Relu-14", [ModelValue("fed", "float")]))[1]


def test_a_model_that_states_all_extents_is_asked_with_these() -> None:
    fixed_ones, open_ones = made(call("Relu-14", [fed(2, 3)]))
    assert fixed_ones
    assert not open_ones
    assert all(SHAPES not in fixed_one.levels for fixed_one in fixed_ones)
    _, open_ones = made(call("Add-14", [fed(2, 3), weight(3)]))
    assert not open_ones


@pytest.mark.parametrize(
    ("operator", "attributes", "width"),
    [
        ("ai.onnx.ml::Scaler-1", {"offset": [0.5] * 11, "scale": [2.0] * 11}, 11),
        ("ai.onnx.ml::Imputer-1", {"imputed_value_floats": [1.5] * 13, "replaced_value_float": 0.5}, 13),
        ("ai.onnx.ml::LinearRegressor-1", {"coefficients": [0.5] * 33, "targets": 3}, 11),
    ],
)
def test_how_long_lists_are_says_what_a_shape_of_which_nothing_is_known_may_be(
    operator: str, attributes: dict[str, Any], width: int
) -> None:
    cases, _ = made(call(operator, [ModelValue("fed", "float")], **attributes))
    widths = {given.shape[-1] for case in cases for _, given in case.inputs if given is not None}
    assert widths == {width}


def test_a_rank_that_the_document_does_not_have_is_the_models_own_mistake() -> None:
    signal, length = fed("n", 64), fixed(16)
    found = cases_of_call(call("STFT-17", [signal, fixed(4), weight(16), length], onesided=1)).not_covered
    assert found is not None
    assert (found.why, found.text) == (
        "not_valid",
        "signal is of rank 2 in the model, and of rank 3 in its document.",
    )

"""Cases with open extents: those of the model alone are open, names are kept, and nothing else changes."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import ModelProto

from conformance.checked_models.model_calls import ModelCall, ModelValue
from conformance.judging.judge import judge
from conformance.judging.responses import Refused
from conformance.models.case_models import build_model
from conformance.suite.cases import Case
from generator.models.check.making import cases_of_call
from generator.models.check.own_models import FIXED, OPEN, SHAPES, rows_to_open
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


UNKNOWN = ModelValue("fed", "float")
"""What a model feeds, of which it says no shape."""


def open_axes(count: int) -> list[ModelValue]:
    """Inputs of three axes each, all of which are named by themselves."""
    return [fed(*(f"{place}{axis}" for axis in "abc")) for place in range(count)]


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes"),
    [
        ("LSTM-14", [*open_axes(3), fed("b0", "b1"), fed("s", of="int32")], {"hidden_size": 10}),
        ("GRU-14", [UNKNOWN] * 3, {"hidden_size": 5, "direction": "bidirectional"}),
        ("DeformConv-22", [UNKNOWN, weight(4, 3, 3, 3), UNKNOWN], {"group": 2, "offset_group": 2}),
        ("DeformConv-22", [UNKNOWN] * 3, {"kernel_shape": [3, 3]}),
        ("Attention-23", [UNKNOWN] * 3, {"q_num_heads": 4, "kv_num_heads": 2}),
        (
            "com.microsoft::Attention-1",
            [fed("b", "l", "i"), weight(12, 36), weight(36), None, fed("2", "n", "h", "p", "e")],
            {"num_heads": 2},
        ),
        (
            "com.microsoft::MultiHeadAttention-1",
            [UNKNOWN, UNKNOWN, UNKNOWN, None, None, None, UNKNOWN, UNKNOWN],
            {"num_heads": 2},
        ),
    ],
)
def test_shapes_of_which_nothing_is_known_are_those_that_the_operator_declares(
    operator: str, inputs: list[ModelValue | None], attributes: dict[str, Any]
) -> None:
    outputs = 2 if operator == "com.microsoft::Attention-1" else 1
    found = cases_of_call(call(operator, inputs, outputs, **attributes), 4)
    assert found.not_covered is None
    assert len(found.cases) >= 4


def scales_of(model: ModelCall) -> set[tuple[int, int]]:
    """The lengths of the axis of blocks, and those of the scales along it, of all cases of a call."""
    cases = cases_of_call(model).cases
    assert cases
    found = set()
    for case in cases:
        x, scale = (tensor.shape for _, tensor in case.inputs[:2] if tensor is not None)
        assert len(x) == len(scale)
        assert x[1:] == scale[1:]
        found.add((x[0], scale[0]))
    return found


@pytest.mark.parametrize("operator", ["DequantizeLinear-21", "QuantizeLinear-21"])
@pytest.mark.parametrize("shape", [None, ("K", "N")])
@pytest.mark.parametrize("size", [4, 128])
def test_scales_of_unknown_shape_are_of_blocks_where_the_node_says_their_size(
    operator: str, shape: tuple[str, ...] | None, size: int
) -> None:
    kinds = ("int8", "float") if operator.startswith("De") else ("float", "int8")
    x, zero = ModelValue("x", kinds[0], shape), ModelValue("z", "int8")
    scales = ModelValue("s", "float", None if shape is None else ("B", "N"))
    for inputs in ([x, scales], [x, scales, zero]):
        lengths = scales_of(call(operator, inputs, axis=0, block_size=size))
        assert lengths
        # One block as long as the axis, or so many that each is of this size.
        assert all(blocks == -(-length // size) for length, blocks in lengths)


@pytest.mark.parametrize("version", [13, 21, 28])
@pytest.mark.parametrize(("scales", "attributes"), [((3,), {"axis": 0}), ((1,), {}), ((), {})])
def test_a_quantised_bias_has_a_scale_for_each_element_or_one_for_all(
    version: int, scales: tuple[int, ...], attributes: dict[str, int]
) -> None:
    given: list[ModelValue | None] = [ModelValue("b", "int32", (3,)), ModelValue("s", "float", scales)]
    found = cases_of_call(call(f"DequantizeLinear-{version}", given, **attributes))
    assert found.not_covered is None
    # By the text one scale is a scalar: a list of it may be rejected.
    refused = Refused("RuntimeError", "x_scale must be a scalar or have one element for each of the axis")
    verdicts = {judge(case, refused).verdict for case in found.cases}
    assert verdicts == {"observed" if scales == (1,) else "rejected_valid"}


def test_an_input_of_no_known_type_has_one_that_its_operator_takes() -> None:
    found = cases_of_call(call("Flatten-13", [ModelValue("tokens", None)]))
    assert found.not_covered is None
    assert found.cases


def test_a_scalar_of_one_element_is_no_mistake_where_the_examples_of_its_page_have_it() -> None:
    given: list[ModelValue | None] = [fed("B", "P", 4), fed("B", 3, "P"), fixed([20])]
    found = cases_of_call(call("NonMaxSuppression-11", given))
    assert found.not_covered is None
    every = cases_of_call(call("NonMaxSuppression-11", [*given[:2], fixed([2**63 - 1])]), 4)
    assert every.not_covered is None
    held = [ModelProto.FromString(case.model or b"").graph.initializer for case in found.cases]
    assert [list(initializer.dims) for (initializer,) in held] == [[1]] * len(found.cases)
    assert not found.given_up
    two = cases_of_call(call("NonMaxSuppression-11", [*given[:2], fixed([20, 20])])).not_covered
    assert two is not None
    assert "with those of the model it breaks the rule max_output_boxes_per_class_shape" in two.text

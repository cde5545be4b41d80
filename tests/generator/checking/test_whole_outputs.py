"""Outputs of a whole model, as a runtime computes it when nobody looks within, beside the references."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from conformance.checked_models.model_reading import read_model
from conformance.checked_models.whole_model import Apart, OutputNumbers, WholeModelFacts, apart
from conformance.judging.responses import Answered, Response
from conformance.suite.cases import Case
from generator.models.check.whole_model import InputSource, NumberLimits, check_numbers_with
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.checked_models.hand_made import given, graph_of, model_of
from tests.generator.checking.faulty_runtime import FaultyRuntime

node = helper.make_node
Change = Callable[[NDArray[Any]], NDArray[Any]]
STEP = 0.05


def quantised_convolution() -> ModelProto:
    """Q-DQ-Conv-Q-DQ in int8, as quantisers write it."""
    drawn = np.random.default_rng(5)
    held = {
        "xs": np.float32(0.02), "xz": np.int8(0), "ws": np.float32(0.01), "wz": np.int8(0),
        "ys": np.float32(STEP), "yz": np.int8(0),
        "wq": drawn.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
    }  # fmt: skip
    nodes = (
        node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        node("DequantizeLinear", ["wq", "ws", "wz"], ["w"]),
        node("Conv", ["xd", "w"], ["c"], kernel_shape=[3, 3]),
        node("QuantizeLinear", ["c", "ys", "yz"], ["cq"]),
        node("DequantizeLinear", ["cq", "ys", "yz"], ["y"]),
    )
    graph = graph_of(
        nodes,
        ["y"],
        [given("x", (1, 3, 6, 6))],
        [numpy_helper.from_array(np.asarray(each), name) for name, each in held.items()],
    )
    return model_of(graph, {"": 21})


def unseen(change: Change) -> Callable[[Case, Case | None], Response]:
    """A runtime that is right but where the model is run as it is: then its outputs change."""
    right = FaultyRuntime()

    def ask(case: Case, valid: Case | None = None) -> Response:
        response = right.ask(case, valid)
        assert case.model is not None
        whole = ModelProto.FromString(case.model)
        if len(whole.graph.output) > 1 or len(whole.graph.node) == 1 or not isinstance(response, Answered):
            return response
        (output,) = response.outputs
        assert isinstance(output, Tensor)
        return Answered((Tensor(output.element_type, change(output.array)),))

    return ask


def run(model: ModelProto, ask: Any, folder: Path) -> WholeModelFacts:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    facts = read_model(path, seconds=0)
    return check_numbers_with(ask, "fake", facts, path, InputSource(), NumberLimits(), lambda _: None)


def only(found: WholeModelFacts) -> tuple[OutputNumbers, Apart]:
    (output,) = found.outputs
    assert output.apart is not None
    return output, output.apart


def test_an_answer_that_is_many_steps_off_where_nobody_looks_is_wrong(tmp_path: Path) -> None:
    def shift(array: NDArray[Any]) -> NDArray[Any]:
        found = array.copy()
        found.reshape(-1)[::3] -= np.float32(21 * STEP)
        return found

    found = run(quantised_convolution(), unseen(shift), tmp_path)
    assert {node.verdict for node in found.nodes} == {"right"}
    output, distance = only(found)
    assert (output.against, output.verdict) == ("references", "wrong")
    assert (distance.unit, distance.least, distance.most) == ("step", 21, 21)
    assert (distance.elements, distance.of_elements) == (22, 64)
    assert not found.holds


def test_a_right_answer_is_right_to_the_bit(tmp_path: Path) -> None:
    found = run(quantised_convolution(), FaultyRuntime().ask, tmp_path)
    output, distance = only(found)
    assert (output.verdict, output.bounded, distance.elements) == ("right", 64, 0)
    assert found.holds


def test_one_step_is_wrong_where_the_references_allow_none(tmp_path: Path) -> None:
    """Between two integers that are no tie one alone is right."""

    def one_step(array: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(array + np.float32(STEP), np.float32)

    output, distance = only(run(quantised_convolution(), unseen(one_step), tmp_path))
    assert output.verdict == "wrong"
    assert (distance.least, distance.most, distance.is_far) == (1, 1, False)


def layers(*rest: Any) -> ModelProto:
    drawn = np.random.default_rng(1)
    weights = [
        numpy_helper.from_array(drawn.standard_normal(shape).astype(np.float32), name)
        for name, shape in (("w", (4, 8)), ("v", (8, 5)))
    ]
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("Relu", ["a"], ["b"]),
        node("MatMul", ["b", "v"], ["c"]),
        *rest,
    ]
    return model_of(graph_of(nodes, ["y"], [given("x", (2, 4))], weights), {"": 21})


def test_bounds_of_floats_go_through_layers(tmp_path: Path) -> None:
    model = layers(node("Sigmoid", ["c"], ["y"]))
    output, distance = only(run(model, FaultyRuntime().ask, tmp_path))
    assert (output.verdict, output.bounded, distance.unit) == ("right", 10, "ulp")
    far = unseen(lambda array: np.asarray(array + np.float32(0.001), np.float32))
    assert only(run(model, far, tmp_path))[0].verdict == "wrong"


@pytest.mark.parametrize(("moved", "verdict"), [(0.0, "same"), (1e-6, "near"), (0.01, "far")])
def test_without_a_bound_nothing_is_called_wrong(tmp_path: Path, moved: float, verdict: str) -> None:
    model = layers(
        node("Sin", ["c"], ["s"]), node("Mod", ["s", "s"], ["m"], fmod=1), node("Add", ["m", "s"], ["y"])
    )
    right, _ = only(run(model, FaultyRuntime().ask, tmp_path))
    assert right.verdict in ("same", "near")
    assert right.bounded == 0
    assert "no bound is known behind Mod" in right.reason
    if right.verdict == "same" or moved:
        ask = unseen(lambda array: np.asarray(array + np.float32(moved), np.float32))
        found = run(model, ask, tmp_path)
        assert only(found)[0].verdict == verdict
        assert found.holds is (verdict != "far")


def test_an_integer_within_its_type_is_no_bound(tmp_path: Path) -> None:
    model = layers(
        node("Mod", ["c", "c"], ["m"], fmod=1),
        node("Add", ["m", "c"], ["s"]),
        node("QuantizeLinear", ["s", "q", "z"], ["t"]),
        node("DequantizeLinear", ["t", "q", "z"], ["y"]),
    )
    model.graph.initializer.extend(
        [
            numpy_helper.from_array(np.asarray(np.float32(0.1)), "q"),
            numpy_helper.from_array(np.asarray(np.int8(0)), "z"),
        ]
    )
    output, _ = only(run(model, FaultyRuntime().ask, tmp_path))
    assert output.bounded == 0
    assert only(run(model, unseen(lambda array: array * 0), tmp_path))[0].verdict == "far"


def with_quantised_bias(zero_point: int) -> ModelProto:
    """A convolution of which the bias is int32 in steps by channel, as a quantiser writes it."""
    model = quantised_convolution()
    nodes = model.graph.node
    nodes[3].input.append("b")
    nodes.insert(3, node("DequantizeLinear", ["bq", "bs", "bz"], ["b"], axis=0))
    for name, value in (("bq", np.arange(4, dtype=np.int32)), ("bs", np.full(4, 0.0002, np.float32))):
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    model.graph.initializer.append(numpy_helper.from_array(np.full(4, zero_point, np.int32), "bz"))
    return model


def test_what_is_forbidden_is_computed_and_owes_nothing(tmp_path: Path) -> None:
    """By the text the zero point of int32 is 0; the model goes on."""
    output, _ = only(run(with_quantised_bias(1), FaultyRuntime().ask, tmp_path))
    assert output.verdict in ("same", "near")
    assert "not allowed by its document" in output.reason


def test_a_bias_with_a_scale_for_each_channel_is_held_to_the_text(tmp_path: Path) -> None:
    output, _ = only(run(with_quantised_bias(0), FaultyRuntime().ask, tmp_path))
    assert output.verdict == "right"
    assert output.bounded == 64


def test_units_are_the_models_own() -> None:
    one = tensor(np.array([[0.1, 0.9], [0.6, 0.4]], np.float32))
    other = tensor(np.array([[0.1, 0.9], [0.4, 0.6]], np.float32))
    found = apart(one, other)
    assert isinstance(found, Apart)
    assert (found.unit, found.elements, found.classes, found.rows) == ("ulp", 2, 1, 2)
    steps = apart(tensor(np.array([1, 2, 3], np.int8)), tensor(np.array([1, 2, 4], np.int8)))
    assert isinstance(steps, Apart)
    assert (steps.unit, steps.most, steps.is_far) == ("step", 1, False)
    wide = apart(tensor(np.array([5], np.int64)), tensor(np.array([6], np.int64)))
    assert isinstance(wide, Apart)
    assert wide.is_far
    lost = apart(tensor(np.array([1.0, 2.0], np.float32)), tensor(np.array([np.nan, 2.0], np.float32)))
    assert isinstance(lost, Apart)
    assert (lost.elements, lost.lost, lost.is_far) == (1, 1, True)
    assert apart(one, tensor(np.zeros(2, np.float32))) == "float [2] in place of float [2, 2]"


def test_constant_nodes_are_values_of_the_model(tmp_path: Path) -> None:
    kept = numpy_helper.from_array(np.full(5, 0.5, np.float32))
    model = layers(node("Constant", [], ["k"], value=kept), node("Mul", ["c", "k"], ["y"]))
    output, _ = only(run(model, FaultyRuntime().ask, tmp_path))
    assert (output.verdict, output.bounded) == ("right", 10)

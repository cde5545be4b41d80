"""A part of a call is the same function of the same elements: held against the reference of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.checked_models.model_calls import ModelNode
from generator.asking.named_operators import referenced_operators
from generator.models.check.actual_calls import ActualCall, actual_call
from generator.models.check.node_judging import NodeJudge, plain_expectation
from generator.models.check.sampled_calls import ELEMENTWISE, sample
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reports.checked_models.check_words import right_text
from tests.generator.checking.made_calls import call, fed


def _whole(name: str, inputs: list[Any], **attributes: Any) -> ActualCall:
    """A call with the reference's own answer as what came out."""
    operator = OperatorName.parse(f"ai.onnx::{name}")
    kinds = {tuple: "ints", int: "int", str: "string", float: "float"}
    said = {key: attribute(kinds[type(value)], value) for key, value in attributes.items()}
    given_ = [None if each is None else tensor(np.asarray(each)) for each in inputs]
    node = ModelNode("0", "", operator, (), (), said)
    first = next(each for each in given_ if each is not None)
    call = actual_call(node, given_, [first])
    expected = plain_expectation(call)
    return actual_call(node, given_, [expected.outputs[0].expected])


def _holds(whole: ActualCall, elements: int, seed: int) -> bool:
    """Whether there is a part, of which the reference gives exactly what the whole has there."""
    part = sample(whole, elements, seed)
    if part is None:
        return False
    expected = plain_expectation(part).outputs[0]
    assert expected.expected == part.answers[0]
    assert part.answers[0].array.size <= max(whole.of_elements, 1)
    return True


def _numbers(shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_convolutions_and_pools(data: st.DataObject) -> None:
    axes = data.draw(st.integers(1, 2))
    lengths = tuple(data.draw(st.integers(3, 9)) for _ in range(axes))
    window = tuple(data.draw(st.integers(1, 3)) for _ in range(axes))
    steps = tuple(data.draw(st.integers(1, 3)) for _ in range(axes))
    seed = data.draw(st.integers(0, 99))
    said: dict[str, Any] = {"kernel_shape": window, "strides": steps}
    if data.draw(st.booleans()):
        said["pads"] = tuple(
            data.draw(st.integers(0, max(window[each % axes] - 1, 0))) for each in range(2 * axes)
        )
    else:
        said["auto_pad"] = data.draw(st.sampled_from(("SAME_UPPER", "SAME_LOWER", "VALID")))
    name = data.draw(st.sampled_from(("Conv-11", "MaxPool-12", "AveragePool-11")))
    if name == "AveragePool-11":
        said["count_include_pad"] = data.draw(st.integers(0, 1))
    elif "auto_pad" not in said:
        said["dilations"] = tuple(data.draw(st.integers(1, 2)) for _ in range(axes))
    spreads = said.get("dilations", (1,) * axes)
    assume(
        all(
            (one - 1) * spread + 1 <= length
            for one, spread, length in zip(window, spreads, lengths, strict=True)
        )
    )
    if name == "Conv-11":
        groups, taken, shared = (data.draw(st.integers(1, 3)) for _ in range(3))
        inputs = [
            _numbers((2, groups * taken, *lengths), seed),
            _numbers((groups * shared, taken, *window), seed + 1),
        ]
        if data.draw(st.booleans()):
            inputs.append(_numbers((groups * shared,), seed + 2))
        said["group"] = groups
    else:
        inputs = [_numbers((2, 3, *lengths), seed)]
    _holds(_whole(name, inputs, **said), data.draw(st.integers(1, 30)), seed)


def test_a_part_of_a_convolution_is_found() -> None:
    inputs = [_numbers((1, 8, 12, 12), 1), _numbers((16, 8, 3, 3), 2)]
    whole = _whole("Conv-11", inputs, pads=(1, 1, 1, 1))
    assert all(_holds(whole, 40, seed) for seed in range(5))


@settings(max_examples=8, deadline=None)
@given(
    batch=st.sampled_from(((), (2,), (2, 3))),
    shared=st.integers(1, 6),
    elements=st.integers(1, 20),
    turned=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    seed=st.integers(0, 9),
)
def test_products_of_matrices(
    batch: tuple[int, ...], shared: int, elements: int, turned: tuple[int, int], seed: int
) -> None:
    whole = _whole("MatMul-13", [_numbers((*batch, 4, shared), seed), _numbers((shared, 5), seed + 1)])
    assert _holds(whole, elements, seed)
    one = _numbers((shared, 4) if turned[0] else (4, shared), seed)
    other = _numbers((5, shared) if turned[1] else (shared, 5), seed)
    for added in (_numbers((5,), 3), _numbers((4, 1), 3), None):
        inputs = [one, other, added] if added is not None else [one, other]
        whole = _whole("Gemm-13", inputs, transA=turned[0], transB=turned[1], alpha=0.5, beta=2.0)
        assert _holds(whole, elements, seed)


@settings(max_examples=8, deadline=None)
@given(axis=st.integers(-3, 2), elements=st.integers(1, 20), seed=st.integers(0, 9), keep=st.integers(0, 1))
def test_lanes(axis: int, elements: int, seed: int, keep: int) -> None:
    given_ = _numbers((3, 4, 5), seed)
    channel = [np.abs(_numbers((4,), seed + each)) for each in range(4)]
    assert _holds(_whole("Softmax-13", [given_], axis=axis), elements, seed)
    assert _holds(_whole("Softmax-11", [given_], axis=axis), elements, seed)
    scale = _numbers(given_.shape[axis % 3 :], seed)
    assert _holds(_whole("LayerNormalization-17", [given_, scale, scale], axis=axis), elements, seed)
    assert _holds(_whole("BatchNormalization-15", [given_, *channel]), elements, seed)
    assert _holds(_whole("InstanceNormalization-6", [given_, *channel[:2]]), elements, seed)
    assert _holds(_whole("GlobalAveragePool-1", [given_]), elements, seed)
    reduced = [given_, np.array([axis], np.int64)]
    assert _holds(_whole("ReduceSum-13", reduced, keepdims=keep), elements, seed)
    assert _holds(_whole("ReduceMean-13", [given_], axes=(axis,), keepdims=keep), elements, seed)


def test_elements_one_by_one_with_broadcasting() -> None:
    """Of every operator that is said to be one, in its newest version that has a reference."""
    newest: dict[str, OperatorName] = {}
    for referenced_operator in referenced_operators():
        if referenced_operator.domain == "ai.onnx" and referenced_operator.name in ELEMENTWISE:
            newest[referenced_operator.name] = max(
                referenced_operator,
                newest.get(referenced_operator.name, referenced_operator),
                key=lambda one: one.since_version,
            )
    assert len(newest) > 40
    for number, (name, operator) in enumerate(sorted(newest.items())):
        inputs, said = _elementwise_inputs(name, number)
        whole = _whole(f"{name}-{operator.since_version}", inputs, **said)
        assert _holds(whole, 7, number), name


def _elementwise_inputs(name: str, seed: int) -> tuple[list[Any], Mapping[str, Any]]:
    one, other = _numbers((3, 4, 5), seed), _numbers((4, 1), seed + 1)
    whole = (one > 0, other > 0)
    match name:
        case "And" | "Or" | "Xor":
            return [*whole], {}
        case "Not":
            return [whole[0]], {}
        case "Where":
            return [whole[1], one, other], {}
        case "Clip":
            return [one, np.float32(-0.5), np.float32(0.5)], {}
        case "Cast":
            return [one], {"to": 6}
        case "Mod":
            return [one, np.abs(other) + 1], {"fmod": 1}
        case "Pow" | "Sqrt" | "Log":
            return ([np.abs(one), other] if name == "Pow" else [np.abs(one)]), {}
        case "Sum" | "Mean" | "Min" | "Max":
            return [one, other, _numbers((5,), seed)], {}
        case (
            "Add"
            | "Sub"
            | "Mul"
            | "Div"
            | "PRelu"
            | "Equal"
            | "Less"
            | "Greater"
            | "LessOrEqual"
            | "GreaterOrEqual"
        ):
            return [one, other], {}
    return [one], {}


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_quantisation_by_tensor_and_by_axis(axis: int | None) -> None:
    given_ = _numbers((4, 3, 4), 1)
    scale = np.array(0.1 if axis is None else [0.1, 0.2, 0.3, 0.4], np.float32)
    zero = np.full(scale.shape, 3, np.uint8)
    said = {} if axis is None else {"axis": axis}
    whole = _whole("QuantizeLinear-13", [given_, scale, zero], **said)
    back = _whole(
        "DequantizeLinear-13", [np.arange(48, dtype=np.uint8).reshape(4, 3, 4), scale, zero], **said
    )
    assert _holds(back, 9, 2)
    part = sample(whole, 9, 2)
    assert part is not None


_VECTORS: dict[str, Any] = {
    "classlabels_ints": [0, 1, 2],
    "coefficients": [1.0, -0.5, 0.25, -1.0, 0.75, 0.5],
    "kernel_params": [0.5, 0.0, 3.0],
    "kernel_type": "RBF",
    "post_transform": "NONE",
    "rho": [0.5, 0.25, -0.5],
    "support_vectors": [0.0, 1.0, 2.0, 0.5, -1.0, 3.0],
    "vectors_per_class": [1, 1, 1],
}


def test_rows_of_support_vectors_with_both_outputs() -> None:
    """In a batch of which the reference has no time for all rows."""
    node = call("ai.onnx.ml::SVMClassifier-1", [fed(300, 2)], 2, **_VECTORS).first
    rows = tensor(_numbers((300, 2), 5))
    labels, scores = (tensor(np.zeros(300, np.int64)), tensor(np.zeros((300, 3), np.float32)))
    right = [each.expected for each in plain_expectation(actual_call(node, [rows], [labels, scores])).outputs]
    whole = actual_call(node, [rows], right)
    part = sample(whole, 40, 7)
    assert part is not None
    assert [answer.shape for answer in part.answers] == [(10,), (10, 3)]
    assert [each.expected for each in plain_expectation(part).outputs] == list(part.answers)
    judge = NodeJudge(60.0, 0.05)
    found = judge.judge(node, [rows], right).numbers
    assert found.verdict == "right"
    assert 0 < (found.elements or 0) < 1200
    shifted = tensor(right[1].array + np.float32(0.01))
    assert judge.judge(node, [rows], [right[0], shifted]).numbers.verdict == "wrong"


def test_a_node_of_which_its_document_has_no_formula_breaks_no_rule() -> None:
    shares = {"prob_a": [-1.0, -2.0, -1.5], "prob_b": [0.25, 0.5, 0.0]}
    node = call("ai.onnx.ml::SVMClassifier-1", [fed(2, 2)], 2, **_VECTORS, **shares).first
    given_ = [tensor(np.zeros(2, np.int64)), tensor(np.zeros((2, 3), np.float32))]
    found = NodeJudge(60.0, 6.0).judge(node, [tensor(_numbers((2, 2), 5))], given_).numbers
    assert (found.verdict, found.why) == ("passed_over", "undefined")
    assert "no formula for probabilities of several pairs" in str(found.reason)


def test_a_fault_among_many_elements_is_noticed() -> None:
    whole = _whole("Sigmoid-13", [_numbers((40, 50), 3)])
    wrong = whole.answers[0].array.copy()
    wrong[17, 4] = 7.0
    faulty = ActualCall(
        whole.spec,
        whole.reference,
        whole.call,
        whole.outputs,
        (Tensor(whole.answers[0].element_type, wrong),),
        2000,
    )
    part = sample(faulty, 20, 0)
    assert part is not None
    assert 7.0 in part.answers[0].array


def test_a_node_that_is_less_exact_than_the_table_of_functions_is_right_and_told_so() -> None:
    x = np.linspace(-3, 3, 64, dtype=np.float32)
    right = (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)
    far = right.copy()
    for _ in range(7):
        far[0] = np.nextafter(far[0], np.float32(1))
    node = call("Sigmoid-13", [fed(64)]).first
    found = NodeJudge(60.0, 6.0).judge(node, [tensor(x)], [tensor(far)]).numbers
    assert (found.verdict, found.is_inexact, found.ulps) == ("right", True, 7)
    assert right_text(found) == "inexact, within 7 ulp"
    exact = NodeJudge(60.0, 6.0).judge(node, [tensor(x)], [tensor(right)]).numbers
    assert (exact.verdict, exact.is_inexact) == ("right", False)


def test_a_scalar_of_one_element_is_a_scalar_of_an_actual_call_too() -> None:
    boxes = np.array([[[0, 0, 1, 1], [2, 2, 3, 3]]], np.float32)
    scores, most = np.array([[[0.25, 0.75]]], np.float32), np.array([1])
    taken = [tensor(each) for each in (boxes, scores, most, np.array([0.5], np.float32))]
    node = call("NonMaxSuppression-11", [fed(1, 2, 4), fed(1, 1, 2), fed(1, of="int64"), fed(1)]).first
    best, other = (
        NodeJudge(60.0, 6.0).judge(node, taken, [tensor(np.array([[0, 0, box]]))]).numbers for box in (1, 0)
    )
    assert (best.verdict, other.verdict) == ("right", "wrong"), best.reason

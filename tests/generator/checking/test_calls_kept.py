"""Cases of a model's calls make that very call: operator, attributes, types, ranks, values; valid ONNX."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from conformance.checked_models.model_calls import ModelCall
from conformance.models.case_models import build_model
from conformance.suite.cases import Case
from conformance.suite.protos import read_tensor
from generator.models.check.call_cases import CallCases
from generator.models.check.making import cases_of_call
from opcert.vocabulary.tensors import Tensor
from tests.generator.checking.made_calls import call, fed, fixed, weight

pytestmark = pytest.mark.slow

_LAST = 2**63 - 1
CALLS = {
    "kernels and strides beyond the declared ones": call(
        "Conv-11",
        [fed("n", 3, 224, 224), weight(64, 3, 7, 7), weight(64)],
        kernel_shape=[7, 7],
        strides=[4, 4],
    ),
    "one group a channel": call(
        "Conv-11",
        [fed("n", 96, 56, 56), weight(96, 1, 3, 3)],
        kernel_shape=[3, 3],
        pads=[1, 1, 1, 1],
        group=96,
    ),
    "five axes": call("Transpose-13", [fed(1, "s", 3, 12, 64)], perm=[2, 0, 3, 1, 4]),
    "an axis from the end": call("Softmax-13", [fed("n", 12, "s", "s")], axis=-3),
    "a new shape that the model keeps": call("Reshape-14", [fed("n", "s", 768), fixed([0, -1, 12, 64])]),
    "a new shape that the model computes": call("Reshape-14", [fed("n", "s", 768), fed(4, of="int64")]),
    "a slice to the end": call(
        "Slice-13", [fed("n", "s", 768), fixed([1]), fixed([_LAST]), fixed([2]), fixed([2])]
    ),
    "equal extents stay equal": call("MatMul-13", [fed("n", "s", 768), weight(768, 3072)]),
    "extents of one stay one": call("Mul-14", [fed("n", 96, 14, 14), fed("n", 96, 1, 1)]),
    "indices into a table": call("Gather-13", [weight(30522, 768), fed("n", "s", of="int64")]),
    "nothing is known of shapes": call("Concat-13", [fed(None, None, None), fed(None, None, None)], axis=2),
    "parts of a split": call("Split-13", [fed(1, 128, 80, 80), fixed([96, 32])], outputs=2, axis=1),
    "scales that the model keeps": call(
        "Resize-13", [fed(1, 256, "h", "w"), None, fixed([1, 1, 2, 2], "float32")], mode="nearest"
    ),
    "types by use": call("Cast-13", [fed("n", 1, 1, "s", of="int64")], to=1),
    "a tensor where a sequence may be": call("Identity-16", [fed("n", 64)]),
    "a scale for each of many channels": call(
        "DequantizeLinear-13", [weight(384, 384, of="int8"), weight(384), weight(384, of="int8")], axis=0
    ),
    "no axis left": call("Flatten-13", [fed("n", 2048, 1, 1)], axis=1),
}


@pytest.fixture(scope="module", params=CALLS)
def made(request: pytest.FixtureRequest) -> CallCases:
    return cases_of_call(CALLS[request.param], 8)


def test_a_case_makes_the_call_of_the_node(made: CallCases) -> None:
    assert made.not_covered is None
    assert len(made.cases) >= 5 or made.varied == {"extents": ("small",)}
    for case in made.cases:
        assert case.operator == made.call.operator
        assert case.attributes == made.call.first.attributes
        assert case.id.word == made.word
        given = list(zip(made.call.first.inputs, _all_inputs(case), strict=True))
        for wanted, tensor in given:
            assert (wanted is None) == (tensor is None)
            if wanted is None or tensor is None:
                continue
            assert tensor.element_type.name == wanted.element_type
            assert len(tensor.shape) == len(wanted.shape or ())
            if wanted.constant is not None:
                assert tensor == wanted.constant
        _share_extents(made.call, [tensor.shape if tensor else None for _, tensor in given])


def _all_inputs(case: Case) -> list[Tensor | None]:
    """What the node of a case takes, in order: what is fed, and what the case's model holds as constants."""
    if case.model is None:
        return [tensor for _, tensor in case.inputs]
    graph = onnx.load_from_string(case.model).graph
    known: dict[str, Tensor | None] = {
        initializer.name: read_tensor(initializer) for initializer in graph.initializer
    }
    known |= dict(case.inputs)
    (node,) = graph.node
    return [known[value_info] if value_info else None for value_info in node.input]


def _share_extents(model: ModelCall, shapes: list[tuple[int, ...] | None]) -> None:
    """Extents of one length or name in the model have one length, and extents of one are one."""
    found: dict[object, int] = {}
    for wanted, shape in zip(model.first.inputs, shapes, strict=True):
        if wanted is None or shape is None or wanted.constant is not None or len(shape) == 1:
            continue
        for said, extent in zip(wanted.shape or (), shape, strict=True):
            if said == 1:
                assert extent == 1
            elif said is not None and len(model.first.inputs) > 1:
                assert found.setdefault(said, extent) == extent


def test_onnx_finds_the_same_types_and_shapes(made: CallCases) -> None:
    for case in made.cases:
        raw = onnx.load_from_string(build_model(case))
        onnx.checker.check_model(raw)
        known = onnx.shape_inference.infer_shapes(raw, strict_mode=True, data_prop=True)
        for output, wanted in zip(known.graph.output, case.expectations[0].outputs, strict=True):
            told = output.type.tensor_type
            assert told.elem_type == wanted.expected.element_type.code
            extents = [each.dim_value for each in told.shape.dim if each.HasField("dim_value")]
            if len(extents) == len(wanted.expected.shape):
                assert tuple(extents) == wanted.expected.shape


def test_what_comes_out_is_what_numpy_says() -> None:
    for case in cases_of_call(CALLS["five axes"]).cases:
        ((_, given),) = case.inputs
        assert given is not None
        right = np.transpose(given.array, (2, 0, 3, 1, 4))
        got = case.expectations[0].outputs[0].expected
        assert got.array.tobytes() == np.ascontiguousarray(right).tobytes()


def test_levels_of_data_and_extents_are_varied() -> None:
    made = cases_of_call(CALLS["equal extents stay equal"])
    assert {"random", "nonfinite", "huge", "ties", "signed_zero"} <= set(made.varied["data"])
    assert {"small", "other", "further", "ones", "none"} == set(made.varied["extents"])
    assert made.covered_pairs >= 0.7 * made.pairs
    assert made.forms == ("initializers", "dynamic", "inputs")
    shapes = {tensor.shape for case in made.cases for _, tensor in case.inputs if tensor is not None}
    assert any(0 in shape for shape in shapes)
    assert any(1 in shape for shape in shapes)
    assert any(min(shape) > 1 for shape in shapes)


def test_the_same_call_has_the_same_cases_whatever_its_names_are() -> None:
    one = call("Add-14", [fed("batch", "length", 64), fed(64)])
    other = call("Add-14", [fed("n", "s", 64), fed(64)])
    first, second = cases_of_call(one), cases_of_call(other)
    assert first.key == second.key
    assert [str(each.id) for each in first.cases] == [str(each.id) for each in second.cases]
    assert first.key != cases_of_call(call("Add-14", [fed("n", "n", 64), fed(64)]), 1).key

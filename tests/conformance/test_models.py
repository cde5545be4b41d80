"""Models of one node: valid for onnx's checker, of the oldest versions, in every form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from conformance.models.case_models import FORMS, Form, build_model, has_onnx_form
from conformance.models.node_descriptions import describe_node
from conformance.suite.cases import Case, call_digest
from conformance.workers.worker_protocol import LoadRequest
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.samples import IDENTITY, expect, make_case, sample


def resize(version: int = 18, **attributes: Attribute) -> Case:
    operator = OperatorName.parse(f"ai.onnx::Resize-{version}")
    inputs: tuple[tuple[str, Tensor | None], ...] = (
        ("X", sample(1, (1, 1, 2, 2))),
        ("roi", None),
        ("scales", tensor(np.array([1, 1, 2, 2], dtype=np.float32))),
    )
    if version == 10:
        inputs = (inputs[0], inputs[2])
    if version == 11:
        inputs = (inputs[0], ("roi", tensor(np.zeros(0, dtype=np.float32))), inputs[2])
    output = expect(tensor(np.repeat(np.repeat(sample(1, (1, 1, 2, 2)).array, 2, 2), 2, 3)))
    return Case(
        id=CaseId(operator, "cover", None, call_digest(operator, attributes, inputs)),
        element_type=ELEMENT_TYPES["float"],
        attributes=attributes,
        inputs=inputs,
        output_names=("Y",),
        demand="answer",
        expectations=(output,),
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("version", "oldest"), [(10, 5), (11, 6), (13, 7), (18, 8)])
def test_a_model_is_valid_and_as_old_as_can_be(version: int, oldest: int, form: Form) -> None:
    model = onnx.load_model_from_string(build_model(resize(version), form))
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == oldest
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", version)]
    if form == "initializers":
        assert [value_info.name for value_info in model.graph.input] == ["X"]
        assert "scales" in [initializer.name for initializer in model.graph.initializer]
    else:
        assert not model.graph.initializer
        extents = [each.dim_value for each in model.graph.input[0].type.tensor_type.shape.dim]
        known = {"strided": [2, 2, 1, 1], "dynamic": [0] * 4, "again": [0] * 4}
        assert extents == known.get(form, [1, 1, 2, 2])


def test_the_reference_evaluator_runs_every_form() -> None:
    case = resize(18, mode=attribute("string", "nearest"))
    feeds = {name: each.array for name, each in case.inputs if each is not None}
    for form in FORMS:
        model = onnx.load_model_from_string(build_model(case, form))
        names = {value_info.name for value_info in model.graph.input}
        if form == "strided":
            feeds["X_turned"] = feeds["X"].transpose()
        session = ReferenceEvaluator(model)
        (found,) = session.run(None, {name: feed for name, feed in feeds.items() if name in names})
        assert np.shape(found) == (1, 1, 4, 4)


@pytest.mark.parametrize(
    ("name", "oldest"),
    [("float", 7), ("bfloat16", 7), ("float8e5m2", 9), ("int4", 10),
     ("float4e2m1", 11), ("float8e8m0", 12), ("int2", 13), ("uint2", 13),
     ("float6e2m3", 14), ("float6e3m2", 14)],
)  # fmt: skip
def test_the_ir_version_holds_the_element_type(name: str, oldest: int) -> None:
    element_type = ELEMENT_TYPES[name]
    given = Tensor(element_type, np.zeros(3, dtype=element_type.storage))
    case = make_case(given=given, operator=IDENTITY)
    assert onnx.load_model_from_string(build_model(case)).ir_version == oldest


def test_another_domain_is_imported_beside_the_main_one() -> None:
    case = make_case(operator=OperatorName.parse("com.microsoft::Pad-1"))
    model = onnx.load_model_from_string(build_model(case))
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 13), ("com.microsoft", 1)]
    assert model.graph.node[0].domain == "com.microsoft"


def test_an_invalid_case_declares_the_outputs_of_its_valid_case() -> None:
    valid = make_case(given=tensor(np.zeros((2, 2, 2), dtype=np.float64)), operator=IDENTITY)
    invalid = make_case(seed=1, operator=IDENTITY, demand="refuse", valid_case=valid)
    (output,) = onnx.load_model_from_string(build_model(invalid, "inputs", valid)).graph.output
    assert output.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    assert len(output.type.tensor_type.shape.dim) == 3


def test_omitted_inputs_at_the_end_are_not_named_and_repeated_names_are_told_apart() -> None:
    first, second = sample(1), sample(2)
    operator = OperatorName.parse("ai.onnx::Concat-13")
    inputs = (("inputs", first), ("inputs", second), ("extra", None))
    case = Case(
        id=CaseId(operator, "cover", None, call_digest(operator, {}, inputs)),
        element_type=first.element_type,
        attributes={"axis": attribute("int", 0)},
        inputs=inputs,
        output_names=("Y",),
        demand="survive",
    )
    node = onnx.load_model_from_string(build_model(case)).graph.node[0]
    assert list(node.input) == ["inputs_0", "inputs_1"]


def test_an_output_that_is_not_wanted_has_no_name_beside_inputs_that_are_left_out() -> None:
    first, second = sample(1), sample(2)
    operator = OperatorName.parse("ai.onnx::Clip-13")
    inputs = (("input", first), ("min", None), ("max", second))
    case = Case(
        id=CaseId(operator, "cover", None, call_digest(operator, {}, inputs)),
        element_type=first.element_type,
        attributes={},
        inputs=inputs,
        output_names=("", "Y"),
        demand="survive",
    )
    graph = onnx.load_model_from_string(build_model(case)).graph
    assert list(graph.node[0].output) == ["", "Y"]
    assert [value_info.name for value_info in graph.output] == ["Y"]


def test_domains_of_ours_have_no_onnx_model() -> None:
    assert not has_onnx_form(OperatorName.parse("org.tensorflow::BatchToSpaceND-1"))
    with pytest.raises(UserError, match="not an operator of ONNX models"):
        build_model(make_case(operator=OperatorName.parse("org.tensorflow::BatchToSpaceND-1")))


@pytest.mark.parametrize("form", FORMS)
def test_a_worker_reads_the_description_that_is_sent(form: Form) -> None:
    given = {
        "a": attribute("floats", [1.5, float("nan"), float("-inf")]),
        "b": attribute("ints", []),
        "c": attribute("strings", ["x", "é"]),
        "d": attribute("float", float("inf")),
    }
    case = resize(18, **given)
    header, blobs = describe_node(case, form)
    request = LoadRequest({**header, "form": form}, blobs)
    assert (request.domain, request.name, request.since_version) == ("ai.onnx", "Resize", 18)
    assert request.attributes["a"][0] == 1.5
    assert np.isnan(request.attributes["a"][1])
    assert request.attributes["a"][2] == float("-inf")
    assert (request.attributes["b"], request.attributes["c"]) == ([], ["x", "é"])
    assert request.attributes["d"] == float("inf")
    assert request.inputs[1] is None
    assert request.inputs[0] is not None
    assert request.inputs[0][2] == ((None,) * 4 if form == "dynamic" else (1, 1, 2, 2))
    assert sorted(request.constants) == (["scales"] if form == "initializers" else [])
    if request.constants:
        assert request.constants["scales"].data == case.inputs[2][1].to_bytes()  # type: ignore[union-attr] # it is there


def test_models_are_the_same_bytes_always(tmp_path: Path) -> None:
    assert build_model(resize()) == build_model(resize())

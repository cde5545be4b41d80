"""Tests in the layout of ONNX's backend tests as cases: what is carried, and what is left out and why."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from conformance.adopting.adopted_cases import WRITTEN_AS, allowed_error
from conformance.adopting.foreign_values import read_foreign_tensor
from conformance.adopting.node_tests import Adoption, adopt_folder
from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.models.case_models import FORMS, build_model
from conformance.suite.cases import Case
from conformance.suite.goldens import read_golden, write_golden
from conformance.suite.protos import write_tensor
from conformance.suite.suites import open_suite
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor, tensor
from reports.single_cases.case_folder import export_suite
from tests.conformance.conversation import make_case as make_onnx_case
from tests.conformance.samples import IDENTITY, make_case, make_suite

X = np.array([[1.5, -2.0, 0.0]], np.float32)


def write_test(
    folder: Path,
    nodes: Sequence[NodeProto],
    inputs: dict[str, Any],
    outputs: dict[str, Any],
    opset: int = 22,
    **more: Any,
) -> Path:
    """A test of nodes with one data set; `more` goes into the model."""
    declared = [
        [helper.make_tensor_value_info(name, *_declared(each)) for name, each in side.items()]
        for side in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, folder.name, declared[0], declared[1], more.pop("initializer", None))
    opsets = [helper.make_operatorsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, **more)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for side, values in (("input", inputs), ("output", outputs)):
        for position, (name, each) in enumerate(values.items()):
            proto = each if isinstance(each, TensorProto) else numpy_helper.from_array(each, name)
            (data / f"{side}_{position}.pb").write_bytes(proto.SerializeToString())
    return folder


def _declared(value: Any) -> tuple[int, list[int]]:
    proto = value if isinstance(value, TensorProto) else numpy_helper.from_array(value)
    return proto.data_type, list(proto.dims)


def write_relu(folder: Path) -> Path:
    return write_test(folder, [helper.make_node("Relu", ["a"], ["b"])], {"a": X}, {"b": np.maximum(X, 0)})


def adopt(folder: Path, suite: Path) -> tuple[Adoption, list[Case]]:
    adoption = adopt_folder(folder, suite, {"folder": folder.name})
    with open_suite(suite) as opened:
        return adoption, list(opened.cases())


def adopt_one(tmp_path: Path) -> Case:
    adoption, (case,) = adopt(tmp_path / "tests", tmp_path / "suite")
    assert (adoption.tests, adoption.cases, adoption.left_out) == (1, 1, {})
    return case


def reason_of(tmp_path: Path) -> str:
    """Why the only test is left out."""
    with pytest.raises(UserError, match="no test can be carried") as caught:
        adopt_folder(tmp_path / "tests", tmp_path / "suite", {})
    assert not (tmp_path / "suite").exists()
    return str(caught.value)


def test_one_node_becomes_a_call_with_the_names_of_the_document(tmp_path: Path) -> None:
    write_relu(tmp_path / "tests" / "test_relu")
    case = adopt_one(tmp_path)
    assert str(case.id).startswith("ai.onnx/Relu-14/example/test_relu-")
    assert case.inputs == (("X", tensor(X)),)
    assert case.output_names == ("b",)
    assert (case.model, case.demand, case.levels) == (None, "answer", {WRITTEN_AS: "node"})
    built = ModelProto.FromString(build_model(case))
    # The test's file says opset 22 and IR version 10.
    assert [opset.version for opset in built.opset_import] == [14]
    assert built.ir_version < 10


def test_omitted_inputs_stay_omitted(tmp_path: Path) -> None:
    node = helper.make_node("Clip", ["a", "", "most"], ["b"])
    most = np.array(1, np.float32)
    write_test(tmp_path / "tests" / "test_clip", [node], {"a": X, "most": most}, {"b": np.minimum(X, 1)})
    case = adopt_one(tmp_path)
    assert case.inputs == (("input", tensor(X)), ("min", None), ("max", tensor(most)))


def test_its_own_tolerance_is_the_allowed_error(tmp_path: Path) -> None:
    place = write_relu(tmp_path / "tests" / "test_relu")
    (place / "data.json").write_text(json.dumps({"rtol": 0.5, "atol": 0.25}))
    case = adopt_one(tmp_path)
    for more, verdict in ((0.99, "pass"), (1.01, "mismatch")):
        off = np.maximum(X, 0) + np.array([[more, 0, 0]], np.float32)
        assert judge(case, Answered((tensor(off.astype(np.float32)),), 0.0)).verdict == verdict


@given(
    st.floats(width=32), st.floats(width=32), st.sampled_from([0, 1e-3, 0.5]), st.sampled_from([0, 1e-7, 1.0])
)
def test_what_is_allowed_is_what_numpy_calls_close(
    got: float, wanted: float, rtol: float, atol: float
) -> None:
    expected = tensor(np.array([wanted], np.float32))
    allowed = allowed_error(expected, rtol, atol)
    assert allowed is not None
    with np.errstate(all="ignore"):
        close = bool(np.isclose(np.float64(got), np.float64(wanted), rtol, atol, equal_nan=True))
        near = abs(np.float64(got) - np.float64(wanted)) <= allowed[0]
    same = got == wanted or (got != got and wanted != wanted)
    assert (same or bool(near)) == close


@given(st.complex_numbers(allow_nan=False, max_magnitude=1e300))
def test_a_complex_number_allows_what_its_magnitude_does(wanted: complex) -> None:
    allowed = allowed_error(tensor(np.array([wanted], np.complex128)), 1.0, 0.0)
    assert allowed is not None
    exact = Fraction(wanted.real) ** 2 + Fraction(wanted.imag) ** 2
    found = Fraction(float(allowed[0]))
    assert found**2 >= exact
    assert found**2 <= exact * (1 + Fraction(1, 1 << 47)) or found < Fraction(1, 10**300)


def test_bfloat16_gets_two_steps_as_in_the_runner_of_onnx() -> None:
    one = Tensor(ELEMENT_TYPES["bfloat16"], np.array([0x3F80], np.uint16))
    allowed = allowed_error(one, 1e-3, 0.0)
    assert allowed is not None
    assert 2.0**-6 <= allowed[0] < 2.0**-6 * 1.0001
    assert allowed_error(tensor(np.array([b"a"], object), "string"), 1e-3, 0.0) is None


def test_a_twin_counts_for_its_operator_and_says_what_it_is(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    elu = helper.make_node("Elu", ["a"], ["b"], alpha=0.5)
    write_test(tests / "test_elu", [elu], {"a": X}, {"b": X}, 6)
    body = [helper.make_node("Abs", ["a"], ["c"]), helper.make_node("Neg", ["c"], ["b"])]
    write_test(tests / "test_elu_expanded_ver18", body, {"a": X}, {"b": X}, 18)
    adoption, (plain, twin) = adopt(tests, tmp_path / "suite")
    assert adoption.counts["expanded"] == 1
    assert (str(twin.operator), twin.attributes) == ("ai.onnx::Elu-6", plain.attributes)
    assert twin.levels == {WRITTEN_AS: "expanded"}
    assert twin.id.digest != plain.id.digest
    assert twin.model is not None
    model = ModelProto.FromString(twin.model)
    assert [node.op_type for node in model.graph.node] == ["Abs", "Neg"]
    assert [opset.version for opset in model.opset_import] == [13]  # of Abs and of Neg


def test_several_nodes_are_a_graph(tmp_path: Path) -> None:
    nodes = [helper.make_node("Abs", ["a"], ["c"]), helper.make_node("Neg", ["c"], ["b"])]
    write_test(tmp_path / "tests" / "deep" / "test.two", nodes, {"a": X}, {"b": -abs(X)})
    case = adopt_one(tmp_path)
    assert str(case.id).startswith("graph/Model-22/example/deep_test_two-")
    assert case.levels == {WRITTEN_AS: "graph"}


@pytest.mark.parametrize("form", FORMS)
def test_a_model_of_its_own_takes_every_form(tmp_path: Path, form: str) -> None:
    nodes = [helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Mul", ["c", "b"], ["d"])]
    write_test(tmp_path / "tests" / "test_two", nodes, {"a": X, "b": X}, {"d": (X + X) * X})
    case = adopt_one(tmp_path)
    model = ModelProto.FromString(build_model(case, form))  # type: ignore[arg-type] # one of FORMS
    onnx.checker.check_model(model, full_check=True)
    fed = {
        value_info.name: X.transpose() if value_info.name == "a_turned" else X
        for value_info in model.graph.input
    }
    names = {"initializers": {"a"}, "strided": {"a_turned", "b"}}
    assert set(fed) == names.get(form, {"a", "b"})
    (found,) = ReferenceEvaluator(model).run(None, fed)
    assert judge(case, Answered((tensor(found),), 0.0)).verdict == "pass"
    named = [
        dim.dim_param for value_info in model.graph.input for dim in value_info.type.tensor_type.shape.dim
    ]
    assert all(named) == (form in ("dynamic", "again"))


def test_a_case_with_a_model_comes_back_from_its_golden(tmp_path: Path) -> None:
    nodes = [helper.make_node("Abs", ["a"], ["c"]), helper.make_node("Neg", ["c"], ["b"])]
    write_test(tmp_path / "tests" / "test_two", nodes, {"a": X}, {"b": -abs(X)})
    case = adopt_one(tmp_path)
    raw, _ = write_golden(case)
    assert read_golden(raw).model == case.model is not None
    plain = make_case()
    assert read_golden(write_golden(plain)[0]).model is None


@pytest.mark.parametrize(("ratio", "demand"), [(0.0, "answer"), (0.5, "survive")])
def test_random_outputs_are_observed(tmp_path: Path, ratio: float, demand: str) -> None:
    node = helper.make_node("Dropout", ["a", "ratio", "training"], ["b"])
    given = {"a": X, "ratio": np.array(ratio, np.float32), "training": np.array(True)}
    write_test(tmp_path / "tests" / "test_dropout", [node], given, {"b": X})
    case = adopt_one(tmp_path)
    assert case.demand == demand
    assert case.family == ("example" if demand == "answer" else "survival")


def test_a_random_operator_inside_a_body_counts(tmp_path: Path) -> None:
    nodes = [helper.make_node("RandomUniformLike", ["a"], ["c"]), helper.make_node("Add", ["a", "c"], ["b"])]
    write_test(tmp_path / "tests" / "test_noise", nodes, {"a": X}, {"b": X})
    case = adopt_one(tmp_path)
    assert (case.demand, case.rule, case.expectations) == ("survive", "its output is random", ())


def _sample(name: str) -> Tensor:
    element_type = ELEMENT_TYPES[name]
    if name == "string":
        return tensor(np.array([b"", b"\xff", b"a"], object), "string")
    values = np.arange(3)
    if element_type.kind == "bool":
        values = values % 2
    elif element_type.kind == "signed":
        values = -values
    elif np.dtype(element_type.storage).kind == "u" and element_type.bits > 6:
        values = values * 99
    elif element_type.bits == 6:
        values = values * 31
    return Tensor(element_type, values.astype(element_type.storage))


@pytest.mark.parametrize("element_type", [dtype.name for dtype in BY_CODE.values()])
def test_every_element_type_is_read_from_bytes_and_from_numbers(element_type: str) -> None:
    wanted = _sample(element_type)
    raw = write_tensor(wanted, "t")
    assert read_foreign_tensor(raw) == wanted
    numbers = TensorProto(data_type=raw.data_type, dims=raw.dims, string_data=raw.string_data)
    array = wanted.array
    match element_type:
        case "float" | "complex64":
            numbers.float_data.extend(array.view(np.float32).tolist())
        case "double" | "complex128":
            numbers.double_data.extend(array.view(np.float64).tolist())
        case "int64":
            numbers.int64_data.extend(array.tolist())
        case "uint32" | "uint64":
            numbers.uint64_data.extend(array.tolist())
        case "int4" | "uint4" | "int2" | "uint2" | "float4e2m1":
            numbers.int32_data.extend(raw.raw_data)
        case "float6e2m3" | "float6e3m2":
            numbers.int32_data.extend(int(each) for each in array)
        case "float16":
            numbers.int32_data.extend(array.view(np.uint16).tolist())
        case "string":
            pass
        case _:
            numbers.int32_data.extend(int(each) for each in array)
    assert read_foreign_tensor(numbers) == wanted


def test_what_is_exported_comes_back_equal(tmp_path: Path) -> None:
    shape = ("shape", tensor([2], "int64"))
    cases = [make_case(seed=seed, operator=IDENTITY) for seed in range(2)]
    cases.append(make_onnx_case("ai.onnx::CenterCropPad-18", [("input_data", tensor([1, 2])), shape]))
    roi, scales = ("roi", None), ("scales", tensor(np.array([1, 1], np.float32)))
    cases.append(make_onnx_case("ai.onnx::Resize-18", [("X", tensor(X)), roi, scales]))
    pads = ("pads", tensor([1, 1]))
    cases.append(make_onnx_case("com.microsoft::Pad-1", [("data", tensor([1.0, 2.0], "float")), pads]))
    cases.append(make_case(seed=7, operator=IDENTITY, family="invalid", demand="refuse"))
    (tmp_path / "made").mkdir()
    with open_suite(make_suite(tmp_path / "made", cases)) as suite:
        list(export_suite(suite, tmp_path / "tests"))
    adoption, adopted = adopt(tmp_path / "tests", tmp_path / "suite")
    back = {str(each.id): each for each in adopted}
    assert (adoption.cases, adoption.left_out) == (6, {})
    for case in cases[:5]:
        same = back[str(case.id)]
        for name in ("element_type", "attributes", "output_names", "demand", "model"):
            assert getattr(same, name) == getattr(case, name)
        assert [each for _, each in same.inputs] == [each for _, each in case.inputs]
        wanted, found = case.expectations[0].outputs, same.expectations[0].outputs
        assert [output.expected for output in found] == [output.expected for output in wanted]
    # The layout has no way to say that a call must be refused: it has no outputs.
    (observed,) = [each for each in adopted if each.demand == "survive"]
    assert observed.family == "survival"


def test_an_exported_twin_stays_with_its_operator(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    write_test(tests / "test_elu", [helper.make_node("Elu", ["a"], ["b"], alpha=0.5)], {"a": X}, {"b": X}, 6)
    write_test(tests / "test_elu_expanded", [helper.make_node("Abs", ["a"], ["b"])], {"a": X}, {"b": X}, 18)
    _, first = adopt(tests, tmp_path / "suite")
    with open_suite(tmp_path / "suite") as suite:
        list(export_suite(suite, tmp_path / "exported"))
    _, again = adopt(tmp_path / "exported", tmp_path / "again")
    # The layout does not say which attributes the operator has that the body stands for.
    for name in ("id", "levels", "model"):
        assert [getattr(each, name) for each in again] == [getattr(each, name) for each in first]
    assert first[1].id.word == "test_elu_expanded"


def test_the_same_tests_make_the_same_suite(tmp_path: Path) -> None:
    for name in ("test_b", "test_a"):
        write_relu(tmp_path / "tests" / name)
    first, cases = adopt(tmp_path / "tests", tmp_path / "one.zip")
    assert len(cases) == 2
    assert adopt(tmp_path / "tests", tmp_path / "two")[0].digest == first.digest


def test_every_test_left_out_is_listed_in_the_manifest(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    write_relu(tests / "test_relu")
    (tests / "test_empty" / "test_data_set_0").mkdir(parents=True)
    adoption, _ = adopt(tests, tmp_path / "suite")
    assert list(adoption.left_out) == ["test_empty"]
    with open_suite(tmp_path / "suite") as suite:
        assert suite.facts["adopted"]["left_out"] == adoption.left_out
        assert suite.facts["adopted"]["tests"] == 2


def _damage(change: Any) -> Any:
    def damage(place: Path) -> None:
        model = onnx.load_model_from_string((place / "model.onnx").read_bytes())
        change(model)
        (place / "model.onnx").write_bytes(model.SerializeToString())

    return damage


def _external(model: ModelProto) -> None:
    proto = TensorProto(name="a", data_type=1, dims=[3], data_location=TensorProto.EXTERNAL)
    proto.external_data.add(key="location", value="../../secret")
    model.graph.initializer.append(proto)


def _sequence(model: ModelProto) -> None:
    held = helper.make_tensor_type_proto(1, [1])
    model.graph.input[0].type.CopyFrom(helper.make_sequence_type_proto(held))


def _new_type(model: ModelProto) -> None:
    model.graph.input[0].type.tensor_type.elem_type = 99


def _into_link(place: Path) -> None:
    outside = place.parents[1] / "secret.pb"
    (place / "test_data_set_0" / "input_0.pb").rename(outside)
    (place / "test_data_set_0" / "input_0.pb").symlink_to(outside)


def _into_pipe(place: Path) -> None:
    (place / "model.onnx").unlink()
    os.mkfifo(place / "model.onnx")


def _set_tensor(**fields: Any) -> Any:
    def damage(place: Path) -> None:
        proto = TensorProto(**fields)
        (place / "test_data_set_0" / "input_0.pb").write_bytes(proto.SerializeToString())

    return damage


DAMAGES = [
    (lambda place: (place / "model.onnx").write_bytes(b"\xff\xff"), "model.onnx is no ModelProto"),
    (lambda place: (place / "model.onnx").write_bytes(b""), "has no node"),
    (lambda place: (place / "model.onnx").unlink(), "model.onnx: the file cannot be read"),
    (lambda place: (place / "data.json").write_text("{"), "data.json: not JSON"),
    (lambda place: (place / "data.json").write_text('{"rtol": NaN}'), "data.json at rtol: not a tolerance"),
    (lambda place: (place / "data.json").write_text('{"atol": -1}'), "data.json at atol: not a tolerance"),
    (lambda place: (place / "test_data_set_0" / "input_0.pb").unlink(), "not as many inputs as the model"),
    (
        lambda place: (place / "test_data_set_0" / "output_0.pb").rename(
            place / "test_data_set_0/output_1.pb"
        ),
        "a file is missing; expected test_data_set_0/output_0.pb",
    ),
    (lambda place: (place / "test_data_set_0").rename(place / "data"), "no data set"),
    (_damage(_external), "the model keeps data in another file"),
    (_damage(_sequence), "test_data_set_0/input_0.pb: no SequenceProto"),
    (_damage(_new_type), "element type 99 is not one that opcert has"),
    (_into_link, "input_0.pb: the file cannot be read"),
    (_into_pipe, "model.onnx: not a plain file"),
    (_set_tensor(data_type=1, dims=[3], raw_data=b"abc"), "of the wrong length"),
    (_set_tensor(data_type=1, dims=[-3]), "of no possible shape"),
    (_set_tensor(data_type=1, dims=[1 << 62, 1 << 62]), "too many elements"),
    (_set_tensor(data_type=1, dims=[0, 1 << 63 - 1]), "of no possible shape"),
    (_set_tensor(data_type=99), "element type 99"),
    (_set_tensor(data_type=1, dims=[1], data_location=1), "data are in another file"),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGES)
def test_what_is_damaged_is_left_out_with_its_reason(tmp_path: Path, damage: Any, said: str) -> None:
    place = write_relu(tmp_path / "tests" / "test_relu")
    damage(place)
    assert said in reason_of(tmp_path)


def test_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.adopting.layout.MOST_BYTES", 10)
    write_relu(tmp_path / "tests" / "test_relu")
    assert "the file is too large" in reason_of(tmp_path)


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write_relu(tmp_path / "elsewhere" / "test_relu")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_link").symlink_to(tmp_path / "elsewhere" / "test_relu")
    with pytest.raises(UserError, match="there is no test here"):
        adopt_folder(tmp_path / "tests", tmp_path / "suite", {})

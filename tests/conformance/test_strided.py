"""The form `strided`: the first tensor behind a Transpose, where that can be carried."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

from conformance.models.case_models import build_model
from conformance.models.turned_inputs import turned_input
from conformance.recording.records import read_record
from conformance.running.requests import encode_case
from conformance.suite.cases import Case
from opcert.commands import cli
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.samples import FAKES, IDENTITY, expect, make_case, make_suite

OLD_IDENTITY = OperatorName.parse("ai.onnx::Identity-1")


def identity(shape: tuple[int, ...], element_type: str = "float", operator: OperatorName = IDENTITY) -> Case:
    known = ELEMENT_TYPES[element_type]
    count = int(np.prod(shape, dtype=np.int64))
    given = Tensor(known, np.arange(count).astype(known.storage).reshape(shape))
    return make_case(given=given, operator=operator, expectations=(expect(given),))


def test_the_model_takes_the_first_tensor_turned_and_turns_it_back() -> None:
    case = identity((2, 3, 4))
    model = onnx.load_model_from_string(build_model(case, "strided"))
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == ["Transpose", "Identity"]
    (given,) = model.graph.input
    assert [each.dim_value for each in given.type.tensor_type.shape.dim] == [4, 3, 2]
    request = encode_case(case, "strided", "onnx", None)
    (sent,) = request.run["inputs"]
    assert (sent["name"], sent["shape"]) == (given.name, [4, 3, 2])
    # The inputs of a `load` request are those of the model.
    (described,) = request.load["inputs"]
    assert (described["name"], described["shape"]) == (given.name, [4, 3, 2])
    kept = np.frombuffer(request.run_blobs[0], dtype="<f4").reshape(4, 3, 2)
    np.testing.assert_array_equal(kept.transpose(), case.inputs[0][1].array)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("shape", "element_type", "operator"),
    [
        ((), "float", IDENTITY),
        ((5,), "float", IDENTITY),
        ((1, 1), "float", IDENTITY),
        ((2, 0), "float", IDENTITY),
        ((2, 3), "bfloat16", OLD_IDENTITY),  # no type of Transpose in that operator set
    ],
)
def test_what_cannot_be_carried_is_as_in_the_form_inputs(
    shape: tuple[int, ...], element_type: str, operator: OperatorName
) -> None:
    case = identity(shape, element_type, operator)
    assert build_model(case, "strided") == build_model(case, "inputs")
    assert turned_input(case, build_model(case, "strided")) is None
    plain, strided = (encode_case(case, form, "onnx", None) for form in ("inputs", "strided"))
    assert (plain.run, plain.run_blobs) == (strided.run, strided.run_blobs)


def test_a_node_without_a_model_is_as_in_the_form_inputs() -> None:
    case = identity((2, 3))
    plain, strided = (encode_case(case, form, "node", None) for form in ("inputs", "strided"))
    assert (plain.run, plain.run_blobs) == (strided.run, strided.run_blobs)


def test_a_model_of_its_own_is_turned_too() -> None:
    case = identity((2, 3))
    own = replace(case, model=build_model(case))
    model = onnx.load_model_from_string(build_model(own, "strided"))
    assert [node.op_type for node in model.graph.node] == ["Transpose", "Identity"]


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [("Turns", ["pass", "pass"]), ("IgnoresStrides", ["pass", "mismatch"])],
)
def test_a_runtime_that_takes_views_for_contiguous_is_found(
    tmp_path: Path, name: str, verdicts: list[str]
) -> None:
    suite = make_suite(tmp_path, [identity((3, 5))])
    output = tmp_path / "run.jsonl"
    arguments = ["run", f"fake_backends:{name}", "-s", str(suite), "-o", str(output)]
    options = ["--forms", "inputs,strided", "--python", sys.executable]
    CliRunner(env={"PYTHONPATH": str(FAKES)}).invoke(cli, [*arguments, *options])
    record = read_record(output)
    assert [(result.form, result.verdict) for result in record.results] == list(
        zip(["inputs", "strided"], verdicts, strict=True)
    )
    told = [fault for fault in record.faults if fault["kind"] == "forms_differ"]
    assert len(told) == (0 if name == "Turns" else 1)


@pytest.mark.parametrize(
    "runtime",
    [
        pytest.param(each, marks=pytest.mark.runtimes(each))
        for each in ("onnx", "onnxruntime", "opencv", "openvino")
    ],
)
def test_a_real_runtime_answers_alike(tmp_path: Path, runtime: str) -> None:
    given = tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    suite = make_suite(tmp_path, [make_case(given=given, operator=IDENTITY, expectations=(expect(given),))])
    output = tmp_path / "run.jsonl"
    arguments = ["run", runtime, "-s", str(suite), "-o", str(output), "--forms", "inputs,strided"]
    CliRunner().invoke(cli, arguments)
    assert [result.verdict for result in read_record(output).results] == ["pass", "pass"]

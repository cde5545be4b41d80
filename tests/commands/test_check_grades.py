"""What a cause says of a model: by the data that shows it, and by how much is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from tests.commands.checked_models import write_model
from tests.commands.test_check import WANTED, answers_of, check, on, place
from tests.reports.sarif_checks import check_sarif

__all__ = ["place"]


def write_sum(path: Path) -> Path:
    """Write a model of an Add of floats that come with each run."""
    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [4, 16]) for each in "xky"]
    node = helper.make_node("Add", ["x", "k"], ["y"], name="sum")
    graph = helper.make_graph([node], "g", values[:2], values[2:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtime", "grade", "code"),
    [
        ("WrongAdd", "wrong", 1),
        ("LosesNan", "special", 0),
        ("AddOff", "inexact", 0),
    ],
)
def test_exit_1_is_for_what_is_wrong_on_ordinary_data(
    capsys: pytest.CaptureFixture[str], place: Path, runtime: str, grade: str, code: int
) -> None:
    model = write_sum(place / "model.onnx")
    answer, document = check(capsys, model, *on(runtime), *WANTED)
    assert (answers_of(document, runtime, "sum"), answer.code) == (grade, code), answer.out
    assert document["runtimes"][0]["nodes"][grade] == 1
    (cause, *_) = document["calls"][0]["answers"][0]["causes"]
    if grade == "inexact":
        assert any("inexact by" in each and "ULP" in each for each in cause["remarks"])
    levels = [
        row["level"]
        for row in json.loads(Path("out/check/model/check.sarif").read_text())["runs"][0]["results"]
    ]
    assert ("error" in levels) is (grade == "wrong")
    check_sarif(json.loads(Path("out/check/model/check.sarif").read_text()))


@pytest.mark.slow
def test_a_function_of_fewer_digits_is_inexact_however_many_steps_that_is(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [4, 16]) for each in "xy"]
    graph = helper.make_graph([helper.make_node("Tanh", ["x"], ["y"], name="h")], "g", values[:1], values[1:])
    model = place / "model.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), model)
    answer, document = check(capsys, model, *on("ShortTanh"), *WANTED)
    assert (answers_of(document, "ShortTanh", "h"), answer.code) == ("inexact", 0), answer.out
    assert "as exact as bfloat16" in answer.out


@pytest.mark.slow
def test_a_cause_is_told_in_one_line_with_all_its_nodes(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx")
    answer, _ = check(capsys, model, *on("WrongAlpha"), "--no-chains")
    lines = [line for line in answer.out.splitlines() if line.strip().startswith("1. wrong: ")]
    assert len(lines) == 1
    assert lines[0].endswith("2 nodes (LeakyRelu-16): leaky, leaky again")


@pytest.mark.slow
def test_what_is_not_covered_is_said_last_and_can_be_demanded(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx", unknown=True)
    answer, document = check(capsys, model, *on("Right"), "--no-chains")
    assert (answer.code, document["coverage"]["complete"]) == (0, False)
    assert "1 of 5 nodes not covered: org.example::Frobnicate-1 (1)" in answer.out.splitlines()[-1]
    assert check(capsys, model, *on("Right"), "--no-chains", "--require-coverage")[0].code == 1
    known = write_model(place / "model.onnx")
    answer, _ = check(capsys, known, *on("Right"), "--no-chains", "--require-coverage")
    assert (answer.code, answer.out.splitlines()[-1]) == (0, "Checked: all of 4 nodes.")


def write_unknown(path: Path) -> Path:
    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [2]) for each in ("x", "y")]
    node = helper.make_node("Frobnicate", ["x"], ["y"], domain="org.example")
    graph = helper.make_graph([node], "g", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("org.example", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("other", "code", "verdict"), [("Rows", 0, "same"), ("HalvesFrobnicate", 1, "far")])
def test_a_model_of_which_nothing_is_covered_is_compared_between_runtimes(
    capsys: pytest.CaptureFixture[str], place: Path, other: str, code: int, verdict: str
) -> None:
    model = write_unknown(place / "model.onnx")
    answer, document = check(capsys, model, *on("Right", other))
    assert answer.code == code, answer.out + answer.err
    outputs: list[dict[str, Any]] = document["runtimes"][0]["numbers"]["outputs"]
    beside = [output for output in outputs if output["against"] == "runtime"]
    assert [each["verdict"] for each in beside] == [verdict]
    assert "weak evidence" in answer.out
    assert check(capsys, model, *on("Right", other), "--require-coverage")[0].code == 1


@pytest.mark.slow
def test_a_node_that_its_document_forbids_is_a_finding_about_the_model(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    """Of a tensor with one axis there is nothing per axis: so quantisers write biases."""
    held = [
        numpy_helper.from_array(np.arange(4, dtype=np.int32), "b"),
        numpy_helper.from_array(np.full(4, 0.5, np.float32), "s"),
        numpy_helper.from_array(np.zeros(4, np.int32), "z"),
    ]
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["b", "s", "z"], ["d"], name="bias", axis=0),
            helper.make_node("Add", ["x", "d"], ["y"], name="sum"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
        held,
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), "model.onnx")
    answer, document = check(capsys, Path("model.onnx"), *on("Right"), *WANTED)
    assert answer.code == 0, answer.out
    assert document["coverage"]["forbidden"] == {"DequantizeLinear-19": 1}
    assert "About the model: no document allows these nodes" in answer.out
    assert "x_scale_shape" in answer.out
    assert "1 node not allowed by their documents" in answer.out.splitlines()[-1]
    sarif = json.loads(Path("out/check/model/check.sarif").read_text())
    assert [each["ruleId"] for each in sarif["runs"][0]["results"]] == ["model/not-allowed"]
    assert "About the model" in Path("out/check/model/index.html").read_text()


@pytest.mark.slow
def test_a_fusion_that_is_wrong_is_found_at_the_end_and_nowhere_else(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx")
    answer, document = check(
        capsys, model, *on("WrongAsAWhole"), "--no-chains", "--inputs", "random", *WANTED
    )
    assert answer.code == 1, answer.out
    numbers = document["runtimes"][0]["numbers"]
    assert {number["verdict"] for number in numbers["nodes"]} == {"right"}
    (output,) = numbers["outputs"]
    assert (output["verdict"], output["against"], output["apart"]["unit"]) == ("wrong", "references", "ulp")
    assert "output d, beside the references run node by node: wrong: " in answer.out
    sarif = json.loads(Path("out/check/model/check.sarif").read_text())
    check_sarif(sarif)
    assert "whole-model/output-wrong" in [each["ruleId"] for each in sarif["runs"][0]["results"]]


@pytest.mark.slow
def test_a_model_that_does_not_run_with_random_inputs_is_no_zero(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx")
    answer, document = check(capsys, model, *on("NeverRunsWhole"), "--no-chains", "--inputs", "random")
    assert answer.code == 1, answer.out
    assert document["runtimes"][0]["load"]["verdict"] == "loads"
    assert "no memory for it" in document["runtimes"][0]["numbers"]["doesNotRun"]
    assert "does not run with inputs that were drawn" in answer.out


@pytest.mark.slow
@pytest.mark.parametrize("shape", [[0, 2**62], [2**62, 0, 2**62]])
def test_an_extent_of_nothing_beside_a_huge_one_is_no_bug(
    capsys: pytest.CaptureFixture[str], place: Path, shape: list[int]
) -> None:
    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shape) for each in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="r")], "g", values[:1], values[1:])
    model = place / "model.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), model)
    answer, _ = check(capsys, model, *on("Right"), "--no-chains", "--diagnose", "0")
    assert answer.code in (0, 1, 5), answer.out


@pytest.mark.slow
def test_a_value_whose_name_is_no_text_is_no_bug(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [4]) for each in ("given", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["given"], ["y"])], "g", values[:1], values[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model = place / "model.onnx"
    raw = made.SerializeToString().replace(b"given", b"gi\x80en").replace(b"Relu", b"\xc0elu")
    model.write_bytes(raw)
    answer, document = check(capsys, model, *on("Right"), "--no-chains", "--diagnose", "0")
    assert answer.code in (0, 1, 5), answer.out
    assert len(document["nodes"]) == 1

"""ONNX's node tests with sequences and optionals, against what runtimes return for the tests' own models."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TypeProto
from onnx.backend.test.case.node import collect_testcases

from conformance.adopting import dump_node_tests
from conformance.adopting.adopted_cases import UNPACKED, VALUES, WRITTEN_AS
from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.running.harness import run_suite
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from opcert.vocabulary.tensors import Tensor, tensor
from reports.single_cases.case_folder import export_suite
from tests.conformance.packed_models import (
    SEQUENCE,
    evaluate,
    evaluate_model,
    sequence_of,
    take_apart,
    write_packed,
)
from tests.conformance.runtime_checks import converse, environment_of
from tests.conformance.test_adopting import adopt
from tests.conformance.test_packed_values import IDENTITY

OPTIONALS = ("OptionalGetElement", "OptionalHasElement")


@pytest.fixture(scope="module")
def node_tests() -> dict[str, Any]:
    """The tests of the installed package that have anything but tensors at the ends of their graph, by name.

    The operators of optionals are called as opset 18 has them: onnx 1.23.2 has newer versions, which ONNX
    Runtime 1.31 does not know, and which do the same to these values.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected: list[Any] = collect_testcases(None)
    # They are onnx's own, and every test in this process gets the same ones.
    found = [deepcopy(each) for each in collected if not all(map(_is_tensor, _ends(each.model)))]
    for each in found:
        if each.model.graph.node[0].op_type in OPTIONALS:
            each.model.opset_import[0].version = 18
            each.model.ir_version = 8
    return {each.name: each for each in found}


@pytest.fixture(scope="module")
def folder(node_tests: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """These tests as the script writes them for `opcert adopt onnx`."""
    folder = tmp_path_factory.mktemp("packed") / "tests"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dump_node_tests, "collect_testcases", lambda _: list(node_tests.values()))
        patch.setattr(sys, "argv", ["dump", str(folder)])
        dump_node_tests.main()
    return folder


@pytest.fixture(scope="module")
def adopted(folder: Path) -> dict[str, Case]:
    """What is adopted of them, by the names of the tests."""
    adoption, cases = adopt(folder, folder.parent / "suite")
    assert adoption.left_out == {}
    return {str(each.id.word): each for each in cases}


@pytest.mark.slow
def test_all_of_them_are_carried(node_tests: dict[str, Any], adopted: dict[str, Case]) -> None:
    assert adopted.keys() == node_tests.keys()
    assert len(adopted) > 20
    for name, case in adopted.items():
        twin = name.endswith("_expanded")
        assert case.levels == {WRITTEN_AS: "expanded" if twin else "node", VALUES: UNPACKED}
        own = node_tests[name.removesuffix("_expanded")].model.graph.node[0].op_type
        assert case.operator.name == own
        assert case.model is not None
        (imported,) = ModelProto.FromString(case.model).opset_import
        assert imported.version <= node_tests[name].model.opset_import[0].version


def test_the_reference_evaluator_returns_what_it_does_for_the_tests_themselves(
    node_tests: dict[str, Any], adopted: dict[str, Case]
) -> None:
    for name, case in adopted.items():
        test = node_tests[name]
        inputs, _ = test.data_sets[0]
        given = dict(zip((value_info.name for value_info in test.model.graph.input), inputs, strict=True))
        wanted = _parts(test.model, evaluate_model(test.model, given))
        returned = evaluate(case)
        assert returned == [tensor(each) for each in wanted], name
        assert judge(case, Answered(tuple(returned), 0.0)).verdict == "pass", name


@pytest.mark.runtimes("onnxruntime")
def test_onnxruntime_returns_what_it_does_for_the_tests_themselves(
    node_tests: dict[str, Any], adopted: dict[str, Case], folder: Path
) -> None:
    own = dict(zip(adopted, _run_as_they_are(node_tests, list(adopted), folder), strict=True))
    with converse(load_adapter("onnxruntime")) as conversation:
        for name, case in adopted.items():
            assert not isinstance(own[name], str), own[name]
            returned = conversation.call(case)
            wanted = _parts(node_tests[name].model, own[name])
            assert returned == [tensor(each) for each in wanted], name
            answer = tuple(each for each in returned if isinstance(each, Tensor))
            assert judge(case, Answered(answer, 0.0)).verdict == "pass", name


@pytest.mark.runtimes("onnxruntime")
def test_a_runtime_that_returns_something_else_is_told(tmp_path: Path) -> None:
    one, other = np.array([1.0], np.float32), np.array([[2.0, 3.0]], np.float32)
    expected = {
        "same": sequence_of(one, other),
        "one_more": sequence_of(one),
        "one_fewer": sequence_of(one, other, one),
        "wrong": sequence_of(one, other + 1),
    }
    for name, each in expected.items():
        ends = {"x": (SEQUENCE, sequence_of(one, other))}, {"y": (SEQUENCE, each)}
        write_packed(tmp_path / "tests" / name, IDENTITY, *ends)
    adopt(tmp_path / "tests", tmp_path / "suite")
    with open_suite(tmp_path / "suite") as suite:
        record = run_suite(suite, find_runtime("onnxruntime"), tmp_path / "run.jsonl")
    verdicts = {result.case.rpartition("/")[2].partition("-")[0]: result for result in record.results}
    assert {name: verdict.verdict for name, verdict in verdicts.items()} == {
        "same": "pass",
        "one_more": "mismatch",
        "one_fewer": "rejected_valid",
        "wrong": "mismatch",
    }
    assert "y_length" in str(verdicts["one_more"].reason)
    assert "SequenceAt" in str(verdicts["one_fewer"].message)


def test_they_come_back_from_their_export(adopted: dict[str, Case], folder: Path, tmp_path: Path) -> None:
    with open_suite(folder.parent / "suite") as suite:
        list(export_suite(suite, tmp_path / "exported"))
    adoption, again = adopt(tmp_path / "exported", tmp_path / "again")
    assert adoption.left_out == {}
    assert {each.id for each in again} == {each.id for each in adopted.values()}
    for case in again:
        first = adopted[str(case.id.word)]
        for name in ("inputs", "output_names", "levels", "model", "element_type"):
            assert getattr(case, name) == getattr(first, name)
        assert [output.expected for output in case.expectations[0].outputs] == [
            output.expected for output in first.expectations[0].outputs
        ]


def _ends(model: ModelProto) -> Iterator[TypeProto]:
    for value_info in (*model.graph.input, *model.graph.output):
        yield value_info.type


def _is_tensor(kind: TypeProto) -> bool:
    return bool(kind.HasField("tensor_type"))


def _parts(model: ModelProto, returned: list[Any]) -> list[Any]:
    """What a test's own model returned, as its case's model says it."""
    found: list[Any] = []
    for declared, value in zip(model.graph.output, returned, strict=True):
        found += take_apart(value, is_optional=declared.type.HasField("optional_type"))
    return found


_SCRIPT = """
import json, sys, numpy, onnxruntime
def read(value):
    if isinstance(value, list):
        return [read(each) for each in value]
    return None if value is None else numpy.array(value["data"], value["type"]).reshape(value["shape"])
def write(value):
    if isinstance(value, list):
        return [write(each) for each in value]
    value = numpy.asarray(value)
    return {"type": str(value.dtype), "shape": value.shape, "data": value.reshape(-1).tolist()}
onnxruntime.set_default_logger_severity(4)
returned = []
for path, inputs in json.load(sys.stdin):
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        given = {name: read(each) for name, each in inputs.items()}
        returned.append(write(session.run(None, given)))
    except Exception as error:
        returned.append(str(error))
json.dump(returned, sys.stdout)
"""


def _run_as_they_are(node_tests: dict[str, Any], names: list[str], folder: Path) -> list[Any]:
    """What ONNX Runtime returns for the tests' own models; a string where it refuses one."""
    asked = []
    for name in names:
        test = node_tests[name]
        values = zip(test.model.graph.input, test.data_sets[0][0], strict=True)
        inputs = {each.name: _to_json(value) for each, value in values}
        asked.append([str(folder / name / "model.onnx"), inputs])
    program = environment_of(load_adapter("onnxruntime")).program
    done = subprocess.run(
        [program, "-c", _SCRIPT], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    return [row if isinstance(row, str) else _from_json(row) for row in json.loads(done.stdout)]


def _to_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_json(each) for each in value]
    if value is None:
        return None
    array = np.asarray(value)
    return {"type": str(array.dtype), "shape": array.shape, "data": array.reshape(-1).tolist()}


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(each) for each in value]
    return np.array(value["data"], value["type"]).reshape(value["shape"])

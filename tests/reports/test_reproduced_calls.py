"""A case's folder on runtimes of ONNX models, each called by itself: what is right, and what is wrong."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.environments import prepare
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite, write_suite
from opcert.vocabulary.tensors import Tensor, tensor
from reports.single_cases.bare_script import bare_script
from reports.single_cases.case_folder import write_reproduction
from reports.single_cases.reproduction import reproduce
from tests.conformance.conversation import make_case


def expecting(output: Tensor, operator: str, inputs: Mapping[str, Tensor], **attributes: int) -> Case:
    held = {name: ("int", value) for name, value in attributes.items()}
    return make_case(f"ai.onnx::{operator}", list(inputs.items()), held, output)


def whole(values: object, kind: str = "int32") -> Tensor:
    return tensor(np.array(values), "int64") if kind == "int64" else tensor(np.array(values, kind), kind)


SUM = expecting(
    tensor([4.0, 6.0], "float"), "Add-14", {"A": tensor([1, 2], "float"), "B": tensor([3, 4], "float")}
)
MATRIX = [[1, 2], [3, 4]]
WRONG: dict[str, tuple[Case, str]] = {
    "aidge": (
        expecting(tensor(10, "float"), "ReduceSum-13", {"data": tensor(MATRIX, "float")}, keepdims=0),
        "shape [1] instead of []",
    ),
    "apache-tvm": (
        expecting(
            whole(0, "int64"), "ArgMax-13", {"data": tensor([-np.inf, -np.inf], "float")}, axis=0, keepdims=0
        ),
        "got -1, expected 0",
    ),
    "emx-onnx-cgen": (
        expecting(tensor(5, "float"), "Pad-13", {"data": tensor(5, "float"), "pads": tensor([], "int64")}),
        "error: expected",
    ),
    "iree": (
        expecting(
            whole([2, 5, 9], "uint8"),
            "Clip-13",
            {"input": whole([1, 5, 9], "uint8"), "min": whole(2, "uint8"), "max": whole(200, "uint8")},
        ),
        "got 200, expected",
    ),
    "jaxonnxruntime": (
        expecting(whole([3]), "ReduceSum-13", {"data": whole([1, 2])}),
        "element type int64 instead of int32",
    ),
    "mnn": (
        expecting(whole(MATRIX), "MatMul-13", {"A": whole(MATRIX), "B": whole([[1, 0], [0, 1]])}),
        "got 0, expected 4",
    ),
    "nxrt": (
        expecting(tensor([1e300], "double"), "Relu-14", {"X": tensor([1e300], "double")}),
        "got inf, expected 1e+300",
    ),
    "onnx2torch": (
        expecting(
            tensor([1, 3, 6], "float"),
            "CumSum-14",
            {"x": tensor([1, 2, 3], "float"), "axis": whole(0, "int64")},
        ),
        "got 6.0, expected 1.0",
    ),
    "tinygrad": (
        expecting(whole(0, "int64"), "ArgMax-13", {"data": tensor([np.nan, 1], "float")}, axis=0, keepdims=0),
        "got 2, expected 0",
    ),
    "wonnx": (
        expecting(
            tensor([[1, 2, 5], [3, 4, 6]], "float"),
            "Concat-13",
            {"inputs0": tensor(MATRIX, "float"), "inputs1": tensor([[5], [6]], "float")},
            axis=1,
        ),
        "elements wrong",
    ),
}


def reproduced(
    python: str, case: Case, runtime: str, folder: Path, beside: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    write_suite(folder / "suite", [case], {}, {})
    with open_suite(folder / "suite") as suite:
        script = write_reproduction(suite, str(case.id), folder / "repro")
    return subprocess.run(
        [python, str(script), "--runtime", runtime],
        capture_output=True, text=True, check=False, timeout=100, cwd=folder,
        env={**os.environ, **(beside or {})},
    )  # fmt: skip


def test_each_runtime_that_is_called_by_itself_is_tried() -> None:
    called = {path.stem for path in Path(reproduce.__file__).parent.glob("call_*.py")}
    assert called == {f"call_{name.replace('-', '_')}" for name in WRONG}
    assert reproduce.RUNTIMES.keys() >= WRONG.keys()


@pytest.mark.slow
@pytest.mark.parametrize("runtime", [pytest.param(each, marks=pytest.mark.runtimes(each)) for each in WRONG])
def test_the_folder_reproduces(tmp_path: Path, runtime: str) -> None:
    wrong, said = WRONG[runtime]
    python = str(prepare((*load_adapter(runtime).requirements, "onnx")).program)
    right = reproduced(python, SUM, runtime, tmp_path / "right")
    if "No GPU found" in right.stdout:
        pytest.skip("a Vulkan driver is absent")
    assert (right.returncode, "holds: the answer" in right.stdout) == (0, True), right.stdout + right.stderr
    done = reproduced(python, wrong, runtime, tmp_path / "wrong")
    assert (done.returncode, said in done.stdout) == (1, True), done.stdout + done.stderr


FAKE = """
class InferenceSession:
    input_names = ["A", "B"]

    def __init__(self, content):
        {at_load}

    def run(self, names, inputs):
        {at_run}

class PanicException(BaseException):
    pass
"""


@pytest.mark.parametrize(
    ("at_load", "at_run", "code", "said"),
    [
        ("pass", "return [inputs['A'] + inputs['B']]", 0, "holds: the answer"),
        ("pass", "return [inputs['A'] - inputs['B']]", 1, "the answer is not what the documents say"),
        ("raise PanicException('no')", "", 1, "rejected with Panic: no"),
        ("raise ValueError('unsupported operator Add: no available execution provider has a kernel')", "", 2,
         "the runtime says that it does not offer this"),
        ("pass", "import os; os._exit(3)", 1, "the process ended with exit code 3"),
    ],
    ids=["right", "wrong", "panic", "unsupported", "lost"],
)  # fmt: skip
def test_what_a_runtime_does_is_told(tmp_path: Path, at_load: str, at_run: str, code: int, said: str) -> None:
    text = FAKE.format(at_load=at_load, at_run=at_run or "pass")
    (tmp_path / "nxrt.py").write_text(text)
    done = reproduced(sys.executable, SUM, "nxrt", tmp_path, {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


@pytest.mark.parametrize("runtime", sorted(WRONG))
def test_a_runtime_that_is_not_there_is_not_tried(tmp_path: Path, runtime: str) -> None:
    done = reproduced(sys.executable, SUM, runtime, tmp_path)
    assert (done.returncode, "not tried: " in done.stdout) == (2, True), done.stdout + done.stderr


def test_what_a_runtime_has_no_tensors_of_is_not_tried(tmp_path: Path) -> None:
    (tmp_path / "aidge_core.py").write_text("class SequentialScheduler: pass\n")
    (tmp_path / "aidge_backend_cpu.py").write_text("")
    graph = "Graph = type('Graph', (), dict(get_nodes=lambda self: [Node()]))\n"
    node = "Node = type('Node', (), dict(type=lambda _: 'Add', get_operator=lambda _: GenericOperatorOp()))\n"
    generic = "class GenericOperatorOp: pass\n"
    (tmp_path / "aidge_onnx.py").write_text(generic + node + graph + "load_onnx = lambda path: Graph()\n")
    done = reproduced(sys.executable, SUM, "aidge", tmp_path, {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, "not tried: Aidge has no operator Add" in done.stdout) == (2, True), done.stdout


def test_the_script_of_an_issue_runs_alone(tmp_path: Path) -> None:
    (tmp_path / "nxrt.py").write_text(FAKE.format(at_load="pass", at_run="return [inputs['A'] * 3]"))
    script = bare_script(SUM, "nxrt", "inputs")
    assert not isinstance(script, str)
    assert "Any" not in script.text
    done = subprocess.run(
        [sys.executable, "-c", script.text],
        capture_output=True, text=True, check=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout == "expected Y float32 (2,) [4. 6.]\ngot float32 (2,) [3. 6.]\n"


@pytest.mark.parametrize("runtime", sorted(WRONG))
def test_every_script_of_an_issue_is_plain_python(runtime: str) -> None:
    script = bare_script(WRONG[runtime][0], runtime, "initializers", options={"target": "vmvx"})
    assert not isinstance(script, str), script
    ast.parse(script.text)
    assert ("'vmvx'" in script.text) == (runtime == "iree")
    assert "opcert" not in script.text

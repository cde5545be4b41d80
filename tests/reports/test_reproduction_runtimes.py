"""Both scripts that reproduce a case, on real runtimes that take models in a way of their own."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.environments import prepare
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.suites import open_suite, write_suite
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from opcert.vocabulary.tensors import Tensor, tensor
from reports.single_cases.bare_script import bare_script
from reports.single_cases.case_folder import write_reproduction
from reports.single_cases.reproduction import on_openvino
from reports.single_cases.standalone import case_lines, whole_script
from tests.conformance.conversation import make_case
from tests.conformance.runtime_checks import environment_of

ONE = tensor([1.0, 2.0], "float")
RUNTIMES = [pytest.param(each, marks=pytest.mark.runtimes(each)) for each in ("tract", "opencv")]


def add(*expected: float) -> Case:
    case = make_case("ai.onnx::Add-14", [("A", tensor([1.0, 2.0])), ("B", tensor([3.0, 4.0]))])
    return replace(case, expectations=(Expectation((ExpectedOutput("Y", tensor(list(expected))),)),))


def run(runtime: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    python = prepare((*load_adapter(runtime).requirements, "onnx")).program
    command = [str(python), "-I", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "code", "said"),
    [(add(4.0, 6.0), 0, "holds: the answer"), (add(4.0, 5.0), 1, "worst at [1]: got 6.0, expected 5.0")],
    ids=["right", "wrong"],
)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_folder_reproduces(tmp_path: Path, runtime: str, case: Case, code: int, said: str) -> None:
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        script = write_reproduction(suite, str(case.id), tmp_path / "repro")
    done = run(runtime, [str(script), "--runtime", runtime], tmp_path)
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_script_to_copy_reproduces(tmp_path: Path, runtime: str) -> None:
    for case, said in (
        (add(4.0, 6.0), "\nas the documents say"),
        (add(4.0, 5.0), "\nNOT as the documents say"),
    ):
        lines = case_lines(case)
        assert lines is not None
        script = whole_script(runtime, lines)
        assert script is not None
        done = run(runtime, ["-c", script], tmp_path)
        assert said in done.stdout, done.stdout + done.stderr


def plus(*expected: float) -> Case:
    """TensorFlow's Add, with a sum that may be wrong."""
    case = make_case("org.tensorflow::Add-1", [("x", ONE), ("y", tensor([3.0, 4.0], "float"))])
    return replace(case, expectations=(Expectation((ExpectedOutput("z", tensor(list(expected), "float")),)),))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtime", "options"),
    [
        pytest.param("ai-edge-litert", "", marks=pytest.mark.runtimes("ai-edge-litert")),
        pytest.param("ai-edge-litert", "delegate=none", marks=pytest.mark.runtimes("ai-edge-litert")),
        pytest.param("tflite-micro", "", marks=pytest.mark.runtimes("tflite-micro")),
        pytest.param("tfjs", "", marks=pytest.mark.runtimes("tfjs")),
    ],
)
@pytest.mark.parametrize(
    ("case", "code", "said"),
    [
        (plus(4.0, 6.0), 0, "holds: the answer"),
        (plus(4.0, 5.0), 1, "worst at [1]: got 6.0, expected 5.0"),
        (make_case("org.tensorflow::Acosh-1", [("x", ONE)]), 2, "Acosh"),
    ],
    ids=["right", "wrong", "not offered"],
)
def test_what_takes_the_operators_of_tensorflow_reproduces_by_itself(
    tmp_path: Path, runtime: str, options: str, case: Case, code: int, said: str
) -> None:
    if (runtime, code) == ("tfjs", 2):
        case = make_case("org.tensorflow::NoSuch-1", [("x", ONE)])
        said = "does not offer this"
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        script = write_reproduction(suite, str(case.id), tmp_path / "repro")
    adapter = load_adapter(runtime)
    node = adapter.language == "node"
    python = sys.executable if node else str(prepare((*adapter.requirements, "onnx")).program)
    modules = {"NODE_PATH": str(environment_of(adapter).folder / "node_modules")} if node else {}
    done = subprocess.run(
        [python, "-I", str(script), "--runtime", runtime, "--provider-options", options],
        capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path, env={**os.environ, **modules},
    )  # fmt: skip
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


TFLITE = [
    pytest.param(runtime, options, marks=pytest.mark.runtimes(runtime))
    for runtime in ("ai-edge-litert", "tflite-micro")
    for options in ({}, {"delegate": "none"})[: 1 + (runtime == "ai-edge-litert")]
]


@pytest.mark.slow
@pytest.mark.parametrize(("runtime", "options"), TFLITE)
def test_the_script_of_an_issue_writes_the_model_of_one_builtin(
    tmp_path: Path, runtime: str, options: dict[str, str]
) -> None:
    script = bare_script(plus(4.0, 5.0), runtime, "initializers", options=options)
    assert not isinstance(script, str), script
    done = run(runtime, ["-c", script.text], tmp_path)
    said = ["expected z float32 (2,) [4. 5.]", "got float32 (2,) [4. 6.]"]
    assert done.stdout.splitlines() == said, done.stderr


def test_a_script_names_the_builtin_or_says_why_there_is_none() -> None:
    script = bare_script(plus(4.0, 6.0), "ai-edge-litert", "initializers", options={"delegate": "none"})
    assert not isinstance(script, str)
    ast.parse(script.text)
    assert "schema.BuiltinOperator.ADD, 1" in script.text
    assert "BUILTIN_WITHOUT_DEFAULT_DELEGATES" in script.text
    assert "tensor('y', 'FLOAT32', [2], constants['y'])," in script.text
    micro = bare_script(plus(4.0, 6.0), "tflite-micro", "initializers")
    assert not isinstance(micro, str)
    assert "runtime.Interpreter.from_bytes" in micro.text
    other = bare_script(make_case("org.tensorflow::Acosh-1", [("x", ONE)]), "tflite-micro", "initializers")
    assert isinstance(other, str)
    assert "Acosh" in other


@pytest.mark.parametrize(
    ("runtime", "node", "code", "said"),
    [
        ("tfjs", "exit 1", 2, "this node does not run tfjs_call.mjs"),
        ("tfjs", """echo '{"begun": true}' > "$3"; exit 3""", 1, "the process ended with exit code 3"),
        ("ai-edge-litert", "", 2, "schema_py_generated"),
    ],
)
def test_what_fails_before_the_call_is_no_failure_of_it(
    tmp_path: Path, runtime: str, node: str, code: int, said: str
) -> None:
    write_suite(tmp_path / "suite", [plus(4.0, 6.0)], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        script = write_reproduction(suite, str(plus(4.0, 6.0).id), tmp_path / "repro")
    package, program = tmp_path / "ai_edge_litert", tmp_path / "node"
    package.mkdir()
    (package / "interpreter.py").write_text("OpResolverType = None\n")
    program.write_text(f"#!/bin/sh\n{node}\n")
    program.chmod(0o755)
    here = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(script), "--runtime", runtime],
        capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path, env={**os.environ, **here},
    )  # fmt: skip
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr


def passed_on(array: Tensor, expected: Tensor) -> Case:
    """Identity, or of texts Gather of all: OpenVINO dies when it gives the memory of the former back."""
    if array.element_type.kind == "string":
        places = tensor(list(range(array.shape[0])), "int64")
        return make_case("ai.onnx::Gather-13", [("data", array), ("indices", places)], output=expected)
    return make_case("ai.onnx::Identity-25", [("input", array)], output=expected)


@pytest.mark.slow
@pytest.mark.runtimes("openvino")
@pytest.mark.parametrize("element_type", ["bfloat16", "float8e4m3fn", "int4", "string", "bool", "float16"])
def test_openvino_is_asked_about_the_types_that_numpy_shows_as_others(
    tmp_path: Path, element_type: str
) -> None:
    shape = (5, 1) if element_type != "bfloat16" else ()
    given, other = (fill(element_type, shape, "random", Draw(each)) for each in ("given", "other"))
    for expected, code in ((given, 0), (other, 1)):
        case = passed_on(given, expected)
        write_suite(tmp_path / f"suite{code}", [case], {}, {})
        with open_suite(tmp_path / f"suite{code}") as suite:
            script = write_reproduction(suite, str(case.id), tmp_path / f"repro{code}")
        done = run("openvino", [str(script), "--runtime", "openvino"], tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        assert "refused" not in done.stdout


@pytest.mark.parametrize(
    ("runtime", "element_type"),
    [
        pytest.param(runtime, element_type, marks=pytest.mark.runtimes(runtime))
        for runtime, element_type in (("opencv", "bfloat16"), ("tract", "string"), ("openvino", "complex64"))
    ],
)
def test_a_type_that_a_runtime_has_no_tensors_of_is_not_tried(
    tmp_path: Path, runtime: str, element_type: str
) -> None:
    given = fill(element_type, (5, 1), "distinct", Draw("given"))
    case = passed_on(given, given)
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        script = write_reproduction(suite, str(case.id), tmp_path / "repro")
    done = run(runtime, [str(script), "--runtime", runtime], tmp_path)
    said = f"not tried: {runtime} does not offer tensors of"
    assert (done.returncode, said in done.stdout) == (2, True), done.stdout + done.stderr


def test_openvino_is_set_up_as_in_a_run() -> None:
    stated = constants_of("openvino_worker.py")
    threads = ast.literal_eval(stated["_THREADS"])[0]
    settings = ast.unparse(stated["_SETTINGS"]).replace("_THREADS[0]", str(threads))
    assert ast.literal_eval(settings) == on_openvino.SETTINGS
    lacking = ast.literal_eval(constants_of("wire_arrays.py")["EXTENDED"])
    types = ast.literal_eval(stated["_TYPES"])
    lacked = {lacking[name]: theirs for name, theirs in types.items() if name in lacking}
    assert lacked == on_openvino.TYPES


def constants_of(worker: str) -> dict[str, ast.expr]:
    """What the module of a worker, which runs with the runtime alone, gives its names."""
    source = files("conformance.workers").joinpath(worker).read_text(encoding="utf-8")
    found: dict[str, ast.expr] = {}
    for stmt in ast.parse(source).body:
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) else getattr(stmt, "target", None)
        value = getattr(stmt, "value", None)
        if isinstance(target, ast.Name) and value is not None:
            found[target.id] = value
    return found

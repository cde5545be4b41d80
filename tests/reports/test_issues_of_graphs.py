"""Issues of runtimes for which graphs, modules or C are written: their scripts need the runtime alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from conformance.judging.responses import Answered, Refused, Response, ReturnedOther
from conformance.models.node_descriptions import describe_node
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from opcert.commands.reproduced_issues import Bareground, issues_of
from opcert.vocabulary.tensors import Tensor, tensor
from reports.causes.failure_classes import classes_of
from reports.results.case_results import put_together
from reports.single_cases.bare_graphs import graph_of
from reports.single_cases.bare_script import bare_script
from reports.upstream.issues import Issue
from tests.conformance.conversation import make_case
from tests.reports.sample import Maker

ROW = tensor([1, 2, 3], "float")


def one_hot(*expected: list[int]) -> Case:
    inputs = [
        ("indices", tensor([0, 1], "int32")),
        ("depth", tensor(3, "int32")),
        ("on_value", tensor(1, "float")),
        ("off_value", tensor(0, "float")),
    ]
    made = tensor(list(expected), "float")
    return make_case("org.tensorflow::OneHot-1", inputs, {"axis": ("int", 0)}, made)


def cumulated(axis: int, expected: Tensor) -> Case:
    return make_case("org.tensorflow::Cumsum-1", [("x", ROW), ("axis", tensor(axis, "int32"))], {}, expected)


def summed(*expected: float) -> Case:
    inputs = [("data", tensor([[1, 2], [3, 4]], "float")), ("axes", tensor([1], "int64"))]
    return make_case("ai.onnx::ReduceSum-13", inputs, {"keepdims": ("int", 0)}, tensor(expected, "float"))


PADDED = make_case(
    "ai.onnx::Pad-13",
    [("data", tensor(5, "float")), ("pads", tensor([], "int64"))],
    output=tensor(5, "float"),
)
NOT_FILLED = ReturnedOther("Tensor", "a tensor of shape [] that holds 0 elements")
NO_C = "C compilation failed:\n/tmp/emx_onnx_backend_abcdefgh/model.c: In function ‘node0_pad’:"
CAUSES: dict[str, tuple[str, Case, Callable[[], Response], str]] = {
    "shape": (
        "tfjs",
        one_hot([1, 0], [0, 1], [0, 0]),
        lambda: Answered((tensor([[1, 0, 0], [0, 1, 0]], "float"),)),
        "float32 [ 2, 3 ] Float32Array(6) [ 1, 0, 0, 0, 1, 0 ]",
    ),
    "no tensor": (
        "tfjs", cumulated(-1, tensor([1, 3, 6], "float")), lambda: Answered((NOT_FILLED,)), "[ undefined ]",
    ),
    "module": ("jaxlib", summed(3, 8), lambda: Answered((tensor([3, 7], "float"),)), "got float32 (2,) [3."),
    "C": ("emx-onnx-cgen", PADDED, lambda: Refused("RuntimeError", NO_C), "Error: C compilation failed:"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "cause", [pytest.param(name, marks=pytest.mark.runtimes(each[0])) for name, each in CAUSES.items()]
)
def test_the_script_of_an_issue_reproduces_what_the_run_saw(tmp_path: Path, cause: str) -> None:
    runtime, case, answer, printed = CAUSES[cause]
    made = Maker(tmp_path).make([case], lambda _: answer())
    results = put_together(made.suite, made.record)
    (found,) = classes_of(results)
    if runtime == "jaxlib":  # in its own run constants are parts of a module
        script = bare_script(case, runtime, "initializers")
        assert not isinstance(script, str), script
        ran, dumped = Bareground(find_runtime(runtime), lambda _: None).run(script)
        assert (printed in ran.stdout, dumped is not None) == (True, True), ran.stderr
        return
    (issue,) = issues_of(results, [found], Bareground(find_runtime(runtime), lambda _: None))
    assert isinstance(issue, Issue), issue
    assert printed in issue.render()


def test_a_script_says_why_there_is_no_module() -> None:
    for case, said in (
        (summed(3, 8), "StableHLO has axes in the module alone"),
        (cumulated(0, ROW), "jaxlib's modules are made of ONNX's operators alone"),
        (make_case("ai.onnx::Det-22", [("X", ROW)]), "StableHLO has no operation that is Det"),
    ):
        assert bare_script(case, "jaxlib", "inputs") == said
    halves = make_case("org.tensorflow::Abs-1", [("x", tensor([1], "double"))])
    assert bare_script(halves, "tfjs", "inputs") == "TensorFlow.js has no double"


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is absent")
def test_a_graph_is_the_one_that_the_worker_loads() -> None:
    image = tensor(np.zeros((1, 2, 2, 1)), "float")
    cases = [
        one_hot([1, 0], [0, 1], [0, 0]),
        cumulated(-1, ROW),
        make_case("org.tensorflow::LeakyRelu-1", [("features", ROW)]),
        make_case("org.tensorflow::DepthToSpace-1", [("input", image)], {"block_size": ("int", 2)}),
        make_case("org.tensorflow::Add-1", [("x", ROW), ("y", ROW)]),
        make_case("org.tensorflow::Cast-1", [("x", ROW)], {"DstT": ("type", "tensor(int32)")}),
        make_case(
            "org.tensorflow::MaxPool-1",
            [("input", image)],
            {"ksize": ("ints", (1, 2, 2, 1)), "padding": ("string", "SAME")},
        ),
        make_case("org.tensorflow::Elu-1", [("features", ROW)], {"alpha": ("float", 0.5)}),
    ]
    told = [describe_node(case, form)[0] for case in cases for form in ("inputs", "dynamic")]
    module = str(files("conformance.workers").joinpath("tfjs_graphs.mjs"))
    script = (
        f"import {{ graphOf }} from {json.dumps(module)};"
        f"console.log(JSON.stringify({json.dumps(told)}.map((each) => {{"
        "const { artifacts, places } = graphOf(each);"
        "const placed = Object.fromEntries([...places].map(([name, [place]]) => [name, place]));"
        "return [artifacts.modelTopology.node, placed]; })));"
    )
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == [list(graph_of(each)) for each in told]

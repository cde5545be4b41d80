"""Scripts that show failures of optimisers of models and of execution providers, on fakes of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.suite.cases import Case
from conformance.suite.suites import open_suite, write_suite
from reports.single_cases.bare_script import BareScript, bare_script
from reports.single_cases.case_folder import write_reproduction
from reports.single_cases.standalone import surroundings
from reports.upstream.issues import ScriptSurroundings
from tests.reports.test_reproduction import crop

_RUNTIME = """
import os
import onnx
from onnx.reference import ReferenceEvaluator

class SessionOptions:
    def add_session_config_entry(self, name, value):
        assert name in ("session.disable_cpu_ep_fallback", "session.record_ep_graph_assignment_info")

class GraphOptimizationLevel:
    ORT_DISABLE_ALL = 0

class Port:
    def __init__(self, info):
        self.name, self.type = info.name, "tensor(float)"

class InferenceSession:
    def __init__(self, model, settings, providers, enable_fallback=1):
        self.model, self.provider = onnx.load_from_string(model), providers[0]
        assert self.provider == "CPUExecutionProvider" or enable_fallback == 0

    def get_provider_graph_assignment_info(self):
        return [] if os.environ.get("FAKE") == "folds" else [self.provider]

    def get_inputs(self):
        return [Port(each) for each in self.model.graph.input]

    def get_outputs(self):
        return [Port(each) for each in self.model.graph.output]

    def run(self, names, feeds):
        if os.environ.get("FAKE") == "dies":
            os.abort()
        found = ReferenceEvaluator(self.model).run(None, feeds)
        return found if self.provider == "CPUExecutionProvider" else [each + 1 for each in found]

def get_available_providers():
    return ["NpuExecutionProvider", "CPUExecutionProvider"]

def get_ep_devices():
    return []
"""
_OPTIMISER = """
import os

def simplify(model):
    if os.environ.get("FAKE") == "raises":
        raise IndexError("list index out of range")
    if os.environ.get("FAKE") == "breaks":
        model.graph.node[0].op_type = "Identity"
        del model.graph.node[0].input[1:], model.graph.node[0].attribute[:]
    assert not model.graph.input
    return model, True
"""


def run(folder: Path, words: list[str], fake: str = "") -> subprocess.CompletedProcess[str]:
    """Python with the fakes at hand, of which `fake` says what is wrong with them."""
    (folder / "fakes").mkdir(exist_ok=True)
    (folder / "fakes" / "onnxruntime.py").write_text(_RUNTIME)
    (folder / "fakes" / "onnxsim.py").write_text(_OPTIMISER)
    environment = {**os.environ, "PYTHONPATH": str(folder / "fakes"), "FAKE": fake}
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


def reproduce(folder: Path, case: Case, *words: str, fake: str = "") -> tuple[int, str]:
    write_suite(folder / "suite", [case], {}, {})
    with open_suite(folder / "suite") as suite:
        script = write_reproduction(suite, str(case.id), folder / "repro")
    done = run(folder, [str(script), *words], fake)
    return done.returncode, done.stdout + done.stderr


RIGHT, WRONG = crop(), crop(((2.0, 9.0),))


@pytest.mark.parametrize(
    ("case", "fake", "code", "said"),
    [
        (RIGHT, "", 0, "holds: the answer"),
        (WRONG, "", 2, "not tried: the model answers the same before it is optimised"),
        (RIGHT, "breaks", 1, "REPRODUCED: the answer is not what the documents say"),
        (RIGHT, "raises", 1, "REPRODUCED: a valid call is rejected"),
        (RIGHT, "dies", 2, "not tried: before it is optimised: RuntimeError: the model ends the process"),
    ],
)
def test_an_optimiser_is_blamed_for_what_it_changed_alone(
    tmp_path: Path, case: Case, fake: str, code: int, said: str
) -> None:
    found, told = reproduce(tmp_path, case, "--runtime", "onnxsim", fake=fake)
    assert (found, said in told) == (code, True), told


@pytest.mark.parametrize(
    ("words", "fake", "code", "said"),
    [
        (("--provider", "Npu", "--provider-options", "a=1"), "", 1, "REPRODUCED: the answer is not"),
        (("--provider", "Npu"), "folds", 2, "not tried: no node came to the provider Npu"),
        (("--provider", "Other"), "", 2, "not tried: the provider Other: "),
        (("--provider", "/no/libnpu.so"), "", 2, "not tried: the provider /no/libnpu.so: "),
        ((), "", 0, "holds: the answer"),
        (("--runtime", "onnx", "--provider", "Npu"), "", 2, "a provider is one of onnxruntime's"),
    ],
)
def test_a_provider_is_tried_without_the_cpu(
    tmp_path: Path, words: tuple[str, ...], fake: str, code: int, said: str
) -> None:
    """The fake provider adds one to what is right; one that is not there has done nothing."""
    found, told = reproduce(tmp_path, RIGHT, *words, fake=fake)
    assert (found, said in told) == (code, True), told


def test_the_short_script_of_an_optimiser_shows_the_answers_before_and_after(tmp_path: Path) -> None:
    script = bare_script(RIGHT, "onnxsim", "initializers")
    assert isinstance(script, BareScript)
    done = run(tmp_path, ["-c", script.text], "breaks")
    assert done.stdout.splitlines() == [
        "expected output_data float32 (1, 2) [2. 3.]",
        "before float32 (1, 2) [2. 3.]",
        "got float32 (1, 4) [1. 2. 3. 4.]",
    ], done.stderr
    with_inputs = bare_script(RIGHT, "onnxsim", "inputs")
    assert isinstance(with_inputs, BareScript)
    assert "graph.initializer" not in with_inputs.text


@pytest.mark.parametrize(
    ("runtime", "options", "said"),
    [
        (
            "onnxruntime-openvino",
            {"provider": "OpenVINO", "package": "onnxruntime-openvino", "options": "device_type=CPU; a=b"},
            "providers=[('OpenVINOExecutionProvider', {'device_type': 'CPU', 'a': 'b'})],",
        ),
        (
            "onnxruntime-ggml",
            {"package": "onnxruntime-ggml"},
            "files = importlib.metadata.files('onnxruntime-ggml')",
        ),
        (
            "onnxruntime-npu",
            {"library": "/opt/libnpu_ep.so", "name": "npu"},
            "library = '/opt/libnpu_ep.so'",
        ),
        (
            "onnxruntime-npu",
            {"library": "/a'; raise SystemExit #\n", "name": "x"},
            r'library = "/a\'; raise SystemExit #\n"',
        ),
    ],
)
def test_the_short_script_of_a_provider_names_it_and_leaves_the_cpu_out(
    runtime: str, options: dict[str, str], said: str
) -> None:
    script = bare_script(RIGHT, runtime, "inputs", options=options)
    assert isinstance(script, BareScript)
    compile(script.text, "script", "exec")
    assert said.replace("\\'", "'") in script.text
    assert "disable_cpu_ep_fallback" in script.text
    assert "disable_cpu_ep_fallback" in "\n".join(surroundings(runtime, options)["onnx"][1])


def test_an_issue_names_the_runtime_that_a_plug_in_or_an_optimiser_runs_on() -> None:
    told = ScriptSurroundings("onnxsim", "0.8.1", {}, "Linux", {}, {"onnxruntime": "1.32.0"})
    assert "- with: onnxruntime 1.32.0" in list(told.lines)
    alone = ScriptSurroundings("onnxruntime", "1.32.0", {}, "Linux", {})
    assert not [line for line in alone.lines if line.startswith("- with")]


def test_without_its_options_a_provider_has_no_script() -> None:
    assert "nothing is known" in str(bare_script(RIGHT, "onnxruntime-openvino", "inputs"))
    assert surroundings("foreign", {"package": "onnxruntime-ggml"}) == {}

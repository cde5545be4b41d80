"""Case folders: the layout of ONNX's backend tests, and scripts that reproduce a case on their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

from conformance.judging.verdicts import Verdict
from conformance.models.case_models import FORMS, Form, carried_in
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.runtimes.adapter import load_adapter
from conformance.suite.cases import Alternative, Case, Expectation, ExpectedOutput, call_digest
from conformance.suite.suites import open_suite, write_suite
from opcert.commands import cli
from opcert.commands.repro_command import _FORMS
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reports.results.case_results import put_together
from reports.single_cases.case_folder import export_suite, write_reproduction
from reports.single_cases.reproduction import case_values
from reports.single_cases.reproduction import reproduce as script_of_cases
from reports.single_cases.reproduction.case_values import has_plain_type

CROP_PAD = OperatorName("ai.onnx", "CenterCropPad", 18)


def crop(
    expected: Any = ((2.0, 3.0),), element_type: str = "float", allowed: float | None = None, **more: Any
) -> Case:
    """CenterCropPad of one row of four to two, which every runtime computes the same way."""
    data = more.pop("data", None) or tensor([[1.0, 2.0, 3.0, 4.0]], element_type)
    inputs = (("input_data", data), ("shape", tensor([2], "int64")))
    attributes = {"axes": attribute("ints", [1])}
    wanted = expected if isinstance(expected, Tensor) else tensor(expected, element_type)
    limit = None if allowed is None else np.full(wanted.shape, allowed)
    output = ExpectedOutput("output_data", wanted, limit, more.pop("alternatives", ()))
    demand = more.pop("demand", "answer")
    return Case(
        CaseId(CROP_PAD, more.pop("family", "cover"), None, call_digest(CROP_PAD, attributes, inputs)),
        ELEMENT_TYPES[element_type],
        attributes,
        inputs,
        ("output_data",),
        demand,
        (Expectation((output,)), *more.pop("others", ())) if demand == "answer" else (),
        **more,
    )


@pytest.fixture
def reproduce(tmp_path: Path) -> Callable[[Case], subprocess.CompletedProcess[str]]:
    """Writes a case's folder and runs its script in this interpreter on onnx's reference evaluator."""

    def run(case: Case) -> subprocess.CompletedProcess[str]:
        write_suite(tmp_path / "suite", [case], {}, {})
        with open_suite(tmp_path / "suite") as suite:
            script = write_reproduction(suite, str(case.id), tmp_path / "repro")
        # -I: nothing of opcert is importable by accident.
        command = [sys.executable, "-I", str(script), "--runtime", "onnx"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    return run


Reproduce = Callable[[Case], subprocess.CompletedProcess[str]]


@pytest.mark.slow
def test_a_right_answer_does_not_reproduce(reproduce: Reproduce) -> None:
    done = reproduce(crop())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every element is as it must be" in done.stdout


def test_a_wrong_answer_reproduces_with_its_worst_element(reproduce: Reproduce) -> None:
    done = reproduce(crop(((2.0, 3.5),), allowed=0.25))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 of 2 elements wrong; worst at [0, 1]: got 3.0, expected 3.5, allowed error 0.25" in done.stdout
    assert "error over allowed 2" in done.stdout
    assert done.stdout.strip().splitlines()[-1].startswith("REPRODUCED")


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        crop(((2.0, 3.5),), allowed=0.5),
        crop(((2.0, 3.5),), alternatives=(Alternative(1, (3.25, 3.0)),)),
        crop(
            ((0.0,),), others=(Expectation((ExpectedOutput("output_data", tensor([[2.0, 3.0]], "float")),)),)
        ),
        crop(data=tensor([["a", "b", "c", "d"]]), expected=tensor([["b", "c"]]), element_type="string"),
        crop(demand="survive", family="survival"),
    ],
    ids=["allowed", "alternative", "reading", "strings", "survival"],
)
def test_what_may_be_holds(reproduce: Reproduce, case: Case) -> None:
    done = reproduce(case)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "said"),
    [
        (crop(((2.0, 3.0, 4.0),)), "shape [1, 2] instead of [1, 3]"),
        (crop(tensor([[2, 3]], "int32")), "element type float32 instead of int32"),
        (crop(((2.0, -3.0),)), "worst at [0, 1]"),
        (crop(demand="refuse", family="invalid"), "a call that must be rejected is answered"),
    ],
    ids=["shape", "type", "value", "accepted"],
)
def test_what_may_not_be_reproduces(reproduce: Reproduce, case: Case, said: str) -> None:
    done = reproduce(case)
    assert done.returncode == 1, done.stdout + done.stderr
    assert said in done.stdout


def test_distances_of_numbers_without_axes_are_told() -> None:
    for kind in (np.int64, np.uint8, np.float32, np.complex64):
        got, wanted = np.array(3, kind), np.array(5, kind)
        apart = case_values.distances(got, wanted, case_values.same(got, wanted))
        assert (apart.shape, float(apart)) == ((), 2.0)


def test_a_failure_of_the_script_is_none_of_the_runtime(reproduce: Reproduce, tmp_path: Path) -> None:
    case = crop()
    assert reproduce(case).returncode == 0
    (tmp_path / "repro" / "test_data_set_0" / "output_0.pb").write_bytes(b"no tensor")
    command = [sys.executable, "-I", str(tmp_path / "repro" / "reproduce.py"), "--runtime", "onnx"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "not tried: this script fails" in done.stdout) == (2, True), done.stdout


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_tried(tmp_path: Path, form: Form) -> None:
    case = crop()
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        script = write_reproduction(suite, str(case.id), tmp_path / "repro")
    carried = carried_in(form)
    path = script.parent / ("model.onnx" if carried == "inputs" else f"forms/{carried}.onnx")
    model = onnx.load(path)
    shape = [each.dim_value for each in model.graph.input[0].type.tensor_type.shape.dim]
    taken = [value_info.name for value_info in model.graph.input]
    if form == "initializers":
        assert taken == ["input_data"]
    elif form == "strided":
        assert (taken, shape) == (["input_data_turned", "shape"], [4, 1])
    else:
        assert (taken, shape) == (["input_data", "shape"], [0, 0] if carried == "dynamic" else [1, 4])
    command = [sys.executable, "-I", str(script), "--runtime", "onnx", "--form", form]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    # ONNX's evaluator cannot be told how many threads there are.
    expected = 2 if form == "threads" else 0
    assert (done.returncode, f"form {form}" in done.stdout) == (expected, True), done.stdout + done.stderr


def test_the_script_takes_the_form_that_the_command_named(tmp_path: Path) -> None:
    case = crop()
    write_suite(tmp_path / "suite", [case], {}, {})
    words = ["repro", str(case.id), "-s", str(tmp_path / "suite"), "-o", str(tmp_path / "made")]
    assert CliRunner().invoke(cli, [*words, "--form", "dynamic"]).exit_code == 0
    command = [sys.executable, "-I", str(tmp_path / "made" / "reproduce.py"), "--runtime", "onnx"]
    for more, form in (([], "dynamic"), (["--form", "inputs"], "inputs")):
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60, check=False)
        assert f"on onnx, form {form}" in done.stdout
        assert done.returncode == 0
    refused = CliRunner().invoke(cli, [*words, "--form", "sideways"])
    assert refused.exit_code == ExitCode.USAGE
    assert tuple(_FORMS) == FORMS == script_of_cases.FORMS


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ({"inputs": "pass", "dynamic": "rejected_valid"}, " --form dynamic"),
        ({"inputs": "rejected_valid", "dynamic": "rejected_valid"}, ""),
        ({"inputs": "pass", "dynamic": "pass"}, ""),
    ],
)
def test_a_printed_command_names_the_form_in_which_alone_a_case_fails(
    tmp_path: Path, verdicts: dict[str, Verdict], said: str
) -> None:
    case = crop()
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        rows = tuple(
            Result(str(case.id), str(CROP_PAD), "cover", "float", form, 0, verdict)
            for form, verdict in verdicts.items()
        )
        header = {"suite": suite.digest, "options": {"forms": list(verdicts)}}
        results = put_together(suite, Record(tmp_path / "run.jsonl", header, rows, None))
        assert results.reproduction_command(case.id) == f"opcert repro {case.id}{said}"


def test_memory_of_inputs_reproduces(tmp_path: Path) -> None:
    """ONNX's evaluator answers a Reshape with a view of its input."""
    given = tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    operator, shape = OperatorName.parse("ai.onnx::Reshape-14"), tensor(np.array([3, 2], np.int64))
    inputs = (("data", given), ("shape", shape))
    case = Case(
        id=CaseId(operator, "cover", None, call_digest(operator, {}, inputs)),
        element_type=given.element_type,
        attributes={},
        inputs=inputs,
        output_names=("reshaped",),
        demand="answer",
        expectations=(Expectation((ExpectedOutput("reshaped", tensor(given.array.reshape(3, 2))),)),),
    )
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        script = write_reproduction(suite, str(case.id), tmp_path / "repro")
    command = [sys.executable, "-I", str(script), "--runtime", "onnx", "--form", "untouched"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    told = "REPRODUCED: output 0 lies in the memory of the input data"
    assert (done.returncode, told in done.stdout) == (1, True), done.stdout + done.stderr


def test_a_refused_valid_call_reproduces(reproduce: Reproduce) -> None:
    bad = crop(data=tensor(1.0, "float"))
    done = reproduce(bad)
    assert done.returncode == 1
    assert "a valid call is rejected" in done.stdout


def test_a_refusal_that_is_left_open_does_not_reproduce(reproduce: Reproduce) -> None:
    done = reproduce(crop(data=tensor(1.0, "float"), may_refuse="scalars"))
    assert (done.returncode, "holds: this call may be rejected" in done.stdout) == (0, True), done.stdout


def test_a_call_that_must_be_refused_and_is_does_not_reproduce(reproduce: Reproduce) -> None:
    done = reproduce(crop(data=tensor(1.0, "float"), demand="refuse", family="invalid"))
    assert (done.returncode, "holds: the call must be rejected" in done.stdout) == (0, True), done.stdout


def test_what_a_runtime_says_that_it_lacks_is_no_fault_of_its(reproduce: Reproduce) -> None:
    """ONNX's evaluator has no operator of this domain, and says so."""
    operator = OperatorName("org.example", "CenterCropPad", 18)
    foreign = crop()
    foreign = replace(foreign, id=replace(foreign.id, operator=operator))
    done = reproduce(foreign)
    assert (done.returncode, "does not offer this" in done.stdout) == (2, True), done.stdout


@pytest.mark.parametrize("runtime", sorted(script_of_cases.RUNTIMES))
def test_the_script_reads_refusals_as_a_run_does(
    runtime: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = crop()
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        write_reproduction(suite, str(case.id), tmp_path / "repro")
    monkeypatch.setattr(case_values, "HERE", tmp_path / "repro")
    adapter = load_adapter(runtime)
    for rule in adapter.unsupported:
        kind, _, text = rule.example.partition(": ")
        expected = rule.error_class != "unsupported"
        assert script_of_cases.says_unsupported(runtime, kind, text) == expected, rule.example
    assert not script_of_cases.says_unsupported(runtime, "ValueError", "a wrong shape")


def test_a_runtime_that_is_not_there_is_not_a_reproduction(tmp_path: Path) -> None:
    case = crop()
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        script = write_reproduction(suite, str(case.id), tmp_path / "repro")
    command = [sys.executable, "-I", str(script), "--runtime", "tensorflow"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stdout
    assert "not tried" in done.stdout


def test_an_unknown_case_is_an_error(tmp_path: Path) -> None:
    write_suite(tmp_path / "suite", [crop()], {}, {})
    with open_suite(tmp_path / "suite") as suite, pytest.raises(UserError, match="no such case"):
        write_reproduction(suite, "ai.onnx/CenterCropPad-18/cover/000000000000", tmp_path / "repro")


def test_an_exported_case_is_one_of_onnx_backend_tests(tmp_path: Path) -> None:
    case = crop()
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        (exported,) = export_suite(suite, tmp_path / "out")
    assert exported.folder == tmp_path / "out" / str(case.id)
    assert exported.beyond == ()
    (loaded,) = load_model_tests(str(tmp_path / "out" / "ai.onnx" / "CenterCropPad-18"), "cover")
    assert loaded.model_dir == str(exported.folder)
    model = onnx.load(str(exported.folder / "model.onnx"))
    onnx.checker.check_model(model)
    data = exported.folder / "test_data_set_0"
    inputs = [_read(data / f"input_{number}.pb") for number in range(len(model.graph.input))]
    names = [value_info.name for value_info in model.graph.input]
    got = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
    assert isinstance(got, list)
    np.testing.assert_array_equal(got[0], _read(data / "output_0.pb"))


def _read(path: Path) -> Any:
    message = onnx.TensorProto()
    message.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(message)


def test_case_json_holds_what_the_layout_cannot(tmp_path: Path) -> None:
    second = Expectation((ExpectedOutput("output_data", tensor([[9.0]], "float")),), {"r": ("b",)})
    case = crop(allowed=0.5, alternatives=(Alternative(0, (7.0,)),), others=(second,), rule="rows stay")
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        (exported,) = export_suite(suite, tmp_path / "out")
    assert set(exported.beyond) == {
        "several readings",
        "allowed error by element",
        "further values of elements",
    }
    read = json.loads((exported.folder / "case.json").read_text())
    assert read["family"] == "cover"
    assert read["attributes"] == {"axes": [1]}
    assert read["rule"] == "rows stay"
    first, other = read["expectations"]
    np.testing.assert_array_equal(_read(exported.folder / first["outputs"][0]["allowed"]), [[0.5, 0.5]])
    assert first["outputs"][0]["alternatives"]["index"] == [0]
    assert _read(exported.folder / other["outputs"][0]["file"]).tolist() == [[9.0]]
    assert other["readings"] == {"r": ["b"]}


def test_an_operator_of_no_onnx_model_is_described(tmp_path: Path) -> None:
    operator = OperatorName("org.openvino", "ExtractImagePatches", 3)
    inputs = (("image", tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))),)
    attributes = {"sizes": attribute("ints", [1, 1]), "auto_pad": attribute("string", "valid")}
    case = Case(
        CaseId(operator, "cover", None, call_digest(operator, attributes, inputs)),
        ELEMENT_TYPES["float"],
        attributes,
        inputs,
        ("patches",),
        "answer",
        (Expectation((ExpectedOutput("patches", inputs[0][1]),)),),
    )
    write_suite(tmp_path / "suite", [case], {}, {})
    with open_suite(tmp_path / "suite") as suite:
        (exported,) = export_suite(suite, tmp_path / "out")
    assert exported.beyond == ("no ONNX model",)
    assert not (exported.folder / "model.onnx").exists()
    read = json.loads((exported.folder / "case.json").read_text())
    assert (read["domain"], read["name"], read["since_version"]) == ("org.openvino", "ExtractImagePatches", 3)
    assert read["runtime"] == "openvino"


def test_the_script_tells_the_types_that_numpy_lacks() -> None:
    assert has_plain_type(np.zeros(1, np.float32))
    assert has_plain_type(np.array(["a"], object))
    for element_type in (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4):
        assert not has_plain_type(np.zeros((), element_type))

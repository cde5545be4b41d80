"""Short scripts of issues: they run by themselves, print what must come and what comes, and judge nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.runtimes import find_runtime
from conformance.runtimes.scripts import Ran
from conformance.suite.cases import Case
from opcert.commands.reproduced_issues import _PYTHON, Bareground, NotShown, issues_of
from opcert.vocabulary.tensors import Tensor, tensor
from reports.causes.failure_class import FailureClass
from reports.causes.failure_classes import classes_of
from reports.results.case_results import Results, put_together
from reports.single_cases.bare_script import BareScript, bare_script, javascript_of, outputs_from
from reports.single_cases.standalone import array_code
from reports.upstream.issues import Issue, ScriptSurroundings, table_of
from tests.reports.sample import Maker
from tests.reports.test_reproduction import crop

PROCESSOR = {"model": "A B", "flags": ["avx2", "avx512_vnni"]}


def run(script: BareScript, folder: Path) -> tuple[Ran, list[dict[str, Any]] | None]:
    """As `Bareground.run`, in this interpreter, which has onnx."""
    path, dumped = folder / "script.py", folder / "got.json"
    dumped.unlink(missing_ok=True)
    path.write_text(script.with_epilogue(_PYTHON), encoding="utf-8")
    command = [sys.executable, "-I", str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env={"OPCERT_GOT": str(dumped)}
    )
    import json

    found = json.loads(dumped.read_text()) if dumped.exists() else None
    return Ran(done.returncode, done.stdout, done.stderr), found


@pytest.mark.parametrize("form", ["inputs", "initializers", "dynamic"])
def test_it_prints_what_must_come_and_what_comes_in_few_lines(tmp_path: Path, form: Form) -> None:
    script = bare_script(crop(((2.0, 9.0),)), "onnx", form)
    assert isinstance(script, BareScript)
    assert 10 <= len(script.lines) <= 25
    ran, dumped = run(script, tmp_path)
    assert ran.code == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "expected output_data float32 (1, 2) [2. 9.]",
        "got float32 (1, 2) [2. 3.]",
    ]
    assert dumped is not None
    (got,) = outputs_from(dumped)
    assert isinstance(got, Tensor)
    assert got.array.tolist() == [[2.0, 3.0]]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("float", [1.0, -0.0, 0.1, float("nan"), float("-inf"), 3e38, 1e-45]),
        ("double", [0.1, 1e300, -2.5]),
        ("float16", [0.1, 65504, 6e-8]),
        ("int64", [2**63 - 1, -(2**63)]),
        ("uint8", [[0, 255], [1, 2]]),
        ("bool", [True, False]),
        ("float", np.full((3, 4), 0.1)),
        ("float", np.full((3, 4), -np.inf)),
        ("double", np.full(12, np.inf)),
        ("float", np.full((2, 5), np.nan)),
        ("float16", np.full((2, 5), -0.0)),
        ("float", np.zeros((3, 4)) * -1),
        ("int32", np.arange(2, 14).reshape(3, 4)),
        ("float", np.arange(12).reshape(3, 4)),
        ("float", np.zeros((2, 0))),
        ("float", 3.5),
        ("string", ["a 'b', c", 'd"e', "", "\u00e9"]),
    ],
)
def test_arrays_are_written_so_that_python_reads_them_again(kind: str, values: Any) -> None:
    given = tensor(values, kind)
    read = eval(array_code(given), {"np": np, "inf": np.inf, "nan": np.nan})
    assert read.shape == given.shape
    if kind == "string":
        assert [each.encode() for each in read.reshape(-1)] == given.array.reshape(-1).tolist()
    else:
        assert read.dtype == given.array.dtype
        assert read.tobytes() == given.array.tobytes() or np.isnan(given.array).any()


def test_what_no_script_can_show_is_said() -> None:
    assert (
        bare_script(crop(), "onnx", "again")
        == "it fails in the form again alone, which is more than one call"
    )
    assert "bfloat16" in str(bare_script(crop(element_type="bfloat16"), "onnx", "inputs"))
    many = crop(np.zeros((1, 2)), data=tensor(np.zeros((1, 1400)), "float"))
    assert bare_script(many, "onnx", "inputs") == "it has 1403 elements"
    assert "nothing is known" in str(bare_script(crop(), "unheard", "inputs"))


def test_a_script_of_javascript_has_the_model_in_it() -> None:
    script = javascript_of(crop(), "onnxruntime-node", "inputs")
    assert isinstance(script, BareScript)
    assert script.lines[0] == "const ort = require('onnxruntime-node');"
    assert (
        "    'input_data': new ort.Tensor('float32', Float32Array.from([1, 2, 3, 4]), [1, 4]),"
        in script.lines
    )
    assert "BigInt64Array.from([2n])" in script.text
    assert "expected output_data float32 [1, 2] [2 3]" in script.text
    with_end = script.with_epilogue("// here").splitlines()
    assert with_end.index("// here") > with_end.index("  const got = await session.run({")


class Ground(Bareground):
    """This interpreter instead of an environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runtime = find_runtime("onnx")
        self.surroundings = ScriptSurroundings(
            "onnx", "1", {"file": "onnx-1.whl", "contents": "c" * 64}, "Linux", PROCESSOR
        )

    def run(self, script: BareScript) -> tuple[Ran, list[dict[str, Any]] | None]:
        return run(script, self.folder)


def results_of(tmp_path: Path, case: Case, answer: Case) -> Results:
    """A run in which a case is answered as another one demands."""
    from conformance.judging.responses import Answered

    outputs = tuple(output.expected for output in answer.expectations[0].outputs)
    made = Maker(tmp_path).make([case], lambda _: Answered(outputs))
    return put_together(made.suite, made.record)


def test_a_script_that_reproduces_becomes_an_issue(tmp_path: Path) -> None:
    results = results_of(tmp_path, crop(((2.0, 9.0),)), crop())
    (made,) = issues_of(results, classes_of(results), Ground(tmp_path))
    assert isinstance(made, Issue)
    text = made.render()
    assert text.startswith("# CenterCropPad: ")
    for said in (
        "got float32 (1, 2) [2. 3.]",
        "onnx-1.whl",
        "c" * 64,
        "A B",
        "avx512_vnni",
        "inputs: inputs, every input given at run time",
        "declared outputs: output\\_data float \\[1, 2\\]",
        "no thread found",
        "on ordinary data",
    ):
        assert said in text, said
    assert "CenterCropPad" in table_of([made], {"example": 1}, "opcert upstream --table onnx")


def test_what_does_not_reproduce_is_told_with_the_reason(tmp_path: Path) -> None:
    """The record has a wrong answer, and the runtime of today answers rightly: it was mended."""
    results = results_of(tmp_path, crop(), crop(((2.0, 9.0),)))
    (made,) = issues_of(results, classes_of(results), Ground(tmp_path))
    assert isinstance(made, NotShown)
    assert made.why == "the answer is right"


def test_another_error_than_the_run_saw_reproduces_nothing(tmp_path: Path) -> None:
    from conformance.judging.responses import Refused

    case = crop()
    made = Maker(tmp_path).make([case], lambda _: Refused("Fail", "no kernel of this kind"))
    results = put_together(made.suite, made.record)
    (found,) = issues_of(results, classes_of(results), Ground(tmp_path))
    assert isinstance(found, NotShown)
    assert found.why == "the call is answered"


def test_lines_of_an_error_may_come_in_either_order(tmp_path: Path) -> None:
    from conformance.judging.responses import Refused

    class Printing(Ground):
        def run(self, _script: BareScript) -> tuple[Ran, None]:
            return Ran(1, "", "node 7 failed\nTraceback:\nFail: no kernel of this kind\n"), None

    made = Maker(tmp_path).make([crop()], lambda _: Refused("Fail", "no kernel of this kind\nnode 1 failed"))
    results = put_together(made.suite, made.record)
    (found,) = issues_of(results, classes_of(results), Printing(tmp_path))
    assert isinstance(found, Issue)


def instead_of(case: Case) -> Callable[[FailureClass, Case], Case]:
    return lambda _found, _own: case


def test_a_smaller_call_is_shown_where_it_reproduces_and_else_the_case(tmp_path: Path) -> None:
    results = results_of(tmp_path, crop(((2.0, 9.0),)), crop())
    wrong = crop(((5.0, 6.0),), data=tensor([[4.0, 5.0, 6.0, 7.0]], "float"))
    for smaller, shown in (
        (replace(wrong), "[2. 3.]"),
        (crop(((5.0, 8.0),), data=tensor([[4.0, 5.0, 6.0, 7.0]], "float")), "[5. 6.]"),
    ):
        (made,) = issues_of(results, classes_of(results), Ground(tmp_path), instead_of(smaller))
        assert isinstance(made, Issue)
        assert shown in made.printed

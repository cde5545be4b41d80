"""Both scripts that reproduce a case, on real runtimes that take models in a way of their own."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.environments import prepare
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.suites import open_suite, write_suite
from opcert.vocabulary.tensors import tensor
from reports.single_cases.reproduction import write_reproduction
from reports.single_cases.standalone import case_lines, whole_script
from tests.conformance.conversation import make_case

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

"""Cases of every form in what reports and exports make of them: nothing breaks, no claim goes too far."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from conformance.adopting.foreign_values import declared_inputs, read_data_set
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.flat_values import flatten
from conformance.suite.properties import HasShape, SameAgain
from conformance.suite.suites import open_suite
from reports.formats import write_format
from reports.results.case_results import put_together
from reports.single_cases.case_folder import must_text, write_case, write_reproduction
from reports.single_cases.standalone import case_lines
from reports.text.value_text import attribute_text
from tests.conformance.samples import FAKES, make_suite
from tests.conformance.structured_cases import FORMS, random
from tests.conformance.test_demands import DRAWS, node, values_cases

DRAWN = random(HasShape("output", (40, 50)), SameAgain())
"""A case that demands no values."""
EVERY = {**FORMS, "random": DRAWN}


@pytest.mark.parametrize("name", EVERY)
def test_every_form_is_exported(tmp_path: Path, name: str) -> None:
    case = EVERY[name]
    folder = write_case(case, tmp_path / "case")
    told = json.loads((folder / "case.json").read_text("utf-8"))
    onnx.load(folder / "model.onnx")
    assert (told["beyond"] is not None) == (name in ("unsorted", "random"))
    assert set(told["attributes"]) == set(case.attributes)
    for attribute in case.attributes.values():
        assert "object at" not in attribute_text(attribute.value)


def test_a_case_without_values_says_what_it_demands() -> None:
    assert must_text(DRAWN) == "the answer must have what is demanded of it: type, shape, same again"


@pytest.mark.parametrize("name", EVERY)
def test_a_plain_script_is_given_for_plain_cases_alone(name: str) -> None:
    assert (case_lines(EVERY[name]) is not None) == (name in ("first_and_last_output", "three_parts"))


def reproduced(tmp_path: Path, case: Case) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The folder of a case, and what the script in it says of ONNX's evaluator."""
    with open_suite(make_suite(tmp_path, [case])) as suite:
        folder = write_reproduction(suite, str(case.id), tmp_path / "case").parent
    return folder, subprocess.run(
        [sys.executable, "reproduce.py", "--runtime", "onnx"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["unsorted", "random"])
def test_the_script_beside_a_case_does_not_blame_for_what_it_cannot_judge(tmp_path: Path, name: str) -> None:
    _, done = reproduced(tmp_path, EVERY[name])
    assert done.returncode == 2, done.stdout + done.stderr
    assert "not tried" in done.stdout


@pytest.mark.parametrize(
    "name", ["sequence_insert", "sequence_at", "empty_sequence", "optional", "empty_optional"]
)
def test_the_layout_of_onnx_has_values_as_they_are(tmp_path: Path, name: str) -> None:
    """ONNX's runner hands them to a backend; adopted, the case gives and expects the same."""
    case = EVERY[name]
    folder = write_case(case, tmp_path / "tests" / "test_one")
    model = onnx.load(folder / "model.onnx")
    assert [node.op_type for node in model.graph.node] == [case.operator.name]
    declared = declared_inputs(model)
    data = read_data_set(folder / "test_data_set_0", model)
    assert [each.name for each, _ in data.inputs] == [each.name for each in declared]
    given = [part for each, value in data.inputs for part in flatten(each.type, value)]
    wanted = [part for each, value in data.outputs for part in flatten(each.type, value)]
    assert wanted == [output.expected for output in case.expectations[0].outputs]
    assert {repr(part) for part in given} >= {repr(each) for _, each in case.inputs if each is not None}


SCRIPTED = ("sequence_insert", "empty_sequence", "optional", "empty_optional", "optional_made")


@pytest.mark.parametrize("name", SCRIPTED)
def test_the_script_beside_a_case_gives_and_takes_values(tmp_path: Path, name: str) -> None:
    """ONNX's evaluator makes a list of an optional, which the script tells as the judge does."""
    folder, done = reproduced(tmp_path, EVERY[name])
    wrong = name == "optional_made"
    assert done.returncode == wrong, done.stdout + done.stderr
    if wrong:
        assert "REPRODUCED: an output is no tensor but a list" in done.stdout
    told = json.loads((folder / "case.json").read_text("utf-8"))
    packed = onnx.load(folder / "packed" / "model.onnx")
    assert {each.name for each in packed.graph.input} == {each["name"] for each in told["packed"]}
    assert len(packed.graph.output) == len(told["expectations"][0]["outputs"])


def test_wrong_answers_of_every_kind_stand_in_a_report(tmp_path: Path) -> None:
    drawn: list[Case] = [replace(node("Draw", do), properties=DRAWS) for do in ("honest", "biased", "short")]
    with open_suite(make_suite(tmp_path, [*values_cases(), *drawn])) as suite:
        runtime = find_runtime(f"exec:{sys.executable} {FAKES / 'values_worker.py'}")
        record = run_suite(suite, runtime, tmp_path / "run.jsonl", RunOptions())
        results = put_together(suite, record, "suite")
        for name in ("html", "markdown", "junit"):
            write_format(name, results, tmp_path / name)
    assert "not as demanded" in (tmp_path / "html" / "index.html").read_text("utf-8")
    assert "is not distributed as uniform(0, 1)" in (tmp_path / "junit" / "junit.xml").read_text("utf-8")
    assert sum(result.fails for result in results.cases) == 7

"""Backends that are wrong in one form of a run alone: each is noticed by default, an honest one is not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from conformance.recording.records import Record, read_record
from conformance.suite.cases import Case, Expectation, ExpectedOutput, call_digest
from conformance.suite.form_sample import form_sample
from conformance.suite.suites import open_suite, write_suite
from opcert.commands import cli
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reports.certificates.rejudging import judge_again
from reports.overview.headline import list_missing
from reports.results.case_results import put_together
from tests.conformance.samples import FAKES

MATMUL = OperatorName.parse("ai.onnx::MatMul-13")
NORM = OperatorName.parse("ai.onnx::LayerNormalization-17")
FLAT = (((2, 3), (3, 5)), ((4, 3), (3, 5)), ((6, 7), (7, 9)))
SHAPES = (*FLAT, ((2, 3, 4), (2, 4, 6)), ((3, 2, 5), (3, 5, 2)), ((4,), (4,)))
FAULTS = {
    "PacksFirstMatrix": ("MatMul", {"initializers"}),
    "PacksByName": ("MatMul", {"initializers"}),
    "DropsTails": ("MatMul", {"initializers"}),
    "TakesOpenForFour": ("MatMul", {"dynamic", "again"}),
    "KeepsShape": ("MatMul", {"again"}),
    "KeepsAnswer": ("MatMul", {"again"}),
    "WritesIntoInputs": ("MatMul", {"untouched"}),
    "SameBuffer": ("MatMul", {"untouched"}),
    "HandsOutInputs": ("LayerNormalization", {"untouched"}),
    "LosesLastPart": ("MatMul", {"threads"}),
    "IgnoresStrides": ("MatMul", {"strided"}),
    "WrongUnlessAsked": ("LayerNormalization", {"inputs"}),
    "WrongPlace": ("LayerNormalization", {"inputs"}),
}
"""Of each fault the operator that is asked, and the forms in which it shows first of all."""


def make_call(
    operator: OperatorName, inputs: dict[str, Tensor], outputs: dict[str, object], allowed: float | None
) -> Case:
    given = tuple(inputs.items())
    attributes = {} if operator is MATMUL else {"axis": attribute("int", -1)}
    names = tuple(name if output is not None else "" for name, output in outputs.items())
    wanted = {name: output for name, output in outputs.items() if output is not None}
    expected = [
        ExpectedOutput(name, tensor(array), None if allowed is None else np.full(array.shape, allowed))
        for name, array in wanted.items()
        if isinstance(array, np.ndarray)
    ]
    asked = None if operator is MATMUL else names
    return Case(
        id=CaseId(operator, "cover", None, call_digest(operator, attributes, given, None, (), asked)),
        element_type=given[0][1].element_type,
        attributes=attributes,
        inputs=given,
        output_names=names,
        demand="answer",
        expectations=(Expectation(tuple(expected)),),
        outputs_asked=asked is not None,
    )


def multiply(one: tuple[int, ...], other: tuple[int, ...]) -> Case:
    """Small whole numbers: every sum is exact."""
    draw = np.random.default_rng(len(one) * 7 + one[0])
    first, second = (draw.integers(-9, 9, shape).astype(np.float32) for shape in (one, other))
    product = np.asarray(first @ second, np.float32)
    return make_call(MATMUL, {"A": tensor(first), "B": tensor(second)}, {"Y": product}, None)


def normalize(rows: int, asked: Sequence[str]) -> Case:
    given = np.random.default_rng(rows).normal(3, 2, (rows, 8)).astype(np.float32)
    mean = given.astype(np.float64).mean(axis=-1, keepdims=True)
    inverse = 1 / np.sqrt(given.astype(np.float64).var(axis=-1, keepdims=True) + 1e-5)
    found = {"Y": (given - mean) * inverse, "Mean": mean, "InvStdDev": inverse}
    outputs = {name: each.astype(np.float32) if name in asked else None for name, each in found.items()}
    while outputs[list(outputs)[-1]] is None:
        outputs.popitem()
    inputs = {"X": tensor(given), "Scale": tensor(np.ones(8, np.float32))}
    return make_call(NORM, inputs, outputs, 1e-4)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked = (("Y",), ("Y", "Mean", "InvStdDev"), ("Y", "InvStdDev"), ("Y", "Mean"))
    cases = [multiply(*shape) for shape in SHAPES]
    cases += [normalize(3 + place, each) for place, each in enumerate(asked)]
    path = tmp_path_factory.mktemp("forms") / "suite"
    write_suite(path, cases, {"operators": {}}, {})
    return path


def run(suite: Path, folder: Path, name: str, *more: str) -> Record:
    output = folder / "run.jsonl"
    arguments = ["run", f"session_backends:{name}", "-s", str(suite), "-o", str(output), "--diagnose", "0"]
    CliRunner(env={"PYTHONPATH": str(FAKES)}).invoke(cli, [*arguments, *more, "--python", sys.executable])
    return read_record(output)


def deviating(record: Record, verdict: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for result in record.results:
        if result.verdict == verdict:
            found.setdefault(result.form, []).append(result.case)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_in_one_form_is_noticed_by_default(suite: Path, tmp_path: Path, name: str) -> None:
    operator, forms = FAULTS[name]
    record = run(suite, tmp_path, name)
    # No document says whose memory an output is.
    found = deviating(record, "document" if name == "SameBuffer" else "mismatch")
    assert any(operator in each for form in forms for each in found[form])
    assert forms <= set(found)
    alone = set(found) & {"inputs"}
    assert alone <= forms
    with open_suite(suite) as opened:
        results = put_together(opened, record)
        assert judge_again(results).problems == ()
        assert list_missing(results) == ()


@pytest.mark.slow
def test_what_kills_its_worker_is_no_fault_of_what_runs_behind_it(suite: Path, tmp_path: Path) -> None:
    record = run(suite, tmp_path, "DiesOfOne")
    deadly = str(multiply(*FLAT[2]).id)
    with open_suite(suite) as opened:
        behind = form_sample(opened).between[deadly]
    verdicts = {(result.case, result.form): result.verdict for result in record.results}
    assert verdicts[deadly, "again"] == "crash"
    assert verdicts[behind, "again"] == "pass"
    assert {case for (case, _), verdict in verdicts.items() if verdict != "pass"} == {deadly}


def several(forms: Sequence[str]) -> set[str]:
    return {"initializers", "dynamic", "strided", "again", "untouched", "threads"} & set(forms)


@pytest.mark.slow
def test_an_honest_backend_passes_in_every_form(suite: Path, tmp_path: Path) -> None:
    record = run(suite, tmp_path, "Honest")
    assert len(several([result.form for result in record.results])) == 6
    assert {result.verdict for result in record.results} == {"pass"}
    assert record.faults == ()
    with open_suite(suite) as opened:
        assert judge_again(put_together(opened, record)).problems == ()

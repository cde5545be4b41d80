"""Whatever a runtime's answers have against the reference has an entry, and every entry is still needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.clusters.worker_answers import machine_here
from conformance.recording.records import Record, read_record
from conformance.running.harness import run_suite
from conformance.running.run_options import SAMPLE, RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import Suite, open_suite
from generator.making.operators.named_suites import FIRST
from generator.making.suites.cache import named_suite
from opcert.commands import cli
from reference.readings.disagreements import load_disagreements
from reference.readings.followed import load_all_followed
from tests.commands.command_line import call
from tools.agreement import followed_by
from tools.disagreeing import disagreeing, find_silent

pytestmark = pytest.mark.slow

WITHOUT_AVX_512 = {"openvino_bfloat16_cut_off"}
"""Of what a runtime does on processors without AVX-512: a machine that has it shows nothing like it."""


@pytest.fixture(scope="module")
def suite() -> Suite:
    """The default suite of the specs and the code that are there now."""
    return open_suite(named_suite(FIRST, print))


def run(suite: Suite, runtime: str, folder: Path) -> Record:
    return run_suite(suite, find_runtime(runtime), folder / "run.jsonl", RunOptions(forms=SAMPLE))


def check(suite: Suite, record: Record) -> None:
    entries = load_disagreements()
    found = list(disagreeing(suite, record, entries))
    unexplained = [
        f"{each.verdict} {each.subject}: {each.reason[:300]}" for each in found if each.entry is None
    ]
    assert not unexplained, "\n".join(["no entry of a disagreements.yaml explains:", *unexplained])
    runtime = record.header["runtime"]
    stale = {disagreement.id for disagreement in find_silent(suite, record, entries, found)}
    if "avx512f" in machine_here()["features"]:
        stale -= WITHOUT_AVX_512
    assert not stale, f"{runtime['name']} {runtime['version']} does nothing like: {', '.join(sorted(stale))}"


def check_followed(suite: Suite, record: Record) -> None:
    """followed.yaml of the rooms says what this version of the runtime follows, and nothing else."""
    runtime = record.header["runtime"]
    known = [readings for readings in load_all_followed() if readings.runtime == runtime["name"]]
    assert len(known) <= 1
    if not known:
        assert followed_by(suite, record)["followed"] == {}
    elif known[0].version == runtime["version"]:
        assert known[0].model_dump() == followed_by(suite, record)


@pytest.mark.runtimes("onnxruntime")
def test_onnxruntime(suite: Suite, tmp_path: Path) -> None:
    record = run(suite, "onnxruntime", tmp_path)
    check(suite, record)
    check_followed(suite, record)
    without = [row for row in record.results if row.verdict != "mismatch"]
    with pytest.raises(AssertionError, match=r"does nothing like: .*onnxruntime_policy_with_negative_axes"):
        check(suite, replace(record, results=tuple(without)))
    row = next(result for result in record.results if result.verdict == "pass")
    worse = replace(row, verdict="mismatch", reason="1 of 2 elements wrong")
    with pytest.raises(AssertionError, match=rf"explains:\s+mismatch {row.case}"):
        check(suite, replace(record, results=(*record.results, worse)))


@pytest.mark.nightly
@pytest.mark.runtimes("onnx")
def test_onnx(suite: Suite, tmp_path: Path) -> None:
    record = run(suite, "onnx", tmp_path)
    check(suite, record)
    check_followed(suite, record)


@pytest.mark.nightly
@pytest.mark.runtimes("openvino")
def test_openvino(suite: Suite, tmp_path: Path) -> None:
    record = run(suite, "openvino", tmp_path)
    check(suite, record)
    check_followed(suite, record)


OWN = ("Subtract-1", "ShapeOf-3", "GatherElements-6", "Pad-1", "HardSigmoid-1", "Select-1", "Selu-1")
"""Operators of OpenVINO, asked as nodes of its operator sets and not through ONNX."""


@pytest.mark.runtimes("openvino")
def test_operators_of_openvino_by_openvino(tmp_path: Path) -> None:
    made, path = tmp_path / "suite", tmp_path / "run.jsonl"
    generate = ["generate", *(f"org.openvino::{name}" for name in OWN), "-o", str(made)]
    assert CliRunner().invoke(cli, generate, standalone_mode=False).return_value == 0
    run_it = [
        "run",
        "openvino",
        "-s",
        str(made),
        "--forms",
        "initializers",
        "--diagnose",
        "0",
        "-o",
        str(path),
    ]
    assert CliRunner().invoke(cli, run_it, standalone_mode=False).return_value == 1
    own, record = open_suite(made), read_record(path)
    found = list(disagreeing(own, record, load_disagreements()))
    assert [each for each in found if each.entry is None] == []
    known = {each.entry.id for each in found if each.entry is not None}
    assert {"openvino_subtract_of_the_least_int8", "openvino_shape_of_without_output_type"} <= known
    for name in OWN:
        rows = [row for row in record.results if row.operator == f"org.openvino::{name}"]
        assert 2 * sum(row.verdict == "pass" for row in rows) > len(rows), name


@pytest.mark.nightly
@pytest.mark.runtimes("tensorflow")
def test_tensorflow(suite: Suite, tmp_path: Path) -> None:
    record = run(suite, "tensorflow", tmp_path)
    check(suite, record)
    check_followed(suite, record)


@pytest.mark.runtimes("tensorflow")
def test_tensorflow_and_operators_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = (
        "AddV2",
        "Einsum",
        "FloorMod",
        "GatherNd",
        "LogSoftmax",
        "Range",
        "Reciprocal",
        "Sign",
        "SpaceToDepth",
        "TensorScatterSub",
    )
    folder, rows = tmp_path / "suite", tmp_path / "run.jsonl"
    made = call(capsys, "generate", *(f"org.tensorflow::{name}" for name in names), "-o", folder)
    assert made.code == 0, made.err
    answer = call(capsys, "run", "tensorflow", "-s", folder, "-o", rows, "--diagnose", 0)
    assert answer.code == 1, answer.err
    record = read_record(rows)
    check(open_suite(folder), record)
    passed = {row.operator.partition("::")[2][:-2] for row in record.results if row.verdict == "pass"}
    assert passed == set(names)

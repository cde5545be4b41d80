"""Classes with ONNX's Backend interface as runtimes: `module:Backend`, through the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.recording.records import read_record
from opcert.commands import cli
from opcert.vocabulary.errors import ExitCode, RuntimeUnavailable, UserError
from tests.conformance.samples import FAKES, IDENTITY, make_case, make_suite

CASES = {
    "Good": ("pass", ExitCode.HOLDS),
    "Prepared": ("pass", ExitCode.HOLDS),
    "Prints": ("pass", ExitCode.HOLDS),
    "ReturnsForeignArray": ("pass", ExitCode.HOLDS),
    "Raises": ("rejected_valid", ExitCode.DOES_NOT_HOLD),
    "RefusesEverything": ("unsupported", ExitCode.NOTHING_RAN),
    "ReturnsNothing": ("mismatch", ExitCode.DOES_NOT_HOLD),
    "ReturnsTwo": ("mismatch", ExitCode.DOES_NOT_HOLD),
    "ReturnsDouble": ("mismatch", ExitCode.DOES_NOT_HOLD),
    "ReturnsList": ("mismatch", ExitCode.DOES_NOT_HOLD),
    "ReturnsArray": ("mismatch", ExitCode.DOES_NOT_HOLD),
    "Exits": ("crash", ExitCode.DOES_NOT_HOLD),
    "Sleeps": ("timeout", ExitCode.DOES_NOT_HOLD),
}


def run(folder: Path, name: str, *more: str) -> tuple[int, str]:
    suite = make_suite(folder, [make_case(seed=1, operator=IDENTITY)])
    output = folder / "run.jsonl"
    arguments = ["run", f"fake_backends:{name}", "-s", str(suite), "-o", str(output), "--timeout", "1", *more]
    result = CliRunner(env={"PYTHONPATH": str(FAKES)}).invoke(cli, arguments, standalone_mode=False)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return int(result.return_value), result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_backend_gets_its_verdict_and_the_command_its_exit_code(tmp_path: Path, name: str) -> None:
    verdict, expected = CASES[name]
    code, printed = run(tmp_path, name, "--python", sys.executable)
    record = read_record(tmp_path / "run.jsonl")
    assert {result.verdict for result in record.results} == {verdict}
    assert code == expected
    assert record.header["runtime"]["name"] == f"fake_backends:{name}"
    assert record.header["runtime"]["version"] == "0.9"
    failing = verdict not in ("pass", "unsupported")
    assert (f"opcert repro {record.results[0].case}" in printed) == failing


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NoBackend", "neither `prepare` nor `run_model`"),
        ("OtherDevice", "does not support the device CPU"),
    ],
)
def test_what_is_no_backend_is_unavailable(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(RuntimeUnavailable, match=words):
        run(tmp_path, name)


def test_a_class_that_the_module_does_not_have_is_the_caller_s_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="fake_backends has no Missing"):
        run(tmp_path, "Missing")


def test_an_interpreter_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such interpreter"):
        run(tmp_path, "Good", "--python", "python-of-nowhere")


def test_an_output_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="the record cannot be written"):
        run(tmp_path, "Good", "-o", str(tmp_path / "file" / "run.jsonl"))


def test_lines_of_a_record_are_json(tmp_path: Path) -> None:
    run(tmp_path, "ReturnsTwo")
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    first, *results, last = [line["type"] for line in lines]
    assert (first, set(results), last) == ("header", {"result"}, "footer")

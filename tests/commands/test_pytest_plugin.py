"""The pytest plugin, as people use it: in a folder of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.recording.records import read_record
from opcert.commands.output_locks import locked_record
from tests.conformance.samples import echo_runtime, make_case, make_suite

pytestmark = pytest.mark.slow


def run_pytest(folder: Path, *words: object) -> tuple[int, list[str]]:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA", *map(str, words)]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def outcomes(lines: Sequence[str]) -> dict[str, str]:
    words = [line.split() for line in lines if line.startswith(("PASSED", "FAILED", "SKIPPED"))]
    return {word[1].partition("::")[2]: word[0] for word in words if word[0] != "SKIPPED"}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    cases = [make_case(seed=each) for each in range(3)]
    cases += [make_case("ulp", seed=5, family="boundary"), make_case(seed=6, family="boundary")]
    cases += [make_case("unsupported", seed=7, family="example")]
    return make_suite(tmp_path, cases)


@pytest.mark.nightly
def test_a_test_for_each_operator_version_and_family(suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "kept.jsonl"
    arguments = ("--opcert-runtime", echo_runtime(), "--opcert-suite", suite, "--opcert-record", record)
    code, lines = run_pytest(tmp_path, *arguments)
    assert code == 1
    assert outcomes(lines) == {
        "org.example::Echo-1[boundary]": "FAILED",
        "org.example::Echo-1[cover]": "PASSED",
        "faults": "PASSED",
    }
    text = "\n".join(lines)
    assert "1 of 2 cases fail" in text
    assert "opcert repro org.example/Echo-1/boundary/" in text
    assert f"-s {suite}" in text
    assert "unsupported: " in text
    assert "1 skipped" in lines[-1]
    assert "Traceback" not in text
    assert len(read_record(record).results) == 6


@pytest.mark.nightly
def test_a_test_for_each_cause_found_by_the_run(suite: Path, tmp_path: Path) -> None:
    record, junit = tmp_path / "kept.jsonl", tmp_path / "junit.xml"
    arguments = ("--opcert-runtime", echo_runtime(), "--opcert-suite", suite, "--opcert-record", record)
    code, lines = run_pytest(tmp_path, *arguments, "--opcert-by", "cause", "--junitxml", junit)
    assert code == 1
    text = "\n".join(lines)
    failed = [line for line in lines if line.startswith("FAILED ") and "opcert::cause[Echo: " in line]
    assert len(failed) == 1, text
    assert "opcert repro org.example/Echo-1/boundary/" in text
    (failing,) = (result.case for result in read_record(record).results if result.verdict == "mismatch")
    assert f"{failing}: mismatch" in text
    assert "1 failed, 2 passed" in lines[-1]
    assert outcomes(lines)["org.example::Echo-1"] == "PASSED"
    tests = list(ElementTree.parse(junit).getroot().iter("testcase"))
    assert len(tests) == 3
    assert [len(list(test.iter("failure"))) for test in tests] == [0, 1, 0]


@pytest.mark.nightly
def test_processes_of_xdist_tell_all_causes_in_one_test(suite: Path, tmp_path: Path) -> None:
    arguments = ("--opcert-runtime", echo_runtime(), "--opcert-suite", suite, "--opcert-by", "cause")
    code, lines = run_pytest(tmp_path, *arguments, "-n", "1")
    assert code == 1
    assert outcomes(lines)["causes"] == "FAILED"
    assert any(line.startswith("1. Echo: ") for line in lines)


@pytest.mark.nightly
def test_no_failure_no_cause(suite: Path, tmp_path: Path) -> None:
    arguments = ("--opcert-runtime", echo_runtime(), "--opcert-suite", suite, "--opcert-by", "cause")
    code, lines = run_pytest(tmp_path, *arguments, "-k", "causes")
    assert (code, outcomes(lines)) == (1, {"causes": "FAILED"})
    assert "no test of cases is chosen" in "\n".join(lines)
    code, lines = run_pytest(tmp_path, *arguments[:2], "--opcert-suite", good_suite(tmp_path), *arguments[4:])
    assert (code, outcomes(lines)) == (
        0, {"org.example::Echo-1": "PASSED", "causes": "PASSED", "faults": "PASSED"}
    )  # fmt: skip


def good_suite(folder: Path) -> Path:
    (folder / "good").mkdir()
    return make_suite(folder / "good", [make_case(seed=1)])


@pytest.mark.parametrize(
    ("by", "tests"),
    [
        ("case", 6),
        *(pytest.param(*each, marks=pytest.mark.nightly) for each in (("operator", 1), ("family", 3))),
    ],
)
def test_what_one_test_stands_for(suite: Path, tmp_path: Path, by: str, tests: int) -> None:
    arguments = ("--opcert-runtime", echo_runtime(), "--opcert-suite", suite, "--opcert-by", by)
    code, lines = run_pytest(tmp_path, *arguments, "--collect-only")
    found = [line for line in lines if "Echo-1" in line]
    assert (code, len(found)) == (0, tests)


@pytest.mark.nightly
def test_a_record_that_another_writes_is_left_alone(suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "kept.jsonl"
    arguments = ("--opcert-runtime", echo_runtime(), "--opcert-suite", suite, "--opcert-record", record)
    with locked_record(record, "something else"):
        code, lines = run_pytest(tmp_path, *arguments)
    assert code == 1
    assert "another command writes there at this moment" in "\n".join(lines)
    assert "something else" in "\n".join(lines)
    assert not record.exists()


def test_chosen_tests_alone_are_run(suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "kept.jsonl"
    arguments = ("--opcert-runtime", echo_runtime(), "--opcert-suite", suite, "--opcert-record", record)
    code, lines = run_pytest(tmp_path, *arguments, "-k", "cover")
    assert (code, outcomes(lines)) == (0, {"org.example::Echo-1[cover]": "PASSED"})
    assert {result.family for result in read_record(record).results} == {"cover"}


def test_one_record_is_not_written_by_several_processes(suite: Path, tmp_path: Path) -> None:
    arguments = ("--opcert-runtime", echo_runtime(), "--opcert-suite", suite, "-n", "2")
    code, lines = run_pytest(tmp_path, *arguments, "--opcert-record", tmp_path / "kept.jsonl")
    assert code == 4
    assert any("--opcert-record is for one process" in line for line in lines)


def test_mistakes_and_runtimes_that_do_not_start(suite: Path, tmp_path: Path) -> None:
    code, lines = run_pytest(tmp_path, "--opcert-runtime", "nonsense", "--opcert-suite", suite)
    assert code == 4
    assert any("opcert: unknown runtime" in line for line in lines)
    code, lines = run_pytest(tmp_path, "--opcert-runtime", echo_runtime("exit"), "--opcert-suite", suite)
    assert code == 1
    assert set(outcomes(lines).values()) == {"FAILED"}
    assert any("no licence for this machine" in line for line in lines)


def test_nothing_happens_unasked(tmp_path: Path) -> None:
    code, lines = run_pytest(tmp_path)
    assert (code, lines[-1].split(" in ")[0]) == (5, "no tests ran")

"""`opcert adopt`, and the commands that run and show what it makes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from conformance.adopting import node_tests
from conformance.runtimes import scripts
from conformance.suite.suites import open_suite
from tests.commands.command_line import call, check_message
from tests.conformance.packed_models import SEQUENCE, sequence_of, write_packed
from tests.conformance.test_adopting import X, write_relu, write_test

pytestmark = pytest.mark.slow

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    """Two tests that a runtime that returns its input passes, one of them a graph, and one that it fails."""
    folder = tmp_path / "tests"
    write_test(folder / "test_identity", [helper.make_node("Identity", ["a"], ["b"])], {"a": X}, {"b": X})
    twice = [helper.make_node("Neg", ["a"], ["c"]), helper.make_node("Neg", ["c"], ["b"])]
    write_test(folder / "test_identity_expanded", twice, {"a": X}, {"b": X})
    write_relu(folder / "test_relu")
    return folder


def test_a_folder_is_adopted_run_reported_and_reproduced(
    capsys: Capture, tmp_path: Path, tests: Path
) -> None:
    suite, run = tmp_path / "suite.zip", tmp_path / "out" / "run.jsonl"
    made = call(capsys, "adopt", tests, "-o", suite)
    assert made.code == 0, made.err
    assert made.out.splitlines()[0] == (
        "3 tests: 3 cases of 2 operator versions (2 of one node, 1 expanded twins); 0 left out"
    )
    ran = call(capsys, "run", "fake_backends:Good", "-s", suite, "-o", run)
    assert ran.code == 1
    assert "ai.onnx::Identity-21     2" in ran.out
    assert "opcert repro ai.onnx/Relu-14/example/test_relu-" in ran.out
    assert call(capsys, "report", run, "-s", suite).code == 0
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "written_as" in page
    with open_suite(suite) as opened:
        (twin,) = opened.select("expanded")
    folder = tmp_path / "case"
    assert call(capsys, "repro", twin, "-s", suite, "-o", folder).code == 0
    assert (folder / "reproduce.py").is_file()
    assert (folder / "model.onnx").read_bytes().count(b"Neg") == 2


def test_what_is_unpacked_is_told_with_its_number(capsys: Capture, tmp_path: Path, tests: Path) -> None:
    both = {"x": (SEQUENCE, sequence_of(X))}, {"y": (SEQUENCE, sequence_of(X))}
    write_packed(tests / "test_sequence", [helper.make_node("Identity", ["x"], ["y"])], *both)
    answer = call(capsys, "adopt", tests, "-o", tmp_path / "suite")
    assert answer.code == 0, answer.err
    assert "4 tests: 4 cases of" in answer.out
    assert "; the sequences and optionals of 1 are unpacked; 0 left out" in answer.out


def test_it_is_certified(capsys: Capture, tmp_path: Path, tests: Path) -> None:
    suite = tmp_path / "suite"
    assert call(capsys, "adopt", tests, "-o", suite).code == 0
    answer = call(capsys, "certify", "fake_backends:Good", "-s", suite, "-o", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert "certificate: states what holds" in answer.out
    assert (tmp_path / "out" / "certificate.json").is_file()


def test_what_is_left_out_is_told_with_its_number(capsys: Capture, tmp_path: Path, tests: Path) -> None:
    for name in ("test_a", "test_b"):
        write_relu(tests / name)
        (tests / name / "model.onnx").write_bytes(b"\xff")
    answer = call(capsys, "adopt", tests, "-o", tmp_path / "suite")
    assert answer.code == 0
    assert "2 tests left out: model.onnx is no ModelProto" in answer.err
    assert "(test_a, test_b)" in answer.err
    assert "; 2 left out" in answer.out


def test_mistakes_are_told(capsys: Capture, tmp_path: Path, tests: Path) -> None:
    suite = tmp_path / "suite"
    check_message(call(capsys, "adopt", tmp_path / "nothing", "-o", suite), 2, "input", "no such folder")
    (tmp_path / "empty").mkdir()
    check_message(call(capsys, "adopt", tmp_path / "empty", "-o", suite), 2, "input", "there is no test here")
    (tmp_path / "file").write_text("in the way")
    answer = call(capsys, "adopt", tests, "-o", tmp_path / "file")
    check_message(answer, 2, "input", "something that is no suite stands where the suite should go")


SCRIPT = """
import sys
from pathlib import Path
import shutil
shutil.copytree({tests!r}, sys.argv[1], dirs_exist_ok=True)
(Path(sys.argv[1]) / "source.json").write_text('{{"onnx": "9.9", "numpy": "8.8"}}')
"""


@pytest.fixture
def log(tmp_path: Path, tests: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In place of onnx's node tests those of the fixture; the file counts how often they were asked for."""
    script, log = tmp_path / "dump.py", tmp_path / "log"
    script.write_text(SCRIPT.format(tests=str(tests)))
    monkeypatch.setattr(node_tests, "_SCRIPT", script)
    run_script = scripts.run_script

    def counted(*words: Any, **options: Any) -> None:
        with log.open("a") as file:  # the script itself could not write there
            file.write("made ")
        run_script(*words, **options)

    monkeypatch.setattr(node_tests, "run_script", counted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return log


def test_the_suite_onnx_node_is_made_once_and_kept_by_its_sources(
    capsys: Capture, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "out" / "run.jsonl"
    words = ("run", "fake_backends:Good", "-s", "onnx-node", "-k", "Identity", "-o", run)
    first = call(capsys, *words)
    assert first.code == 0, first.err
    assert "making the suite onnx-node (once" in first.err
    assert call(capsys, *words).code == 0
    assert log.read_text() == "made "
    monkeypatch.setattr(node_tests, "_sources_digest", lambda: "changed")
    # The suite of a record is found by its digest, whatever the sources are now.
    assert call(capsys, "report", run, "-s", "onnx-node").code == 0
    assert log.read_text() == "made "
    assert call(capsys, *words).code == 0
    assert log.read_text() == "made made "


def test_the_package_says_where_its_tests_are_from(capsys: Capture, tmp_path: Path, log: Path) -> None:
    assert call(capsys, "adopt", "onnx", "-o", tmp_path / "suite").code == 0
    with open_suite(tmp_path / "suite") as suite:
        assert suite.facts["adopted"]["source"] == {"package": "onnx", "version": "9.9", "numpy": "8.8"}


def test_a_package_that_gives_nothing_is_told(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dump.py").write_text("raise ImportError('no node tests here')")
    monkeypatch.setattr(node_tests, "_SCRIPT", tmp_path / "dump.py")
    answer = call(capsys, "adopt", "onnx", "-o", tmp_path / "suite")
    check_message(answer, 4, "runtime", "did not give its node tests", "no node tests here")


@pytest.mark.nightly
@pytest.mark.skipif(
    os.environ.get("CI") != "true" and os.environ.get("OPCERT_RUNTIMES") != "1",
    reason="takes ten seconds: in CI, or with OPCERT_RUNTIMES=1",
)
@pytest.mark.runtimes("onnx")
def test_the_node_tests_of_the_installed_package(capsys: Capture, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    made = call(capsys, "adopt", "onnx", "-o", suite)
    assert made.code == 0, made.err
    with open_suite(suite) as opened:
        adopted = opened.facts["adopted"]
        left_out, total = adopted["left_out"], adopted["tests"]
        assert len(opened.case_ids) + len(left_out) == total > 1500
        for reason in left_out.values():
            assert "is not one that opcert has" in reason
        (mapped,) = opened.cases("*/SequenceMap-17/example/test_sequence_map_extract_shapes-*")
        assert mapped.levels == {"written_as": "node", "values": "unpacked"}
        for name in ("test_bernoulli", "test_bernoulli_expanded", "test_training_dropout"):
            (observed,) = opened.cases(f"*/survival/{name}-*")
            assert observed.demand == "survive"
        (case,) = opened.cases("*/example/test_cast_FLOAT_to_BFLOAT16-*")
        assert case.expectations[0].outputs[0].expected.array.dtype == np.uint16
    answer = call(capsys, "run", "onnx", "-s", suite, "-k", "Abs", "-o", tmp_path / "run.jsonl")
    assert answer.code == 0, answer.err

"""A worker that fails by itself is told of as such: neither opcert's mistake, nor the runtime's."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from conformance.recording.records import read_record
from tests.commands.command_line import call, check_message
from tests.conformance.samples import echo_runtime, make_case, make_suite

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", ["run", "certify"])
@pytest.mark.parametrize(
    ("error_class", "words"),
    [
        ("internal", "the worker failed at run: Oops: my own mistake"),
        ("no-such-class", "the worker answered run with an error of class 'no-such-class': Oops"),
    ],
)
def test_its_own_failures_are_no_bug_of_opcert(
    capsys: Capture, tmp_path: Path, command: str, error_class: str, words: str
) -> None:
    suite = make_suite(tmp_path, [make_case(seed=each) for each in range(3)])
    path = tmp_path / "out" / "run.jsonl"
    out = path if command == "run" else path.parent
    answer = call(capsys, command, echo_runtime(error_class, "sloppy_worker.py"), "-s", suite, "-o", out)
    check_message(answer, 4, "worker", "failed on 3 rows", "its own mistake", words)
    assert "`rejected`" in answer.err
    assert "docs/reference.md" in answer.err
    assert "bug" not in answer.err
    assert not (path.parent / "certificate.json").exists()
    record = read_record(path)
    assert {(result.verdict, result.response) for result in record.results} == {("harness_error", "none")}
    assert {(result.stage, result.error) for result in record.results} == {("run", "Oops")}
    given = call(capsys, "certify", echo_runtime(error_class, "sloppy_worker.py"), "-s", suite,
                 "--run", path, "-o", tmp_path / "given")  # fmt: skip
    check_message(given, 4, "worker", "its own mistake")


@pytest.mark.parametrize(
    "words",
    [
        ("check", "model.onnx", "--on", "RUNTIME"),
        ("fuzz", "RUNTIME", "Abs", "--calls", "3"),
        ("try", "Abs", "--runtime", "RUNTIME"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("error_class", ["internal", "no-such-class"])
def test_no_other_command_calls_them_a_bug_or_the_runtime_s(
    capsys: Capture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    error_class: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), "model.onnx")
    runtime = f"{echo_runtime(error_class, 'sloppy_worker.py')} everything"
    answer = call(capsys, *(runtime if word == "RUNTIME" else word for word in words))
    check_message(answer, 4, "worker", "the worker itself failed on ", "Oops: my own mistake", "`rejected`")
    assert "bug" not in answer.err
    assert "nothing is unexplained" not in answer.out

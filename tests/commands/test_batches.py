"""Cases that a device computes several at a time: models of independent nodes, judged one by one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import onnx
import pytest

from conformance.recording.records import read_record
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.environments import prepare
from conformance.schemas import load_schema
from tests.commands.command_line import Answer, call, identity_suite

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def exported(capsys: Capture, tmp_path: Path) -> tuple[Path, Path, dict[str, Any]]:
    """A suite of three cases of Identity, its export in batches of up to four, and the index of that."""
    suite, folder = identity_suite(tmp_path), tmp_path / "export"
    answer = call(capsys, "export", suite, "--layout", "flat", "--batch", 4, "-o", folder)
    assert answer.code == 0, answer.err
    assert "3 cases in 1 model of up to 4" in answer.out
    return suite, folder, json.loads((folder / "index.json").read_text("utf-8"))


def inputs_of(batch: dict[str, Any], folder: Path) -> list[Any]:
    return [
        np.frombuffer((folder / given["file"]).read_bytes(), "<f4").reshape(given["shape"])
        for given in batch["inputs"]
    ]


def judge(capsys: Capture, suite: Path, out: Path, index: Path | None) -> tuple[Answer, dict[str, str]]:
    """The command's answer, and the verdicts by case."""
    record = out.parent / "run.jsonl"
    words = () if index is None else ("--index", index)
    answer = call(capsys, "judge", suite, out, *words, "-o", record)
    return answer, {row.case: row.verdict for row in read_record(record).results}


def test_the_model_has_a_node_for_each_case_and_the_index_says_what_is_whose(
    exported: tuple[Path, Path, dict[str, Any]],
) -> None:
    _, folder, index = exported
    jsonschema.validate(index, load_schema("export_index"))
    (batch,) = index["batches"]
    model = onnx.load(folder / batch["model"])
    onnx.checker.check_model(model, full_check=True)
    assert [each.name for each in model.graph.input] == [each["name"] for each in batch["inputs"]]
    assert [each.name for each in model.graph.output] == batch["outputs"]
    for case in index["cases"]:
        (node,) = (
            each for each in model.graph.node if each.input[0] == batch["inputs"][case["inputs"][0]]["name"]
        )
        assert node.output[0] == batch["outputs"][case["outputs"][0]]
        assert not (folder / case["folder"]).exists()


def _lose(place: Path, own: str) -> None:
    (place / own).unlink()


def _negate(place: Path, own: str) -> None:
    np.save(place / own, -1 - np.load(place / own))


def _truncate(place: Path, own: str) -> None:
    (place / own).write_bytes((place / own).read_bytes()[:-1])


@pytest.mark.parametrize(
    ("spoil", "verdict", "code"),
    [
        (lambda place, own: None, "pass", 0),
        (_lose, "not_run", 1),
        (_negate, "mismatch", 1),
        (_truncate, "harness_error", 4),
    ],
)
def test_what_is_wrong_with_an_output_is_of_its_case_alone(
    capsys: Capture,
    tmp_path: Path,
    exported: tuple[Path, Path, dict[str, Any]],
    spoil: Callable[[Path, str], None],
    verdict: str,
    code: int,
) -> None:
    suite, folder, index = exported
    (batch,) = index["batches"]
    place = tmp_path / "out" / batch["folder"]
    place.mkdir(parents=True)
    for number, output in enumerate(inputs_of(batch, folder)):
        np.save(place / f"output_{number}.npy", output)
    case = index["cases"][1]
    spoil(place, f"output_{case['outputs'][0]}.npy")
    answer, verdicts = judge(capsys, suite, tmp_path / "out", folder / "index.json")
    assert answer.code == code, answer.err
    assert verdicts.pop(case["id"]) == verdict
    assert list(verdicts.values()) == ["pass"] * 2


def test_a_batch_that_was_refused_blames_no_case_and_each_may_come_alone(
    capsys: Capture, tmp_path: Path, exported: tuple[Path, Path, dict[str, Any]]
) -> None:
    suite, folder, index = exported
    (batch,) = index["batches"]
    out = tmp_path / "out"
    (out / batch["folder"]).mkdir(parents=True)
    status = out / batch["folder"] / "status.json"
    status.write_text(json.dumps({"status": "crashed", "message": "reset"}))
    answer, verdicts = judge(capsys, suite, out, folder / "index.json")
    assert answer.code == 5
    assert f"no case of {batch['folder']} was run: crashed: reset" in answer.err
    assert list(verdicts.values()) == ["not_run"] * 3

    (out / index["cases"][0]["folder"]).mkdir()
    np.save(out / index["cases"][0]["folder"] / "output_0.npy", inputs_of(batch, folder)[0])
    _, verdicts = judge(capsys, suite, out, folder / "index.json")
    assert sorted(verdicts.values()) == ["not_run", "not_run", "pass"]

    np.savez(out / batch["folder"] / "outputs.npz", output_1=inputs_of(batch, folder)[1])
    answer, verdicts = judge(capsys, suite, out, folder / "index.json")
    assert answer.code == 4
    assert sorted(verdicts.values()) == ["harness_error", "harness_error", "pass"]
    status.unlink()
    _, verdicts = judge(capsys, suite, out, folder / "index.json")
    assert sorted(verdicts.values()) == ["not_run", "pass", "pass"]
    np.savez(out / batch["folder"] / "outputs.npz", output_7=inputs_of(batch, folder)[1])
    answer, _ = judge(capsys, suite, out, folder / "index.json")
    assert answer.code == 4


def test_batches_are_read_with_their_index_alone(
    capsys: Capture, tmp_path: Path, exported: tuple[Path, Path, dict[str, Any]]
) -> None:
    suite, _, index = exported
    (tmp_path / "out" / index["batches"][0]["folder"]).mkdir(parents=True)
    answer, _ = judge(capsys, suite, tmp_path / "out", None)
    assert answer.code == 5
    assert "name it with --index" in answer.err
    twice = [{**case, "outputs": [0]} for case in index["cases"]]
    outside = [{**case, "batch": "../elsewhere"} for case in index["cases"]]
    for cases, says in ((twice, "an output of a batch to two cases"), (outside, "no index of an export")):
        (tmp_path / "index.json").write_text(json.dumps({**index, "cases": cases}))
        answer = call(capsys, "judge", suite, tmp_path / "out", "--index", tmp_path / "index.json")
        assert answer.code == 2
        assert says in answer.err
    for words, says in (
        (("--layout", "flat", "--expected", tmp_path / "gold"), "do not read batches"),
        ((), "are for a device alone"),
    ):
        answer = call(capsys, "export", suite, "--batch", 2, *words, "-o", tmp_path / "none")
        assert answer.code == 2
        assert says in answer.err


_DEVICE = """
import json, sys
from pathlib import Path
import numpy as np, onnxruntime
source, out, again = map(Path, sys.argv[1:])
TYPES = {"float": "f4", "double": "f8", "float16": "f2", "bool": "?"}
for bits in (8, 16, 32, 64):
    TYPES |= {f"int{bits}": f"i{bits // 8}", f"uint{bits}": f"u{bits // 8}"}
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
def read(given, folder):
    raw = (folder / given["file"]).read_bytes()
    return np.frombuffer(raw, TYPES[given["element_type"]]).reshape(given["shape"])
def compute(entry, folder):
    place = out / entry["folder"]
    place.mkdir(parents=True)
    try:
        feeds = {given["name"]: read(given, folder) for given in entry["inputs"]}
        model = str(folder / entry["model"])
        session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
        for number, output in enumerate(session.run(None, feeds)):
            np.save(place / f"output_{number}.npy", output)
    except KeyError as error:
        (place / "status.json").write_text(json.dumps({"status": "unsupported", "message": str(error)}))
        return False
    except Exception as error:
        (place / "status.json").write_text(json.dumps({"status": "rejected", "message": str(error)[:500]}))
        return False
    return True
index = json.loads((source / "index.json").read_text())
whole = {case["id"]: case for case in json.loads((again / "index.json").read_text())["cases"]}
done = {batch["folder"]: compute(batch, source) for batch in index.get("batches", ())}
for case in index["cases"]:
    if "batch" not in case:
        compute(case, source)
    elif not done[case["batch"]]:
        compute(whole[case["id"]], again)
print(sum(done.values()), len(done))
"""


@pytest.mark.slow
@pytest.mark.runtimes
def test_onnxruntime_gets_the_same_verdicts_by_batches(capsys: Capture, tmp_path: Path) -> None:
    """A batch that it refuses is computed case by case, as a device would that takes it apart."""
    suite, alone, batches = tmp_path / "suite.zip", tmp_path / "alone", tmp_path / "batches"
    assert (
        call(capsys, "generate", "Clip", "TopK", "LeakyRelu", "If", "--size", "small", "-o", suite).code == 0
    )
    assert call(capsys, "export", suite, "--layout", "flat", "-o", alone).code == 0
    answer = call(capsys, "export", suite, "--layout", "flat", "--batch", 16, "-o", batches)
    assert answer.code == 0, answer.err
    for reason in ("may reject them", "no single node of tensors"):
        assert reason in answer.out
    python = prepare((*load_adapter("onnxruntime").requirements, "numpy")).program
    found = []
    for source in (alone, batches):
        out = tmp_path / f"out-{source.name}"
        command = [str(python), "-I", "-c", _DEVICE, str(source), str(out), str(alone)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
        ran, made = map(int, done.stdout.split())
        _, verdicts = judge(capsys, suite, out, source / "index.json")
        found.append(verdicts)
    assert ran > made / 2 > 3, (ran, made)
    assert found[0] == found[1]
    assert list(found[0].values()).count("pass") > 100

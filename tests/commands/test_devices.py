"""Devices that only return files: what is exported for them, and what is made of what they give back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from onnx import numpy_helper

from conformance.recording.records import read_record
from tests.commands.command_line import call, identity_suite

Capture = pytest.CaptureFixture[str]
_SCHEMA = Path(__file__).parents[2] / "conformance" / "schemas" / "export_index.json"


@pytest.fixture
def exported(capsys: Capture, tmp_path: Path) -> tuple[Path, Path, list[dict[str, Any]]]:
    """A suite of Identity, what is exported of it, and the cases of the index."""
    suite, folder = identity_suite(tmp_path), tmp_path / "export"
    answer = call(capsys, "export", suite, "--layout", "flat", "-o", folder)
    assert answer.code == 0, answer.err
    return suite, folder, json.loads((folder / "index.json").read_text("utf-8"))["cases"]


def _compute(case: dict[str, Any], folder: Path) -> list[np.ndarray[Any, Any]]:
    """What a right device gives for Identity: its input."""
    given = case["inputs"][0]
    assert given["element_type"] == "float"
    raw = (folder / given["file"]).read_bytes()
    return [np.frombuffer(raw, "<f4").reshape(given["shape"])] * case["runs"]


def _write_npy(place: Path, outputs: list[Any]) -> None:
    for number, output in enumerate(outputs):
        np.save(place / f"output_{number}.npy", output)


def _write_npz(place: Path, outputs: list[Any]) -> None:
    np.savez(place / "outputs.npz", **{f"output_{number}": each for number, each in enumerate(outputs)})


def _write_pb(place: Path, outputs: list[Any]) -> None:
    for number, output in enumerate(outputs):
        (place / f"output_{number}.pb").write_bytes(numpy_helper.from_array(output).SerializeToString())


def _write_plain(place: Path, outputs: list[Any]) -> None:
    told = []
    for number, output in enumerate(outputs):
        (place / f"y{number}").write_bytes(output.tobytes())
        told.append({"file": f"y{number}", "element_type": "float", "shape": list(output.shape)})
    (place / "status.json").write_text(json.dumps({"status": "answered", "seconds": 0.5, "outputs": told}))


Write = Callable[[Path, list[Any]], None]


def _return(out: Path, folder: Path, cases: list[dict[str, Any]], write: Write = _write_npy) -> list[Path]:
    places = [out / case["folder"] for case in cases]
    for case, place in zip(cases, places, strict=True):
        place.mkdir(parents=True)
        write(place, _compute(case, folder))
    return places


def _verdicts(record: Path) -> list[tuple[str, str]]:
    return [(row.verdict, row.reason or "") for row in read_record(record).results]


def test_the_index_is_as_its_schema_says_and_holds_nothing_of_what_is_expected(
    exported: tuple[Path, Path, list[dict[str, Any]]],
) -> None:
    _, folder, cases = exported
    index = json.loads((folder / "index.json").read_text("utf-8"))
    jsonschema.validate(index, json.loads(_SCHEMA.read_text("utf-8")))
    files = {path.name for path in folder.rglob("*") if path.is_file()}
    assert files <= {"index.json", "model.onnx", "input_0.bin", ".opcert.lock"}
    assert len(cases) == 3


@pytest.mark.parametrize("write", [_write_npy, _write_npz, _write_pb, _write_plain])
def test_right_outputs_pass_in_each_form_of_file(
    capsys: Capture, tmp_path: Path, exported: tuple[Path, Path, list[dict[str, Any]]], write: Write
) -> None:
    suite, folder, cases = exported
    out, record = tmp_path / "out", tmp_path / "run.jsonl"
    _return(out, folder, cases, write)
    answer = call(capsys, "judge", suite, out, "--runtime", "npu", "--version", "7", "-o", record)
    assert answer.code == 0, answer.err
    assert "npu 7" in answer.out
    assert [verdict for verdict, _ in _verdicts(record)] == ["pass"] * 3


def _negate(place: Path) -> None:
    np.save(place / "output_0.npy", -1 - np.load(place / "output_0.npy"))


def _widen(place: Path) -> None:
    np.save(place / "output_0.npy", np.load(place / "output_0.npy").astype(np.float64))


def _flatten(place: Path) -> None:
    np.save(place / "output_0.npy", np.load(place / "output_0.npy")[None])


def _add(place: Path) -> None:
    shutil.copy(place / "output_0.npy", place / "output_1.npy")


def _say(place: Path, **told: Any) -> None:
    (place / "status.json").write_text(json.dumps(told))


def _alone(place: Path, **told: Any) -> None:
    (place / "output_0.npy").unlink()
    _say(place, **told)


def _truncate(place: Path) -> None:
    raw = (place / "output_0.npy").read_bytes()
    (place / "output_0.npy").write_bytes(raw[:-1])


def _empty(place: Path) -> None:
    (place / "output_0.npy").write_bytes(b"")


def _broken_archive(place: Path) -> None:
    np.savez_compressed(place / "outputs.npz", output_0=np.zeros(1000, np.float32))
    raw = bytearray((place / "outputs.npz").read_bytes())
    raw[60:70] = bytes(byte ^ 255 for byte in raw[60:70])
    (place / "outputs.npz").write_bytes(raw)


def _pickle(place: Path) -> None:
    np.save(place / "output_0.npy", np.array([object()], dtype=object), allow_pickle=True)


def _rename(place: Path) -> None:
    (place / "output_0.npy").rename(place / "output_1.npy")


def _twice(place: Path) -> None:
    array = np.load(place / "output_0.npy")
    (place / "output_0.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def _reach_out(place: Path) -> None:
    told = [{"file": "../../run.jsonl", "element_type": "float", "shape": []}]
    _alone(place, status="answered", outputs=told)


def _misname(place: Path) -> None:
    (place / "output_0.npy").rename(place / "Y.npy")


@pytest.mark.parametrize(
    ("spoil", "verdict", "says"),
    [
        (_negate, "mismatch", "elements wrong"),
        (_widen, "mismatch", "double"),
        (_flatten, "mismatch", "shape"),
        (_add, "mismatch", "outputs"),
        (lambda place: _alone(place, status="unsupported", message="no kernel"), "unsupported", "no kernel"),
        (lambda place: _alone(place, status="rejected", message="bad rank"), "rejected_valid", "bad rank"),
        (lambda place: _alone(place, status="crashed", message="reset"), "crash", "reset"),
        (lambda place: _alone(place, status="timed_out"), "timeout", ""),
        (lambda place: _say(place, status="unsupported"), "harness_error", "and there are 1 outputs"),
        (lambda place: _alone(place, status="well"), "harness_error", "has the status 'well'"),
        (lambda place: (place / "status.json").write_text("{"), "harness_error", "Unreadable"),
        (_truncate, "harness_error", "Unreadable"),
        (_empty, "harness_error", "Unreadable"),
        (_broken_archive, "harness_error", "Unreadable"),
        (_pickle, "harness_error", "Unreadable"),
        (_rename, "harness_error", "output_0 is missing"),
        (_twice, "harness_error", "there are output_0.npy and output_0.pb"),
        (_reach_out, "harness_error", "no file of the case's folder"),
        (_misname, "harness_error", "Y.npy is no output of the case"),
    ],
)
def test_what_is_wrong_or_cannot_be_read_never_passes(
    capsys: Capture,
    tmp_path: Path,
    exported: tuple[Path, Path, list[dict[str, Any]]],
    spoil: Callable[[Path], None],
    verdict: str,
    says: str,
) -> None:
    suite, folder, cases = exported
    out, record = tmp_path / "out", tmp_path / "run.jsonl"
    place = _return(out, folder, cases)[2]
    spoil(place)
    answer = call(capsys, "judge", suite, out, "-o", record)
    assert answer.code == {"unsupported": 0, "harness_error": 4}.get(verdict, 1), answer.err
    told = dict(zip([case["id"] for case in cases], _verdicts(record), strict=True))
    found, reason = told.pop(cases[2]["id"])
    assert (found, says in reason or says in answer.out) == (verdict, True), reason
    assert {other for other, _ in told.values()} == {"pass"}


def test_what_did_not_come_back_was_not_run_and_what_is_foreign_is_told(
    capsys: Capture, tmp_path: Path, exported: tuple[Path, Path, list[dict[str, Any]]]
) -> None:
    suite, folder, cases = exported
    out, record = tmp_path / "out", tmp_path / "run.jsonl"
    places = _return(out, folder, cases)
    shutil.rmtree(places[0])
    answer = call(capsys, "judge", suite, out, "-o", record)
    assert answer.code == 1
    assert "nothing came back of 1 of 3 cases" in answer.out
    assert sorted(verdict for verdict, _ in _verdicts(record)) == ["not_run", *["pass"] * 2]
    _return(out, folder, cases[:1])
    (out / "elsewhere").mkdir()
    answer = call(capsys, "judge", suite, out, "-o", record)
    assert answer.code == 1
    assert "1 folder of outputs belong to no case of the suite: elsewhere" in answer.err


def test_the_index_says_which_cases_are_judged_and_of_which_suite(
    capsys: Capture, tmp_path: Path, exported: tuple[Path, Path, list[dict[str, Any]]]
) -> None:
    suite, folder, cases = exported
    out, record, index = tmp_path / "out", tmp_path / "run.jsonl", tmp_path / "index.json"
    _return(out, folder, cases[:2])
    whole = json.loads((folder / "index.json").read_text("utf-8"))
    index.write_text(json.dumps({**whole, "cases": cases[:2]}))
    answer = call(capsys, "judge", suite, out, "--index", index, "-o", record)
    assert answer.code == 0, answer.err
    assert len(_verdicts(record)) == 2
    for content, says in (({**whole, "suite": "0" * 64}, "of another suite"), ([], "no index of an export")):
        index.write_text(json.dumps(content))
        answer = call(capsys, "judge", suite, out, "--index", index, "-o", record)
        assert answer.code == 2
        assert says in answer.err


def test_a_certificate_says_that_answers_came_as_files_and_verifies(
    capsys: Capture, tmp_path: Path, exported: tuple[Path, Path, list[dict[str, Any]]]
) -> None:
    suite, folder, cases = exported
    out, record, made = tmp_path / "out", tmp_path / "run.jsonl", tmp_path / "made"
    _return(out, folder, cases)
    assert call(capsys, "judge", suite, out, "--runtime", "npu", "-o", record).code == 0
    answer = call(capsys, "certify", "files:npu", "-s", suite, "--run", record, "-o", made)
    assert answer.code == 0, answer.err
    assert "outputs came as files" in (made / "certificate.html").read_text("utf-8")
    answer = call(capsys, "verify", made / "certificate.json", "--run", record, "--suite", suite)
    assert answer.code == 0, answer.out + answer.err
    for words in (("run", "files:npu", "-s", suite), ("doctor", "files:npu")):
        answer = call(capsys, *words)
        assert answer.code == 2
        assert "are judged, not run" in answer.err


def test_a_device_gets_the_cases_that_were_asked_for(capsys: Capture, tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    for number, (words, cases) in enumerate(
        [(("--sample", "1"), 1), (("--dtype", "float"), 3), (("--most-bytes", "1000000"), 3)]
    ):
        folder = tmp_path / str(number)
        answer = call(capsys, "export", suite, "--layout", "flat", *words, "-o", folder)
        assert answer.code == 0, answer.err
        assert len(json.loads((folder / "index.json").read_text("utf-8"))["cases"]) == cases
    refused: list[tuple[tuple[str, ...], str]] = [
        (("--layout", "flat", "--family", "none"), "no case of the suite is selected"),
        (("--sample", "1"), "are for a device alone"),
    ]
    for others, says in refused:
        answer = call(capsys, "export", suite, *others, "-o", tmp_path / "none")
        assert answer.code in (2, 5)
        assert says in answer.err

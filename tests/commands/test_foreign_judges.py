"""The judges of contrib/judges, in C++, Rust and JavaScript, give the verdicts that opcert gives."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from conformance.recording.records import read_record
from conformance.running.returned_files import case_folder
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from opcert.vocabulary.tensors import Tensor
from tests.commands.command_line import call

pytestmark = pytest.mark.slow

Capture = pytest.CaptureFixture[str]
JUDGES = Path(__file__).parents[2] / "contrib" / "judges"
_MAIN = """#include "opcert_judge.hpp"
#include <iostream>
int main(int, char** words) {
  for (const auto& [folder, verdict] : opcert::judge(words[1], words[2]))
    std::cout << folder << '\\t' << verdict << '\\n';
}
"""
_PLAIN = {
    "float",
    "double",
    "float16",
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
_STATUSES = ("unsupported", "rejected", "crashed", "timed_out")
_MOST_LINES = 150


def _commands(folder: Path) -> dict[str, list[str]]:
    """How each judge is started; they are compiled into a folder. Skips where a compiler lacks."""
    for program in ("g++", "rustc", "node"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} here")
    (folder / "main.cpp").write_text(_MAIN)
    options = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"]
    for words in (
        ["g++", *options, "-I", str(JUDGES), str(folder / "main.cpp"), "-o", str(folder / "cpp")],
        [
            "rustc",
            "--edition",
            "2021",
            "-D",
            "warnings",
            str(JUDGES / "judge.rs"),
            "-o",
            str(folder / "rust"),
        ],
    ):
        subprocess.run(words, check=True, timeout=300)
    return {
        "C++": [str(folder / "cpp")],
        "Rust": [str(folder / "rust")],
        "JavaScript": ["node", str(JUDGES / "judge.mjs")],
    }


def _spoil(tensor: Tensor, dice: random.Random) -> np.ndarray:
    """An output as a faulty device gives it: of another type or shape, or with one wrong element."""
    array = tensor.array.copy()
    how = dice.choice(["type", "shape", "one", "one", "little", "little", "nan"])
    if how == "type":
        with np.errstate(all="ignore"):
            return array.astype(np.float64 if array.dtype != np.float64 else np.float32)
    if how == "shape" or not array.size:
        return array[None]
    flat = array.reshape(-1)
    place = dice.randrange(flat.size)
    with np.errstate(all="ignore"):
        if array.dtype.kind != "f":
            flat[place] = not flat[place] if array.dtype.kind == "b" else flat[place] ^ 1
        elif how == "little":
            flat[place] = np.nextafter(flat[place], flat.dtype.type(np.inf))
        else:
            flat[place] = np.nan if how == "nan" else -flat[place] * 2 - 1
    return array


def _return(case: Case, place: Path, dice: random.Random) -> None:
    """What a device gives back: rightly by one of the expectations, spoilt, a status, or nothing."""
    if dice.random() < 0.04:
        return
    place.mkdir()
    if dice.random() < (0.7 if case.demand == "refuse" else 0.06):
        (place / "status.json").write_text(json.dumps({"status": dice.choice(_STATUSES), "message": "no"}))
        return
    expectation = dice.choice(case.expectations) if case.expectations else None
    given = [tensor for _, tensor in case.inputs][:1]
    outputs = [output.expected for output in expectation.outputs] if expectation else given
    for number, tensor in enumerate(outputs):
        if tensor is None or tensor.element_type.name not in _PLAIN:
            (place / "status.json").write_text(json.dumps({"status": "unsupported"}))
            return
        array = _spoil(tensor, dice) if dice.random() < 0.4 else tensor.array
        np.save(place / f"output_{number}.npy", array)


def _check(capsys: Capture, folder: Path, operators: tuple[str, ...], least: int) -> None:
    suite, cases, gold, out = (folder / name for name in ("suite.zip", "cases", "gold", "out"))
    assert call(capsys, "generate", *operators, "-o", suite).code == 0
    assert call(capsys, "export", suite, "--layout", "flat", "-o", cases, "--expected", gold).code == 0
    out.mkdir()
    dice = random.Random(7)
    with open_suite(suite) as opened:
        for entry in json.loads((cases / "index.json").read_text("utf-8"))["cases"]:
            _return(opened.case(entry["id"]), out / entry["folder"], dice)
    record = folder / "run.jsonl"
    call(capsys, "judge", suite, out, "--index", cases / "index.json", "-o", record)
    # What is right and less exact than the table of functions is wrong to whoever has no table.
    ours = {
        case_folder(row.case): "mismatch" if row.verdict == "inexact" else row.verdict
        for row in read_record(record).results
    }
    for name, words in _commands(folder).items():
        told = subprocess.run([*words, gold, out], capture_output=True, text=True, check=True, timeout=300)
        theirs = dict(line.split("\t") for line in told.stdout.splitlines())
        assert len(theirs) >= least
        different = {case: (ours[case], theirs[case]) for case in theirs if ours[case] != theirs[case]}
        assert not different, f"{name}: {different}"
        kinds = Counter(theirs.values())
        assert (
            min(kinds[each] for each in ("pass", "mismatch", "not_run", "unsupported", "rejected_valid")) > 3
        )


def test_all_three_give_the_verdicts_of_opcert(capsys: Capture, tmp_path: Path) -> None:
    _check(capsys, tmp_path, ("Where", "Concat", "Clip", "ReduceMax"), 300)


@pytest.mark.nightly
def test_they_do_on_many_cases(capsys: Capture, tmp_path: Path) -> None:
    operators = (
        "Cast",
        "TopK",
        "Softmax",
        "MatMul",
        "Gather",
        "Pad",
        "Slice",
        "Where",
        "Concat",
        "Clip",
        "ReduceMax",
    )
    _check(capsys, tmp_path, (*operators, "Add", "Div", "Round", "Sqrt", "Transpose", "QuantizeLinear"), 2000)


@pytest.mark.parametrize("path", sorted(JUDGES.iterdir()), ids=lambda path: path.name)
def test_each_is_short(path: Path) -> None:
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    assert len([line for line in lines if line and not line.startswith("//")]) < _MOST_LINES


def test_what_is_expected_goes_nowhere_near_the_cases(capsys: Capture, tmp_path: Path) -> None:
    words = (
        "export",
        "first-operators",
        "--layout",
        "flat",
        "-o",
        tmp_path / "a",
        "--expected",
        tmp_path / "a" / "b",
    )
    answer = call(capsys, *words)
    assert answer.code == 2
    assert "would lie among the cases that the device gets" in answer.err

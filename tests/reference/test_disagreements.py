"""The file of disagreements is well formed, and entries fit what they say they fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opcert.vocabulary.errors import SeveralErrors, UserError
from reference.readings.disagreements import (
    BY_RUNTIME,
    explain,
    files_by_runtime,
    load_disagreements,
    read_disagreements,
)
from specs.files.library import load_spec
from specs.files.spec_folders import list_operators
from specs.language.evaluation import Operand
from tests.documents.cited import assert_cited
from tests.documents.gathering import Documents

ENTRY = """
cases:
- id: widened
  operator: ai.onnx::Resize-*
  cases: ai.onnx/Resize-18/cover/*
  against: some_runtime
  verdicts: [mismatch]
  levels: {mode: [cubic, linear], element_type: uint8}
  reason: "*elements wrong*"
  cause: witness_fault
  passage: [page.rst:33, "page.rst:109-112", "page.txt:1:750"]
  explanation: It computes in eight bits.
  evidence: measured
"""
LEVELS = {"mode": "linear", "element_type": "uint8", "rank": "4"}


def write(folder: Path, text: str) -> Path:
    path = folder / "disagreements.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_is_well_formed() -> None:
    assert load_disagreements()


@pytest.mark.slow
def test_every_passage_that_blames_stands_in_a_document_of_the_operator(documents: Documents) -> None:
    operators = {str(operator): load_spec(operator) for operator in list_operators()}
    for entry in load_disagreements():
        about = [spec for name, spec in operators.items() if entry.concerns(name)]
        files = {document.file for spec in about for document in spec.documents}
        for passage in entry.passage:
            assert passage.partition(":")[0] in files, f"{entry.id}: no document of {entry.operator}"
            assert_cited(documents, passage)


def test_no_runtime_is_blamed_for_a_reading() -> None:
    """What a text leaves open is said in the spec, so that the case passes: only what is printed is left."""
    blamed = [
        disagreement.id
        for disagreement in load_disagreements()
        if disagreement.cause == "reading" and not {"document", "onnx-node-tests"} & set(disagreement.against)
    ]
    assert blamed == []


def test_an_entry_fits_what_it_says(tmp_path: Path) -> None:
    entries = read_disagreements(write(tmp_path, ENTRY))
    case = "ai.onnx/Resize-18/cover/0123456789ab"
    reason = "3 of 4 elements wrong"

    def found(**changed: object) -> bool:
        asked: dict[str, object] = {
            "operator": "ai.onnx::Resize-18",
            "case": case,
            "against": "some_runtime",
            "verdict": "mismatch",
            "levels": LEVELS,
            "reason": reason,
        }
        return explain(entries, **(asked | changed)) is not None  # type: ignore[arg-type]  # mixed on purpose

    assert found()
    assert not found(operator="ai.onnx::CenterCropPad-18")
    assert not found(case="ai.onnx/Resize-18/boundary/0123456789ab")
    assert not found(against="another_runtime")
    assert not found(verdict="crash")
    assert not found(levels=LEVELS | {"mode": "nearest"})
    assert not found(levels={"mode": "cubic"})
    assert not found(reason="output Y is [2] instead of [3]")


def test_an_entry_may_be_about_several_runtimes_of_one_code(tmp_path: Path) -> None:
    text = ENTRY.replace("against: some_runtime", "against: [some_runtime, its_other_package]")
    (entry,) = read_disagreements(write(tmp_path, text))
    told = {name for name in ("some_runtime", "its_other_package", "another") if name in entry.against}
    assert told == {"some_runtime", "its_other_package"}
    case = "ai.onnx/Resize-18/cover/0123456789ab"
    for name in ("some_runtime", "its_other_package", "another"):
        found = explain(
            [entry], "ai.onnx::Resize-18", case, name, "mismatch", LEVELS, "3 of 4 elements wrong"
        )
        assert (found is not None) == (name in told)
    with pytest.raises(UserError, match="against"):
        read_disagreements(write(tmp_path, ENTRY.replace("against: some_runtime", "against: []")))


def test_a_condition_is_about_the_call(tmp_path: Path) -> None:
    condition = "  when: exclude_outside == 1 and any(value < 0 for value in X)\n"
    entries = read_disagreements(write(tmp_path, ENTRY.replace("  levels:", condition + "  levels:")))

    def found(names: dict[str, object] | None) -> bool:
        asked = ("ai.onnx::Resize-18", "ai.onnx/Resize-18/cover/0123456789ab", "some_runtime", "mismatch")
        return explain(entries, *asked, LEVELS, "3 of 4 elements wrong", names) is not None

    negative, positive = Operand("int8", (1,), [-1]), Operand("int8", (1,), [1])
    assert found({"exclude_outside": 1, "X": negative})
    assert not found({"exclude_outside": 0, "X": negative})
    assert not found({"exclude_outside": 1, "X": positive})
    assert not found(None)


def test_an_entry_says_which_versions_it_is_about(tmp_path: Path) -> None:
    text = ENTRY.replace("  verdicts:", '  versions: ["1.2.*", "1.3"]\n  verdicts:')
    (entry,) = read_disagreements(write(tmp_path, text))
    assert entry.is_about("1.2.7")
    assert entry.is_about("1.3")
    assert not entry.is_about("1.3.1")


def test_crashes_need_no_passage(tmp_path: Path) -> None:
    text = re.sub("  passage:.*\n", "", ENTRY).replace("[mismatch]", "[crash, timeout]")
    assert read_disagreements(write(tmp_path, text))[0].passage == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ENTRY + ENTRY.removeprefix("\ncases:\n"), "two entries of one id"),
        (ENTRY.replace("witness_fault", "bad_luck"), "reading"),
        (ENTRY.replace("witness_fault", "limitation"), "reading"),
        (re.sub("  passage:.*\n", "", ENTRY), "without the passage"),
        (ENTRY.replace("page.rst:33", "page.rst"), "passage"),
        (ENTRY.replace("page.rst:33", "page.rst:0"), "passage"),
        (ENTRY.replace("against:", "agaynst:"), "agaynst"),
        (ENTRY + "  when: open('x')\n", "open"),
        (ENTRY + "  when: mode ==\n", "expression"),
        (ENTRY.replace("  evidence: measured\n", ""), "evidence"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SeveralErrors, match=problem) as caught:
        read_disagreements(write(tmp_path, text))
    assert "disagreements.yaml:" in str(caught.value)


def test_an_entry_may_name_several_operators(tmp_path: Path) -> None:
    text = ENTRY.replace("operator: ai.onnx::Resize-*", 'operator: ["ai.onnx::Resize-*", "ai.onnx::Abs-13"]')
    assert text != ENTRY
    (entry,) = read_disagreements(write(tmp_path, text))
    told = ["ai.onnx::Resize-18", "ai.onnx::Resize-19", "ai.onnx::Abs-13"]
    others = ["ai.onnx::Abs-6", "com.example::Resize-18"]
    assert [other for other in (*told, *others) if entry.concerns(other)] == told


def test_files_by_runtime_come_last_and_hold_that_runtime_alone(tmp_path: Path) -> None:
    room, folder = tmp_path / "ai.onnx" / "Resize", tmp_path / BY_RUNTIME
    room.mkdir(parents=True)
    folder.mkdir()
    write(room, ENTRY)
    write(tmp_path, ENTRY.replace("id: widened", "id: everywhere"))
    for name in ("second", "first"):
        text = ENTRY.replace("id: widened", f"id: {name}_widened").replace("some_runtime", name)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    found = [disagreement.id for disagreement in load_disagreements(tmp_path)]
    assert found == ["widened", "everywhere", "first_widened", "second_widened"]
    assert files_by_runtime()
    for path in files_by_runtime():
        assert {disagreement.against for disagreement in read_disagreements(path)} == {(path.stem,)}

"""`readings.yaml`: what documents of several operators leave open, said once and named by the operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator, for_all_versions, implemented
from specs.files.library import load_spec
from specs.files.shared_readings import FILE_NAME, read_shared
from specs.files.spec_folders import OWN_FOLDER

NAME = OperatorName("ai.test", "Blend", 3)
IMPORTED = """\
operator: {domain: ai.test, name: Blend, since_version: 3}
documents:
  d1: {file: blend.rst, dialect: onnx-sphinx-rst, sha256: "00", identity: stated}
arity: {inputs: [1, 1], outputs: [1, 1]}
inputs: [{name: X, type: T, option: single, src: [d1, 10]}]
outputs: [{name: Y, type: T, option: single, src: [d1, 14]}]
"""
OWN = """\
# a remark
blending:
  question: how
  options: {softly: by halves, hard: not at all}
  why: nothing is said of it
"""


def write(folder: Path, *, declared: str | None = None, shared: str = OWN) -> Path:
    room = folder / "ai.test" / "Blend"
    room.mkdir(parents=True)
    (room / "imported-3.yaml").write_text(IMPORTED)
    if declared is not None:
        (room / "spec.yaml").write_text(declared)
    (folder / FILE_NAME).write_text(shared)
    return folder


def messages(folder: Path) -> list[str]:
    with pytest.raises((SeveralErrors, UserError)) as caught:
        load_spec(NAME, [folder])
    error = caught.value
    return (
        [str(user_error) for user_error in error.errors] if isinstance(error, SeveralErrors) else [str(error)]
    )


def test_an_operator_names_them(tmp_path: Path) -> None:
    folder = write(tmp_path, declared="readings: [blending]\nbehaviours: [subnormals]\n")
    blending, subnormals = load_spec(NAME, [folder]).readings
    assert (blending.id, blending.kind, blending.question) == ("blending", "reading", "how")
    assert dict(blending.options) == {"softly": "by halves", "hard": "not at all"}
    assert blending.origin.why == "nothing is said of it"
    assert (subnormals.id, subnormals.kind) == ("subnormals", "behaviour")
    assert dict(subnormals.options) == dict(read_shared([OWN_FOLDER])["subnormals"].options)


def test_a_folder_of_specs_comes_before_what_ships(tmp_path: Path) -> None:
    shared = "subnormals: {question: own, options: {a: a, b: b}, why: w}\n"
    folder = write(tmp_path, declared="behaviours: [subnormals]\n", shared=shared)
    assert [reading.question for reading in load_spec(NAME, [folder]).readings] == ["own"]


def test_an_entry_of_the_same_id_without_a_question_narrows_it(tmp_path: Path) -> None:
    folder = write(tmp_path, declared="readings: [{id: blending, chosen: hard, why: it is so}]\n")
    found = load_spec(NAME, [folder]).readings[0]
    assert (found.question, found.chosen, found.origin.why) == ("how", "hard", "it is so")


def test_an_entry_with_a_question_is_the_operators_own(tmp_path: Path) -> None:
    own = "readings: [{id: blending, question: q, options: {x: x, y: y}, src: [d1, 10]}]\n"
    found = load_spec(NAME, [write(tmp_path, declared=own)]).readings[0]
    assert (found.question, list(found.options), found.origin.why) == ("q", ["x", "y"], None)


def test_a_part_and_an_operator_may_name_the_same_one(tmp_path: Path) -> None:
    declared = "uses: [made]\nreadings: [blending]\nbehaviours: [wrong_one]\n"
    folder = write(tmp_path, declared=declared)
    (folder / "parts").mkdir()
    (folder / "parts" / "made.yaml").write_text("readings: [blending]\n")
    found = messages(folder)
    assert len(found) == 1
    assert "spec.yaml:3:14" in found[0]
    (folder / "ai.test" / "Blend" / "spec.yaml").write_text(declared.replace("behaviours: [wrong_one]", ""))
    assert [reading.id for reading in load_spec(NAME, [folder]).readings] == ["blending"]


def test_a_name_that_is_none_is_told_with_its_place_and_the_others(tmp_path: Path) -> None:
    found = messages(write(tmp_path, declared="let: {}\nbehaviours:\n  - subnormal\n"))
    assert len(found) == 1
    assert "spec.yaml:3:5 at behaviours[0]" in found[0]
    assert "'subnormal'" in found[0]
    assert "blending" in found[0]
    assert "subnormals" in found[0]


@pytest.mark.parametrize(
    ("shared", "expected"),
    [
        ("a:\n  question: q\n  options: {x: x, y: y}\n", ["readings.yaml:2:3 at a.why: a key is missing"]),
        (
            "a:\n  question: q\n  options: {x: x, y: y}\n  wy: w\n  why: w\n",
            ["readings.yaml:4:7 at a.wy: unknown key", "question, options, why"],
        ),
        (
            "a:\n  question: q\n  options: {x: x}\n  why: w\n",
            ["readings.yaml:3:12 at a.options: wrong value"],
        ),
        ("a:\n  question: q\n  options: {x: x, x: y}\n  why: w\n", ["readings.yaml:3:19", "already"]),
        ("a b:\n  question: q\n  options: {x: x, y: y}\n  why: w\n", ["readings.yaml:2:3 at a b: not an id"]),
        ("a: {question: q, options: {x: x, y: y}, why: w}\na: {}\n", ["readings.yaml:2:1", "already"]),
        ("- a\n", ["readings.yaml:1:1", "wrong value"]),
        ("a: [\n", ["readings.yaml:", "not YAML"]),
        ("a: &x {question: q, options: {x: x, y: y}, why: w}\n", ["readings.yaml:1:4", "anchors"]),
        ("{}\n---\n{}\n", ["readings.yaml:3:1", "several documents"]),
    ],
)
def test_a_file_that_is_wrong_is_told_with_its_line(tmp_path: Path, shared: str, expected: list[str]) -> None:
    found = messages(write(tmp_path, declared="readings: [a]\n", shared=shared))
    for part in expected:
        assert any(part in each for each in found), (part, found)


def test_an_empty_file_has_none(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("# nothing yet\n")
    assert read_shared([tmp_path]) == {}


def test_the_options_that_ship_are_those_that_references_know() -> None:
    """An option that no reference takes would be an answer that nobody works out."""
    shared = read_shared([OWN_FOLDER])
    known: dict[str, set[str]] = {}
    for reference in (*map(find_operator, implemented()), *for_all_versions().values()):
        for name, options in reference.readings.items():
            known.setdefault(name, set()).update(options)
    assert shared
    assert {name: set(shared_reading.options) for name, shared_reading in shared.items()} == {
        name: known.get(name) for name in shared
    }

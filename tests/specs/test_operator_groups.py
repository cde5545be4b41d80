"""Operators by what they do: each room says its group, a group is a file with its heading."""

from __future__ import annotations

from pathlib import Path

from opcert.vocabulary.names import OperatorName
from specs.files.declaration_files import read_document
from specs.files.operator_groups import FOLDER, group_headings, known_groups
from specs.files.spec_folders import DECLARATION, OWN_FOLDER, PARTS, list_operators, room_of
from specs.files.stated_values import parts_used, stated_value

ONNX = ("ai.onnx", "ai.onnx.ml", "ai.onnx.preview.training")
ADD, MAP = OperatorName("ai.onnx", "Add", 14), OperatorName("com.microsoft", "BeamSearch", 1)


def test_every_declared_operator_of_onnx_has_a_group_and_every_group_an_operator() -> None:
    operators = [operator for operator in list_operators() if operator.domain in ONNX]
    declared = [operator for operator in operators if (room_of(operator, OWN_FOLDER) / DECLARATION).is_file()]
    headings = group_headings(declared)
    assert [str(operator) for operator in declared if operator not in headings] == []
    assert len(set(headings.values())) == len(known_groups([OWN_FOLDER]))


def test_what_is_only_imported_has_none() -> None:
    assert group_headings([ADD, MAP]) == {ADD: "Arithmetic"}


def test_a_users_folder_comes_first_and_has_groups_of_its_own(tmp_path: Path) -> None:
    room = room_of(MAP, tmp_path)
    room.mkdir(parents=True)
    (room / DECLARATION).write_text("group: recurrence\n")
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "recurrence.yaml").write_text("heading: What remembers\n")
    assert group_headings([ADD, MAP], [tmp_path]) == {ADD: "Arithmetic", MAP: "What remembers"}


def test_damage_says_nothing(tmp_path: Path) -> None:
    room = room_of(ADD, tmp_path)
    room.mkdir(parents=True)
    for text in ("group: [", "group: 3\n", "group: nothing-of-the-kind\n", "- a list\n", ""):
        (room / DECLARATION).write_text(text)
        assert group_headings([ADD], [tmp_path]) == {}


def test_a_group_says_what_its_operators_use_unless_they_say_it(tmp_path: Path) -> None:
    room = room_of(MAP, tmp_path)
    room.mkdir(parents=True)
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "recurrence.yaml").write_text("heading: What remembers\nuses: [late]\n")
    (tmp_path / PARTS).mkdir()
    (tmp_path / PARTS / "late.yaml").write_text("versions: 20..\n")
    declaration = room / DECLARATION
    for stated, parts, versions in (
        ({"group": "recurrence"}, ["late"], "20.."),
        ({"group": "recurrence", "uses": []}, [], None),
        ({"group": "arithmetic"}, [], None),  # a group of another folder says nothing here
    ):
        declaration.write_text("".join(f"{key}: {value}\n" for key, value in stated.items()))
        assert parts_used(stated, declaration) == parts
        assert stated_value(declaration, "versions", [tmp_path, OWN_FOLDER]) == versions


def test_an_operator_is_of_the_group_of_the_one_that_computes_it_and_uses_its_parts(tmp_path: Path) -> None:
    declaration, other = (tmp_path / "org.example" / name / DECLARATION for name in ("Plus", "Sum"))
    for path, text in (
        (declaration, "same_as: org.example::Sum-1\n"),
        (other, "group: adding\nuses: [late]\n"),
        (tmp_path / FOLDER / "adding.yaml", "heading: Adding\n"),
        (tmp_path / PARTS / "late.yaml", "versions: 20..\n"),
        (tmp_path / PARTS / "org.example" / "late.yaml", "uses: [late]\nversions: 3..\n"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    plus = OperatorName("org.example", "Plus", 1)
    for own, heading, parts, versions in (
        ("", "Adding", ["late"], "3.."),  # that of the domain comes before that of all
        ("uses: []\n", "Adding", [], None),
        ("group: logic\n", "Logic and comparison", [], None),
    ):
        declaration.write_text(f"same_as: org.example::Sum-1\n{own}")
        assert group_headings([plus], [tmp_path]) == {plus: heading}
        assert parts_used(read_document(declaration).value, declaration) == parts
        assert stated_value(declaration, "versions", [tmp_path, OWN_FOLDER]) == versions
    declaration.write_text("same_as: ai.onnx::Add-14\n")  # another folder's operators say nothing here
    assert group_headings([plus], [tmp_path]) == {}
    assert parts_used(read_document(declaration).value, declaration) == []


def test_of_onnx_the_versions_since_the_oldest_opset_that_is_modelled_are_declared(tmp_path: Path) -> None:
    for name, versions in (("Abs", "6.."), ("Mul", "7.."), ("ArgMax", "1.."), ("Scan", None)):
        declaration = room_of(OperatorName("ai.onnx", name, 1), OWN_FOLDER) / DECLARATION
        assert stated_value(declaration, "versions", (OWN_FOLDER,)) == versions
    own = room_of(ADD, tmp_path) / DECLARATION
    own.parent.mkdir(parents=True)
    own.write_text("shapes: {A: N}\n")
    assert stated_value(own, "versions", (tmp_path, OWN_FOLDER)) is None

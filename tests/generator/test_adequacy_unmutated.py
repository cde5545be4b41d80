"""Code without mutants: read from rooms by version, with what is wrong told by line, and nothing idle."""

from __future__ import annotations

import ast
import inspect
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from generator.trust.mutants.mutated_parts import FILE_NAME, Unmutated, find_parts, read_unmutated
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator, implemented
from specs.files.spec_folders import OWN_FOLDER, room_of

CENTER = OperatorName.parse("ai.onnx::CenterCropPad-18")


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A room of a user's own, with the facts of an operator that ships."""
    path = room_of(CENTER, tmp_path)
    shutil.copytree(room_of(CENTER, OWN_FOLDER), path)
    return path


def _parts(room: Path) -> dict[str, frozenset[str]]:
    return {part.name: part.left_out for part in find_parts(find_operator(CENTER), (room.parents[1],))}


def test_a_user_s_room_leaves_functions_or_names_out(room: Path) -> None:
    before = _parts(room)
    assert before["center_crop_pad"] == frozenset()
    text = """\
- {functions: [center_crop_pad], names: [start], why: a test}
- {functions: [center_crop_pad], names: [surplus], since: 18, why: a test}
- {functions: [center_crop_pad], since: 19, why: of a later version}
"""
    (room / FILE_NAME).write_text(text, encoding="utf-8")
    assert _parts(room) == {**before, "center_crop_pad": frozenset({"start", "surplus"})}
    (room / FILE_NAME).write_text(
        text + "- {functions: [center_crop_pad], why: all of it}\n", encoding="utf-8"
    )
    assert _parts(room).keys() == before.keys() - {"center_crop_pad"}


def test_a_folder_s_own_file_is_about_all_of_its_operators(room: Path) -> None:
    module = find_operator(CENTER).function.__module__
    text = f"- {{module: {module}, functions: [center_crop_pad], why: a test}}\n"
    (room.parents[1] / FILE_NAME).write_text(text, encoding="utf-8")
    assert "center_crop_pad" not in _parts(room)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {functions: [center_crop], why: x}", "center_crop"),
        ("- {functions: [center_crop_pad]}", "why"),
        ("- {functions: [], why: x}", "functions"),
        ("- {functions: [center_crop_pad], name: [start], why: x}", "name"),
        ("functions: [center_crop_pad]", "wrong value"),
        ("--- []\n--- []", "documents"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(room: Path, text: str, said: str) -> None:
    (room / FILE_NAME).write_text(f"# a comment\n{text}\n", encoding="utf-8")
    with pytest.raises(OpcertError) as told:
        _parts(room)
    assert said in str(told.value)
    assert FILE_NAME in str(told.value)


def _entries() -> list[tuple[str, Unmutated]]:
    found = {}
    for operator in implemented():
        own = find_operator(operator).function.__module__
        for place, entry in read_unmutated(operator):
            found[str(place)] = (entry.module or own, entry)
    return list(found.values())


def test_every_entry_that_ships_is_about_code_that_is_there() -> None:
    entries = _entries()
    assert len(entries) > 30
    for module, entry in entries:
        tree = ast.parse(inspect.getsource(import_module(module)))
        functions = {
            f"{prefix}{node.name}": node
            for prefix, nodes in [
                ("", tree.body),
                *(
                    (f"{class_def.name}.", class_def.body)
                    for class_def in tree.body
                    if isinstance(class_def, ast.ClassDef)
                ),
            ]
            for node in nodes
            if isinstance(node, ast.FunctionDef)
        }
        assert set(entry.functions) <= functions.keys(), entry
        words = [_words(functions[name]) for name in entry.functions]
        assert set(entry.names) <= set().union(*words), entry
        assert not entry.names or all(word & set(entry.names) for word in words), entry


def _words(function: ast.FunctionDef) -> set[str]:
    keys = ("id", "attr", "arg")
    return {getattr(node, key) for node in ast.walk(function) for key in keys if getattr(node, key, None)}

"""What a suite is made from: no more and no less, so that a change is told with its cause."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from generator import sources
from generator.sources import (
    ROOT,
    digest_of,
    generating_files,
    imported_files,
    reference_files,
    sources_digest,
)
from opcert.names import OperatorName


def names(files: list[Path]) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in files}


def test_the_reference_of_an_operator_is_what_its_module_imports() -> None:
    resize = names(reference_files(OperatorName.parse("ai.onnx::Resize-18")))
    assert {
        "reference/families/resize.py",
        "reference/interpolation/nearest.py",
        "reference/sums.py",
    } <= resize
    assert "reference/families/pad.py" not in resize
    pad = names(reference_files(OperatorName.parse("com.microsoft::Pad-1")))
    assert "reference/families/pad.py" in pad
    assert not [each for each in pad if "interpolation" in each]


def test_generating_code_is_what_making_a_suite_imports() -> None:
    found = names(generating_files())
    wanted = {
        "generator/covering.py", "generator/families/inert.py", "generator/levels/_resize_edges.py",
        "generator/floats.py", "conformance/goldens.py", "opcert/tensors.py", "specs/expressions.py",
    }  # fmt: skip
    assert wanted <= found
    for each in ("fuzzing", "explain", "changes", "lock", "harness", "reference/"):
        assert not [name for name in found if each in name], each


def test_every_module_that_was_loaded_to_make_calls_is_counted() -> None:
    """Held against what the interpreter has loaded for the modules of levels, not against their text."""
    found = names(generating_files())
    for name in ("generator.levels.resize", "generator.levels.pad"):
        __import__(name)
        for value in vars(sys.modules[name]).values():
            module = str(getattr(value, "__module__", ""))
            if module.startswith(("generator.", "opcert.", "specs.")):
                assert f"{module.replace('.', '/')}.py" in found, module


@pytest.mark.parametrize(
    ("code", "imported"),
    [
        ("import a.one", {"a/one.py"}),
        ("from a import one", {"a/one.py", "a/__init__.py"}),
        ("from a import (\n    two,\n    one as other,\n)", {"a/one.py", "a/two.py", "a/__init__.py"}),
        ("def f():\n    from a.two import something", {"a/two.py"}),
        ("from b import one", set()),
        ("text = 'import a.one'", set()),
    ],
)
def test_imports_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, imported: set[str]
) -> None:
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for file in ("__init__", "one", "two"):
            (tmp_path / name / f"{file}.py").write_text("from a import start\n" if file == "two" else "")
    (tmp_path / "a" / "start.py").write_text(code)
    found = {path.relative_to(tmp_path).as_posix() for path in imported_files(["a.start"], ["a"])}
    assert found >= imported | {"a/start.py"}
    assert not [each for each in found if each.startswith("b/")]


def test_the_digest_follows_a_folder_of_specs_and_not_line_ends(tmp_path: Path) -> None:
    spec = tmp_path / "specs" / "curated.yaml"
    spec.parent.mkdir()
    spec.write_bytes(b"factors: {}\n")
    before = sources_digest([spec.parent])
    spec.write_bytes(b"factors: {}\r\n")
    assert sources_digest([spec.parent]) == before != sources_digest()
    (spec.parent / "notes.txt").write_text("no part of it")
    assert sources_digest([spec.parent]) == before
    (spec.parent / "levels.py").write_text("")
    assert sources_digest([spec.parent]) != before
    assert digest_of([spec]) != digest_of([])

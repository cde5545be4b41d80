"""What a part of a suite is made from: no more and no less, so that a change is told with its cause."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from generator.asking.named_operators import first_operators, known_operators
from generator.making.operators import sources
from generator.making.operators.sources import (
    ROOT,
    SourceReader,
    code_files,
    digest_of,
    digest_of_file,
    imported_names,
    imports_of,
    modules_under,
    sources_digest,
)
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER
from tests.generator.declared import write_operator

PAD = OperatorName.parse("com.microsoft::Pad-1")
RESIZE = OperatorName.parse("ai.onnx::Resize-18")


def names(files: list[Path]) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in files}


def test_the_code_of_an_operator_is_what_its_modules_import() -> None:
    resize = names(SourceReader().code_of(RESIZE))
    assert {
        "reference/operators/resize.py",
        "reference/shared/interpolation/nearest.py",
        "reference/sums/sums.py",
        "generator/calls/kinds/resizing.py",
        "generator/calls/variables/resizing_borders.py",
    } <= resize
    pad = names(SourceReader().code_of(PAD))
    assert {
        "reference/operators/pad.py",
        "generator/calls/kinds/pads.py",
        "generator/making/families/boundary.py",
    } <= pad
    assert not [each for each in pad if "interpolation" in each or "resize" in each]
    assert {
        "generator/calls/rows/covering.py",
        "conformance/suite/goldens.py",
        "opcert/vocabulary/tensors.py",
        "specs/language/expressions.py",
    } <= pad
    for each in ("fuzzing", "explain", "generator/lock", "harness", "part_making", "kept_parts"):
        assert not [name for name in pad | resize if each in name], each
    # Of the changes of calls, kinds import how values are misread, and nothing that applies a change.
    assert "generator/calls/variables/misreadings.py" in pad | resize
    assert not [name for name in pad | resize if name.startswith("generator/calls/edits/")]


_NOTING = """
import json, sys
from pathlib import Path
opened = set()
sys.addaudithook(lambda event, words: opened.add(str(words[0])) if event == "open" else None)
from generator.making.suites.operator_cases import generate_operator
from generator.making.operators.workshop import Options
from opcert.vocabulary.names import OperatorName
generate_operator(OperatorName.parse(sys.argv[1]), Options.of(sys.argv[2]))
loaded = [str(each.__file__) for each in list(sys.modules.values()) if getattr(each, "__file__", None)]
print(json.dumps([loaded, sorted(opened)]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("operator", [PAD, OperatorName.parse("ai.onnx::CenterCropPad-18")], ids=str)
def test_whatever_is_opened_to_make_a_part_is_counted(operator: OperatorName) -> None:
    """Held against what an interpreter imports and opens that makes a part, not against the code's text."""
    ran = subprocess.run(
        [sys.executable, "-c", _NOTING, str(operator), "small"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    loaded, opened = json.loads(ran.stdout)
    code = names(SourceReader().code_of(operator))
    used = {own for own in _of_ours(loaded) if not own.endswith("__init__.py")}
    # The references of other operators are imported to be found.
    others = {each for each in used if each.startswith("reference/")}
    assert used - others <= code
    assert f"reference/operators/{'pad' if operator == PAD else 'center_crop_pad'}.py" in others & code
    digests = SourceReader().sources_of(operator).specs
    counted = {digest.partition(":")[0].removeprefix("groups/") for digest in digests}
    for name in _of_ours(opened):
        if (ROOT / name).is_file() and not name.endswith((".pyc", ".py")):
            # What size small begins with counts as the operator's own selection, not as a file.
            assert name.rpartition("/")[2] in counted or name == "specs/small.json", name
    assert {"spec.yaml", f"imported-{operator.since_version}.yaml", "readings.yaml"} <= counted


def _of_ours(files: list[str]) -> set[str]:
    """Those of some files that are of our packages, by their place in the checkout."""
    inside = {Path(file) for file in files if Path(file).is_relative_to(ROOT)}
    packages = ("generator/", "specs/", "conformance/", "opcert/", "reference/")
    return {name for name in names(sorted(inside)) if name.startswith(packages)}


@pytest.mark.slow
def test_references_are_named_by_what_the_files_say() -> None:
    """Nothing is imported to know them: importing must find the same."""
    from generator.asking.named_operators import reference_modules
    from reference.registry import find_operator, for_all_versions, implemented

    assert sorted(reference_modules()) == implemented()
    for operator, module in reference_modules().items():
        assert find_operator(operator).function.__module__ == module
    for_all = for_all_versions()
    assert first_operators() == [each for each in implemented() if each.unversioned not in for_all]
    for operator in known_operators():
        assert load_spec(operator).declared is not None


@pytest.mark.parametrize(
    ("code", "imported"),
    [
        ("import a.one", {"a/one.py"}),
        ("import a.one, a.two as other", {"a/one.py", "a/two.py"}),
        ("from a import one", {"a/one.py", "a/__init__.py"}),
        ("from a import (\n    two,\n    one as other,\n)", {"a/one.py", "a/two.py", "a/__init__.py"}),
        ("def f():\n    from a.two import something", {"a/two.py"}),
        (
            "import pkgutil, a.c\nlist(pkgutil.iter_modules(a.c.__path__))",
            {"a/c/three.py", "a/c/__init__.py"},
        ),
        ("from a.d import all", {"a/d/__init__.py", "a/d/four.py"}),
        ("from b import one", set()),
        ("text = 'import a.one'", set()),
        ("not Python", set()),
    ],
)
def test_imports_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, imported: set[str]
) -> None:
    monkeypatch.setattr(sources, "_PACKAGES", {"a": tmp_path / "a"})
    files = {
        "a/__init__.py": "", "a/one.py": "", "a/two.py": "from a import start\n", "b/one.py": "",
        "a/c/__init__.py": "", "a/c/three.py": "", "a/c/e/five.py": "",
        "a/d/__init__.py": "all = list(iter_modules(__path__))\n", "a/d/four.py": "", "a/start.py": code,
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = {path.relative_to(tmp_path).as_posix() for path in SourceReader().imported_files(["a.start"])}
    assert found >= imported | {"a/start.py"}
    assert found - imported <= {"a/start.py", "a/__init__.py", "a/c/__init__.py"}


def test_of_an_installed_opcert_all_code_counts_and_nothing_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(path: Path) -> tuple[str, ...]:
        raise AssertionError(f"{path} is parsed")

    checkout = {operator: SourceReader().sources_of(operator) for operator in (PAD, RESIZE)}
    assert checkout[PAD].code != checkout[RESIZE].code
    assert set(SourceReader().code_of(PAD)) < set(code_files())
    monkeypatch.setattr(sources, "_is_checkout", lambda: False)
    monkeypatch.setattr(sources, "imports_of", refuse)
    installed = {operator: SourceReader().sources_of(operator) for operator in (PAD, RESIZE)}
    assert installed[PAD].code == installed[RESIZE].code
    assert installed[PAD].specs == checkout[PAD].specs


def test_the_digest_follows_a_folder_of_specs_and_not_line_ends(tmp_path: Path) -> None:
    spec = tmp_path / "specs" / "spec.yaml"
    spec.parent.mkdir()
    spec.write_bytes(b"factors: {}\n")
    before = sources_digest([spec.parent])
    spec.write_bytes(b"factors: {}\r\n")
    assert sources_digest([spec.parent]) == before != sources_digest()
    (spec.parent / "notes.txt").write_text("no part of it")
    assert sources_digest([spec.parent]) == before
    (spec.parent / "reference.py").write_text("")
    assert sources_digest([spec.parent]) != before
    assert digest_of([spec]) != digest_of([])


def test_the_digest_follows_code_that_only_a_users_modules_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_operator(tmp_path, "reference: ../../own.py\n", "{}\n")
    (tmp_path / "own.py").write_text("import generator.exploring.shrinking.shrinking\n")
    seen: list[Path] = []

    def noting(files: Iterable[Path]) -> str:
        seen.extend(files)
        return "digest"

    monkeypatch.setattr(sources, "digest_of", noting)
    sources_digest([tmp_path])
    assert "generator/exploring/shrinking/shrinking.py" in names(
        [path for path in seen if path.is_relative_to(ROOT)]
    )


def test_a_declaration_counts_with_its_parts_and_the_readings_that_they_name(tmp_path: Path) -> None:
    imported = (OWN_FOLDER / "ai.onnx" / "Abs" / "imported-13.yaml").read_text(encoding="utf-8")
    parts = {"one": "uses: [two]\n", "two": "behaviours: [subnormals]\n", "other": "let: {}\n"}
    operator = write_operator(tmp_path, "uses: [one]\n", imported, parts=parts)
    before = SourceReader([tmp_path]).sources_of(operator)
    assert set(before.specs) == {
        "imported-1.yaml",
        "spec.yaml",
        "parts/one.yaml",
        "parts/two.yaml",
        "readings.yaml: subnormals",
    }
    (tmp_path / "parts" / "other.yaml").write_text("let: {a: '1'}\n")
    (tmp_path / "readings.yaml").write_text("own: {question: q, options: {a: a, b: b}, why: w}\n")
    assert SourceReader([tmp_path]).sources_of(operator) == before
    (tmp_path / "readings.yaml").write_text("subnormals: {question: q, options: {a: a, b: b}, why: w}\n")
    after = SourceReader([tmp_path]).sources_of(operator)
    assert {name for name in after.specs if after.specs[name] != before.specs[name]} == {
        "readings.yaml: subnormals"
    }
    (tmp_path / "parts" / "two.yaml").write_text("behaviours: []\n")
    assert "readings.yaml: subnormals" not in SourceReader([tmp_path]).sources_of(operator).specs


def test_the_modules_of_a_folder_of_specs_count(tmp_path: Path) -> None:
    """They may import each other, so that all of them count, and read what lies beside their spec."""
    operator = write_operator(tmp_path, "{}\n", "{}\n")
    before = SourceReader([tmp_path]).sources_of(operator).digest
    (tmp_path / "shared.py").write_text("import generator.exploring.fuzzing.search\n")
    after = SourceReader([tmp_path]).sources_of(operator)
    assert after.digest != before
    assert "0/shared.py" in after.specs
    assert "generator/exploring/fuzzing/search.py" in names(SourceReader([tmp_path]).code_of(operator))
    (tmp_path / operator.domain / operator.name / "table.json").write_text("{}")
    assert SourceReader([tmp_path]).sources_of(operator).digest != after.digest


def test_a_file_is_read_again_where_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text("import a.one\n")
    first = digest_of_file(path)
    assert imports_of(path) == imported_names("import a.one") == ("a.one",)
    assert imports_of(path) is imports_of(path)
    path.write_text("import a.two\n")
    os.utime(path, ns=(0, 0))
    assert imports_of(path) == ("a.two",)
    assert digest_of_file(path) == digest_of([path]) != first
    path.unlink()
    with pytest.raises(FileNotFoundError):
        digest_of_file(path)
    with pytest.raises(FileNotFoundError):
        imports_of(path)


def test_the_modules_of_a_package_are_found_by_name(tmp_path: Path) -> None:
    for place in ("a/__init__.py", "a/one.py", "a/b/__init__.py", "a/b/two.py", "a/b.py"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    for left_out in ("a/__pycache__/x.py", "a/not.one/x.py", "a/text.txt"):
        (tmp_path / left_out).parent.mkdir(exist_ok=True)
        (tmp_path / left_out).touch()
    found = {
        name: path.relative_to(tmp_path).as_posix()
        for name, path in modules_under(tmp_path / "a", "a").items()
    }
    assert found == {"a": "a/__init__.py", "a.one": "a/one.py", "a.b": "a/b.py", "a.b.two": "a/b/two.py"}
    assert modules_under(tmp_path / "nothing", "nothing") == {}

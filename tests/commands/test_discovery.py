"""What there is, is known by names of files: counted in files that are opened, with hundreds of operators."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from generator.asking.named_operators import known_operators
from generator.making.operators.discovery import select_operators
from generator.making.suites.lock import Lock, LockedVersion, write_lock
from specs.files.spec_folders import OWN_FOLDER, list_operators
from tests.commands.command_line import call, check_message
from tests.made_up_operators import write_operators

_NOTING = """
import contextlib, io, json, sys
opened = []
sys.addaudithook(lambda event, words: opened.append(str(words[0])) if event == "open" else None)
from opcert.commands import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as said:
    main(sys.argv[1:])
slow = {"numpy", "onnx", "pydantic", "rich", "jinja2"} & set(sys.modules)
print(json.dumps([said.getvalue(), opened, sorted(slow)]))
"""


def noted(*words: object) -> tuple[str, Counter[str], list[str]]:
    """What a command prints, how often it opens each file, and which slow packages it imports."""
    ran = subprocess.run(
        [sys.executable, "-c", _NOTING, *map(str, words)], capture_output=True, text=True, check=True
    )
    said, opened, slow = json.loads(ran.stdout)
    return said, Counter(opened), slow


@pytest.mark.parametrize("count", [30, 450])
def test_a_folder_of_operators_is_listed_by_names_of_files(tmp_path: Path, count: int) -> None:
    made = write_operators(tmp_path, count)
    said, opened, slow = noted("list", "operators", "--all", "--specs", tmp_path)
    rows = dict(line.partition("  ")[::2] for line in said.splitlines())
    assert sorted(rows) == sorted(str(each) for each in made)
    # Those that name modules of their own have a reference, and a declaration may name one: each of these
    # files is opened once, and no other.
    assert sum(row.strip() == "referenced" for row in rows.values()) == count // 2
    inside = {name: times for name, times in opened.items() if Path(name).is_relative_to(tmp_path)}
    assert {Path(name).name for name in inside if Path(name).is_file()} == {"spec.yaml"}
    assert set(inside.values()) == {1}
    assert slow == []


def test_what_ships_is_listed_from_the_lock_and_what_declarations_name() -> None:
    said, opened, slow = noted("list", "operators", "--all")
    assert len(said.splitlines()) == len(list_operators())
    data = {Path(name): times for name, times in opened.items() if Path(name).is_relative_to(OWN_FOLDER)}
    read = {path: times for path, times in data.items() if path.suffix in (".yaml", ".json", ".lock")}
    # A reference of all versions holds for those that its declaration or a part that is used names.
    shared = {"groups", "parts"}
    others = {path.name for path in read if path.relative_to(OWN_FOLDER).parts[0] not in shared}
    assert others == {"suite.lock", "spec.yaml"}
    assert set(read.values()) == {1}
    assert slow == []


def test_operators_without_cases_are_counted_and_listed_last(capsys: pytest.CaptureFixture[str]) -> None:
    every = call(capsys, "list", "operators", "--all").out.splitlines()
    short = call(capsys, "list").out.splitlines()
    made = {str(operator) for operator in known_operators()}
    assert [line.split()[0] for line in short[:-1]] == [line.split()[0] for line in every[: len(made)]]
    assert {line.split()[0] for line in short[:-1]} == made
    assert short[-1].startswith(f"{len(every) - len(made)} more have a spec and no cases (")
    without = dict(line.partition(" ")[::2] for line in every[len(made) :])
    assert all(re.search(r", no cases: \S", said) for said in without.values())
    for name, reason in (
        ("ai.onnx::Add-6", "inputs are broadcast by the attributes axis and broadcast"),
        ("ai.onnx::Gemm-6", "C is broadcast by the attribute broadcast"),
        ("ai.onnx::Concat-1", "before opset 7, the oldest that is modelled"),
        ("ai.onnx::Upsample-10", "newer than 9, the last version that is declared"),
        ("ai.onnx::Scatter-11", "newer than 9, the last version that is declared"),
    ):
        assert reason in without[name], name


@pytest.mark.parametrize(
    "words", [("generate",), ("fuzz", "onnxruntime"), ("adequacy",), ("certify", "fake_backends:Good")]
)
def test_commands_agree_on_an_operator_without_a_reference(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """One whose newest version has none, by version and by name; `show` and `list` say the same."""
    without = [each for each in list_operators() if each.domain == "com.microsoft"]
    names = {each.name for each in (*known_operators(), *list_operators()) if each.domain == "ai.onnx"}
    names |= {each.name for each in known_operators()}
    operator = next(each for each in without if each.name not in names)
    for name in (operator.short, operator.name, str(operator)):
        answer = call(capsys, *words, name)
        check_message(answer, 2, "input", f"no cases can be made of {operator}", "opcert list operators")
    assert "no cases" in call(capsys, "show", operator.name).out
    assert f"{operator} " in call(capsys, "list", "--all").out


def test_a_name_without_a_version_means_the_newest_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    newest = max(
        operator
        for operator in list_operators()
        if operator.name == "Resize" and operator.since_version == 19
    )
    for name in ("Resize", "ai.onnx::Resize", "ai.onnx/Resize"):
        assert call(capsys, "show", name).out.splitlines()[0] == str(newest)
        assert select_operators([name]) == [newest]
    assert call(capsys, "show", "Pad").out.splitlines()[0] == "ai.onnx::Pad-25"
    check_message(
        call(capsys, "show", "FloorMod"),
        2,
        "input",
        "several operators",
        "org.openvino::FloorMod-1, org.tensorflow::FloorMod-1",
    )
    check_message(call(capsys, "generate", "Resize-19", "--opset", "13"), 2, "input", "ai.onnx::Resize-13")


@pytest.mark.parametrize("words", [("--help",), ("list", "--help"), ("generate", "--help")])
def test_help_opens_nothing_of_any_operator(words: tuple[str, ...]) -> None:
    _, opened, slow = noted(*words)
    assert not [name for name in opened if Path(name).suffix in (".yaml", ".json", ".lock")]
    assert slow == []


def completed(*words: str, folder: Path | None = None) -> list[str]:
    """What a shell is told that a command line may go on with."""
    given = ["opcert", words[0], *(["--specs", str(folder)] if folder else []), *words[1:]]
    variables = {"COMP_WORDS": " ".join(given), "COMP_CWORD": str(len(given) - 1)}
    ran = subprocess.run(
        [str(Path(sys.executable).with_name("opcert"))],
        env={**os.environ, **variables, "_OPCERT_COMPLETE": "bash_complete"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stderr == ""
    return [line.partition(",")[2] for line in ran.stdout.splitlines() if line]


@pytest.mark.slow
def test_names_of_operators_are_completed(tmp_path: Path) -> None:
    assert completed("generate", "Resize-1") == [f"Resize-{each}" for each in (10, 11, 13, 18, 19)]
    assert completed("adequacy", "com.microsoft/P") == ["com.microsoft/Pad-1"]
    assert "Resize-10" in completed("fuzz", "onnxruntime", "Re")
    assert {"Abs-13", "Abs-6"} <= set(completed("show", "Abs-"))
    assert completed("generate", "Nothing") == []
    write_operators(tmp_path, 30)
    assert completed("generate", "Operator1", folder=tmp_path) == sorted(
        f"Operator{each}-{each % 20 + 1}" for each in (1, 11, 13, 15, 17, 19)
    )
    assert completed("generate", "Op", folder=tmp_path / "missing") == []


def test_a_lock_of_many_versions_is_one_file(tmp_path: Path) -> None:
    made = write_operators(tmp_path / "specs", 450)
    versions = dict.fromkeys(map(str, made), LockedVersion("d" * 64, 3))
    write_lock(Lock("e" * 64, {}, versions), tmp_path / "suite.lock")
    script = (
        "import json, sys\nfrom pathlib import Path\n"
        "from generator.making.suites.lock import read_lock\nopened = []\n"
        "sys.addaudithook(lambda event, words: opened.append(str(words[0])) if event == 'open' else None)\n"
        "lock = read_lock(Path(sys.argv[1]))\n"
        "print(json.dumps([len(lock.versions), lock.cases, len(opened)]))\n"
    )
    words = [sys.executable, "-c", script, str(tmp_path / "suite.lock")]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == [450, 1350, 1]

"""A document that lists a type nobody knows: everything works with the others, to the very end."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.calls.edits.finding import input_changes
from generator.making.operators.discovery import select_operators
from reports.text.value_text import in_type_order
from specs.files.library import load_spec
from tests.commands.command_line import call
from tests.commands.test_your_operator import split, steps


def write_files(folder: Path) -> None:
    """The files of docs/your-operator.md, with a type that nobody knows, and a runtime that is wrong."""
    for step in steps():
        if step.file is not None and not (folder / step.file).exists():
            text = step.text.replace("tensor(int32)", "tensor(flot), tensor(int32), seq(tensor(flot))")
            text = text.replace("abs(step))", "abs(step) + 1)")
            (folder / step.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.file).write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_run_that_fails_is_explained_and_certified(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    write_files(tmp_path)
    imports = next(line for step in steps() if step.kind == "sh" for line in step.text.splitlines())
    assert call(capsys, *split(imports)[0]).code == 0
    shown = call(capsys, "show", "EveryNth", "--specs", "specs")
    assert "float, flot, int32, seq(tensor(flot)), string" in shown.out
    (name,) = select_operators(["EveryNth"], (Path("specs"),))
    spec = load_spec(name, (Path("specs"),))
    assert spec.types_of(spec.inputs[0]) == ("float", "int32", "string")
    assert [*input_changes(spec)]
    answer = call(capsys, "certify", "my_runtime:Backend", "--specs", "specs")
    assert answer.code == 0, answer.err
    assert "wrong" in answer.out
    assert (tmp_path / "out" / "my_runtime-Backend" / "explanations.json").is_file()
    fuzzed = call(capsys, "fuzz", "my_runtime:Backend", "EveryNth", "--specs", "specs", "--calls", "40")
    assert fuzzed.code == 1, fuzzed.err


def test_types_that_nobody_knows_stand_last() -> None:
    assert in_type_order(["flot", "int8", "float", "aaa"]) == ["float", "int8", "aaa", "flot"]

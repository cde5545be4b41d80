"""A class of one's own with ONNX's Backend interface: found in the current folder, and missed at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.command_line import call, check_message
from tests.conformance.samples import make_case, make_suite

MODULE = """
from elsewhere import Hidden as Imported
COPY = Imported
class Mine:
    @classmethod
    def supports_device(cls, device):
        return True
    @classmethod
    def run_model(cls, model, inputs, device="CPU"):
        return (inputs[0],)
class Outer:
    Inner = Mine
"""
RAN = "raise SystemExit('it was run')\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a module in it and nothing in PYTHONPATH."""
    (tmp_path / "elsewhere.py").write_text("class Hidden: pass\n")
    (tmp_path / "my_runtime.py").write_text(MODULE)
    (tmp_path / "lazy.py").write_text("def __getattr__(name):\n    raise ImportError('not yet')\n")
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inside.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    make_suite(tmp_path, [make_case()])
    return tmp_path / "suite"


@pytest.mark.parametrize("name", ["my_runtime:Mine", "my_runtime:Outer.Inner", "package.inside:Mine"])
def test_it_is_found_in_the_current_folder(here: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    answer = call(capsys, "run", name, "-s", here, "-o", here.with_name("run.jsonl"))
    assert answer.code == 0, answer.err


@pytest.mark.parametrize("command", ["run", "certify", "check", "fuzz", "doctor"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere:Mine", ("no module nowhere", "PYTHONPATH")),
        ("package.nowhere:Mine", ("no module package.nowhere",)),
        (
            "my_runtime:Nine",
            ("my_runtime has no Nine", "one of Mine, Outer", "Did you mean Mine?"),
        ),
    ],
)
def test_what_is_not_there_is_missed_before_a_suite_is_made(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    name: str,
    words: tuple[str, ...],
) -> None:
    """Nothing is run of a module for that: one that would end the process is looked at all the same."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(here.with_name("cache")))
    module = here.with_name("my_runtime.py")
    module.write_text(MODULE + RAN)
    further = {"check": [str(here.with_name("elsewhere.py")), "--on", name], "fuzz": [name, "Abs"]}
    answer = call(capsys, command, *further.get(command, [name]))
    check_message(answer, 2, "input", *words)
    assert not here.with_name("cache").exists()
    assert not here.with_name("out").exists()


@pytest.mark.parametrize("name", ["my_runtime:COPY", "my_runtime:Imported", "lazy:Whatever"])
def test_what_only_running_the_module_would_tell_is_left_to_the_worker(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    answer = call(capsys, "run", name, "-s", here, "-o", here.with_name("run.jsonl"))
    assert answer.code == 4, answer.err

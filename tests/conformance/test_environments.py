"""Environments are made once, never used half made, and say why where they cannot be made."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from conformance.runtimes import environments, runtimes
from conformance.runtimes.environments import environments_folder, prepare
from conformance.runtimes.installers import PythonPackages
from opcert.vocabulary.errors import ExitCode, RuntimeUnavailable, UserError

PACKAGE = "opcert_tiny"


def _write_wheel(folder: Path, version: str) -> None:
    with zipfile.ZipFile(folder / f"{PACKAGE}-{version}-py3-none-any.whl", "w") as wheel:
        information = f"{PACKAGE}-{version}.dist-info"
        wheel.writestr(f"{PACKAGE}.py", f"VERSION = {version!r}\n")
        wheel.writestr(
            f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        files = (f"{PACKAGE}.py", f"{information}/METADATA", f"{information}/WHEEL", f"{information}/RECORD")
        wheel.writestr(f"{information}/RECORD", "".join(f"{file},,\n" for file in files))


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index in a folder: no test here needs the network."""
    folder = tmp_path / "index"
    folder.mkdir()
    _write_wheel(folder, "1.0")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "environments"


def _version_in(python: Path) -> str:
    asked = [str(python), "-c", f"import {PACKAGE}; print({PACKAGE}.VERSION)"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def _made(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/made-*"))


def test_an_environment_holds_what_was_asked_for_and_is_kept(folder: Path) -> None:
    said: list[str] = []
    first = prepare([PACKAGE], folder=folder, announce=said.append)
    assert _version_in(first.program) == "1.0"
    assert dict(first.packages) == {"opcert-tiny": "1.0"}
    assert first.python_version == ".".join(str(each) for each in sys.version_info[:3])
    assert len(said) == 1
    assert prepare([PACKAGE], folder=folder, announce=said.append) == first
    assert len(said) == 1


def test_the_newest_version_is_kept_until_an_upgrade(folder: Path, index: Path) -> None:
    first = prepare([PACKAGE], folder=folder)
    _write_wheel(index, "2.0")
    assert prepare([PACKAGE], folder=folder) == first
    second = prepare([PACKAGE], folder=folder, upgrade=True)
    assert _version_in(second.program) == "2.0"
    assert prepare([PACKAGE], folder=folder) == second
    # A process may still run in the one that was replaced; the next replacement takes it away.
    assert _version_in(first.program) == "1.0"
    prepare([PACKAGE], folder=folder, upgrade=True)
    assert not first.program.exists()
    assert _version_in(second.program) == "2.0"


def test_versions_have_environments_of_their_own(folder: Path, index: Path) -> None:
    _write_wheel(index, "2.0")
    assert _version_in(prepare([f"{PACKAGE}==1.0"], folder=folder).program) == "1.0"
    assert _version_in(prepare([f"{PACKAGE}==2.0"], folder=folder).program) == "2.0"
    assert _version_in(prepare([f"{PACKAGE}==1.0"], folder=folder).program) == "1.0"


def test_names_of_one_interpreter_share_an_environment(folder: Path, tmp_path: Path) -> None:
    other_name = tmp_path / "python"
    other_name.symlink_to(sys.executable)
    first = prepare([PACKAGE], folder=folder)
    assert prepare([PACKAGE], PythonPackages(str(other_name)), folder=folder) == first


_PREPARE = """
import sys, time
from pathlib import Path
from conformance.runtimes import environments
from conformance.runtimes import installers
real = installers.run_uv
def slow(arguments, **keywords):
    printed = real(arguments, **keywords)
    if arguments[0] == "venv":
        Path(sys.argv[2]).touch()
        time.sleep(float(sys.argv[3]))
    return printed
installers.run_uv = slow
print(environments.prepare([sys.argv[4]], folder=Path(sys.argv[1])).program)
"""


def _start(folder: Path, half_made: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _PREPARE, str(folder), str(half_made), str(seconds), PACKAGE]
    repository = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": repository}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=repository)


def _wait_for(file: Path) -> None:
    limit = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < limit, f"{file.name} never came"
        time.sleep(0.01)


def test_two_processes_make_one_environment(folder: Path, tmp_path: Path) -> None:
    both = [_start(folder, tmp_path / "half", 0.5) for _ in range(2)]
    answers = {process.communicate(timeout=60)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(answers) == 1
    assert len(_made(folder)) == 1


def test_a_half_made_environment_is_never_used(folder: Path, tmp_path: Path) -> None:
    killed = _start(folder, tmp_path / "half", 60)
    _wait_for(tmp_path / "half")
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=10)
    (half,) = _made(folder)
    assert (half / "bin" / "python").exists()
    assert not list(folder.glob("*/environment.json"))
    made = prepare([PACKAGE], folder=folder)
    assert _version_in(made.program) == "1.0"
    assert not half.exists()


def test_a_kill_during_an_upgrade_leaves_the_one_before(folder: Path, tmp_path: Path) -> None:
    before = prepare([PACKAGE], folder=folder)
    upgrading = _PREPARE.replace("folder=Path", "upgrade=True, folder=Path")
    command = [sys.executable, "-c", upgrading, str(folder), str(tmp_path / "half"), "60", PACKAGE]
    killed = subprocess.Popen(command, cwd=Path(__file__).parents[2])
    _wait_for(tmp_path / "half")
    killed.kill()
    killed.wait(timeout=10)
    assert prepare([PACKAGE], folder=folder) == before
    assert _version_in(before.program) == "1.0"


def test_a_failed_upgrade_leaves_the_one_before(folder: Path, index: Path) -> None:
    before = prepare([PACKAGE], folder=folder)
    for wheel in index.iterdir():
        wheel.unlink()
    with pytest.raises(RuntimeUnavailable):
        prepare([PACKAGE], folder=folder, upgrade=True)
    assert prepare([PACKAGE], folder=folder) == before
    assert [path.name for path in _made(folder)] == [before.folder.name]


def test_a_version_that_does_not_exist_is_said_with_the_reason(folder: Path) -> None:
    with pytest.raises(RuntimeUnavailable) as caught:
        prepare([f"{PACKAGE}==9.9"], folder=folder)
    assert caught.value.exit_code is ExitCode.RUNTIME_UNAVAILABLE
    assert f"{PACKAGE}==9.9 could not be installed" in str(caught.value)
    assert "no version of opcert-tiny==9.9" in str(caught.value)
    assert "Name a version that exists" in str(caught.value)
    assert not _made(folder)


@pytest.mark.parametrize("text", ["-e .", "--index-url=x", "", "a b c", "../index", PACKAGE + "=="])
def test_a_requirement_is_never_an_option(folder: Path, text: str) -> None:
    with pytest.raises(RuntimeUnavailable, match="could not be installed"):
        prepare([text], folder=folder)


def test_the_callers_own_environment_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "UV_PYTHON",
        "VIRTUAL_ENV",
        "PYTHONPATH",
        "PYTHONHOME",
        "UV_PROJECT_ENVIRONMENT",
        "PIP_TARGET",
    ):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("UV_REQUIRE_HASHES", "1")
    assert _version_in_clean(prepare([PACKAGE], folder=folder).program) == "1.0"


def _version_in_clean(python: Path) -> str:
    asked = [str(python), "-I", "-c", f"import {PACKAGE}; print({PACKAGE}.VERSION)"]
    return subprocess.run(asked, capture_output=True, text=True, check=True, env={}).stdout.strip()


def test_a_project_around_the_caller_does_not_configure_uv(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "uv.toml").write_text("this is not TOML")
    monkeypatch.chdir(project)
    assert _version_in(prepare([PACKAGE], folder=folder).program) == "1.0"


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(RuntimeUnavailable, match="set XDG_CACHE_HOME to a folder that can be written"):
        prepare([PACKAGE], folder=file / "environments")


def test_a_full_disk_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = "error: Failed to install: x.whl\n  Caused by: No space left on device (os error 28)\n"
    program = folder.parent / "uv"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{printed}' >&2\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setattr("uv.find_uv_bin", lambda: str(program))
    with pytest.raises(RuntimeUnavailable, match=r"No space left on device.*Make room in .*environments"):
        prepare([PACKAGE], folder=folder)


def test_a_missing_uv_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find() -> str:
        raise FileNotFoundError("no uv")

    monkeypatch.setattr("uv.find_uv_bin", find)
    with pytest.raises(RuntimeUnavailable, match="pip install uv"):
        prepare([PACKAGE], folder=folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"format": "opcert-environment/1"}', '{"format": "other"}',
     '{"format": "opcert-environment/1", "folder": "../../../bin", "python_version": "3", "packages": {}}'],
)  # fmt: skip
def test_a_damaged_marker_means_made_anew(folder: Path, content: str) -> None:
    prepare([PACKAGE], folder=folder)
    (marker,) = folder.glob("*/environment.json")
    marker.write_text(content)
    made = prepare([PACKAGE], folder=folder)
    assert _version_in(made.program) == "1.0"
    assert json.loads(marker.read_text())["folder"] == made.folder.name


def test_an_environment_whose_interpreter_is_gone_is_made_anew(folder: Path) -> None:
    first = prepare([PACKAGE], folder=folder)
    first.program.unlink()
    first.program.symlink_to(folder / "gone")
    assert _version_in(prepare([PACKAGE], folder=folder).program) == "1.0"


def test_environments_lie_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert environments_folder() == tmp_path / "opcert" / "environments"
    # The specification of these variables says that a relative path is ignored.
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert environments_folder() == tmp_path / ".cache" / "opcert" / "environments"
    assert environments._MARKER in {path.name for path in _kept(prepare([PACKAGE]).program)}


def _kept(python: Path) -> list[Path]:
    return list(python.parents[2].iterdir())


@pytest.mark.parametrize("upgrade", [False, True])
def test_an_upgrade_reaches_the_environment(monkeypatch: pytest.MonkeyPatch, upgrade: bool) -> None:
    asked: list[object] = []

    def record(
        requirements: tuple[str, ...], installer: object, **options: object
    ) -> environments.Environment:
        asked.extend((requirements, installer, options["upgrade"]))
        return environments.Environment(Path(), Path(sys.executable), "3.11", {})

    monkeypatch.setattr(runtimes, "prepare", record)
    found = runtimes.find_runtime("onnxruntime")
    runtimes.install(runtimes.upgraded(found) if upgrade else found, lambda sentence: None)
    assert asked == [("onnxruntime",), PythonPackages(), upgrade]


@pytest.mark.parametrize("text", ["package.module:Backend", f"exec:{sys.executable} worker.py"])
def test_what_opcert_does_not_install_is_not_upgraded(text: str) -> None:
    with pytest.raises(UserError, match="nothing to upgrade"):
        runtimes.upgraded(runtimes.find_runtime(text))

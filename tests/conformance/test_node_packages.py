"""Environments made by npm: what npm is told, and what is said where it fails or is not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.runtimes.adapter import WORKERS, load_adapter
from conformance.runtimes.environments import prepare
from conformance.runtimes.installers import NodePackages
from conformance.runtimes.runtimes import find_runtime, install, worker_command
from opcert.vocabulary.errors import RuntimeUnavailable, UserError

_LOCK = {
    "packages": {
        "": {"dependencies": {"onnxruntime-web": "^1.2.3"}},
        "node_modules/onnxruntime-web": {"version": "1.2.3"},
        "node_modules/a/node_modules/@scope/b": {"version": "4.5.6"},
    }
}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a script in the place of npm, and nothing else of Node.js into PATH but a name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def write(script: str) -> Path:
        for name, text in (("npm", f"#!/bin/sh\n{script}\n"), ("node", "#!/bin/sh\n")):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        return folder / "node"

    return write


def _make(folder: Path, requirement: str = "onnxruntime-web==1.2.3") -> Path:
    return prepare([requirement], NodePackages(), folder=folder / "environments").folder


def test_npm_installs_into_the_environment_and_runs_nothing(
    tmp_path: Path, programs: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    node = programs(
        f"printf '%s\\n' \"$@\" > {told}; env >> {told}; "
        f"printf '%s' '{json.dumps(_LOCK)}' > $3/package-lock.json"
    )
    monkeypatch.setenv("npm_config_registry", "https://registry.invalid/")
    monkeypatch.setenv("npm_config_global", "true")
    monkeypatch.setenv("NODE_OPTIONS", "--require ./mine.js")
    made = prepare(["onnxruntime-web==1.2.3"], NodePackages(), folder=tmp_path / "environments")
    words = told.read_text().splitlines()
    assert words[:3] == ["install", "--prefix", str(made.folder)]
    assert "--ignore-scripts" in words
    assert words[words.index("--") + 1] == "onnxruntime-web@1.2.3"
    assert "npm_config_registry=https://registry.invalid/" in words
    assert not [word for word in words if word.startswith(("npm_config_global=", "NODE_OPTIONS="))]
    assert (made.program, made.python_version) == (node, None)
    assert made.packages == {"onnxruntime-web": "1.2.3", "@scope/b": "4.5.6"}
    assert worker_command(load_adapter("onnxruntime-web"), made) == (
        str(node),
        str(WORKERS / "onnxruntime_js_worker.mjs"),
        str(made.folder / "node_modules" / "onnxruntime-web" / "package.json"),
    )
    programs("exit 1")
    assert prepare(["onnxruntime-web==1.2.3"], NodePackages(), folder=tmp_path / "environments") == made


@pytest.mark.parametrize(
    ("printed", "reason", "remedy"),
    [
        (
            "npm error code ETARGET\nnpm error notarget No matching version found for onnxruntime-web@9.9.\n"
            "npm error A complete log of this run can be found in: /home/a/.npm/_logs/x.log\n"
            "npm error Log files were not written due to the config logs-max=0",
            "from npm: ETARGET notarget No matching version found for onnxruntime-web@9.9",
            "Name a version that exists",
        ),
        ("npm error code ENOTFOUND\nnpm error network request failed", "ENOTFOUND", "Check the network"),
        ("npm error code ENOSPC", "ENOSPC", "Make room"),
        ("", "exit code 7", "Mend what npm names"),
    ],
)
def test_a_failure_is_said_with_npms_reason(
    tmp_path: Path, programs: Callable[[str], Path], printed: str, reason: str, remedy: str
) -> None:
    programs(f"printf '%s' '{printed}' >&2; exit 7")
    with pytest.raises(RuntimeUnavailable) as caught:
        _make(tmp_path)
    assert reason in str(caught.value)
    assert remedy in str(caught.value)
    assert not list(tmp_path.glob("environments/*/made-*"))


def test_a_missing_node_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeUnavailable, match=r"npm, which this runtime needs.*Install Node"):
        install(find_runtime("onnxruntime-web==0.0.1"), lambda sentence: None)


def test_an_interpreter_for_it_is_refused() -> None:
    with pytest.raises(UserError, match="it runs on Node"):
        find_runtime("onnxruntime-web", "python3")

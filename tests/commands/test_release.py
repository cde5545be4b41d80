"""What a release promises: one version in one place, an entry for it, and a certificate of a real runtime."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.commands.command_line import call, identity_suite

Capture = pytest.CaptureFixture[str]


def test_the_version_stands_in_one_place(repository: Path, capsys: Capture) -> None:
    stated = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["version"]
    assert stated == version("opcert")
    assert call(capsys, "--version").out.split()[-1] == stated
    packages = ("opcert", "specs", "reference", "generator", "conformance", "reports")
    quoted = re.compile(rf"""["']{re.escape(stated)}["']""")
    repeated = [
        path
        for name in packages
        for path in (repository / name).rglob("*.py")
        if quoted.search(path.read_text())
    ]
    assert repeated == []


def test_the_newest_entry_of_the_changes_is_of_this_version(repository: Path) -> None:
    entries = re.findall(r"^## (\S+)", (repository / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert entries[0] == version("opcert")
    assert len(entries) == len(set(entries))


@pytest.mark.runtimes("onnxruntime")
def test_a_certificate_of_a_real_runtime_names_the_library_that_ran(capsys: Capture, tmp_path: Path) -> None:
    suite, out = identity_suite(tmp_path, 2), tmp_path / "out"
    done = call(capsys, "certify", "onnxruntime", "-s", suite, "-o", out)
    assert done.code == 0, done.err
    predicate = json.loads((out / "certificate.json").read_text())["predicate"]
    loaded = {each["file"] for each in predicate["loaded"]}
    assert any(each.startswith("onnxruntime/capi/") for each in loaded)
    assert not [each for each in loaded if "/root" in each or each.startswith("/")]
    assert predicate["runtime"]["environment"]["packages"]["onnxruntime"] == predicate["runtime"]["version"]
    verified = call(capsys, "verify", out / "certificate.json", "--suite", suite)
    assert verified.code == 0, verified.out
    # By default both go in further forms that make another model of them, and one is watched in memory.
    assert "9 rows judged again" in verified.out

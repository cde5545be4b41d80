"""opcert as it is installed: beside folders, and distributions, that have the names of its packages."""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from opcert.__main__ import MARK, PACKAGES
from tests.conformance.samples import echo_runtime, make_case, make_suite

pytestmark = pytest.mark.slow

RAISES = "raise SystemExit('a folder of the user is imported')\n"
OWN_TEST = """
import generator, reports, specs
def test_own():
    assert (generator.OWNER, reports.OWNER, specs.OWNER) == ("user", "user", "user")
"""
BACKEND = """
import generator, reports
class Mine:
    @classmethod
    def supports_device(cls, device):
        return reports.OWNER == "user"
    @classmethod
    def run_model(cls, model, inputs, device="CPU"):
        return (inputs[0],)
"""


def call(words: Sequence[object], folder: Path, **more: str) -> tuple[int, str]:
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV") and not name.startswith("PYTEST_")
    }
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env={**surroundings, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def install(python: Path, *words: object) -> None:
    code, said = call(["uv", "pip", "install", "--quiet", "--python", python, *words], python.parent)
    assert code == 0, said


def make_environment(folder: Path) -> Path:
    """The interpreter of a new environment."""
    code, said = call(["uv", "venv", "--quiet", folder], folder.parent)
    assert code == 0, said
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def built(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source of a release, built of this checkout."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run(["uv", "build", "--quiet", "--out-dir", str(folder), str(repository)], check=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's folder: packages, a module and a dependency's name of his own, a test, a class, a suite."""
    folder = tmp_path / "project"
    for name in ("reports", "specs"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text('OWNER = "user"\n')
    (folder / "generator.py").write_text('OWNER = "user"\n')
    (folder / "click.py").write_text(RAISES)
    (folder / "conftest.py").write_text("")
    (folder / "test_own.py").write_text(OWN_TEST)
    (folder / "my_backend.py").write_text(BACKEND)
    make_suite(folder, [make_case(), make_case("ulp", seed=1)])
    return folder


def try_pytest(python: Path, project: Path, by: str, **more: str) -> None:
    tests = ["-p", "no:cacheprovider", "-q", "-rA", "--opcert-suite", "suite", "--opcert-by", by]
    code, said = call([python, "-m", "pytest", *tests, "--opcert-runtime", echo_runtime()], project, **more)
    assert code == 1, said
    assert "PASSED test_own.py::test_own" in said
    assert "1 failed, " in said
    assert "Error" not in said


def try_all(python: Path, project: Path) -> None:
    """Everything that a user does there, in a project that has our names."""
    opcert, module = python.with_name("opcert"), [python, "-m", "opcert"]
    assert call([opcert, "--version"], project) == (0, "opcert, version 0.1.0\n")
    code, said = call([opcert, "list", "operators"], project)
    assert code == 0, said
    assert "ai.onnx::Add-14" in said
    code, said = call([*module, "run", echo_runtime(), "-s", "suite", "-o", "run.jsonl"], project)
    assert (code, "1 failing" in said) == (1, True), said
    code, said = call([*module, "report", "run.jsonl", "-s", "suite", "--format", "json"], project)
    assert (code, (project / "report.json").is_file()) == (0, True), said
    code, said = call([*module, "run", "my_backend:Mine", "-s", "suite", "-o", "own.jsonl"], project)
    assert (code, "none fails" in said) == (0, True), said
    try_pytest(python, project, "cause")


def test_typed_and_marked_packages(built: Path, wheel: Path) -> None:
    places = [f"{package}/py.typed" for package in ("opcert", *PACKAGES)]
    with zipfile.ZipFile(wheel) as archive:
        assert set(places) <= set(archive.namelist())
        for package in ("opcert", *PACKAGES):
            assert archive.read(f"{package}/__init__.py").decode().startswith(MARK)
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert set(places) <= names


@pytest.mark.nightly
def test_beside_folders_of_the_same_names(wheel: Path, project: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "environment")
    install(python, wheel, "pytest")
    try_all(python, project)
    assert call([python, "-m", "opcert", "--version"], project, PYTHONPATH=str(project))[0] == 0
    (project / "click.py").unlink()
    elsewhere = tmp_path / "elsewhere"
    project.rename(elsewhere)
    project.mkdir()
    for name in ("test_own.py", "my_backend.py", "suite"):
        (elsewhere / name).rename(project / name)
    try_pytest(python, project, "family", PYTHONPATH=str(elsewhere))
    try_pytest(python, project, "family", PYTHONPATH="../elsewhere")


def test_beside_distributions_of_the_same_names(wheel: Path, project: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "environment")
    install(python, "--no-deps", "reports", "reference")
    install(python, wheel, "pytest")
    try_all(python, project)
    install(python, "--no-deps", "--reinstall", "reports", "reference")
    for words in (["-m", "opcert", "--version"], ["-m", "opcert", "report", "run.jsonl"]):
        code, said = call([python, *words], project)
        assert code == 2, said
        (line,) = said.splitlines()
        assert line.startswith("opcert: input: the package `reference` is not opcert's; got ")
        assert "reference/__init__.py of reference 0." in line
        assert "uninstall" in line
    code, said = call([python, "-m", "pytest", "--opcert-runtime", echo_runtime()], project)
    assert (code, "Traceback" in said) == (4, False), said
    assert "opcert: the package `reference` is not opcert's" in said
    code, said = call([python, "-m", "pytest", "-q"], project)
    assert code == 0, said
    call(["uv", "pip", "uninstall", "--python", python, "reports", "reference"], project)
    code, said = call([python.with_name("opcert"), "list", "runtimes"], project)
    assert (code, "got no " in said) == (2, True), said
    install(python, "--no-deps", "--reinstall", wheel)
    try_pytest(python, project, "operator")

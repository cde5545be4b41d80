"""Workers in Python run on every version from 3.9 up: a runtime's environment is not opcert's."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.runtimes.adapter import WORKERS
from conformance.runtimes.environments import prepare
from conformance.runtimes.installers import PythonPackages
from tests.conformance.test_runtime_examples import EXAMPLES, run_example

OLDEST = (3, 9)
SCRIPTS = [*sorted(WORKERS.glob("*.py")), EXAMPLES / "numpy_worker.py"]
# What the standard library has gained since, as far as it is more than a name in a module.
_NEWER_MODULES = frozenset({"tomllib", "compression", "annotationlib"})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda each: each.name)
def test_a_worker_is_written_in_the_oldest_python(script: Path) -> None:
    tree = ast.parse(script.read_text("utf-8"), feature_version=OLDEST)
    # Annotations of a newer kind are harmless where nobody evaluates them.
    future = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    assert future or script.name == "__init__.py"
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [name.name for name in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    beside = {path.stem for path in WORKERS.glob("*.py")}
    # `conformance` is imported for the type checker alone; import-linter and the runs see to that.
    known = (sys.stdlib_module_names - _NEWER_MODULES) | beside | {"numpy", "ml_dtypes", "conformance"}
    assert imported <= known


def test_ruff_finds_nothing_newer() -> None:
    command = [
        "ruff",
        "check",
        "--isolated",
        "--target-version",
        "py39",
        "--select",
        "E9,F",
        *map(str, SCRIPTS),
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout


def _find(version: str) -> str | None:
    """An interpreter of a version: by its name, as pyenv keeps it, or PyPy's."""
    named = [shutil.which(f"python{version}"), shutil.which("pypy3")]
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    asked = ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    for each in (*map(str, kept), *filter(None, named)):
        told = subprocess.run([each, *asked], capture_output=True, text=True, check=False)
        if told.stdout.strip() == version:
            return each
    return None


@pytest.mark.runtimes("numpy")
@pytest.mark.parametrize("version", ["3.9", "3.10"])
def test_a_worker_runs_on_an_old_python(tmp_path: Path, version: str) -> None:
    python = _find(version)
    if python is None:
        pytest.skip(f"Python {version} is absent")
    environment = prepare(["numpy"], PythonPackages(python))
    record = run_example(tmp_path, str(environment.program))
    assert [result.verdict for result in record.results].count("pass") == 5
    assert record.header["runtime"]["offer"]["platform"]["python"].startswith(f"{version}.")

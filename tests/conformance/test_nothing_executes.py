"""No module of the project has a way to execute what a file says: no pickle, no eval, no shell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PACKAGES = ("opcert", "specs", "reference", "generator", "conformance", "reports")
UNTRUSTWORTHY = {
    "pickle",
    "cPickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "code",
    "runpy",
    "pty",
}
CALLS = {"eval", "exec", "compile", "__import__"}
METHODS = {("os", "system"), ("os", "popen"), ("np", "load"), ("numpy", "load"), ("yaml", "load"),
           ("yaml", "unsafe_load"), ("yaml", "full_load")}  # fmt: skip
ALLOWED = {
    "generator/trust/mutants/mutants.py: compile",
    # Arrays that a user names as a model's inputs or a device returned; what is pickled is refused.
    "conformance/adopting/foreign_values.py: np.load",
    "conformance/adopting/foreign_values.py: allow_pickle=",
    # What a process says to a child of its own, through a pipe that nobody else has, and what a worker of a
    # cluster is given by the client that commands it, as everything that Dask carries: no file is read so.
    # What a cluster answers is another matter: tests/conformance/clusters/test_strict_messages.py.
    "conformance/clusters/own_process.py: pickle",
}
"""Mutants of the reference are made of its own syntax tree."""


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((REPOSITORY / package).rglob("*.py"))


def ways_to_execute(tree: ast.AST) -> Iterator[str]:
    """What in a module could run what a file says."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ({name.name.split(".")[0] for name in node.names} & UNTRUSTWORTHY)
        elif isinstance(node, ast.ImportFrom):
            yield from ({(node.module or "").split(".")[0]} & UNTRUSTWORTHY)
        elif isinstance(node, ast.keyword) and node.arg in ("shell", "allow_pickle"):
            yield f"{node.arg}="
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from ({node.func.id} & CALLS)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = (getattr(node.func.value, "id", ""), node.func.attr)
            if called in METHODS:
                yield ".".join(called)


@pytest.mark.parametrize("code", [
    "import pickle", "from marshal import loads", "import a, shelve", "eval(x)", "exec(x)", "os.system(x)",
    "np.load(x)", "subprocess.run(x, shell=True)", "f(allow_pickle=False)", "yaml.load(x)", "__import__(x)",
])  # fmt: skip
def test_the_search_finds_what_it_is_for(code: str) -> None:
    assert list(ways_to_execute(ast.parse(code)))


@pytest.mark.slow
def test_nothing_in_the_project_could_execute_a_file() -> None:
    found = {
        f"{path.relative_to(REPOSITORY)}: {way}"
        for path in sources()
        for way in ways_to_execute(ast.parse(path.read_text("utf-8")))
    }
    assert found <= ALLOWED

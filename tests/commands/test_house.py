"""`python -m tools.house`: what it counts in a small checkout, and what it says where a figure grew."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

FILES = {
    "conformance/__init__.py": "",
    "conformance/judge.py": 'from typing import Literal\n\nVerdict = Literal["pass", "rejected_valid"]\n',
    "generator/__init__.py": "",
    "generator/calls/__init__.py": "",
    "generator/calls/kinds/__init__.py": "",
    "generator/calls/kinds/axis.py": "class Part:\n    from generator.calls.rows import levels\n",
    "generator/calls/kinds/einsum.py": "",
    "generator/calls/rows/__init__.py": "",
    "generator/calls/rows/levels.py": "def late() -> None:\n    import generator.calls.kinds.axis\n",
    "generator/apart/__init__.py": "",
    "generator/apart/upsampled.py": "class Part:\n    pass\n\n\nclass _Hidden:\n    pass\n",
    "opcert/__init__.py": "",
    "reference/__init__.py": "",
    "reports/__init__.py": 'SAID = {"rejected_valid": "refused"}\n',
    "reports/told.py": 'SAID = "it is rejected_valid", "pass"\n\n\nclass _Hidden:\n    pass\n',
    "specs/__init__.py": "",
    "specs/ai.onnx/Einsum/spec.yaml": "kinds:\n  equation: einsum(X)\n  axis: {..9: axis(X)}\n",
    "specs/ai.onnx/Gather/spec.yaml": "kinds: {axis: axis(X) or error}\nwhy: einsum\n",
    "specs/parts/reduction.yaml": "kinds: {}\n",
    "specs/suite.json": "{\n}\n",
    "tools/made.py": "ONE = 1\n",
    "tests/test_resize.py": "THREE = 3\n" * 50,
    "docs/tables/agreement.md": f"# Page\n\n{'é' * 160}\n{'x' * 161}\n",
}
FIGURES = {
    "lines of Python outside tests": "20",
    "rooms of generator in a circle": "2",
    "rooms of reports in a circle": "0",
    "percent of modules that one other imports": "33.3",
    "percent of modules under 60 lines": "100.0",
    "kinds": "2",
    "kinds that one operator alone uses": "1",
    "class names that occur more than once": "1",
    "modules that spell a verdict out": "2",
    "lines of JSON in git": "2",
    "lines of Resize and Upsample": "6",
    "lines of Markdown in git": "4",
    "lines of Markdown with more than 160 characters": "1",
    "lines of the longest generated page": "4",
    "lines of the ten longest functions": "2",
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("checkout")
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    (root / "generator" / "unknown_to_git.json").write_text("{}\n" * 9, encoding="utf-8")
    return root


def house(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.house", "--root", str(root), *words]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def columns(printed: str) -> dict[str, list[str]]:
    return {line[:50].strip(): line[50:].split() for line in printed.splitlines()}


def test_what_is_counted(checkout: Path) -> None:
    made = house(checkout, "--update")
    assert made.returncode == 0, made.stderr
    found = columns(made.stdout)
    assert {name: found[name][:2] for name in FIGURES} == {name: [is_, is_] for name, is_ in FIGURES.items()}
    assert found["rooms of generator in a circle"][2:] == ["of", "4", "calls.kinds", "calls.rows"]
    assert house(checkout, "--check").returncode == 0


def test_a_figure_that_grew_or_that_nobody_allows_is_named(checkout: Path) -> None:
    house(checkout, "--update")
    kept = checkout / "tools" / "house.yaml"
    text = kept.read_text(encoding="utf-8")
    kept.write_text(
        text.replace("kinds: 2", "kinds: 1")
        .replace("lines of JSON in git: 2", "lines of JSON in git: 3")
        .replace("lines of Markdown in git:", "lines of poems:"),
        encoding="utf-8",
    )
    checked = house(checkout, "--check")
    assert checked.returncode == 1
    said = checked.stderr.splitlines()
    assert [line.partition(";")[0].partition(". ")[0] for line in said] == [
        "kinds: 2, more than the 1 of tools/house.yaml",
        "tools/house.yaml has no figure `lines of Markdown in git`",
        "tools/house.yaml has a figure `lines of poems` that nothing counts any more",
    ]
    assert house(checkout).returncode == 0


def test_the_figures_of_this_checkout_are_those_that_are_named() -> None:
    kept = (REPOSITORY / "tools" / "house.yaml").read_text(encoding="utf-8")
    assert [name for name in FIGURES if f"\n{name}: " not in kept] == []

"""What messages tell people to do can be done by whoever has installed opcert."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("conformance", "generator", "opcert", "reference", "reports", "specs")
NOT_INSTALLED = re.compile(r"benchmarks|-m (?:tools|tests)\b|\btools[./][a-z]")
"""Packages of the checkout that no wheel has, as commands name them."""


def texts(path: Path) -> list[tuple[int, str]]:
    """The texts of a module, those within others too, by their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [(constant.lineno, constant.value) for constant in constants if isinstance(constant.value, str)]


def test_no_text_of_a_package_names_what_is_not_installed() -> None:
    named, seen = [], 0
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for line, text in texts(path):
                seen += 1
                if NOT_INSTALLED.search(text):
                    named.append(f"{path.relative_to(ROOT)}:{line}")
    assert named == []
    assert seen > 10_000

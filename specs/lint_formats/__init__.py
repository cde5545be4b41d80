"""The forms in which findings are printed: one module each, found by its name.

A module `json.py` is the form `json`; its `write(linted: Linted) -> str` gives the whole text.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module

from specs.lint.linting import Linted

Write = Callable[[Linted], str]


def list_formats() -> list[str]:
    """The names of all forms."""
    return sorted(each.name for each in pkgutil.iter_modules(__path__))


def find_format(name: str) -> Write:
    """The writer of a form."""
    write: Write = import_module(f"{__name__}.{name}").write
    return write

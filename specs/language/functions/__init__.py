"""Functions of the expression language that need a page of their own: one a module, found by the file's name.

Each is pure and bounded in work, takes plain numbers, texts and lists, and raises ValueError where it has no
value.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any


def find_functions() -> dict[str, Callable[..., Any]]:
    """Every function of this package by its name."""
    names = [each.name for each in pkgutil.iter_modules(__path__)]
    return {name: getattr(import_module(f"{__name__}.{name}"), name) for name in names}

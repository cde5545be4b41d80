"""Looks for `module:Class` without running any of it, in the interpreter that is to run it.

Usage: backend_lookup.py MODULE CLASS. Prints nothing where it is there, or where only running the
module would tell; else a line of JSON: `module` that there is none, or `classes` that the module has instead.
"""

from __future__ import annotations

import ast
import json
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Dict, List, Optional

_UNTOLD = ("setattr", "exec", "globals", "vars", "__getattr__", "__dict__")
"""Names with which a module may get others that it does not write down."""


def _find(module: str) -> Any:
    """The spec of a module; packages are imported only where their folders do not have it."""
    found: Any = None
    path: Optional[List[str]] = None
    words = module.split(".")
    for place in range(len(words)):
        name = ".".join(words[: place + 1])
        found = find_spec(name) if place == 0 else PathFinder.find_spec(name, path)
        if found is None:
            return None if place == 0 else find_spec(module)
        path = found.submodule_search_locations and list(found.submodule_search_locations)
    return found


def _names(tree: ast.Module) -> Optional[Dict[str, bool]]:
    """The names that a module binds anywhere, true for classes; None where it may bind others."""
    names: Dict[str, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names[node.name] = True
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name in _UNTOLD:
                return None
            names.setdefault(node.name, False)
        elif isinstance(node, ast.Name):
            if node.id in _UNTOLD:
                return None
            names.setdefault(node.id, False)
        elif isinstance(node, ast.Attribute) and node.attr in _UNTOLD:
            return None
        elif isinstance(node, ast.alias):
            if node.name == "*":
                return None
            names.setdefault(node.asname or node.name.split(".")[0], False)
    return names


def _missing(module: str, wanted: str) -> Dict[str, Any]:
    """What is not there; nothing where it is, or where nobody knows."""
    try:
        found = _find(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        return {"module": module}
    if not str(found.origin or "").endswith(".py"):
        return {}
    names = _names(ast.parse(Path(found.origin).read_bytes()))
    if names is None or wanted.split(".")[0] in names:
        return {}
    return {"classes": sorted(name for name, is_class in names.items() if is_class)}


if __name__ == "__main__":
    found = _missing(sys.argv[1], sys.argv[2])
    if found:
        print(json.dumps(found))

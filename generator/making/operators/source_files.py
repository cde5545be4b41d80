"""Files that suites are made from: the digest of each, and the modules that those of Python import."""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from opcert.vocabulary.regular_files import FileState, file_state

DIGITS = 16


def digest_of_file(path: Path) -> str:
    """The digest of a file as it is now; one that has its time, size and place still is not read again."""
    return _digest_of_file(path, file_state(path))


def imports_of(path: Path) -> tuple[str, ...]:
    """The modules that a file of Python imports, as `imported_names` has them; cached as its digest is."""
    return _imports_of(path, file_state(path))


@lru_cache(maxsize=4096)
def _digest_of_file(path: Path, _: FileState | None) -> str:
    return digest_of([path])


@lru_cache(maxsize=4096)
def _imports_of(path: Path, _: FileState | None) -> tuple[str, ...]:
    return imported_names(path.read_text(encoding="utf-8", errors="replace"))


def digest_of(files: Iterable[Path]) -> str:
    """A digest of files' contents, whatever the line ends of the checkout."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0")
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:DIGITS]


def imported_names(code: str) -> tuple[str, ...]:
    """The modules that code names in its imports, wherever these stand; names that are no modules among them.

    Where code lists the modules of a package (`package.__path__`), it is `package.*`, of its own one `.*`.
    Code that is no Python imports nothing.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return ()
    return tuple(dict.fromkeys(name for node in ast.walk(tree) for name in _names_in(node)))


def _names_in(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(module=str(module)):
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        case ast.Attribute(attr="__path__"):
            yield f"{ast.unparse(node.value)}.*"
        case ast.Name(id="__path__"):
            yield ".*"


def modules_under(folder: Path, package: str) -> Mapping[str, Path]:
    """The files of a package's modules by their names, itself and all in it; none where it is not there."""
    found: dict[str, Path] = {}
    pending = [(package, str(folder))] if folder.is_dir() else []
    while pending:
        name, place = pending.pop()
        with os.scandir(place) as inside:
            for each in inside:
                if each.name == "__init__.py":
                    found.setdefault(name, Path(each.path))
                elif each.name.endswith(".py"):
                    found[f"{name}.{each.name[:-3]}"] = Path(each.path)
                elif each.name.isidentifier() and each.name != "__pycache__" and each.is_dir():
                    pending.append((f"{name}.{each.name}", each.path))
    return found

"""Files that suites are made from: the digest of each, and the modules that it imports."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from opcert.vocabulary.regular_files import FileState, file_state

DIGITS = 16
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w.]+))", re.M
)


@dataclass(frozen=True)
class SourceFile:
    """The digest of a file, and the modules that it names in its imports, where it is of Python."""

    digest: str
    imports: tuple[str, ...] = ()


def read_source(path: Path) -> SourceFile:
    """A file as it is now; one that was read before and has its time, size and place still is not read."""
    return _read(path, file_state(path))


@lru_cache(maxsize=4096)
def _read(path: Path, _: FileState | None) -> SourceFile:
    names = imported_names(path.read_text(encoding="utf-8")) if path.suffix == ".py" else []
    return SourceFile(digest_of([path]), tuple(names))


def digest_of(files: Iterable[Path]) -> str:
    """A digest of files' contents, whatever the line ends of the checkout."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0")
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:DIGITS]


def imported_names(code: str) -> list[str]:
    """The modules that code names in its imports; names that are no modules among them."""
    names = []
    for module, listed, plain in _IMPORT.findall(code):
        names.append(module or plain)
        names += [f"{module}.{each}" for each in re.findall(r"\w+", listed) if module]
    return names


def modules_under(root: Path, package: str) -> Mapping[str, str]:
    """The paths of a package's modules by their names, itself and all in it; none where it is not there."""
    alone = root / f"{package}.py"
    if alone.is_file():
        return {package: str(alone)}
    found: dict[str, str] = {}
    pending = [(package, str(root / package))] if (root / package).is_dir() else []
    while pending:
        name, folder = pending.pop()
        with os.scandir(folder) as inside:
            for each in inside:
                if each.name == "__init__.py":
                    found.setdefault(name, each.path)
                elif each.name.endswith(".py"):
                    found[f"{name}.{each.name[:-3]}"] = each.path
                elif each.name.isidentifier() and each.name != "__pycache__" and each.is_dir():
                    pending.append((f"{name}.{each.name}", each.path))
    return found

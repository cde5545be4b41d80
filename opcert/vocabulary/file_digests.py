"""Digests of files: of the bytes of one, of the names and bytes of many, and of opcert's own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from opcert.vocabulary.regular_files import open_regular

_PACKAGES = ("conformance", "generator", "opcert", "reference", "reports", "specs")
_SOURCES = (".py", ".yaml", ".mjs")
_LEFT_OUT = "locks"


def digest_of(path: Path, most: int | None = None) -> str:
    """SHA-256 over the bytes of a regular file that has at most so many; raises OSError as `open_regular`."""
    with open_regular(path, most) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_by_name(files: Mapping[str, Path]) -> str:
    """SHA-256 over names, sizes and bytes of files by their names; OSError where one cannot be read."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        raw = path.read_bytes()
        digest.update(f"{name}\0{len(raw)}\0".encode())
        digest.update(raw)
    return digest.hexdigest()


@cache
def project_digest() -> str:
    """SHA-256 over the names and bytes of opcert's own modules and facts, wherever they are installed."""
    files: dict[str, Path] = {}
    for package in _PACKAGES:
        for root in _folders_of(package):
            for path in root.rglob("*"):
                name = path.relative_to(root)
                if path.suffix in _SOURCES and name.parts[0] != _LEFT_OUT and path.is_file():
                    files[f"{package}/{name.as_posix()}"] = path
    return digest_by_name(files)


def _folders_of(package: str) -> list[Path]:
    found = find_spec(package)
    return [Path(place) for place in (found.submodule_search_locations or ())] if found is not None else []

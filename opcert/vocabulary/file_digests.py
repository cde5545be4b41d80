"""Digests of files: of the bytes of one, and of the names and bytes of many."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from opcert.vocabulary.regular_files import open_regular


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

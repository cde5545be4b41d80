"""One digest of many files: of their names and their bytes, in the order of the names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path


def digest_by_name(files: Mapping[str, Path]) -> str:
    """SHA-256 over names, sizes and bytes of files by their names; OSError where one cannot be read."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        raw = path.read_bytes()
        digest.update(f"{name}\0{len(raw)}\0".encode())
        digest.update(raw)
    return digest.hexdigest()

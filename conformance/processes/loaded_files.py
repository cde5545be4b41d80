"""The files that a process runs code from: what was loaded, whatever its environment says was installed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conformance.processes.confinement import is_surrounding
from conformance.processes.descendants import descendants
from opcert.vocabulary.regular_files import open_regular

LARGEST = 8 << 30


def loaded_files(process: int) -> set[Path]:
    """The files whose code a process or one of its descendants has in memory; none where nobody tells."""
    found: set[Path] = set()
    for each in (process, *descendants(process)):
        if is_surrounding(each):
            continue
        try:
            maps = Path(f"/proc/{each}/maps").read_text("utf-8", "surrogateescape")
        except OSError:
            continue
        for line in maps.splitlines():
            parts = line.split(maxsplit=5)
            if len(parts) == 6 and "x" in parts[1] and parts[5].startswith("/"):
                found.add(Path(parts[5]))
    return found


def by_name(digests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Digests in the order in which a record has them."""
    return sorted(digests, key=lambda each: (str(each["file"]), str(each["sha256"])))


def digests_by_path(files: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    """For each file that is still there: `file`, `bytes` and `sha256`.

    A file of an installed package is named from its `site-packages` on, any other one without its folder: two
    machines name the same file alike, and no name tells where somebody works.
    """
    found = {}
    for each in files:
        try:
            with open_regular(each, LARGEST) as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
                size = opened.seek(0, 2)
        except OSError:
            continue  # a file that was removed after it was loaded
        found[each] = {"file": _public_name(each), "bytes": size, "sha256": digest}
    return found


def merge_digests(parts: Iterable[Iterable[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The files of several records, each once; one that differs between them stands there as often."""
    every = {(each["file"], each["sha256"]): each for part in parts for each in part}
    return [every[key] for key in sorted(every)]


def _public_name(path: Path) -> str:
    parts = path.parts
    if "site-packages" in parts:
        return "/".join(parts[len(parts) - parts[::-1].index("site-packages") :])
    return path.name

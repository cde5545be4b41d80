"""Whether anything in the environment of a runtime has changed: what its files are, without reading them."""

from __future__ import annotations

import os
import stat
from collections.abc import Container
from pathlib import Path

from conformance.runtimes.environments import find_kept
from conformance.runtimes.runtimes import Runtime, installer_of
from conformance.suite.canonical import canonical_json, sha256

_NOT_OF_PYTHON = frozenset({"__pycache__", "site-packages", "dist-packages"})
"""Of the interpreter's own library: compiled files, which whoever runs it adds, and say no more than their
sources; and packages, which an environment of its own does not see."""


def environment_state(runtime: Runtime) -> str | None:
    """A digest of what a runtime's process can read of its environment and of its interpreter's own library.

    It is of each file's name, size, mode, number, and times of writing and of change; the last is the
    system's own, so that an edit in place shows whatever is done to the other one. None where this cannot be
    known: opcert has not made the environment, or something in it lies elsewhere.
    """
    found = None
    if runtime.requirements:
        found = find_kept(runtime.requirements, installer_of(runtime.adapter, runtime.python))
    if found is None:
        return None
    try:
        listed = [_list_folder(found.folder), os.path.realpath(found.program)]
        if found.python_version is not None:
            listed += [_list_folder(each, _NOT_OF_PYTHON) for each in _standard_library(found.program)]
    except (OSError, ValueError):
        return None
    return sha256(canonical_json(listed))


def _standard_library(program: Path) -> list[Path]:
    """The folders of a Python's own modules, of which there is one or more beside its program."""
    home = Path(os.path.realpath(program)).parent.parent
    found = sorted(each for each in home.glob("lib*/p*") if (each / "os.py").is_file())
    if not found:
        raise ValueError("an interpreter whose modules lie elsewhere")
    return found


def _list_folder(folder: Path, but: Container[str] = ()) -> list[list[object]]:
    """A line for each entry below; ValueError where a link to a folder leads out of it."""
    found: list[list[object]] = []
    inside = os.path.realpath(folder)
    waiting = [inside]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for each in entries:
                status = each.stat()
                if not stat.S_ISDIR(status.st_mode):
                    found.append([os.path.relpath(each.path, inside), *_told(status)])
                elif each.is_symlink():
                    if not os.path.realpath(each.path).startswith(inside + os.sep):
                        raise ValueError("a link that leads elsewhere")
                    found.append([os.path.relpath(each.path, inside), os.path.realpath(each.path)])
                elif each.name not in but:
                    waiting.append(each.path)
    return sorted(found, key=lambda line: str(line[0]))


def _told(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mode, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]

"""Environments of their own for runtimes: made when first asked for, and kept in the user's cache.

A kept environment is a folder `<slug>` that holds `environment.json`, a lock, and the environments
themselves under names used once. `environment.json` says which of them holds; it is written by rename and
last of all, so that one that is half made is never used, and one that is replaced stays where processes that
run in it find their files, until the next replacement.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from conformance.processes.confinement import ENVIRONMENTS
from conformance.runtimes.installers import PythonPackages
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.file_locks import open_lock, wait_for_lock
from opcert.vocabulary.names import slug
from opcert.vocabulary.user_folders import cache_folder
from opcert.vocabulary.whole_files import place_bytes

_MARKER = "environment.json"
_FORMAT = "opcert-environment/1"


class Installer(Protocol):
    """Fills folders with packages of one language; each method but `program` may raise RuntimeUnavailable."""

    @property
    def identity(self) -> str:
        """What tells its environments from others of the same requirements."""

    def fill(self, environment: Path, requirements: Sequence[str]) -> dict[str, str]:
        """Install into an empty folder; returns every package there by name and version."""

    def program(self, environment: Path) -> Path:
        """What runs the packages."""

    def version(self, environment: Path) -> str | None:
        """The version of the program, where it belongs to the environment."""

    def build(self, environment: Path, package: str) -> Mapping[str, str] | None:
        """Which build of a package is installed: the `file` of its archive and a digest; None if unknown."""


@dataclass(frozen=True)
class Environment:
    """A kept environment: its folder, the program that runs what is in it, and its packages by version.

    `python_version` is None where that program is no Python.
    """

    folder: Path
    program: Path
    python_version: str | None
    packages: Mapping[str, str]


def environments_folder() -> Path:
    """Where environments are kept: `opcert/environments` in XDG_CACHE_HOME, or in `~/.cache` without one."""
    return cache_folder() / ENVIRONMENTS


def prepare(
    requirements: Sequence[str],
    installer: Installer | None = None,
    *,
    upgrade: bool = False,
    folder: Path | None = None,
    announce: Callable[[str], None] | None = None,
) -> Environment:
    """The kept environment that holds `requirements`; it is made if there is none yet.

    `requirements` are exact (`onnxruntime==1.20.1`) or a bare name, which means the newest version when the
    environment is made. `installer` is by default that of Python packages for the interpreter that runs
    opcert. `upgrade` makes it anew. `folder` stands in for `environments_folder()`. `announce` is
    told in a sentence when something takes time. Two processes that ask for the same one make it once.
    Raises RuntimeUnavailable, with the installer's reason, where it cannot be made.
    """
    by = installer or PythonPackages()
    tell = announce or (lambda _: None)
    home = (folder or environments_folder()) / _name(requirements, by.identity)
    found = None if upgrade else _read(home, by)
    if found is not None:
        return found
    replaced = _marker_identity(home)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _locked(home, tell):
            # Somebody else may have made it while this process waited for the lock.
            found = _read(home, by)
            if found is not None and (not upgrade or _marker_identity(home) != replaced):
                return found
            tell(f"making an environment for {' '.join(requirements)} (once)")
            return _make(home, requirements, by)
    except OSError as error:
        raise RuntimeUnavailable(
            f"no environment for {' '.join(requirements)} could be made",
            got=str(error),
            remedy=f"Make room in {home.parent}, or set XDG_CACHE_HOME to a folder that can be written.",
        ) from error


def find_kept(requirements: Sequence[str], installer: Installer) -> Environment | None:
    """The kept environment that holds `requirements`; None where `prepare` would have to make it."""
    return _read(environments_folder() / _name(requirements, installer.identity), installer)


def _name(requirements: Sequence[str], identity: str) -> str:
    asked = json.dumps([sorted(requirements), identity])
    return f"{slug('-'.join(requirements))}-{hashlib.sha256(asked.encode()).hexdigest()[:8]}"


def _read(home: Path, installer: Installer) -> Environment | None:
    """The environment that the marker names; None where there is none, or nothing that runs it."""
    try:
        marker = json.loads((home / _MARKER).read_text("utf-8"))
        if marker["format"] != _FORMAT:
            return None
        folder = home / slug(marker["folder"])
        found = Environment(
            folder, installer.program(folder), marker["python_version"], dict(marker["packages"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if folder.is_dir() and os.access(found.program, os.X_OK) else None


def _marker_identity(home: Path) -> tuple[int, int] | None:
    try:
        status = (home / _MARKER).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextmanager
def _locked(home: Path, tell: Callable[[str], None]) -> Iterator[None]:
    lock = open_lock(home / "lock")
    try:
        wait_for_lock(lock, lambda _: tell(f"waiting for another process that makes {home.name}"), 0)
        yield
    finally:
        os.close(lock)


def _make(home: Path, requirements: Sequence[str], installer: Installer) -> Environment:
    """Make an environment under a new name, then let the marker name it. Call under the lock."""
    current = _read(home, installer)
    keep = current.folder.name if current else None
    for leftover in home.iterdir():
        if leftover.is_dir() and leftover.name != keep:
            shutil.rmtree(leftover, ignore_errors=True)
    environment = Path(tempfile.mkdtemp(prefix="made-", dir=home))
    try:
        packages = installer.fill(environment, requirements)
        marker = {
            "format": _FORMAT,
            "folder": environment.name,
            "requirements": list(requirements),
            "python_version": installer.version(environment),
            "packages": packages,
        }
        text = json.dumps(marker, indent=1, sort_keys=True) + "\n"
        place_bytes(home / _MARKER, text.encode(), environment)
    except BaseException:
        shutil.rmtree(environment, ignore_errors=True)
        raise
    made = _read(home, installer)
    if made is None:
        raise RuntimeUnavailable(
            f"the environment made for {' '.join(requirements)} has no program that can be run",
            got=str(installer.program(environment)),
        )
    return made

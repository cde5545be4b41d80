"""Environments of their own for runtimes: made by uv when first asked for, and kept in the user's cache.

A kept environment is a folder `<slug>` that holds `environment.json`, a lock, and the virtual environments
themselves under names used once. `environment.json` says which of them holds; it is written by rename and
last of all, so that one that is half made is never used, and one that is replaced stays where processes that
run in it find their files, until the next replacement.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.installing import run_uv
from opcert.errors import RuntimeUnavailable
from opcert.names import slug

_MARKER = "environment.json"
_FORMAT = "opcert-environment/1"


@dataclass(frozen=True)
class Environment:
    """A kept environment: its interpreter, the version of that, and its packages by name and version."""

    python: Path
    python_version: str
    packages: Mapping[str, str]


def environments_folder() -> Path:
    """Where environments are kept: `opcert/environments` in XDG_CACHE_HOME, or in `~/.cache` without one."""
    kept = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(kept) if Path(kept).is_absolute() else Path.home() / ".cache"
    return base / "opcert" / "environments"


def prepare(
    requirements: Sequence[str],
    *,
    python: str | None = None,
    upgrade: bool = False,
    folder: Path | None = None,
    announce: Callable[[str], None] | None = None,
) -> Environment:
    """The kept environment that holds `requirements`; it is made if there is none yet.

    `requirements` are exact (`onnxruntime==1.20.1`) or a bare name, which means the newest version when the
    environment is made. `upgrade` makes it anew. `python` is an interpreter or whatever else uv understands;
    without it the interpreter that runs opcert. `folder` stands in for `environments_folder()`. `announce` is
    told in a sentence when something takes time. Two processes that ask for the same one make it once.
    Raises RuntimeUnavailable, with uv's reason, where it cannot be made.
    """
    interpreter = _real_interpreter(python or sys.executable)
    tell = announce or _tell_nobody
    home = (folder or environments_folder()) / _name(requirements, interpreter)
    found = None if upgrade else _read(home)
    if found is not None:
        return found
    replaced = _marker_identity(home)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _locked(home, tell):
            # Somebody else may have made it while this process waited for the lock.
            found = _read(home)
            if found is not None and (not upgrade or _marker_identity(home) != replaced):
                return found
            tell(f"making an environment for {' '.join(requirements)} (once)")
            return _make(home, requirements, interpreter)
    except OSError as error:
        raise RuntimeUnavailable(
            f"no environment for {' '.join(requirements)} could be made",
            got=str(error),
            remedy=f"Make room in {home.parent}, or set XDG_CACHE_HOME to a folder that can be written.",
        ) from error


def _tell_nobody(sentence: str) -> None:
    del sentence


def _real_interpreter(python: str) -> str:
    """Of a virtual environment the interpreter behind it, so that checkouts of opcert share runtimes."""
    return str(Path(python).resolve()) if Path(python).is_file() else python


def _name(requirements: Sequence[str], interpreter: str) -> str:
    asked = json.dumps([sorted(requirements), interpreter])
    return f"{slug('-'.join(requirements))}-{hashlib.sha256(asked.encode()).hexdigest()[:8]}"


def _read(home: Path) -> Environment | None:
    """The environment that the marker names; None where there is none, or its interpreter is gone."""
    try:
        marker = json.loads((home / _MARKER).read_text("utf-8"))
        if marker["format"] != _FORMAT:
            return None
        python = _interpreter(home / slug(marker["folder"]))
        found = Environment(python, str(marker["python_version"]), dict(marker["packages"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if os.access(python, os.X_OK) else None


def _interpreter(environment: Path) -> Path:
    return environment / "bin" / "python"


def _marker_identity(home: Path) -> tuple[int, int] | None:
    try:
        status = (home / _MARKER).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextmanager
def _locked(home: Path, tell: Callable[[str], None]) -> Iterator[None]:
    with (home / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"waiting for another process that makes {home.name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(home: Path, requirements: Sequence[str], interpreter: str) -> Environment:
    """Make a virtual environment under a new name, then let the marker name it. Call under the lock."""
    current = _read(home)
    keep = current.python.parent.parent.name if current else None
    for leftover in home.iterdir():
        if leftover.is_dir() and leftover.name != keep:
            shutil.rmtree(leftover, ignore_errors=True)
    environment = Path(tempfile.mkdtemp(prefix="made-", dir=home))
    try:
        written = environment / _MARKER
        written.write_text(_install(environment, requirements, interpreter), "utf-8")
        written.replace(home / _MARKER)
    except BaseException:
        shutil.rmtree(environment, ignore_errors=True)
        raise
    made = _read(home)
    if made is None:
        raise RuntimeUnavailable(
            f"the environment made for {' '.join(requirements)} has no interpreter that can be run",
            got=str(_interpreter(environment)),
        )
    return made


def _install(environment: Path, requirements: Sequence[str], interpreter: str) -> str:
    """Fill an empty folder with a virtual environment; returns the marker's text."""
    wanted = " ".join(requirements)
    python = str(_interpreter(environment))

    def run(*arguments: str) -> str:
        return run_uv(arguments, wanted=wanted, folder=environment.parent.parent)

    run("venv", "--quiet", "--no-project", "--allow-existing", "--python", interpreter, str(environment))
    # Wheels alone: making an environment runs no code of the packages.
    install = ("pip", "install", "--quiet", "--no-build", "--compile-bytecode", "--python", python)
    run(*install, "--", *requirements)
    listed = json.loads(run("pip", "list", "--quiet", "--format", "json", "--python", python))
    marker = {
        "format": _FORMAT,
        "folder": environment.name,
        "requirements": list(requirements),
        "python_version": _configured(environment / "pyvenv.cfg", "version_info"),
        "packages": {each["name"]: each["version"] for each in listed},
    }
    return json.dumps(marker, indent=1, sort_keys=True) + "\n"


def _configured(file: Path, key: str) -> str:
    found = re.search(rf"^{key}\s*=\s*(\S+)", file.read_text("utf-8"), re.MULTILINE)
    return found[1] if found else "unknown"

"""Python packages in a virtual environment, installed by uv."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import uv

from conformance.runtimes.installed_builds import find_wheel
from conformance.runtimes.installing import run_installer
from opcert.vocabulary.errors import RuntimeUnavailable

# Nothing else that begins with UV_ passes: UV_PYTHON would change what is made.
_KEPT = frozenset(
    {"UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX", "UV_KEYRING_PROVIDER"}
    | {"UV_INSECURE_HOST", "UV_CACHE_DIR", "UV_OFFLINE", "UV_HTTP_TIMEOUT", "UV_HTTP_RETRIES"}
    | {"UV_LINK_MODE", "UV_CONFIG_FILE", "UV_NO_CONFIG", "UV_PYTHON_INSTALL_DIR"}
    | {"UV_NATIVE_TLS", "UV_SYSTEM_CERTS"}
)
_KEPT_PREFIX = "UV_INDEX"


@dataclass(frozen=True)
class PythonPackages:
    """Packages for an interpreter: a path, or whatever else uv understands (`3.12`, `pypy`)."""

    python: str = sys.executable

    @property
    def identity(self) -> str:
        """Of a virtual environment the interpreter behind it, so that checkouts of opcert share runtimes."""
        return str(Path(self.python).resolve()) if Path(self.python).is_file() else self.python

    def program(self, environment: Path) -> Path:
        return environment / "bin" / "python"

    def fill(self, environment: Path, requirements: Sequence[str]) -> dict[str, str]:
        wanted = " ".join(requirements)
        python = str(self.program(environment))

        def run(*arguments: str) -> str:
            return run_uv(arguments, wanted=wanted, folder=environment.parent.parent)

        run(
            "venv", "--quiet", "--no-project", "--allow-existing", "--python", self.identity, str(environment)
        )
        # Wheels alone: making an environment runs no code of the packages.
        install = ("pip", "install", "--quiet", "--no-build", "--compile-bytecode", "--python", python)
        run(*install, "--", *requirements)
        listed = json.loads(run("pip", "list", "--quiet", "--format", "json", "--python", python))
        return {each["name"]: each["version"] for each in listed}

    def version(self, environment: Path) -> str | None:
        written = (environment / "pyvenv.cfg").read_text("utf-8")
        found = re.search(r"^version_info\s*=\s*(\S+)", written, re.MULTILINE)
        return found[1] if found else None

    def build(self, environment: Path, package: str) -> Mapping[str, str] | None:
        return find_wheel(environment, package)


def run_uv(arguments: Sequence[str], *, wanted: str, folder: Path) -> str:
    """Run uv with `arguments` and return what it prints.

    `wanted` (what is being installed) and `folder` (where) go into the message. Raises RuntimeUnavailable
    with uv's own reason where it fails or is not there.
    """
    try:
        program = uv.find_uv_bin()
    except FileNotFoundError as error:
        raise RuntimeUnavailable(
            "uv, which makes the environments of runtimes, was not found",
            got=str(error),
            remedy="Install it beside opcert: python -m pip install uv",
        ) from error
    command = [program, "--color", "never", "--no-progress", *arguments]
    finished = run_installer(command, lambda name: name in _KEPT or name.startswith(_KEPT_PREFIX))
    if finished.returncode == 0:
        return finished.stdout.decode("utf-8", "replace")
    reason = explain(finished.stderr.decode("utf-8", "replace")) or f"exit code {finished.returncode}"
    raise RuntimeUnavailable(
        f"{wanted} could not be installed", got=f"from uv: {reason}", remedy=_remedy(reason, folder)
    )


def explain(printed: str) -> str:
    """uv's message on one line, without the tree that it draws and without a full stop."""
    lines = (re.sub(r"^[\s×│├╰─▶┃^]+", "", line).strip() for line in printed.splitlines())
    return re.sub(r"^error: ", "", " ".join(line for line in lines if line))[:1000].rstrip(".")


def _remedy(reason: str, folder: Path) -> str:
    if "No space left" in reason or "quota" in reason:
        return f"Make room in {folder} and in uv's cache, or set XDG_CACHE_HOME to another folder"
    if "Failed to fetch" in reason or "error sending request" in reason:
        return "Check the network, or name a package index that can be reached in UV_DEFAULT_INDEX"
    if "o solution found" in reason or "Failed to parse" in reason:
        return "Name a version that exists for this Python and machine, or none for the newest"
    return "Mend what uv names and run the same command again"

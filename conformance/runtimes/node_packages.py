"""Packages of Node.js in a folder of their own, installed by npm."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.runtimes.installed_builds import find_node_package
from conformance.runtimes.installing import run_installer
from opcert.vocabulary.errors import RuntimeUnavailable

# How npm reaches a registry and its own cache; npm takes these names in any case.
_KEPT = frozenset(
    f"npm_config_{each}"
    for each in (
        "registry", "userconfig", "globalconfig", "cache", "cafile", "ca", "strict_ssl", "proxy",
        "https_proxy", "noproxy", "offline", "prefer_offline", "fetch_retries", "fetch_timeout",
    )
)  # fmt: skip
_KEPT_OF_NODE = frozenset({"NODE_EXTRA_CA_CERTS"})
_SAYS_NOTHING = ("npm warn", "A complete log", "Log files were not written")
_QUIET = ("--loglevel", "error", "--no-audit", "--no-fund", "--no-update-notifier", "--logs-max", "0")


@dataclass(frozen=True)
class NodePackages:
    """Packages that run on the Node.js of the caller's PATH."""

    @property
    def identity(self) -> str:
        """One for all: what is installed here is bound to no version of Node.js."""
        return "node"

    def program(self, environment: Path) -> Path:
        del environment  # npm installs no Node.js
        return _find("node")

    def fill(self, environment: Path, requirements: Sequence[str]) -> dict[str, str]:
        wanted = [each.replace("==", "@") for each in requirements]
        # Without scripts: making an environment runs no code of the packages.
        install = ("install", "--prefix", str(environment), "--ignore-scripts", *_QUIET, "--", *wanted)
        finished = run_installer([str(_find("npm")), *install], _keeps)
        if finished.returncode:
            reason = explain(finished.stderr.decode("utf-8", "replace")) or f"exit code {finished.returncode}"
            raise RuntimeUnavailable(
                f"{' '.join(requirements)} could not be installed",
                got=f"from npm: {reason}",
                remedy=_remedy(reason, environment.parent.parent),
            )
        listed = json.loads((environment / "package-lock.json").read_text("utf-8"))["packages"]
        return {
            name.rpartition("node_modules/")[2]: str(each["version"]) for name, each in listed.items() if name
        }

    def version(self, environment: Path) -> str | None:
        del environment
        return None

    def build(self, environment: Path, package: str) -> Mapping[str, str] | None:
        return find_node_package(environment, package)


def description_of(package: str, environment: Path) -> Path:
    """Where an installed package says what it is."""
    return environment / "node_modules" / package / "package.json"


def _find(program: str) -> Path:
    found = shutil.which(program)
    if found is None:
        raise RuntimeUnavailable(
            f"{program}, which this runtime needs, was not found",
            remedy="Install Node.js 18 or newer with npm, and have both in PATH",
        )
    return Path(found).absolute()


def _keeps(name: str) -> bool:
    return name.lower() in _KEPT or name in _KEPT_OF_NODE


def explain(printed: str) -> str:
    """npm's message on one line: what it says of errors, each sentence once."""
    lines = (re.sub(r"^npm error( code| \d+)?", "", line).strip() for line in printed.splitlines())
    told = (each for each in lines if each and not each.startswith(_SAYS_NOTHING))
    return " ".join(dict.fromkeys(told))[:1000].rstrip(".")


def _remedy(reason: str, folder: Path) -> str:
    if "ENOSPC" in reason or "EDQUOT" in reason:
        return f"Make room in {folder} and in npm's cache, or set XDG_CACHE_HOME to another folder"
    if "E404" in reason or "ETARGET" in reason:
        return "Name a version that exists, or none for the newest"
    if re.search("ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|ENOTCACHED|network", reason):
        return "Check the network, or npm's registry (npm config get registry)"
    return "Mend what npm names and run the same command again"

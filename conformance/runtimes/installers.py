"""Packages of a runtime in a folder of their own: of Python by uv, of Node.js by npm."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import uv

from conformance.processes.scratch_folders import scratch_folder
from opcert.vocabulary.errors import RuntimeUnavailable

# What any installer needs to run at all and to reach a package index.
_KEPT = frozenset(
    {"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "NETRC"}
    | {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
    | {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
)


@dataclass(frozen=True)
class _Program:
    """A program that installs packages, by its name.

    `keeps` are the variables of the caller's environment that it gets beside what every installer needs:
    others would change what is made, as would the project that the caller stands in. `explain` makes a line
    of what it prints, and `remedies` are patterns of that with what to do.
    """

    name: str
    keeps: Callable[[str], bool]
    explain: Callable[[str], str]
    remedies: tuple[tuple[str, str], ...]

    def run(self, command: Sequence[str], wanted: str, folder: Path) -> str:
        """Run a command in a working folder of its own, and return what it prints.

        Raises RuntimeUnavailable, with the program's own reason, where `wanted` cannot be installed so.
        """
        kept = {name: value for name, value in os.environ.items() if name in _KEPT or self.keeps(name)}
        with scratch_folder("install") as elsewhere:
            finished = subprocess.run(
                command, env=kept, cwd=elsewhere, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        if finished.returncode == 0:
            return finished.stdout.decode("utf-8", "replace")
        told = self.explain(finished.stderr.decode("utf-8", "replace"))
        reason = told or f"exit code {finished.returncode}"
        otherwise = f"Mend what {self.name} names and run the same command again"
        remedy = next((each for pattern, each in self.remedies if re.search(pattern, reason)), otherwise)
        raise RuntimeUnavailable(
            f"{wanted} could not be installed",
            got=f"from {self.name}: {reason}",
            remedy=remedy.replace("FOLDER", str(folder)),
        )


_ADDED = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json")
"""What installers put into a wheel's folder of facts themselves."""


def find_wheel(environment: Path, package: str) -> Mapping[str, str] | None:
    """The `file` and `contents` of an installed wheel; None where it cannot be told.

    `contents` is the SHA-256 of the lines `path,hash` of the wheel's own RECORD, sorted, each with a line
    feed: without what an installer adds, so that everybody who has the wheel works out the same.
    """
    with suppress(OSError, ValueError, csv.Error):
        for facts in environment.glob("lib*/python*/site-packages/*.dist-info"):
            name, _, version = facts.name.removesuffix(".dist-info").partition("-")
            if _alike(name) != _alike(package):
                continue
            lines = (facts / "WHEEL").read_text("utf-8").splitlines()
            tags = [line.removeprefix("Tag: ").split("-") for line in lines if line.startswith("Tag: ")]
            parts = [".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True)]
            file = "-".join([name, version, *parts])
            return {"file": f"{file}.whl", "contents": _contents(facts)}
    return None


def find_node_package(environment: Path, package: str) -> Mapping[str, str] | None:
    """The `file` of an installed package of npm, and the `integrity` that the registry gives of it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        listed = json.loads((environment / "package-lock.json").read_text("utf-8"))["packages"]
        found = listed[f"node_modules/{package}"]
        file = f"{package.removeprefix('@').replace('/', '-')}-{found['version']}.tgz"
        return {"file": file, "integrity": str(found["integrity"])}
    return None


def _contents(facts: Path) -> str:
    lines = []
    with (facts / "RECORD").open(encoding="utf-8", newline="") as file:
        for path, digest, *_ in csv.reader(file):
            added = path.startswith("../") or path.endswith(".pyc")
            if digest and not added and path not in {f"{facts.name}/{name}" for name in _ADDED}:
                lines.append(f"{path},{digest}\n")
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def _alike(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# Nothing else that begins with UV_ passes: UV_PYTHON would change what is made.
_KEPT_OF_UV = frozenset(
    {"UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX", "UV_KEYRING_PROVIDER"}
    | {"UV_INSECURE_HOST", "UV_CACHE_DIR", "UV_OFFLINE", "UV_HTTP_TIMEOUT", "UV_HTTP_RETRIES"}
    | {"UV_LINK_MODE", "UV_CONFIG_FILE", "UV_NO_CONFIG", "UV_PYTHON_INSTALL_DIR"}
    | {"UV_NATIVE_TLS", "UV_SYSTEM_CERTS"}
)
_PREFIX_OF_UV = "UV_INDEX"


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
    return _UV.run([program, "--color", "never", "--no-progress", *arguments], wanted, folder)


def _explain_uv(printed: str) -> str:
    """uv's message on one line, without the tree that it draws and without a full stop."""
    lines = (re.sub(r"^[\s×│├╰─▶┃^]+", "", line).strip() for line in printed.splitlines())
    return re.sub(r"^error: ", "", " ".join(line for line in lines if line))[:1000].rstrip(".")


_UV = _Program(
    "uv",
    lambda name: name in _KEPT_OF_UV or name.startswith(_PREFIX_OF_UV),
    _explain_uv,
    (
        (
            "No space left|quota",
            "Make room in FOLDER and in uv's cache, or set XDG_CACHE_HOME to another folder",
        ),
        (
            "Failed to fetch|error sending request",
            "Check the network, or name a package index that can be reached in UV_DEFAULT_INDEX",
        ),
        (
            "o solution found|Failed to parse",
            "Name a version that exists for this Python and machine, or none for the newest",
        ),
    ),
)


# How npm reaches a registry and its own cache; npm takes these names in any case.
_KEPT_OF_NPM = frozenset(
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
        wanted = [requirement.replace("==", "@") for requirement in requirements]
        # Without scripts: making an environment runs no code of the packages.
        install = ("install", "--prefix", str(environment), "--ignore-scripts", *_QUIET, "--", *wanted)
        _NPM.run([str(_find("npm")), *install], " ".join(requirements), environment.parent.parent)
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


def _explain_npm(printed: str) -> str:
    """npm's message on one line: what it says of errors, each sentence once."""
    lines = (re.sub(r"^npm error( code| \d+)?", "", line).strip() for line in printed.splitlines())
    told = (line for line in lines if line and not line.startswith(_SAYS_NOTHING))
    return " ".join(dict.fromkeys(told))[:1000].rstrip(".")


_NPM = _Program(
    "npm",
    lambda name: name.lower() in _KEPT_OF_NPM or name in _KEPT_OF_NODE,
    _explain_npm,
    (
        ("ENOSPC|EDQUOT", "Make room in FOLDER and in npm's cache, or set XDG_CACHE_HOME to another folder"),
        ("E404|ETARGET", "Name a version that exists, or none for the newest"),
        (
            "ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|ENOTCACHED|network",
            "Check the network, or npm's registry (npm config get registry)",
        ),
    ),
)

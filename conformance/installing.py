"""Run uv: only with what it needs of the caller's environment, and with its reason where it fails."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import uv

from opcert.errors import RuntimeUnavailable

# What uv needs to reach the package index and its own cache. Nothing else of the caller's environment
# passes: UV_PYTHON, VIRTUAL_ENV, PYTHONPATH or PIP_... would change what is made.
_KEPT = frozenset(
    {"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "NETRC"}
    | {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
    | {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
    | {"UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX"}
    | {
        "UV_KEYRING_PROVIDER",
        "UV_INSECURE_HOST",
        "UV_CACHE_DIR",
        "UV_OFFLINE",
        "UV_HTTP_TIMEOUT",
        "UV_HTTP_RETRIES",
        "UV_LINK_MODE",
    }
    | {"UV_CONFIG_FILE", "UV_NO_CONFIG", "UV_PYTHON_INSTALL_DIR"}
)
_KEPT_PREFIX = "UV_INDEX"


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
    kept = {
        each: value for each, value in os.environ.items() if each in _KEPT or each.startswith(_KEPT_PREFIX)
    }
    # A working folder of its own: the project that the caller stands in must not configure uv.
    with tempfile.TemporaryDirectory(prefix="opcert-uv-") as elsewhere:
        finished = subprocess.run(
            [program, "--color", "never", "--no-progress", *arguments],
            env=kept,
            cwd=elsewhere,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
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

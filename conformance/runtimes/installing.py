"""Run an installer with only what it needs of the caller's environment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence

from conformance.processes.scratch_folders import scratch_folder

# What any installer needs to run at all and to reach a package index.
_KEPT = frozenset(
    {"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "NETRC"}
    | {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
    | {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
)


def run_installer(command: Sequence[str], keeps: Callable[[str], bool]) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, in a working folder of its own.

    Of the caller's environment it gets what every installer needs, and the variables whose names `keeps`
    takes: others would change what is made, as would the project that the caller stands in.
    """
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or keeps(name)}
    with scratch_folder("install") as elsewhere:
        return subprocess.run(
            command, env=kept, cwd=elsewhere, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )

"""A worker on another machine: `ssh://[USER@]HOST[:PORT]/COMMAND`, through this machine's OpenSSH."""

from __future__ import annotations

import re
from dataclasses import replace

from conformance.adapters.exec import ADAPTER as PROGRAM
from conformance.runtimes.adapter import Connection
from opcert.vocabulary.harmless import for_shell

_WRITTEN = re.compile(
    r"ssh://(?P<host>(?:\w[\w.-]*@)?\w[\w.-]*)(?::(?P<port>\d{1,5}))?(?P<command>/[^\n]*)", re.ASCII
)
_OPTIONS = ("BatchMode=yes", "ConnectTimeout=20", "ServerAliveInterval=15", "ServerAliveCountMax=2")


def script_there(command: str) -> str:
    """What a shell of the other machine runs: the worker, told how it ended, and killed where nobody is left.

    Standard input passes through `cat`, which ends with the connection; a second later the worker's process
    group is killed, so that one that hangs does not stay behind.
    """
    ends = 'echo "opcert: the worker ended with $?" >&2; kill -9 -$$'
    script = f"{{ cat; sleep 1; kill -9 -$$; }} | {{ {command}; {ends}; }}"
    return f"exec sh -c {for_shell([script])}"


def _connection(text: str) -> Connection | None:
    written = _WRITTEN.fullmatch(text)
    if written is None:
        return None
    options = [word for option in _OPTIONS for word in ("-o", option)]
    port = ["-p", written["port"]] if written["port"] else []
    command = ("ssh", "-T", *options, *port, written["host"], script_there(written["command"]))
    return Connection(written["host"], command, ("SSH_AUTH_SOCK",))


ADAPTER = replace(
    PROGRAM,
    name="ssh",
    first_line="ssh://[USER@]HOST[:PORT]/COMMAND, a worker on another machine, by its path there",
    connection=_connection,
)

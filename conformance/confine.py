"""The script that becomes a worker: it gives up what a worker must not have, then runs its command.

    python -I -S -B confine.py REPORT PARENT NETWORK COMMAND...

REPORT is the descriptor on which it says, before the command takes its place, why the network could not be
cut off (nothing where it is, or where NETWORK is `open`). PARENT is the process that started it, with which
it is to die. It needs the standard library alone, and nothing of it remains once the command runs.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_DIE_WITH_PARENT, _NO_NEW_PRIVILEGES = 1, 38
_INTERNET, _DATAGRAM, _SET_FLAGS, _UP = 2, 2, 0x8914, 0x1
_CANNOT_RUN = 127
# The modules `signal` and `pathlib` take as long to import as all the rest, and every worker waits for it.
_KILL = 9


def cut_network(libc: ctypes.CDLL) -> None:
    """Move this process into a network of its own, where the loopback device alone is there, and up.

    Raises OSError where the system grants no user namespace; then nothing has changed. The user stays who
    they are.
    """
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_USER | _NEW_NETWORK):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(descriptor, text.encode())
        os.close(descriptor)
    # A runtime that talks to itself over 127.0.0.1 can do so; nobody else is there.
    control = libc.socket(_INTERNET, _DATAGRAM, 0)
    request = b"lo".ljust(16, b"\0") + _UP.to_bytes(2, sys.byteorder) + bytes(22)
    libc.ioctl(control, ctypes.c_ulong(_SET_FLAGS), request)
    os.close(control)


def main(report: int, parent: int, network: str, command: list[str]) -> None:
    """Does not return; exits with status 127 where the command cannot be run."""
    os.set_inheritable(report, False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None, use_errno=True)
    if network == "cut":
        try:
            cut_network(libc)
        except (OSError, AttributeError) as error:
            os.write(report, f"{getattr(error, 'strerror', None) or error}".encode())
    if hasattr(libc, "prctl"):
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        libc.prctl(_DIE_WITH_PARENT, _KILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(_CANNOT_RUN)
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"{command[0]} cannot be run: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(_CANNOT_RUN)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])

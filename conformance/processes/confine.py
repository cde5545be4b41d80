"""The script that becomes a worker: it gives up what a worker must not have, then runs its command.

    python -I -S -B confine.py REPORT PARENT NETWORK FOLDER COUNT COVERED... COUNT SHOWN... COMMAND...

REPORT is the descriptor on which it says, before the command takes its place, what could not be had (nothing
where all could): a line each of `network`, `files`, `processes` and `expected` with the reason. PARENT is the
process that started it, with which it is to die. NETWORK is `cut` or `open`. FOLDER is the worker's own, in
whose `work` it runs; no other file can be written. What is COVERED cannot be read, but for what of it is
SHOWN.

Where the system grants user namespaces there are three processes: the one that was started, which ends as the
command does and is what the harness knows; the first of the worker's own process namespace, with which all of
that end; and the command, which sees neither. It needs the standard library alone.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` takes as long to import as all the rest
import ctypes
import os
import resource
import sys

_NEW_MOUNTS, _NEW_TALK, _NEW_USER = 0x20000, 0x08000000, 0x10000000
_NEW_PROCESSES, _NEW_NETWORK = 0x20000000, 0x40000000
_DIE_WITH_PARENT, _NO_NEW_PRIVILEGES, _NO_CAPABILITY = 1, 38, 24
_INTERNET, _DATAGRAM, _SET_FLAGS, _UP = 2, 2, 0x8914, 0x1
_NO_SET_ID, _NO_DEVICES, _NO_PROGRAMS = 0x2, 0x4, 0x8
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_MOUNT_SETATTR, _HERE, _ALL_BELOW, _READ_ONLY = 442, -100, 0x8000, 0x1
_SHARED_MEMORY = "size=1g,mode=1777"
_CANNOT_RUN = 127
_KILL = 9
_OF_MOUNTS = ("files", "processes", "expected")
_STANDARD_STREAMS = (0, 1, 2)
_MOST_CAPABILITIES = 64


class Confinement:
    """What a process takes from itself. `report` is told what could not be had."""

    def __init__(self, report: int, network: str, folder: str, covered: list[str], shown: list[str]) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._report = report
        self._network = network
        self._folder = folder
        self._covered = covered
        self._shown = shown

    def enter(self) -> bool:
        """Move into namespaces of its own, as many as can be had; whether processes to come have their own.

        The user stays who they are.
        """
        user, group = os.geteuid(), os.getegid()
        network = _NEW_NETWORK if self._network == "cut" else 0
        everything = _NEW_USER | _NEW_MOUNTS | _NEW_TALK | _NEW_PROCESSES | network
        reason = self._unshare(everything)
        if reason is not None and network and self._unshare(_NEW_USER | network) is None:
            for mount in _OF_MOUNTS:
                self.lacks(mount, reason)
        elif reason is not None:
            for mount in ("network",) * bool(network) + _OF_MOUNTS:
                self.lacks(mount, reason)
            return False
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(descriptor, text.encode())
            os.close(descriptor)
        if network:
            self._raise_loopback()
        return reason is None

    def close_files(self) -> None:
        """Make everything read-only but the worker's folder, with processes and shared memory of its own."""
        libc, folder = self._libc, os.fsencode(self._folder)
        try:
            self._check(libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None))
            self._check(libc.mount(folder, folder, None, _BIND | _RECURSIVE, None))
        except (OSError, AttributeError) as error:
            self.lacks("files", _reason(error))
            self.lacks("expected", _reason(error))
        else:
            self._cover_files()
        try:
            self._set_attributes(b"/", _ALL_BELOW, _READ_ONLY, 0)
            self._set_attributes(folder, 0, 0, _READ_ONLY)
            # Until now the working folder is that of the mount below, which is read-only.
            os.chdir(os.path.join(self._folder, "work"))  # noqa: PTH118 - pathlib takes long to import
        except (OSError, AttributeError) as error:
            self.lacks("files", _reason(error))
        flags = _NO_SET_ID | _NO_DEVICES | _NO_PROGRAMS
        try:
            # Read-only, too: root could set what the whole system goes by.
            self._check(libc.mount(b"proc", b"/proc", b"proc", flags | _READ_ONLY, None))
        except OSError as error:
            self.lacks("processes", f"/proc cannot be mounted: {_reason(error)}")
        # What talks by shared memory within itself can do so; elsewhere there is no such place.
        libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", flags & ~_NO_PROGRAMS, _SHARED_MEMORY.encode())

    def _cover_files(self) -> None:
        """Put nothing where the covered files are, and back into its place what of them is shown."""
        flags = _NO_SET_ID | _NO_DEVICES | _NO_PROGRAMS
        try:
            inside = [each for each in self._shown if self._is_covered(each)]
            opened = [(each, os.open(each, os.O_PATH | os.O_CLOEXEC)) for each in inside]
            for each in map(os.fsencode, self._covered):
                if os.path.isdir(each):  # noqa: PTH112 - pathlib takes long to import
                    self._check(self._libc.mount(b"tmpfs", each, b"tmpfs", flags, b"size=1m,mode=755"))
                elif os.path.exists(each):  # noqa: PTH110
                    self._check(self._libc.mount(b"/dev/null", each, None, _BIND, None))
            for path, descriptor in opened:
                self._show(path, descriptor)
                os.close(descriptor)
        except (OSError, AttributeError) as error:
            self.lacks("expected", _reason(error))

    def _is_covered(self, path: str) -> bool:
        return any((path + "/").startswith(each.rstrip("/") + "/") for each in self._covered)

    def _show(self, path: str, descriptor: int) -> None:
        source = f"/proc/self/fd/{descriptor}"
        if os.path.isdir(source):  # noqa: PTH112
            os.makedirs(path, exist_ok=True)  # noqa: PTH103
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            if not os.path.exists(path):  # noqa: PTH110
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        self._check(self._libc.mount(source.encode(), os.fsencode(path), None, _BIND | _RECURSIVE, None))

    def drop_capabilities(self) -> None:
        """No program that is run from here on has rights over these namespaces: read-only stays so."""
        for each in range(_MOST_CAPABILITIES):
            if self._libc.prctl(_NO_CAPABILITY, each, 0, 0, 0):
                break

    def gain_nothing(self) -> None:
        if hasattr(self._libc, "prctl"):
            self._libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)

    def die_with_parent(self) -> None:
        if hasattr(self._libc, "prctl"):
            self._libc.prctl(_DIE_WITH_PARENT, _KILL, 0, 0, 0)

    def lacks(self, what: str, reason: str) -> None:
        os.write(self._report, f"{what} {reason}\n".encode())

    def _unshare(self, flags: int) -> str | None:
        """Why it cannot be had; None where it is."""
        try:
            self._check(self._libc.unshare(flags))
        except (OSError, AttributeError) as error:
            return _reason(error)
        return None

    def _raise_loopback(self) -> None:
        # A runtime that talks to itself over 127.0.0.1 can do so; nobody else is there.
        control = self._libc.socket(_INTERNET, _DATAGRAM, 0)
        request = b"lo".ljust(16, b"\0") + _UP.to_bytes(2, sys.byteorder) + bytes(22)
        self._libc.ioctl(control, ctypes.c_ulong(_SET_FLAGS), request)
        os.close(control)

    def _set_attributes(self, path: bytes, flags: int, more: int, fewer: int) -> None:
        asked = (ctypes.c_uint64 * 4)(more, fewer, 0, 0)
        self._check(
            self._libc.syscall(
                _MOUNT_SETATTR, _HERE, path, flags, ctypes.byref(asked), ctypes.c_size_t(ctypes.sizeof(asked))
            )
        )

    def _check(self, answer: int) -> None:
        if answer:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def main(report: int, parent: int, network: str, folder: str, words: list[str]) -> None:
    """Does not return; exits with status 127 where the command cannot be run."""
    os.set_inheritable(report, False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    covered, words = _counted(words)
    shown, command = _counted(words)
    own = Confinement(report, network, folder, covered, shown)
    own.die_with_parent()
    if os.getppid() != parent:
        os._exit(_CANNOT_RUN)
    if sys.platform == "linux":
        if own.enter():
            _follow(own, report, command)
    else:
        for mount in ("network", *_OF_MOUNTS):
            own.lacks(mount, "this system has no namespaces")
    own.gain_nothing()
    _run(command)


def _counted(words: list[str]) -> tuple[list[str], list[str]]:
    """As many words as the first one says, and those behind them."""
    end = 1 + int(words[0])
    return words[1:end], words[end:]


def _follow(own: Confinement, report: int, command: list[str]) -> None:
    """Start the first process of the namespace, and end as the command in it does."""
    reading, writing = os.pipe()
    first = os.fork()
    if not first:
        os.close(reading)
        own.die_with_parent()
        own.close_files()
        _be_first(own, report, writing, command)
    for standard_stream in (*_STANDARD_STREAMS, report, writing):
        os.close(standard_stream)
    told = os.read(reading, 16)
    status = os.waitpid(first, 0)[1]
    if told:
        status = int(told)
    if os.WIFSIGNALED(status):
        _end_by(os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _be_first(own: Confinement, report: int, writing: int, command: list[str]) -> None:
    """Start the command, wait for all that lose their parents, and end the namespace with the command."""
    started = os.fork()
    if not started:
        own.die_with_parent()
        own.drop_capabilities()
        own.gain_nothing()
        _run(command)
    # It keeps its rights, so that the command, which has none, cannot look into it.
    for standard_stream in (*_STANDARD_STREAMS, report):
        os.close(standard_stream)
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == started:
            os.write(writing, str(status).encode())
            os._exit(0)


def _end_by(number: int) -> None:
    """End by a signal, as the command did."""
    if number != _KILL:
        _signal.signal(number, _signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(_CANNOT_RUN)


def _run(command: list[str]) -> None:
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"{command[0]} cannot be run: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(_CANNOT_RUN)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])

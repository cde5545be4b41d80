"""The command line: one module per command, found by name and imported when it is called."""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from opcert.commands.failures import check_working_folder, explain
from opcert.vocabulary.errors import ExitCode

_NAMES = {1: "standard output", 2: "standard error"}


def open_standard_streams() -> None:
    """Have standard input, output and error, where any was closed; call this before anything is opened.

    A file that is opened later would have the number of one that is missing, and what is said would go
    into it. What cannot be shown is escaped, and what nobody reads any more goes nowhere.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            _go_nowhere(descriptor)
    sys.stdout, sys.stderr = _unhindered(sys.stdout, 1), _unhindered(sys.stderr, 2)


def _go_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere == descriptor:
        os.set_inheritable(descriptor, True)
    else:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _unhindered(stream: Any, descriptor: int) -> Any:
    """A stream that goes on when its reader does not; one that stands in for the system's own stays."""
    if stream is None:
        return _open(descriptor, "utf-8", line_buffering=False)
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    raw = getattr(stream.buffer, "raw", stream.buffer)  # PYTHONUNBUFFERED leaves the buffer out
    if type(raw) is not io.FileIO or raw.fileno() != descriptor:
        stream.reconfigure(errors="backslashreplace")
        return stream
    stream.flush()
    at_once = stream.line_buffering or stream.write_through
    return _open(descriptor, stream.encoding, line_buffering=at_once)


def _open(descriptor: int, encoding: str, *, line_buffering: bool) -> io.TextIOWrapper:
    raw = _HeedlessWriter(descriptor, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=line_buffering
    )


class _HeedlessWriter(io.FileIO):
    """Writes to a descriptor as long as somebody reads there; other errors name the stream, once."""

    def write(self, raw: Any, /) -> int:
        try:
            return super().write(raw) or 0
        except OSError as error:
            _go_nowhere(self.fileno())  # nor has the interpreter a complaint at its end
            if error.errno == errno.EPIPE:
                return len(raw)
            raise OSError(error.errno, error.strerror, _NAMES[self.fileno()]) from error


_SUFFIX = "_command"
_YOUNG_OBJECTS = 50_000
"""How many objects are made before cycles among them are looked for: cases are many, and hold none."""


class CommandsByName(click.Group):
    """A group whose commands are the modules `<name>_command.py` of this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            path.stem.removesuffix(_SUFFIX) for path in Path(__file__).parent.glob(f"*{_SUFFIX}.py")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = import_module(f"opcert.commands.{cmd_name}{_SUFFIX}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names; an unknown one is answered with near names."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            # Imported here, because only mistakes need it.
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=3, cutoff=0.6)
            perhaps = f"Did you mean {' or '.join(near)}?" if near else f"Commands: {', '.join(known)}."
            ctx.fail(f"No such command {name!r}. {perhaps}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the first line of each module, without importing any."""
        rows = []
        for name in self.list_commands(ctx):
            source = Path(__file__).with_name(f"{name}{_SUFFIX}.py").read_text(encoding="utf-8")
            rows.append((name, source.split('"""', 2)[1].splitlines()[0]))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


@click.group(cls=CommandsByName, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="opcert", prog_name="opcert")
def cli() -> None:
    """Conformance tests for tensor operators: does a runtime compute what the operators' specs say?"""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; every failure becomes a message and its exit code, never a traceback.

    `arguments` stand in for those of the process.
    """
    begin_process()
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        check_working_folder()
        code = cli.main(given, prog_name="opcert", standalone_mode=False, obj=tuple(given))
        sys.stdout.flush()
        gc.freeze()  # the end of the process needs no last look for cycles
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - what is not expected is told as our bug
        sys.exit(explain(error, given))
    sys.exit(code if isinstance(code, int) else ExitCode.HOLDS)


def begin_process() -> None:
    """Set up a process that is ours alone.

    Being ended from outside, or by a terminal that closes, is the same as Ctrl-C: nothing half made is left
    behind.
    """
    gc.set_threshold(_YOUNG_OBJECTS)
    # numpy's threads, which nothing here needs, would wait for work in a loop.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(number, signal.default_int_handler)
    # Whoever started us may have told the system to forget how children end, and we are to say it.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    open_standard_streams()

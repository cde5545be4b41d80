"""What a command that fails says on standard error, and its exit code."""

from __future__ import annotations

import errno
import io
import os
import platform
import tempfile
import traceback
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode, InternalError, OpcertError, UserError
from opcert.vocabulary.harmless import for_shell

_REFUSED = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOMEM}
    | {errno.EMFILE, errno.ENFILE, errno.EIO, errno.EFBIG}
)
"""Errors of the system that are no mistake of ours, whichever call meets them."""


def program() -> str:
    """What to write before a command so that it can be copied into the shell that this one came from."""
    # uv sets this for what it runs; outside it, opcert is not on the path of that shell.
    if "UV_RUN_RECURSION_DEPTH" not in os.environ:
        return "opcert"
    # Who left out the packages of the tests (--no-dev) does not install them by running what is printed.
    return "uv run opcert" if find_spec("playwright") else "uv run --no-sync opcert"


def explain(error: BaseException, arguments: Sequence[str]) -> int:
    """Say on standard error what went wrong and whose fault it is; returns the exit code.

    `arguments` are those of the command line, for the report of a bug.
    """
    if _is_interrupted(error):
        note("interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, click.ClickException):
        told = io.StringIO()
        error.show(told)
        say(told.getvalue(), error=True, end=False)
        return ExitCode.USAGE
    if isinstance(error, OpcertError) and not isinstance(error, InternalError):
        note(f"{error.party}: {error}")
        return error.exit_code
    if isinstance(error, OSError) and error.errno in _REFUSED:
        temporary = f"a temporary file in {tempfile.gettempdir()}"
        what = error.filename if error.filename is not None else temporary
        note(f"system: {what}: {error.strerror}. Make room, or choose a place that can be written")
        return ExitCode.USAGE
    if isinstance(error, MemoryError):
        note("system: out of memory. Choose fewer cases, or close other programs")
        return ExitCode.USAGE
    _report_bug(error, arguments)
    return ExitCode.INTERNAL


def _is_interrupted(error: BaseException) -> bool:
    """Whether it was Ctrl-C, or what came of a second one while the first was dealt with."""
    context: BaseException | None = error
    while context is not None:
        if isinstance(context, click.exceptions.Abort | KeyboardInterrupt):
            return True
        context = context.__context__
    return False


def check_working_folder() -> None:
    """Raise UserError where the folder that the command was called in is not there any more."""
    try:
        os.getcwd()  # noqa: PTH109 - asked of the system
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            "the working folder cannot be used", got=reason, remedy="Change into a folder that is there."
        ) from error


def _report_bug(error: BaseException, arguments: Sequence[str]) -> None:
    """Name the error and the line of ours that met it, and keep the whole traceback in a file."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" at {'/'.join(Path(frames[-1].filename).parts[-2:])}:{frames[-1].lineno}" if frames else ""
    command = f"{program()} {for_shell(arguments)}"
    whole = "".join(traceback.format_exception(error))
    about = f"{command}\n{_version()}, Python {platform.python_version()}, {platform.platform()}\n\n{whole}"
    name = type(error).__name__
    note(f"bug: {error}" if isinstance(error, InternalError) else f"bug: {name}: {error}{at}")
    try:
        handle, path = tempfile.mkstemp(prefix="opcert-bug-", suffix=".txt", text=True)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(about)
    except OSError:
        say(about, error=True)
        place = "The traceback stands above"
    else:
        place = f"The traceback is in {path}"
    say(
        f"This is a mistake in opcert, not in what you gave it. {place}; please report it.\n"
        f"To see it again: {command}",
        error=True,
    )


def _version() -> str:
    from importlib.metadata import version

    return f"opcert {version('opcert')}"

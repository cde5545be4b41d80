"""Errors: one base class, one subclass for each party that may be at fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """What a command's exit code says."""

    HOLDS = 0
    DOES_NOT_HOLD = 1
    USAGE = 2
    INTERNAL = 3
    RUNTIME_UNAVAILABLE = 4
    NOTHING_RAN = 5
    OTHER_VERSION = 6
    INTERRUPTED = 130


@dataclass(frozen=True)
class Place:
    """Where something stands: a file, and in it a line (from 1), a column (from 1) or a key path."""

    file: str
    line: int | None = None
    column: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        parts = [self.file]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        text = ":".join(parts)
        return f"{text} at {self.key}" if self.key else text


class OpcertError(Exception):
    """Base of every error that opcert raises on purpose.

    Fields: `problem` (what is wrong, one sentence), `got` and `expected` (where they say more than the
    problem does), `where` (a `Place`), `remedy` (what to do about it). `exit_code` is what the command line
    answers with.
    """

    exit_code: ExitCode = ExitCode.INTERNAL
    party: str = "bug"

    def __init__(
        self,
        problem: str,
        *,
        got: str | None = None,
        expected: str | None = None,
        where: Place | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.got = got
        self.expected = expected
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.where}: {self.problem}" if self.where else self.problem
        if self.got is not None:
            text += f"; got {self.got}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.remedy is not None:
            text += f". {self.remedy}"
        # Further lines are set in, so that none is taken for a line of ours.
        return text.replace("\n", "\n  ")


class UserError(OpcertError):
    """A mistake in what a person gave: usage, a document, a spec, a suite, a profile."""

    exit_code = ExitCode.USAGE
    party = "input"


class SeveralErrors(UserError):
    """Every mistake found in one file, so that a person mends them in one go."""

    def __init__(self, errors: Sequence[UserError]) -> None:
        super().__init__(f"{len(errors)} errors")
        self.errors = tuple(errors)

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


def raise_together(errors: Sequence[UserError]) -> None:
    """Raise an error as it is, several as SeveralErrors; where there is none nothing happens."""
    if errors:
        raise errors[0] if len(errors) == 1 else SeveralErrors(errors)


class SystemFailed(OpcertError):
    """The system gave no memory, or ended a process of ours; what was given is right, and so is the code."""

    exit_code = ExitCode.USAGE
    party = "system"


class RuntimeUnavailable(OpcertError):
    """The runtime under test could not be installed or started, or broke the worker protocol."""

    exit_code = ExitCode.RUNTIME_UNAVAILABLE
    party = "runtime"


class WorkerMistake(OpcertError):
    """A worker of somebody's own failed by itself: nothing is known of the runtime."""

    exit_code = ExitCode.RUNTIME_UNAVAILABLE
    party = "worker"

    def __init__(self, times: str, first: str) -> None:
        super().__init__(
            f"the worker itself failed on {times}, which is its own mistake and says nothing of the runtime; "
            f"the first is {first}",
            remedy="Answer with the class `rejected` where the runtime rejects a call, with `unsupported` "
            "where it does not support it: docs/reference.md",
        )


class NothingRan(OpcertError):
    """A selection or a run that holds no case that ran."""

    exit_code = ExitCode.NOTHING_RAN
    party = "run"


class InternalError(OpcertError):
    """A bug of ours."""

    exit_code = ExitCode.INTERNAL
    party = "bug"


def unwritable(
    what: str, path: Path, error: OSError, remedy: str = "Name another place with -o."
) -> UserError:
    """The error of something (`the record`) that the system did not let us write at a path."""
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason = f"a file stands where a folder should be ({reason})"
    return UserError(f"{what} cannot be written", got=reason, where=Place(str(path)), remedy=remedy)


def unreadable(what: str, path: Path, error: OSError, remedy: str | None = None) -> UserError:
    """The error of something (`the record`) that the system did not let us read at a path."""
    reason = error.strerror or str(error)
    return UserError(f"{what} cannot be read", got=reason, where=Place(str(path)), remedy=remedy)

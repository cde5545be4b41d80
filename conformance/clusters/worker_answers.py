"""What workers of a cluster answer: with the machine that answers, whatever it is, and as plain bytes."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, get_type_hints

from conformance.clusters.machines import machine_here
from conformance.clusters.plain_values import read_value, write_value
from opcert.vocabulary.errors import (
    InternalError,
    NothingRan,
    OpcertError,
    Place,
    RuntimeUnavailable,
    UserError,
)
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line

P = ParamSpec("P")
Answer = TypeVar("Answer")
_LONGEST = 2000
_FIELDS = ("got", "expected", "remedy")
_KINDS: dict[str, type[OpcertError]] = {
    each.__name__: each for each in (UserError, RuntimeUnavailable, NothingRan, InternalError)
}


@dataclass(frozen=True)
class WorkerFailure:
    """What a worker found wrong: its machine, the class of the error by its name, and the error's fields."""

    machine: Mapping[str, Any]
    kind: str
    problem: str
    fields: Mapping[str, str | None]

    def error(self, address: str) -> OpcertError:
        """The error as it is told where the command runs: with the machine that has it."""
        place, told = self.fields.get("where"), {each: self.fields.get(each) for each in _FIELDS}
        name = one_line(str(self.machine.get("name")), 200)
        where = Place(f"machine {name} of {address}" + ("" if place is None else f", {place}"))
        return _KINDS.get(self.kind, UserError)(self.problem, where=where, **told)


@dataclass(frozen=True)
class Lost:
    """A unit that nobody does any more: every worker that had it was lost, and how that was told."""

    reason: str


def on_worker(
    function: Callable[P, Answer],
) -> Callable[Concatenate[str, P], Answer | WorkerFailure]:
    """Let a worker's function answer with a `WorkerFailure` where it would raise an error of a person's.

    It is called with the digest of the asking opcert's sources first: who came later may have others.
    """

    @wraps(function)
    def guarded(sources: str, /, *arguments: P.args, **named: P.kwargs) -> Answer | WorkerFailure:
        try:
            if sources != project_digest():
                raise UserError(
                    "this worker has another opcert than the command that asks it",
                    got=f"sources {project_digest()[:12]}",
                    expected=f"sources {sources[:12]}",
                    remedy="Install the same opcert there and start the worker again.",
                )
            return function(*arguments, **named)
        except OpcertError as error:
            fields = {name: getattr(error, name) for name in _FIELDS}
            where = None if error.where is None else str(error.where)
            kind = next(name for name, each in _KINDS.items() if isinstance(error, each))
            return WorkerFailure(machine_here(), kind, error.problem, {**fields, "where": where})
        except OSError as error:
            fields = {
                "got": f"{error.filename or 'a file'}: {error.strerror or error}",
                "remedy": "Make room on this machine, or take its workers away, and go on with --resume.",
            }
            return WorkerFailure(
                machine_here(), "UserError", "a worker's machine refuses what it is asked", fields
            )
        except Exception as error:  # noqa: BLE001 - what else is raised on the way here is not of ours
            return _mistake(error)

    return guarded


def answer_in_bytes(function: Callable[..., Any], unit: str, *arguments: Any) -> bytes:
    """On a worker: what a function says to its arguments, as bytes about a unit.

    They hold what the function's annotation says that it returns, a `WorkerFailure` or a `Lost`, and nothing
    else.
    """
    kind = _answer_of(function)
    try:
        return write_value(function(*arguments), kind, unit)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told where somebody waits
        return write_value(_mistake(error), kind, unit)


def read_answer(raw: Any, function: Callable[..., Any], unit: str) -> Any:
    """The answer in the bytes of `answer_in_bytes`; ValueError where they hold none about this unit."""
    return read_value(raw, _answer_of(function), unit)


@cache
def _answer_of(function: Callable[..., Any]) -> Any:
    return get_type_hints(function)["return"] | WorkerFailure | Lost


def _mistake(error: Exception) -> WorkerFailure:
    told = "".join(traceback.format_exception(error)[-3:])
    return WorkerFailure(
        machine_here(), "InternalError", "a unit of work fails on a worker", {"got": told[-_LONGEST:]}
    )

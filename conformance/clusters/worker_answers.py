"""What workers of a cluster answer: with the machine that answers, whatever it is."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from conformance.clusters.machines import machine_here, sources_digest
from opcert.vocabulary.errors import (
    InternalError,
    NothingRan,
    OpcertError,
    Place,
    RuntimeUnavailable,
    UserError,
)
from opcert.vocabulary.harmless import one_line

P = ParamSpec("P")
Answer = TypeVar("Answer")
_LONGEST = 2000
_KINDS: tuple[type[OpcertError], ...] = (UserError, RuntimeUnavailable, NothingRan, InternalError)


@dataclass(frozen=True)
class Failure:
    """What a worker found wrong: its machine, the class of the error, and the error's fields."""

    machine: Mapping[str, Any]
    kind: type[OpcertError]
    problem: str
    fields: Mapping[str, Any]

    def error(self, address: str) -> OpcertError:
        """The error as it is told where the command runs: with the machine that has it."""
        place = self.fields.get("where")
        name = one_line(str(self.machine.get("name")), 200)
        where = Place(f"machine {name} of {address}" + ("" if place is None else f", {place}"))
        return self.kind(self.problem, **{**self.fields, "where": where})


def on_worker(
    function: Callable[P, Answer],
) -> Callable[Concatenate[str, P], Answer | Failure]:
    """Let a worker's function answer with a `Failure` where it would raise an error of a person's.

    It is called with the digest of the asking opcert's sources first: who came later may have others.
    """

    @wraps(function)
    def guarded(sources: str, /, *arguments: P.args, **named: P.kwargs) -> Answer | Failure:
        try:
            if sources != sources_digest():
                raise UserError(
                    "this worker has another opcert than the command that asks it",
                    got=f"sources {sources_digest()[:12]}",
                    expected=f"sources {sources[:12]}",
                    remedy="Install the same opcert there and start the worker again.",
                )
            return function(*arguments, **named)
        except OpcertError as error:
            fields = {name: getattr(error, name) for name in ("got", "expected", "where", "remedy")}
            kind = next(each for each in _KINDS if isinstance(error, each))
            return Failure(machine_here(), kind, error.problem, fields)
        except OSError as error:
            fields = {
                "got": f"{error.filename or 'a file'}: {error.strerror or error}",
                "remedy": "Make room on this machine, or take its workers away, and go on with --resume.",
            }
            return Failure(machine_here(), UserError, "a worker's machine refuses what it is asked", fields)
        except Exception as error:  # noqa: BLE001 - what else is raised on the way here is not of ours
            told = "".join(traceback.format_exception(error)[-3:])
            fields = {"got": told[-_LONGEST:]}
            return Failure(machine_here(), InternalError, "a unit of work fails on a worker", fields)

    return guarded

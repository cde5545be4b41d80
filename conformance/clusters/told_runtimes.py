"""A runtime as a cluster is told of it: each machine finds it by its name, where it has it itself."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.runtimes import Runtime, find_runtime
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line

_PROGRAM = "exec"


@dataclass(frozen=True)
class ToldRuntime:
    """What `RUNTIME` and `--python` said; `command` is that of a program, with whole paths of its files."""

    text: str
    python: str | None = None
    command: tuple[str, ...] = ()

    @classmethod
    def of(cls, runtime: Runtime, python: str | None) -> ToldRuntime:
        """How to tell of a runtime that was found by its name here."""
        return cls(runtime.text, python, runtime.command if runtime.adapter.name == _PROGRAM else ())

    def find(self) -> Runtime:
        """The runtime on this machine; UserError where there is none, or no such interpreter or program."""
        if not self.command:
            return find_runtime(self.text, self.python)
        if self.python is not None:
            raise UserError("--python has no meaning for a program", got=one_line(self.text, 300))
        if shutil.which(self.command[0]) is None:
            raise UserError(
                "there is no such program on this machine",
                got=one_line(self.command[0], 300),
                remedy="Put it there, at the same path on every machine.",
            )
        return Runtime(self.text, load_adapter(_PROGRAM), command=self.command)

"""What a runtime did with a case, before anybody judges it."""

from __future__ import annotations

from dataclasses import dataclass

from opcert.vocabulary.tensors import Tensor


@dataclass(frozen=True)
class ReturnedOther:
    """Something that a runtime returned in place of a tensor: its type's name, and how it prints."""

    kind: str
    text: str


@dataclass(frozen=True)
class Answered:
    """The runtime returned these outputs, as many as there are.

    `told` says which of several answers to a case it is; `further` are the others, behind the first.
    `touched` says what the worker saw of the memory of inputs and outputs that must not be. `kept` says that
    the outputs are bit for bit those of the model as it was before what is tested, an optimiser, changed it.
    """

    outputs: tuple[Tensor | ReturnedOther, ...]
    seconds: float = 0.0
    told: str | None = None
    touched: tuple[str, ...] = ()
    further: tuple[Answered, ...] = ()
    kept: bool = False


_CHANGED = "the run changes its input "


def input_changed(name: str) -> str:
    """What `touched` says of an input that has other bytes behind the run."""
    return f"{_CHANGED}{name}"


def changes_input(touched: str) -> bool:
    """Whether that is what it says, and not that outputs lie in the memory of others."""
    return touched.startswith(_CHANGED)


@dataclass(frozen=True)
class Loaded:
    """The runtime took a model, which has not been run."""

    seconds: float = 0.0


_NOT_ITS_OWN = ("FellBack", "RefusedBefore")
"""Kinds of errors by which a worker says that what is tested had no part in it: another provider computed, or
the model did not run before it was optimised."""


@dataclass(frozen=True)
class Refused:
    """The runtime refused, with an error of its own.

    `unsupported` is the example of the adapter's rule that the error matched, or None: then nothing says
    that what was asked is not offered. `stage` is `load` or `run`.
    """

    kind: str
    message: str
    stage: str = "load"
    unsupported: str | None = None
    seconds: float = 0.0

    @property
    def elsewhere(self) -> bool:
        """Whether it says nothing of what is tested: neither that this takes the call nor refuses it."""
        return self.kind in _NOT_ITS_OWN and self.unsupported is not None


@dataclass(frozen=True)
class NotOffered:
    """The case was not sent: the runtime had said that it does not take its domain or element type."""

    reason: str


@dataclass(frozen=True)
class Crashed:
    """The worker died, broke the protocol or exceeded a limit; `signal` is a name such as SIGSEGV.

    `by_limit` says that it was killed for the memory that it took, and not by a fault of its own.
    """

    reason: str
    signal: str | None = None
    status: int | None = None
    stderr: str = ""
    seconds: float = 0.0
    by_limit: bool = False


@dataclass(frozen=True)
class TimedOut:
    """No answer within the limit, in seconds."""

    limit: float
    stage: str
    stderr: str = ""


@dataclass(frozen=True)
class WorkerFailed:
    """The worker's own code failed, as it says itself (class `internal`), or it answered with a class that
    there is not."""

    kind: str
    message: str
    stage: str
    error_class: str = "internal"

    @property
    def reason(self) -> str:
        """In words, with what the worker said."""
        told = f"{self.kind}: {self.message}"
        if self.error_class == "internal":
            return f"the worker failed at {self.stage}: {told}"
        return f"the worker answered {self.stage} with an error of class {self.error_class}: {told}"


@dataclass(frozen=True)
class HarnessFailed:
    """Our own mistake: the case could not be sent."""

    reason: str


Response = Answered | Refused | NotOffered | Crashed | TimedOut | WorkerFailed | HarnessFailed

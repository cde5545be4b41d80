"""What a formula takes, told to who evaluates it: functions of the table of allowed errors, and its steps.

Steps are what an exact evaluation costs, whatever the machine: a term of a sum or of a product is one, a
value of an elementary function or a power `VALUE`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from opcert.vocabulary.errors import OpcertError

VALUE = 20
"""Steps of one value of a function: about as long as so many terms take."""


class TooManySteps(OpcertError):
    """An evaluation that takes more steps than who asked for it allows."""


_STEPS: ContextVar[list[int] | None] = ContextVar("steps", default=None)
"""How many steps are left."""
_NOTED: ContextVar[set[str] | None] = ContextVar("noted", default=None)


def note_function(name: str) -> None:
    """Say that a result errs by what the table of functions allows one of this name."""
    noted = _NOTED.get()
    if noted is not None:
        noted.add(name)


@contextmanager
def noting_functions(names: set[str]) -> Iterator[None]:
    """Let `names` learn the functions that are taken meanwhile."""
    token = _NOTED.set(names)
    try:
        yield
    finally:
        _NOTED.reset(token)


def note_steps(count: int) -> None:
    """Say that so many steps follow; raises TooManySteps where fewer are left."""
    left = _STEPS.get()
    if left is not None:
        left[0] -= count
        if left[0] < 0:
            raise TooManySteps("an evaluation takes more steps than are allowed")


@contextmanager
def within_steps(most: int) -> Iterator[None]:
    """Let what is evaluated meanwhile take so many steps at most."""
    token = _STEPS.set([most])
    try:
        yield
    finally:
        _STEPS.reset(token)

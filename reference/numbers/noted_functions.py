"""The functions of the table of allowed errors that a formula takes: who evaluates it learns their names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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

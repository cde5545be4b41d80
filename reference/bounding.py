"""Whether numbers carry their error: they do, but for whoever asks for the values alone.

Values alone are computed several times as fast. What was computed under one answer does not fit the other:
whoever changes it empties the caches of the reference before and after.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_BOUNDED: ContextVar[bool] = ContextVar("bounded", default=True)
_CHARGED: ContextVar[bool] = ContextVar("charged", default=True)


def is_bounded() -> bool:
    """Whether errors are to be computed beside values."""
    return _BOUNDED.get()


@contextmanager
def bounded(wanted: bool) -> Iterator[None]:
    """Meanwhile errors are computed, or every number counts as exact, no route is tried, no error allowed."""
    before = _BOUNDED.set(wanted)
    try:
        yield
    finally:
        _BOUNDED.reset(before)


def values_alone() -> bool:
    """Whether nothing is asked but values: no error, nor what else may come out in their place."""
    return not (_BOUNDED.get() or _CHARGED.get())


def is_charged() -> bool:
    """Whether single operations on numbers add to their errors."""
    return _CHARGED.get()


@contextmanager
def charged(wanted: bool) -> Iterator[None]:
    """Meanwhile operations are charged, or each result counts as exact: half the work of a formula.

    Where a charged result is lost, and anything is accepted, another one may come out then.
    """
    before = _CHARGED.set(wanted)
    try:
        yield
    finally:
        _CHARGED.reset(before)

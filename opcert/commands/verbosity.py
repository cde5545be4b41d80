"""How much a command prints: what fits on a screen, or with `-v` all of it."""

from __future__ import annotations

import time

import click

_VERBOSE = "opcert.verbose"
_EVERY_SECONDS = 5.0
_FIRST_SECONDS = 10.0


def _note(context: click.Context, _: click.Parameter, said: bool) -> None:
    context.meta[_VERBOSE] = said


verbose = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_note,
    help="Print all of it: each operator that cases are made of, every cause and reading, the table of all "
    "operators.",
)


def is_verbose() -> bool:
    """Whether the command that runs was asked to print all; false where none runs."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_VERBOSE))


class Pace:
    """When a line of progress is due: after 10 s, and then each time that the time has doubled.

    So a log of hours has a dozen. With `-v` it is every 5 s.
    """

    def __init__(self) -> None:
        self._begun = self._told = time.monotonic()
        self._wait = _EVERY_SECONDS if is_verbose() else _FIRST_SECONDS

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._begun

    def is_due(self) -> bool:
        """Whether a line is to be printed now: whoever asks prints it."""
        now = time.monotonic()
        if now - self._told < self._wait:
            return False
        self._told = now
        if not is_verbose():
            self._wait *= 2
        return True

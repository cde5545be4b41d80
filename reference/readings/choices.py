"""Options of open readings that count only where a reference asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Generic, TypeVar


class AsReading:
    """Marks a keyword-only parameter as a reading or behaviour: `Annotated[Literal["a", "b"], Reading]`.

    With `Choice[Literal["a", "b"]]` the function asks for the option where it matters; a plain option always
    counts as asked for.
    """


class OutputCount:
    """Marks a parameter that is told how many outputs the node has: `Annotated[int, OutputCount]`."""


Option = TypeVar("Option", bound=str, covariant=True)


class Choice(Generic[Option]):
    """One option of a reading; whoever evaluates an operator learns by `told` that it was asked for.

    A reference asks where the answer depends on the option, and nowhere else: what it has not asked for,
    no other option can change.
    """

    __slots__ = ("_option", "_told")

    def __init__(self, option: Option, told: Callable[[], object] | None = None) -> None:
        self._option = option
        self._told = told

    @property
    def option(self) -> Option:
        """The option, for what depends on it only where it is asked for as well."""
        return self._option

    def ask(self) -> Option:
        """The option that is chosen."""
        if self._told is not None:
            self._told()
        return self._option


Stages = dict[tuple[str, tuple[str, ...]], tuple[tuple[int, ...], Any]]
"""By name and options: which of these a stage asked for, and what it came to."""
_STAGES: ContextVar[Stages | None] = ContextVar("stages", default=None)
Made = TypeVar("Made")


@contextmanager
def remembering(stages: Stages) -> Iterator[None]:
    """Keep in `stages` what `stage` is asked for meanwhile: of one call, under options of its readings."""
    token = _STAGES.set(stages)
    try:
        yield
    finally:
        _STAGES.reset(token)


def stage(name: str, choices: Sequence[Choice[str]], make: Callable[..., Made]) -> Made:
    """What a part of an evaluation comes to, which hangs on the call and on these choices alone.

    `make` is given choices in their place, and what it gives keeps none of them. Of a call that was evaluated
    with the same options before, it is known; what it asked for then counts as asked for now.
    """
    stages = _STAGES.get()
    if stages is None:
        return make(*choices)
    key = name, tuple(choice.option for choice in choices)
    if key not in stages:
        asked: set[int] = set()
        noting = (Choice(choice.option, partial(asked.add, at)) for at, choice in enumerate(choices))
        made = make(*noting)
        stages[key] = tuple(sorted(asked)), made
    asked_before, found = stages[key]
    for at in asked_before:
        choices[at].ask()
    return found  # type: ignore[no-any-return] # of one name is what one function makes

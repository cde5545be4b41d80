"""Options of open readings that count only where a reference asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar


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

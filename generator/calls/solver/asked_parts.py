"""Operands of a call that is being made, of which not everything is known or asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from specs.language.evaluation import EvaluationError, Operand


class UndrawnElements(Sequence[Any]):
    """The elements of data that nobody has drawn yet."""

    def __len__(self) -> int:
        raise EvaluationError("the data is not drawn yet")

    def __getitem__(self, index: Any) -> Any:
        raise EvaluationError("the data is not drawn yet")


class AskedPart(Operand):
    """A tensor of an input that may be more than one; its shape is asked for when it is looked at."""

    def __init__(self, element_type: str, find: Callable[[str], Any], name: str, place: int) -> None:
        for field, value in (
            ("element_type", element_type),
            ("values", UndrawnElements()),
            ("_find", find),
            ("_name", name),
            ("_place", place),
        ):
            object.__setattr__(self, field, value)

    _find: Callable[[str], Any]
    _name: str
    _place: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._find(f"shapes:{self._name}")[self._place])

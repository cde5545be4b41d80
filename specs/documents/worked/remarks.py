"""Which variable of an example an array in a comment is the value of."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from specs.documents.worked.comments import Remark
from specs.documents.worked.example_calls import ExampleVariable
from specs.documents.worked.example_values import UnknownValue


class Remarks:
    """The printed arrays of one example; each is bound once, up to the next call of `expect`.

    An array belongs to the variable that its comment names; without a name to the assignment in whose line it
    stands, to the one that follows it, or to the last one where `expect` follows. Only what code computes
    takes a printed value, and random data where the comment names it.
    """

    def __init__(self, remarks: Sequence[Remark]) -> None:
        self._remarks = list(remarks)
        self._assigned: dict[str, list[int]] = {}
        self._last: str | None = None

    def take(self, statement: ast.stmt, name: str, value: Any) -> Remark | None:
        """The array that a comment states for the variable that this statement assigns."""
        self._assigned.setdefault(name, []).append(statement.lineno)
        self._last = name
        end = statement.end_lineno or statement.lineno
        for each in self._remarks:
            if each.before is None:
                here = statement.lineno <= each.line <= end
            else:
                here = each.before == statement.lineno and not self._stood_before(each)
            if here and each.name in (None, name) and _is_computed(value, each):
                return each
        return None

    def bind_before(self, call: ast.stmt, variables: dict[str, ExampleVariable]) -> None:
        """Give the variables the arrays that stand between their assignment and this call of `expect`."""
        for each in self._remarks:
            if each.line >= call.lineno:
                continue
            name = self._named(each, variables) if each.name else None
            if each.name is None and each.before == call.lineno:
                name = self._last
            found = variables.get(name) if name is not None else None
            if name is None or found is None or found.comment is not None:
                continue
            wanted = _fits if each.name is not None else _is_computed
            if wanted(found.value, each):
                variables[name] = replace(found, comment=each)

    def finish(self, call: ast.expr) -> None:
        """Forget what stands before this call."""
        self._remarks = [each for each in self._remarks if each.line > call.lineno]
        self._assigned = {}
        self._last = None

    def _stood_before(self, remark: Remark) -> bool:
        """Whether the variable that a comment names has its value already where the comment stands."""
        return any(line < remark.line for line in self._assigned.get(remark.name or "", ()))

    def _named(self, remark: Remark, variables: dict[str, ExampleVariable]) -> str | None:
        wanted = (remark.name or "").lower()
        names = [each for each in variables if each.lower() == wanted]
        name = remark.name if remark.name in names else names[0] if len(names) == 1 else None
        lines = self._assigned.get(name or "", [])
        twice = self._stood_before(remark) and any(each > remark.line for each in lines)
        return None if twice else name


def _fits(value: Any, remark: Remark) -> bool:
    return isinstance(value, UnknownValue) and value.shape in (None, remark.printed.shape)


def _is_computed(value: Any, remark: Remark) -> bool:
    """Whether a value is the result of code that is not read, not random data."""
    return isinstance(value, UnknownValue) and value.shape is None and _fits(value, remark)

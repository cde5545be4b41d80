"""The calls that example code makes: a node, what is expected of it, and the arrays that comments print."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from specs.documents.text.documents import Line
from specs.documents.worked.arrays import UnknownValue, is_read
from specs.documents.worked.literals import LiteralReader
from specs.documents.worked.printed import Remark
from specs.model.spec import Source

_ROUNDED = 1e-3
"""Relative difference that pages leave by rounding what they print."""


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
        self.contradictions: list[tuple[Remark, str]] = []
        """Arrays that are printed for what the code computes otherwise, and the variables."""

    def note_change(self, statement: ast.stmt, name: str) -> None:
        """A statement changes a part of a variable: what is printed before it is of another value."""
        self._assigned.setdefault(name, []).append(statement.lineno)

    def take(self, statement: ast.stmt, name: str, value: Any) -> Remark | None:
        """The array that a comment states for the variable that this statement assigns."""
        self._assigned.setdefault(name, []).append(statement.lineno)
        self._last = name
        end = statement.end_lineno or statement.lineno
        for remark in self._remarks:
            if remark.before is None:
                here = statement.lineno <= remark.line <= end
            else:
                here = remark.before == statement.lineno and not self._stood_before(remark)
            if here and remark.name in (None, name) and _is_computed(value, remark):
                return remark
            if here and (remark.name == name or remark.before is None) and _contradicts(value, remark):
                self.contradictions.append((remark, name))
        return None

    def bind_before(self, call: ast.stmt, variables: dict[str, ExampleVariable]) -> None:
        """Give the variables the arrays that stand between their assignment and this call of `expect`."""
        for remark in self._remarks:
            if remark.line >= call.lineno:
                continue
            name = self._named(remark, variables) if remark.name else None
            if remark.name is None and remark.before == call.lineno:
                name = self._last
            found = variables.get(name) if name is not None else None
            if name is None or found is None or found.comment is not None:
                continue
            wanted = _fits if remark.name is not None else _is_computed
            if remark.name is not None and _contradicts(found.value, remark):
                self.contradictions.append((remark, name))
            elif wanted(found.value, remark):
                variables[name] = replace(found, comment=remark)

    def finish(self, call: ast.expr) -> None:
        """Forget what stands before this call."""
        self._remarks = [remark for remark in self._remarks if remark.line > call.lineno]
        self._assigned = {}
        self._last = None

    def _stood_before(self, remark: Remark) -> bool:
        """Whether the variable that a comment names has its value already where the comment stands."""
        return any(line < remark.line for line in self._assigned.get(remark.name or "", ()))

    def _named(self, remark: Remark, variables: dict[str, ExampleVariable]) -> str | None:
        wanted = (remark.name or "").lower()
        names = [variable for variable in variables if variable.lower() == wanted]
        name = remark.name if remark.name in names else names[0] if len(names) == 1 else None
        lines = self._assigned.get(name or "", [])
        twice = self._stood_before(remark) and any(line > remark.line for line in lines)
        return None if twice else name


def _contradicts(value: Any, remark: Remark) -> bool:
    """Whether numbers that code computes are others than a comment of their shape prints."""
    printed = remark.printed
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or value.shape != printed.shape:
        return False
    given = np.array(printed.data, dtype=np.float64)
    computed = value.astype(np.float64).reshape(-1)
    slack = float(Fraction(1, 10) ** printed.decimals) if printed.decimals is not None else 0.5
    with np.errstate(invalid="ignore"):
        near = np.abs(given - computed) <= slack + _ROUNDED * np.abs(computed)
    return not bool((near | (given == computed) | (np.isnan(given) & np.isnan(computed))).all())


def _fits(value: Any, remark: Remark) -> bool:
    return isinstance(value, UnknownValue) and value.shape in (None, remark.printed.shape)


def _is_computed(value: Any, remark: Remark) -> bool:
    """Whether a value is the result of code that is not read, not random data."""
    return isinstance(value, UnknownValue) and value.shape is None and _fits(value, remark)


@dataclass
class ExampleNode:
    """A node that example code makes; `unread` says what of it could not be read."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    source: Source
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExampleVariable:
    """A variable's value when `expect` is called, where it was assigned, the array that a comment prints.

    `made` is the expression that it was assigned.
    """

    value: Any
    source: Source
    comment: Remark | None = None
    made: ast.expr | None = None


@dataclass(frozen=True)
class ExpectedCall:
    """An `expect(node, inputs=..., outputs=...)` of example code, with everything that was read of it.

    `inputs` and `outputs` are names of variables, None where the list was not read; `opset` is the version of
    the default operator set that the call asks for.
    """

    node: ExampleNode
    inputs: list[str] | None
    outputs: list[str] | None
    name: str | None
    variables: dict[str, ExampleVariable]
    source: Source
    opset: int | None = None


@dataclass(frozen=True)
class UnreadCall:
    """A call of `expect` that could not be read, and why."""

    source: Source
    reason: str


@dataclass
class Code:
    """What was read of one example: its calls, those that were not, and what was wrong with its text."""

    calls: list[ExpectedCall]
    unread: list[UnreadCall] = field(default_factory=list)
    indentation: Line | None = None
    error: tuple[str, Line] | None = None
    contradictions: list[tuple[Remark, str]] = field(default_factory=list)


def read_node(value: ast.expr, reader: LiteralReader, source: Source) -> ExampleNode | None:
    """The node that an expression makes; None where it is no call of make_node with literal names."""
    match value:
        case ast.Call(func=ast.Attribute(attr="make_node")) | ast.Call(func=ast.Name(id="make_node")):
            pass
        case _:
            return None
    arguments = [reader.read(argument) for argument in value.args]
    keywords: dict[str, Any] = {}
    for keyword in value.keywords:
        found = reader.read(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = found
        elif isinstance(found, dict):
            keywords.update(found)
        else:
            keywords[f"**{ast.unparse(keyword.value)}"] = found
    operator = arguments[0] if arguments else keywords.pop("op_type", None)
    inputs = arguments[1] if len(arguments) > 1 else keywords.pop("inputs", None)
    outputs = arguments[2] if len(arguments) > 2 else keywords.pop("outputs", None)
    for name in ("name", "doc_string"):
        keywords.pop(name, None)
    if not isinstance(operator, str) or not _are_names(inputs) or not _are_names(outputs):
        return None
    given = {name: keyword for name, keyword in keywords.items() if keyword is not None}
    unread = tuple(name for name, each in given.items() if not is_read(each))
    attributes = {name: each for name, each in given.items() if name not in unread}
    return ExampleNode(operator, inputs, outputs, attributes, source, unread)


def read_opset(value: ast.expr | None, reader: LiteralReader) -> int | None:
    """The version of the default operator set in a list of `make_opsetid("", N)`; None where none is."""
    for elt in value.elts if isinstance(value, ast.List | ast.Tuple) else []:
        match elt:
            case ast.Call(args=[domain, version]):
                found = reader.read(version)
                if reader.read(domain) in ("", "ai.onnx") and isinstance(found, int):
                    return found
    return None


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def read_list(
    node: ast.expr | None,
    reader: LiteralReader,
    variables: dict[str, ExampleVariable],
    place: Callable[[ast.expr], Source],
) -> list[str] | None:
    """The variables of a list of inputs or outputs; an expression in it becomes a variable of its own."""
    if node is None:
        return []
    if not isinstance(node, ast.List | ast.Tuple):
        known = variables.get(node.id) if isinstance(node, ast.Name) else None
        source = place(node) if known is None else known.source
        return _spread(ast.unparse(node), reader.read(node), source, variables)
    names: list[str] = []
    for elt in node.elts:
        if isinstance(elt, ast.Starred):
            more = _spread(ast.unparse(elt), reader.read(elt.value), place(elt), variables)
            if more is None:
                return None
            names += more
        elif isinstance(elt, ast.Name):
            names.append(elt.id)
        else:
            name = ast.unparse(elt)
            variables[name] = ExampleVariable(reader.read(elt), place(elt))
            names.append(name)
    return names


def _spread(text: str, value: Any, source: Source, variables: dict[str, ExampleVariable]) -> list[str] | None:
    if not isinstance(value, list):
        return None
    names = [f"{text}[{position}]" for position in range(len(value))]
    for name, each in zip(names, value, strict=True):
        variables[name] = ExampleVariable(each, source)
    return names

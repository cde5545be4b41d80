"""Which statements of the reference a call runs, as the interpreter traces them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from generator.trust.mutants.mutated_parts import ReferenceFunction

Point = int


class Points:
    """The numbered statements of some functions."""

    def __init__(self, parts: Sequence[ReferenceFunction]) -> None:
        self._codes = {code for part in parts for code in _with_inner(part.function.__code__)}
        self._point_of: dict[tuple[str, int], Point] = {}
        self._count = 0
        for part in parts:
            for statement in part.tree.body:
                self._number(_file_of(part), statement)

    def at(self, part: ReferenceFunction, node: ast.expr | ast.stmt) -> Point:
        """The point of the statement that a node is in."""
        return self._point_of[_file_of(part), node.lineno]

    @contextmanager
    def watched(self) -> Iterator[set[Point]]:
        """A set to which every point is added that is passed meanwhile."""
        seen: set[Point] = set()

        def enter(frame: FrameType, _event: str, _argument: Any) -> Any:
            return run_line if frame.f_code in self._codes else None

        def run_line(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line":
                point = self._point_of.get((frame.f_code.co_filename, frame.f_lineno))
                if point is not None:
                    seen.add(point)
            return run_line

        before = sys.gettrace()
        sys.settrace(enter)
        try:
            yield seen
        finally:
            sys.settrace(before)

    def _number(self, file: str, statement: ast.stmt) -> None:
        """Give a statement the next point, and those inside it the next ones: their lines are theirs."""
        point, self._count = self._count, self._count + 1
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
            self._point_of[file, line] = point
        for inner in _statements(statement):
            self._number(file, inner)


def _file_of(part: ReferenceFunction) -> str:
    return part.function.__code__.co_filename


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements right inside a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        else:
            yield from _statements(child)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of functions and generators inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)

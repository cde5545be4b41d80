"""Which points of the reference a call comes by: statements, and expressions that are not always needed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from types import CodeType, FunctionType

from generator.adequacy.edits import is_guard
from generator.adequacy.mutated_parts import Part
from generator.adequacy.trees import Span, compiled, running, span_of

Point = int
_HOOK = "__opcert_reached__"


class Points:
    """The numbered points of some functions."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._number: dict[tuple[str, str, Span], Point] = {}
        self._point_of: dict[tuple[str, str, Span], Point] = {}
        self.guards: dict[tuple[str, int], Point] = {}
        """The point of every line of a guard, by file and line."""
        self.lines: dict[Point, tuple[Part, int]] = {}
        for part in parts:
            for statement in part.tree.body:
                self._visit(part, statement, -1)

    def at(self, part: Part, node: ast.AST) -> Point:
        """The point that is passed wherever a node is."""
        return self._point_of[self._key(part, node)]

    @contextmanager
    def watched(self) -> Iterator[set[Point]]:
        """A set to which every point is added that is passed meanwhile."""
        seen: set[Point] = set()
        with ExitStack() as stack:
            for module in {part.module.__name__: part.module for part in self._parts}.values():
                setattr(module, _HOOK, seen.add)
                stack.callback(delattr, module, _HOOK)
            stack.enter_context(running(self._probed_codes))
            yield seen

    @cached_property
    def _probed_codes(self) -> dict[FunctionType, CodeType]:
        codes = [compiled(self._probed(part), part.function.__code__.co_filename) for part in self._parts]
        return {part.function: code for part, code in zip(self._parts, codes, strict=True)}

    def _key(self, part: Part, node: ast.AST) -> tuple[str, str, Span]:
        return part.module.__name__, part.name, span_of(node)

    def _visit(self, part: Part, node: ast.AST, point: Point) -> None:
        key = self._key(part, node)
        if isinstance(node, ast.stmt) or key in self._number:
            point = self._number.setdefault(key, len(self.lines))
            self.lines[point] = (part, node.lineno if isinstance(node, ast.stmt | ast.expr) else 0)
        if isinstance(node, ast.stmt) and is_guard(node):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                self.guards[part.function.__code__.co_filename, line] = point
        self._point_of[key] = point
        for each in _optional(node):
            number = self._number.setdefault(self._key(part, each), len(self.lines))
            self.lines[number] = (part, each.lineno)
        for child in ast.iter_child_nodes(node):
            self._visit(part, child, point)

    def _probed(self, part: Part) -> ast.FunctionDef:
        probes = _Probes({span: point for (module, name, span), point in self._number.items()
                          if (module, name) == (part.module.__name__, part.name)})  # fmt: skip
        tree = copy.deepcopy(part.tree)
        tree.body = [each for statement in tree.body for each in probes.with_probe(statement)]
        return tree


def _optional(node: ast.AST) -> list[ast.expr]:
    """The expressions in a node that are not needed each time it is."""
    match node:
        case ast.IfExp():
            return [node.body, node.orelse]
        case ast.BoolOp():
            return node.values[1:]
        case ast.Lambda():
            return [node.body]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [node.elt]
    return []


class _Probes(ast.NodeTransformer):
    def __init__(self, numbers: dict[Span, Point]) -> None:
        self._numbers = numbers

    def with_probe(self, statement: ast.stmt) -> list[ast.stmt]:
        number = self._numbers[span_of(statement)]
        return [ast.copy_location(ast.Expr(_call(number)), statement), self.visit(statement)]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        number = None if isinstance(node, ast.stmt) else self._numbers.get(span_of(node))
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, [each for inner in value for each in self.with_probe(inner)])
            elif isinstance(value, list):
                setattr(
                    node, name, [self.visit(each) if isinstance(each, ast.AST) else each for each in value]
                )
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        if number is None or not isinstance(node, ast.expr):
            return node
        pair = ast.Tuple([_call(number), node], ast.Load())
        return ast.copy_location(ast.Subscript(pair, ast.Constant(1), ast.Load()), node)


def _call(number: Point) -> ast.Call:
    return ast.Call(ast.Name(_HOOK, ast.Load()), [ast.Constant(number)], [])

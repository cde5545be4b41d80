"""Shape expressions of declarations: `N, C, *S`, `(K, M) if transA else (M, K)`, `*broadcast(*Z), K`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, cast

from opcert.vocabulary.errors import UserError
from specs.language.expressions import EvaluationError, Expression, parse_tree, read_tree

Word = Literal["broadcast", "within", "upto", "maybe"]
WORDS: tuple[Word, ...] = ("broadcast", "within", "upto", "maybe")
"""What leaves a choice: inputs that broadcast each other to the extents, that broadcast to them and never
enlarge them, whose extents are at most these, an axis that may be missing."""

MOST_PARTS = 32
"""Extents that a shape has at most: no library that is held against a suite has more axes."""
_LONGEST = 10_000


@dataclass(frozen=True)
class ShapePart:
    """One part of a shape: an extent, or several of them where `several`.

    With a `word` the extents are those that the word chooses from `arguments`; without, `expression` says
    them.
    """

    expression: Expression | None
    several: bool = False
    word: Word | None = None
    arguments: tuple[ShapePart, ...] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        own = self.expression.names if self.expression is not None else frozenset()
        return own.union(*(argument.names for argument in self.arguments))

    @cached_property
    def starred(self) -> frozenset[str]:
        """The names that stand for lists of extents: `D` of `*D[:k]`."""
        own: frozenset[str] = frozenset()
        if self.expression is not None and self.several:
            tree = self.expression.tree
            while isinstance(tree, ast.Subscript):
                tree = tree.value
            own = frozenset({tree.id}) if isinstance(tree, ast.Name) else frozenset()
        return own.union(*(argument.starred for argument in self.arguments))


@dataclass(frozen=True)
class Shape:
    """A shape expression: alternatives with their conditions, the last of which has none."""

    text: str
    alternatives: tuple[tuple[Expression | None, tuple[ShapePart, ...]], ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that its conditions and parts leave free."""
        found: frozenset[str] = frozenset()
        for condition, parts in self.alternatives:
            found = found.union(condition.names if condition else (), *(part.names for part in parts))
        return found

    @cached_property
    def starred(self) -> frozenset[str]:
        """The names that stand for lists of extents (packs)."""
        return frozenset().union(*(part.starred for part in self.parts()))

    def parts(self) -> Iterator[ShapePart]:
        """Every part of every alternative."""
        for _, parts in self.alternatives:
            yield from parts

    def words(self) -> Iterator[ShapePart]:
        """The parts that leave a choice."""
        return (part for part in self.parts() if part.word is not None)

    def chosen(self, names: Mapping[str, object]) -> tuple[ShapePart, ...]:
        """The parts of the alternative whose condition holds; EvaluationError where that is not known yet."""
        for condition, parts in self.alternatives:
            if condition is None or condition.evaluate(names):
                return parts
        raise EvaluationError("no alternative of the shape holds", got=self.text)


def evaluate_part(part: ShapePart, names: Mapping[str, object]) -> list[int]:
    """The extents that a part without a word says; EvaluationError where they are no whole numbers from 0."""
    if part.expression is None:
        raise EvaluationError("a part of a shape leaves a choice")
    value = part.expression.evaluate(names)
    extents = list(value) if part.several or isinstance(value, list | tuple) else [value]
    for extent in extents:
        if not isinstance(extent, int) or isinstance(extent, bool) or extent < 0:
            raise EvaluationError("no extent", got=repr(extent), expected="a whole number from 0")
    return extents


@lru_cache(maxsize=4096)
def parse_shape(text: str) -> Shape:
    """Read a shape expression; raises UserError that names what is wrong with it."""
    if len(text) > _LONGEST:
        raise UserError(
            "a shape that is too long", got=f"{len(text):,} characters", expected=f"at most {_LONGEST:,}"
        )
    stripped = text.strip()
    # A comma at the end makes a tuple of a single part; `()` has none.
    source = stripped if stripped.startswith("()") and stripped.endswith("()") else f"({stripped},)"
    try:
        tree = read_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        expected = "extents with commas between them, such as N, C, *S"
        raise UserError("not a shape", got=repr(text), expected=f"{expected} ({error})") from None
    try:
        found = Shape(text, tuple(_alternatives(tree)))
    except RecursionError:
        raise UserError("a shape nested too deeply", got=repr(text[:80])) from None
    most = max(len(parts) for _, parts in found.alternatives)
    if most > MOST_PARTS:
        raise UserError("a shape of too many parts", got=f"{most:,}", expected=f"at most {MOST_PARTS}")
    return found


def shape_of_version(text: str, version: int) -> str:
    """The shape expression as one version sees it: of alternatives that hang on `version` alone, the one."""
    try:
        tree = read_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text  # several parts, or no shape at all: who reads it says what is wrong
    while isinstance(tree, ast.IfExp) and parse_tree(tree.test).names == {"version"}:
        tree = tree.body if parse_tree(tree.test).evaluate({"version": version}) else tree.orelse
        parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
        text = ", ".join(map(ast.unparse, parts)) or "()"
    return text


def _alternatives(tree: ast.expr) -> Iterator[tuple[Expression | None, tuple[ShapePart, ...]]]:
    if isinstance(tree, ast.Tuple) and len(tree.elts) == 1 and isinstance(tree.elts[0], ast.IfExp):
        tree = tree.elts[0]
        if not _is_of_shapes(tree):
            yield None, (_part(tree),)
            return
    while isinstance(tree, ast.IfExp):
        yield parse_tree(tree.test), tuple(_parts(tree.body))
        tree = tree.orelse
    yield None, tuple(_parts(tree))


def _is_of_shapes(tree: ast.expr) -> bool:
    """Whether what a condition chooses from are shapes: a condition may also choose a single extent."""
    if isinstance(tree, ast.IfExp):
        return _is_of_shapes(tree.body) or _is_of_shapes(tree.orelse)
    return isinstance(tree, ast.Tuple)


def _parts(tree: ast.expr) -> Iterator[ShapePart]:
    for elt in tree.elts if isinstance(tree, ast.Tuple) else [tree]:
        yield _part(elt)


def _part(tree: ast.expr) -> ShapePart:
    several = isinstance(tree, ast.Starred)
    inner = tree.value if isinstance(tree, ast.Starred) else tree
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in WORDS:
        arguments = tuple(_part(argument) for argument in inner.args)
        if inner.keywords or not arguments or any(argument.word for argument in arguments):
            raise UserError(
                f"{inner.func.id}() takes extents alone",
                got=ast.unparse(inner),
                expected=f"{inner.func.id}(*S)",
            )
        return ShapePart(None, True, inner.func.id, arguments)
    is_shape = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "shape"
    return ShapePart(parse_tree(_exact(inner)), several or is_shape)


class _Exact(ast.NodeTransformer):
    """`/` among extents must leave no remainder."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        return ast.Call(ast.Name("divided", ast.Load()), [node.left, node.right], [])


def _exact(tree: ast.expr) -> ast.expr:
    return cast(ast.expr, ast.fix_missing_locations(_Exact().visit(tree)))

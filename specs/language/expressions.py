"""Expressions of specs: a whitelisted subset of Python, parsed with `ast` and never evaluated by `eval`.

A declaration names a kind as a call, whose arguments are expressions: `axis(X, exclude_last=True)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from keyword import iskeyword
from typing import Any

from opcert.vocabulary.errors import UserError
from specs.language.compiled_expressions import Compiled, Layered, compile_tree, evaluate
from specs.language.evaluation import BINARY, COMPARE, FUNCTIONS, KEYWORDS, UNARY, EvaluationError, Operand

__all__ = [
    "EvaluationError", "Expression", "KindCall", "Layered", "Operand",
    "parse", "parse_call", "parse_tree", "read_tree",
]  # fmt: skip

_LONGEST = 10_000
_PART = re.compile(r"\s+|'[^']*'|\"[^\"]*\"|\w+|.", re.DOTALL)
_OF_THE_LANGUAGE = frozenset({"None", "True", "False", "not"})
"""The keywords that an operand begins with; any other one is a name where an operand is due."""
_PLAIN = (
    *(ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.comprehension),
    *(ast.Subscript, ast.Slice, ast.keyword, ast.Load, ast.Store, ast.And, ast.Or),
    *BINARY,
    *UNARY,
    *COMPARE,
)


@dataclass(frozen=True)
class Expression:
    """A parsed expression: its text, its syntax tree, and the names that it leaves free."""

    text: str
    tree: ast.expr
    names: frozenset[str]

    def evaluate(self, names: Mapping[str, object]) -> Any:
        """Its value under names: inputs as `Operand` or None, attributes as plain values or None.

        Raises EvaluationError where it has none.
        """
        return evaluate(self._compiled, self.tree, names)

    @cached_property
    def _compiled(self) -> Compiled:
        return compile_tree(self.tree)


@lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Read an expression; raises UserError that names the part which is not in the subset."""
    if len(text) > _LONGEST:
        raise UserError("expression too long", got=f"{len(text)} characters", expected=f"at most {_LONGEST}")
    try:
        tree = read_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(
            "not an expression", got=repr(text), expected=f"a Python expression ({error})"
        ) from None
    return parse_tree(tree, text)


def read_tree(text: str) -> ast.expr:
    """The syntax tree of an expression, in which an input may be called `else` or `lambda` as well.

    Raises what `ast.parse` does where it is none.
    """
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        written, restored = _with_names(text.strip())
        if not restored:
            raise
        tree = ast.parse(written, mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = restored.get(node.id, node.id)
    return tree


def _with_names(text: str) -> tuple[str, dict[str, str]]:
    """The text with `else_` for an `else` that stands where an operand is due, and what each of these is."""
    parts, restored, is_due = [], {}, True
    for part in _PART.findall(text):
        if is_due and iskeyword(part) and part not in _OF_THE_LANGUAGE:
            restored[f"{part}_"] = part
            parts.append(f"{part}_")
            is_due = False
            continue
        parts.append(part)
        if not part.isspace():
            operand = part[0].isalnum() or part[0] in "_'\")]}"
            is_due = not operand or (iskeyword(part) and part not in ("None", "True", "False"))
    return "".join(parts), restored


def parse_tree(tree: ast.expr, text: str | None = None) -> Expression:
    """An expression of a syntax tree that stands in another one; raises UserError as `parse` does."""
    shown = ast.unparse(tree) if text is None else text
    try:
        free = frozenset(_free_names(tree, frozenset()))
    except RecursionError:
        raise UserError("expression nested too deeply", got=repr(shown[:80])) from None
    return Expression(shown, tree, free)


def _free_names(node: ast.AST, bound: frozenset[str]) -> Iterator[str]:
    """The names that a tree leaves free; raises UserError on any part outside the whitelist."""
    match node:
        case ast.Call():
            yield from _check_call(node, bound)
        case ast.Name(id=name):
            # Operators have inputs, and factors are named, like functions (shape, element_type).
            if name not in bound:
                yield name
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
            for loop in node.generators:
                yield from _free_names(loop.iter, bound)
                bound = bound | _targets(loop.target)
                for test in loop.ifs:
                    yield from _free_names(test, bound)
            yield from _free_names(node.elt, bound)
        case ast.Constant(value=value) if not isinstance(value, bool | int | float | str | None):
            raise UserError("not a literal of the expression language", got=repr(value))
        case _ if isinstance(node, _PLAIN):
            for child in ast.iter_child_nodes(node):
                yield from _free_names(child, bound)
        case _:
            raise UserError("not part of the expression language", got=_describe(node))


def _check_call(node: ast.Call, bound: frozenset[str]) -> Iterator[str]:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        raise UserError(
            "unknown function in an expression",
            got=_describe(node.func),
            expected=f"one of {', '.join(sorted(FUNCTIONS))}",
        )
    for keyword in node.keywords:
        if keyword.arg not in KEYWORDS.get(node.func.id, ()):
            raise UserError(f"{node.func.id}() takes no such keyword", got=repr(keyword.arg))
        yield from _free_names(keyword.value, bound)
    for argument in node.args:
        yield from _free_names(argument, bound)


def _targets(node: ast.expr) -> frozenset[str]:
    if isinstance(node, ast.Name):
        return frozenset({node.id})
    if isinstance(node, ast.Tuple):
        return frozenset().union(*(_targets(elt) for elt in node.elts))
    raise UserError("a loop's variable must be a name", got=_describe(node))


def _describe(node: ast.AST) -> str:
    return repr(ast.unparse(node)[:80])


@dataclass(frozen=True)
class KindCall:
    """A kind's name and its arguments, unevaluated."""

    kind: str
    positional: tuple[Expression, ...]
    named: Mapping[str, Expression]

    @property
    def names(self) -> frozenset[str]:
        """The names that the arguments leave free."""
        every = (*self.positional, *self.named.values())
        return frozenset[str]().union(*(each.names for each in every))


@lru_cache(maxsize=4096)
def parse_call(text: str) -> KindCall:
    """Read a kind's call; raises UserError where it is none."""
    try:
        tree = read_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if isinstance(tree, ast.Name):
        return KindCall(tree.id, (), {})
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise UserError("not a kind", got=repr(text), expected="a kind and its arguments, such as axis(X)")
    named = {}
    for keyword in tree.keywords:
        if keyword.arg is None:
            raise UserError("a kind's arguments are written one by one", got=ast.unparse(keyword.value))
        named[keyword.arg] = parse_tree(keyword.value)
    return KindCall(tree.func.id, tuple(parse_tree(argument) for argument in tree.args), named)

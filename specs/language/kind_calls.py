"""How a declaration names a kind: `axis(X, exclude_last=True)`, its arguments unevaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from opcert.vocabulary.errors import UserError
from specs.language.expressions import Expression, parse_tree, read_tree


@dataclass(frozen=True)
class KindCall:
    """A kind's name and its arguments, as expressions."""

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

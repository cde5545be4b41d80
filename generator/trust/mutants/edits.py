"""What an edit of a syntax tree is, and which nodes are something else than they look like."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

Node = ast.expr | ast.stmt

RESULTS = ("Answer", "Rounded", "Weights", "allowing", "whichever")
"""Calls whose first argument is the result, and the others what may stand in its place."""


@dataclass(frozen=True, eq=False)
class Edit:
    """One node in place of another; `kind` says what sort of mistake that is.

    It can matter to calls alone that come by `passes`, too, where that is given.
    """

    kind: str
    old: Node
    new: Node
    passes: Node | None = None


@dataclass(frozen=True)
class MutantVocabulary:
    """What a family of mutants needs to know of an operator.

    `values` are sets of words that stand for each other: the values of an attribute, the patterns of a match.
    `options` are those of which each in place of another is a mistake of its own: what a function that is
    called takes. `known` are the names of the module that the function has no variables of.
    What mentions one of the names in `left_out` is not edited as a whole: variables that serve the allowed
    error, and open readings, of which every option is accepted. Which branch `settled` readings choose is
    no fault either; to compare them wrongly is.
    """

    values: tuple[tuple[str, ...], ...] = ()
    options: tuple[tuple[str, ...], ...] = ()
    known: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()

    def leaves_out(self, node: ast.AST) -> bool:
        return mentions(node, self.left_out)


def name_of(node: ast.expr) -> str:
    """The last name of a variable or of what is behind dots; nothing for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def mentions(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether one of the names, as a variable or behind a dot, is somewhere in a node."""
    return bool(names) and any(
        isinstance(each, ast.Name | ast.Attribute) and name_of(each) in names for each in ast.walk(node)
    )


def is_first(node: ast.AST) -> TypeGuard[ast.Subscript]:
    """Whether a node takes the first element: often there is but one, which is the last one, too."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(index, ast.Constant) and index.value == 0


def is_guard(node: ast.AST) -> bool:
    """Whether a statement does nothing but refuse calls."""
    if not isinstance(node, ast.If) or node.orelse:
        return False
    return all(isinstance(each, ast.Raise) for each in node.body)


def is_nothing(node: ast.AST) -> bool:
    """A product with a literal zero: it gives a shape, and no value."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return False
    zero = node.right.args[0] if isinstance(node.right, ast.Call) and node.right.args else node.right
    return isinstance(zero, ast.Constant) and zero.value == 0


def matched_words(tree: ast.AST) -> Sequence[tuple[str, ...]]:
    """The words that each match statement tells apart."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Match):
            patterns = [each.pattern for each in node.cases]
            values = [each.value for each in patterns if isinstance(each, ast.MatchValue)]
            words = [each.value for each in values if isinstance(each, ast.Constant)]
            found.append(tuple(each for each in words if isinstance(each, str)))
    return [each for each in found if len(each) > 1]

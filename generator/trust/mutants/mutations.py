"""What is changed in a syntax tree: one small edit at a time, of the kinds that people make by mistake."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.numbers.rationals import Rationals

Node = ast.expr | ast.stmt

RESULTS = ("Answer", "Rounded", "Weights", "whichever", "with_bound_of")
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
    return all(isinstance(stmt, ast.Raise) for stmt in node.body)


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
            patterns = [case.pattern for case in node.cases]
            values = [pattern.value for pattern in patterns if isinstance(pattern, ast.MatchValue)]
            words = [value.value for value in values if isinstance(value, ast.Constant)]
            found.append(tuple(word for word in words if isinstance(word, str)))
    return [each for each in found if len(each) > 1]


_NEIGHBOURS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("rounding", ("floor", "ceil", "trunc", "rint", "round")),
    ("clamp", ("min", "max")),
    ("clamp", ("minimum", "maximum")),
    ("clamp", ("greater_of", "lesser_of")),
    ("clamp", ("greatest", "least")),
    ("condition", ("any", "all")),
    ("condition", ("logical_and", "logical_or", "logical_xor")),
    ("condition", ("isnan", "isinf")),
    ("comparison", ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")),
    ("neighbour", ("bitwise_and", "bitwise_or", "bitwise_xor")),
    ("neighbour", ("left_shift", "right_shift")),
    ("neighbour", ("add", "subtract", "multiply")),
    ("neighbour", ("sum", "prod")),
    ("neighbour", ("cumsum", "cumprod")),
    ("neighbour", ("argmin", "argmax")),
    ("neighbour", ("total", "product")),
    ("neighbour", ("total_of_products", "sum_of_products")),
    ("neighbour", ("running_totals", "running_products")),
    ("neighbour", ("zeros", "ones")),
    ("neighbour", ("zeros_like", "ones_like")),
    ("neighbour", ("flip", "sort")),
    ("neighbour", ("concatenate", "stack")),
    ("neighbour", ("smallest_subnormal", "largest")),
)
"""Names of functions and methods that mean something near to each other, with the kind of mistake it is."""
_FORGOTTEN = (
    "abs", "absolute", "broadcast_to", "cumsum", "expand_dims", "flip", "invert", "logical_not", "mean_of",
    "moveaxis", "negative", "product", "root", "round", "sort", "sorted", "sqrt", "swapaxes", "tile",
    "transpose", "transposed", "truncated_quotient", "whole", "rounded_once",
)  # fmt: skip
"""Functions without which what they are given is still something of the same sort."""
_MODULES = {"np": np, "math": math}
_HOLDERS = (np.ndarray, Numbers, Rationals)
"""Whose methods the reference calls."""


def neighbour_edits(node: ast.Name | ast.Attribute, known: frozenset[str]) -> Iterator[Edit]:
    """A neighbour's name in place of a function's; `known` are those of the module but for variables."""
    name = name_of(node)
    for kind, group in _NEIGHBOURS:
        if name in group:
            for other in group:
                if other != name and _is_there(node, other, known):
                    yield Edit(kind, node, renamed(node, other))


def forgotten_calls(node: ast.Call) -> Iterator[Edit]:
    """What a function is given in place of what it makes of that."""
    if name_of(node.func) not in _FORGOTTEN:
        return
    if isinstance(node.func, ast.Attribute) and name_of(node.func.value) not in _MODULES:
        yield Edit("dropped call", node, node.func.value)
    elif node.args and not isinstance(node.args[0], ast.Starred):
        kind = "dropped sign" if name_of(node.func) == "abs" else "dropped call"
        yield Edit(kind, node, node.args[0])


def renamed(node: ast.expr, name: str) -> ast.expr:
    """The same variable, or what is behind the same dots, by another name."""
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, name, node.ctx)
    return ast.Name(name, ast.Load())


def _is_there(node: ast.Name | ast.Attribute, name: str, known: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        return {node.id, name} <= known
    module = _MODULES.get(name_of(node.value))
    if module is not None:
        return hasattr(module, name)
    return any(hasattr(holder, name) and hasattr(holder, node.attr) for holder in _HOLDERS)


_BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_CLAMPS = ("min", "max", "minimum", "maximum", "clip")
_SYMMETRIC = {
    *RESULTS,
    "pop",
    *_CLAMPS,
    "isinstance",
    "append",
    "multiply_add",
    "Tensor",
    "lcm",
    "gcd",
    "full",
    "zeros",
    "array",
}
_PAIRS = (
    ("original", "resized"), ("start", "end"), ("begin", "end"), ("first", "last"), ("top", "left"),
    ("rows", "columns"), ("strides", "rates"), ("sizes", "strides"), ("numerator", "denominator"),
)  # fmt: skip
"""Words of names that are taken for each other."""


def edits(node: Node, names: frozenset[str], vocabulary: MutantVocabulary) -> Iterator[Edit]:
    """Every edit of one node itself, not of those inside it; `names` are those known in the function."""
    if vocabulary.leaves_out(node):
        return
    match node:
        case ast.Compare():
            yield from _comparison(node)
        case ast.BoolOp():
            yield from _condition(node)
        case ast.BinOp():
            yield from _arithmetic(node)
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            yield Edit("dropped sign" if isinstance(node.op, ast.USub) else "negation", node, node.operand)
        case ast.Constant():
            yield from _constant(node, vocabulary)
        case ast.Call():
            yield from _call(node)
        case ast.Subscript(slice=ast.Slice()):
            yield from _slice(node)
        case ast.IfExp() if not mentions(node.test, vocabulary.settled):
            yield Edit("another branch", node, node.body, node.orelse)
            yield Edit("another branch", node, node.orelse, node.body)
        case ast.Name() | ast.Attribute():
            yield from _mistaken_name(node, names)
            yield from neighbour_edits(node, vocabulary.known)
        case ast.Subscript() if is_first(node):
            yield Edit("off by one", node.slice, ast.Constant(1))
        case ast.Tuple(elts=[first, second]) if ast.dump(first) != ast.dump(second):
            yield Edit("swapped arguments", node, ast.Tuple([second, first], node.ctx))
        case ast.If() if not mentions(node.test, vocabulary.settled):
            yield from _branch(node)
        case ast.Match():
            yield from _cases(node)
        case ast.AugAssign() | ast.Assign(targets=[ast.Subscript()]):
            yield Edit("dropped statement", node, ast.Pass())


def _comparison(node: ast.Compare) -> Iterator[Edit]:
    for place, op in enumerate(node.ops):
        other = _BOUNDARY[type(op)]()
        ops = [*node.ops[:place], other, *node.ops[place + 1 :]]
        yield Edit("comparison", node, ast.Compare(node.left, ops, node.comparators))
    if len(node.ops) == 1 and isinstance(node.ops[0], _ORDER):
        yield Edit("comparison", node, ast.UnaryOp(ast.Not(), node))


def _condition(node: ast.BoolOp) -> Iterator[Edit]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield Edit("condition", node, ast.BoolOp(other, node.values))
    for place in range(len(node.values)):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        yield Edit("condition", node, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))


def _arithmetic(node: ast.BinOp) -> Iterator[Edit]:
    left, right = node.left, node.right
    if is_nothing(node) or is_nothing(left):
        return
    if isinstance(left, ast.JoinedStr | ast.Dict | ast.List | ast.Tuple) or isinstance(right, ast.List):
        return
    match node.op:
        case ast.Add():
            yield Edit("arithmetic", node, ast.BinOp(left, ast.Sub(), right))
            yield Edit("dropped term", node, right)
        case ast.Sub():
            yield Edit("arithmetic", node, ast.BinOp(left, ast.Add(), right))
            yield Edit("swapped arguments", node, ast.BinOp(right, ast.Sub(), left))
        case ast.Mult():
            yield Edit("arithmetic", node, ast.BinOp(left, ast.Add(), right))
            yield Edit("dropped term", node, right)
        case ast.Div():
            yield Edit("arithmetic", node, ast.BinOp(left, ast.Mult(), right))
        case ast.FloorDiv():
            # Rounding the other way: -(-a // b).
            upwards = ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), left), node.op, right))
            yield Edit("rounding", node, upwards)
        case ast.BitAnd():
            yield Edit("condition", node, ast.BinOp(left, ast.BitOr(), right))
        case ast.BitOr():
            yield Edit("condition", node, ast.BinOp(left, ast.BitAnd(), right))
        case ast.BitXor():
            yield Edit("condition", node, ast.BinOp(left, ast.BitOr(), right))
            yield Edit("condition", node, ast.BinOp(left, ast.BitAnd(), right))
        case ast.LShift():
            yield Edit("arithmetic", node, ast.BinOp(left, ast.RShift(), right))
        case ast.RShift():
            yield Edit("arithmetic", node, ast.BinOp(left, ast.LShift(), right))
    yield Edit("dropped term", node, left)


def _constant(node: ast.Constant, vocabulary: MutantVocabulary) -> Iterator[Edit]:
    value = node.value
    if isinstance(value, bool):
        yield Edit("constant", node, ast.Constant(not value))
    elif isinstance(value, int):
        yield Edit("off by one", node, ast.Constant(value + 1))
        yield Edit("off by one", node, ast.Constant(value - 1))
    elif isinstance(value, float):
        yield Edit("constant", node, ast.Constant(value + 1))
    elif isinstance(value, str):
        for options in vocabulary.options:
            if value in options:
                for option in options:
                    if option != value:
                        yield Edit("constant", node, ast.Constant(option))
                return
        for words in vocabulary.values:
            if value in words:
                others = [word for word in words if word != value]
                for each in dict.fromkeys((others[0], others[-1])):
                    yield Edit("constant", node, ast.Constant(each))
                break


def _call(node: ast.Call) -> Iterator[Edit]:
    name, args = name_of(node.func), node.args
    plain = not node.keywords and not any(isinstance(argument, ast.Starred) for argument in args)
    yield from forgotten_calls(node)
    if name in _CLAMPS and len(args) >= 2 and plain:
        kept = args[:1] if name == "clip" else args
        for each in kept:
            yield Edit("dropped clamp", node, each)
    if name == "range" and len(args) == 1:
        backwards = ast.Subscript(node, ast.Slice(step=ast.Constant(-1)), ast.Load())
        yield Edit("axis order", node, backwards)
    if len(args) >= 2 and plain and name not in _SYMMETRIC:
        for place in range(len(args) - 1):
            swapped = [*args[:place], args[place + 1], args[place], *args[place + 2 :]]
            yield Edit("swapped arguments", node, ast.Call(node.func, swapped, []))


def _slice(node: ast.Subscript) -> Iterator[Edit]:
    piece = node.slice
    assert isinstance(piece, ast.Slice)
    variants: list[Callable[[], ast.Slice]] = []
    if piece.lower is not None:
        variants.append(lambda: ast.Slice(None, piece.upper, piece.step))
    if piece.upper is not None:
        variants.append(lambda: ast.Slice(piece.lower, None, piece.step))
    if piece.step is not None:
        variants.append(lambda: ast.Slice(piece.lower, piece.upper, None))
    for variant in variants:
        yield Edit("slice", node, ast.Subscript(node.value, variant(), node.ctx))


def _mistaken_name(node: ast.Name | ast.Attribute, names: frozenset[str]) -> Iterator[Edit]:
    if not isinstance(node.ctx, ast.Load):
        return
    words = name_of(node).split("_")
    for pair in _PAIRS:
        for one, other in (pair, pair[::-1]):
            if one in words:
                name = "_".join(other if word == one else word for word in words)
                if name in names:
                    yield Edit("mistaken name", node, renamed(node, name))


def _branch(node: ast.If) -> Iterator[Edit]:
    yield Edit("another branch", node.test, ast.Constant(True), node.orelse[0] if node.orelse else None)
    yield Edit("another branch", node.test, ast.Constant(False), node.body[0])


def _cases(node: ast.Match) -> Iterator[Edit]:
    for place in range(len(node.cases) - 1):
        case, other = node.cases[place], node.cases[place + 1]
        mistaken = ast.match_case(case.pattern, case.guard, other.body)
        cases = [*node.cases[:place], mistaken, *node.cases[place + 1 :]]
        yield Edit("another branch", node, ast.Match(node.subject, cases), case.body[0])

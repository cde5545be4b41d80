"""Functions that are taken for each other: which names are neighbours, and calls that are forgotten."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

import numpy as np

from generator.trust.mutants.edits import Edit, name_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.rationals import Rationals

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
    return any(hasattr(each, name) and hasattr(each, node.attr) for each in _HOLDERS)

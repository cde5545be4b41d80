"""Syntax trees of functions: a node exchanged, and the code that comes of it put into the living function."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any


def substituted(node: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    """The tree with one node in place of another; what is not on the way to it is shared."""
    if node is old:
        return new
    changed: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            items = [substituted(each, old, new) if isinstance(each, ast.AST) else each for each in value]
            if any(each is not before for each, before in zip(items, value, strict=True)):
                changed[name] = items
        elif isinstance(value, ast.AST):
            item = substituted(value, old, new)
            if item is not value:
                changed[name] = item
    if not changed:
        return node
    return ast.copy_location(type(node)(**(dict(ast.iter_fields(node)) | changed)), node)


def compiled(tree: ast.FunctionDef, file: str) -> CodeType:
    """The code of a function; its decorators and defaults are left aside. SyntaxError as `compile` does."""
    arguments = ast.arguments(
        tree.args.posonlyargs, [ast.arg(each.arg) for each in tree.args.args], tree.args.vararg,
        [ast.arg(each.arg) for each in tree.args.kwonlyargs], [None] * len(tree.args.kwonlyargs),
        tree.args.kwarg, [],
    )  # fmt: skip
    bare = ast.copy_location(ast.FunctionDef(tree.name, arguments, tree.body, [], None), tree)
    module = ast.fix_missing_locations(ast.Module([bare], []))
    code = compile(module, file, "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
    return next(each for each in code.co_consts if isinstance(each, CodeType))


@contextmanager
def running(
    codes: Mapping[FunctionType, CodeType], defaults: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Functions run other code for a while, wherever they are known; the first may have other defaults."""
    before = {function: (function.__code__, function.__kwdefaults__) for function in codes}
    for function, code in codes.items():
        function.__code__ = code
        if defaults:
            function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), **defaults}
    try:
        yield
    finally:
        for function, (code, plain) in before.items():
            function.__code__ = code
            function.__kwdefaults__ = plain

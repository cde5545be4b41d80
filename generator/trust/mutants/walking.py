"""Which nodes of a function get edits, and how an edit reads as a difference of lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from generator.trust.mutants.edits import (
    RESULTS,
    Edit,
    Node,
    is_first,
    is_guard,
    is_nothing,
    mentions,
    name_of,
)


def nodes_to_edit(node: ast.AST, left_out: frozenset[str]) -> Iterator[Node]:
    """The nodes to edit: not texts for people, nor checks that refuse calls, nor what is left out."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.pattern) or is_nothing(node):
        return
    if isinstance(node, ast.stmt) and (is_guard(node) or _sets_only(node, left_out) or _is_docstring(node)):
        return
    if isinstance(node, ast.Compare) and mentions(node, left_out):
        return
    inner = (
        node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else None
    )
    if isinstance(inner, ast.Name | ast.Attribute) and name_of(inner) in left_out:
        return  # a call of what is left out, or a part of it
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for child in _children(node):
        yield from nodes_to_edit(child, left_out)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside a node, without annotations, targets, orders that mean nothing, and allowed errors."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RESULTS:
        yield node.args[0]
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
        yield node.func  # -1 and any other negative number stand for the same there
        return
    if is_first(node):
        yield node.value
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "targets", "target", "ctx", "op", "ops"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.keyword) and each.arg in ("strict", "dtype", "keepdims", "error", "lost"):
                continue
            if name == "iter" and isinstance(each, ast.Tuple):
                continue
            if name == "iter" and _is_range(each):
                yield from each.args
            elif isinstance(each, ast.AST):
                yield each


def _is_range(node: Any) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _sets_only(node: ast.stmt, names: frozenset[str]) -> bool:
    """Whether a statement sets these variables, or elements of them, and nothing else."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    else:
        return False
    plain = [
        each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]
    found = [each.value if isinstance(each, ast.Subscript | ast.Attribute) else each for each in plain]
    return all(mentions(each, names) for each in found)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def diff_of(source: str, edit: Edit) -> tuple[str, ...]:
    """The lines of the source before (`-`) and after (`+`) the edit."""
    lines = source.splitlines()
    old = edit.old
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    before = lines[first : last + 1]
    if edit.kind == "ignored attribute" and isinstance(edit.new, ast.If):
        after = [f"    {ast.unparse(edit.new.body[0])}", *before]
        return tuple(f"+{each}" for each in after[:1])
    head = before[0].encode()[: old.col_offset].decode()
    tail = before[-1].encode()[old.end_col_offset :].decode()
    text = ast.unparse(ast.fix_missing_locations(edit.new))
    if (
        isinstance(edit.new, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp)
        and (head + tail).strip()
    ):
        text = f"({text})"
    if isinstance(edit.new, ast.Match):
        return _case_diff(edit)
    after = (head + text + tail).splitlines()
    return (*(f"-{each}" for each in before), *(f"+{each}" for each in after))


def _case_diff(edit: Edit) -> tuple[str, ...]:
    assert isinstance(edit.old, ast.Match)
    assert isinstance(edit.new, ast.Match)
    for old, new in zip(edit.old.cases, edit.new.cases, strict=True):
        if old.body is not new.body:
            pattern = ast.unparse(old.pattern)
            return (
                f"-case {pattern}: {ast.unparse(old.body[0])}",
                f"+case {pattern}: {ast.unparse(new.body[0])}",
            )
    return ()

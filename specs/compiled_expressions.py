"""Checked syntax trees made into functions once, so that an expression is not walked at each evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from specs.evaluation import BINARY, COMPARE, FUNCTIONS, UNARY, EvaluationError, bounded

MOST_STEPS = 500_000


class Work:
    """The steps that one evaluation may still take, so that no expression runs for long."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def charge(self, steps: int) -> None:
        """Take steps away; EvaluationError where too few are left."""
        self._left -= steps
        if self._left < 0:
            raise EvaluationError("expression takes too many steps", expected=f"at most {MOST_STEPS}")


Names = Mapping[str, object]
Compiled = Callable[[Names, Work], Any]
"""The value of a part of an expression under names; it takes its loops off the work that is left."""


class Layered(Mapping[str, object]):
    """Names with others in front (a comprehension's variables, bound extents); the rest stays lazy."""

    def __init__(self, outer: Mapping[str, object], own: Mapping[str, object]) -> None:
        self._outer, self._own = outer, own

    def __getitem__(self, name: str) -> object:
        return self._own[name] if name in self._own else self._outer[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._outer

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._outer), **self._own})

    def __len__(self) -> int:
        return len(set(self._outer) | set(self._own))


def evaluate(compiled: Compiled, tree: ast.expr, names: Names) -> Any:
    """The value of a compiled tree under names; raises EvaluationError where it has none."""
    try:
        return compiled(names, Work(MOST_STEPS))
    except RecursionError:
        raise _too_deep(tree) from None
    except (TypeError, ValueError, IndexError, KeyError, ArithmeticError) as error:
        raise EvaluationError(f"the expression has no value here: {error}", got=ast.unparse(tree)) from error


def compile_tree(tree: ast.expr) -> Compiled:
    """The function that a checked tree is evaluated with; EvaluationError where it is nested too deeply."""
    try:
        return _compiled(tree)
    except RecursionError:
        raise _too_deep(tree) from None


def _too_deep(tree: ast.expr) -> EvaluationError:
    return EvaluationError("expression nested too deeply", got=ast.unparse(tree)[:80])


def _compiled(node: ast.expr) -> Compiled:
    match node:
        case ast.Constant(value=value):
            return lambda _names, _work: value
        case ast.Name(id=name):
            return _looked_up(name)
        case ast.BinOp():
            return _binary(node)
        case ast.UnaryOp():
            unary, operand = UNARY[type(node.op)], _compiled(node.operand)
            return lambda names, work: unary(operand(names, work))
        case ast.BoolOp():
            return _boolean(node)
        case ast.Compare():
            return _compared(node)
        case ast.IfExp():
            test, body, otherwise = _compiled(node.test), _compiled(node.body), _compiled(node.orelse)
            return lambda names, work: body(names, work) if test(names, work) else otherwise(names, work)
        case ast.List() | ast.Tuple():
            parts = [_compiled(each) for each in node.elts]
            return lambda names, work: [each(names, work) for each in parts]
        case ast.Set():
            members = [_compiled(each) for each in node.elts]
            return lambda names, work: {each(names, work) for each in members}
        case ast.ListComp() | ast.GeneratorExp():
            return _comprehended(node.elt, node.generators)
        case ast.SetComp():
            items = _comprehended(node.elt, node.generators)
            return lambda names, work: set(items(names, work))
        case ast.Subscript():
            whole, index = _compiled(node.value), _index(node.slice)
            return lambda names, work: whole(names, work)[index(names, work)]
        case ast.Call(func=ast.Name(id=function)):
            return _called(FUNCTIONS[function], node)
    raise EvaluationError("not part of the expression language", got=ast.unparse(node))


def _looked_up(name: str) -> Compiled:
    def look_up(names: Names, _work: Work) -> Any:
        try:
            return names[name]
        except KeyError:
            raise EvaluationError("unknown name in an expression", got=repr(name)) from None

    return look_up


def _binary(node: ast.BinOp) -> Compiled:
    operation, left, right = BINARY[type(node.op)], _compiled(node.left), _compiled(node.right)
    return lambda names, work: bounded(operation(left(names, work), right(names, work)))


def _boolean(node: ast.BoolOp) -> Compiled:
    stop = isinstance(node.op, ast.Or)
    parts = [_compiled(each) for each in node.values]

    def decide(names: Names, work: Work) -> Any:
        result: Any = None
        for each in parts:
            result = each(names, work)
            if bool(result) is stop:
                break
        return result

    return decide


def _compared(node: ast.Compare) -> Compiled:
    first = _compiled(node.left)
    others = [
        (COMPARE[type(kind)], _compiled(each)) for kind, each in zip(node.ops, node.comparators, strict=True)
    ]
    if len(others) == 1:
        ((only, second),) = others
        return lambda names, work: only(first(names, work), second(names, work))

    def compare(names: Names, work: Work) -> bool:
        left = first(names, work)
        for holds, each in others:
            right = each(names, work)
            if not holds(left, right):
                return False
            left = right
        return True

    return compare


def _called(function: Callable[..., Any], node: ast.Call) -> Compiled:
    arguments = [_compiled(each) for each in node.args]
    keywords = {str(each.arg): _compiled(each.value) for each in node.keywords}
    if len(arguments) == 1 and not keywords:
        (only,) = arguments
        return lambda names, work: function(only(names, work))

    def call(names: Names, work: Work) -> Any:
        named = {name: each(names, work) for name, each in keywords.items()}
        return function(*[each(names, work) for each in arguments], **named)

    return call


def _index(node: ast.expr) -> Compiled:
    if not isinstance(node, ast.Slice):
        return _compiled(node)
    parts = [None if each is None else _compiled(each) for each in (node.lower, node.upper, node.step)]
    return lambda names, work: slice(*[None if each is None else each(names, work) for each in parts])


def _comprehended(item: ast.expr, loops: list[ast.comprehension]) -> Compiled:
    """The list that a comprehension makes; each turn of a loop takes the parts below it off the work."""
    if not loops:
        value = _compiled(item)
        return lambda names, work: [value(names, work)]
    first, inner = loops[0], _comprehended(item, loops[1:])
    source, bind = _compiled(first.iter), _binding(first.target)
    tests = [_compiled(each) for each in first.ifs]
    steps = sum(1 for part in (item, *first.ifs) for _ in ast.walk(part))

    def comprehend(names: Names, work: Work) -> list[Any]:
        made: list[Any] = []
        for each in source(names, work):
            work.charge(steps)
            bound = Layered(names, bind(each))
            if all(test(bound, work) for test in tests):
                made += inner(bound, work)
        return made

    return comprehend


def _binding(target: ast.expr) -> Callable[[Any], dict[str, object]]:
    """What binds the variables of a loop to an item."""
    if isinstance(target, ast.Name):
        name = target.id
        return lambda value: {name: value}
    assert isinstance(target, ast.Tuple)
    bindings = [_binding(each) for each in target.elts]

    def bind(value: Any) -> dict[str, object]:
        parts = list(value)
        if len(parts) != len(bindings):
            raise EvaluationError("a loop's variables do not fit its items", got=repr(value))
        bound: dict[str, object] = {}
        for binding, part in zip(bindings, parts, strict=True):
            bound.update(binding(part))
        return bound

    return bind

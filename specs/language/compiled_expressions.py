"""Checked syntax trees made into functions once, so that an expression is not walked at each evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from specs.language.evaluation import BINARY, COMPARE, FUNCTIONS, UNARY, EvaluationError, bounded

MOST_STEPS = 500_000


class StepBudget:
    """The steps that one evaluation may still take, so that no expression runs for long."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def charge(self, steps: int) -> None:
        """Take steps away; EvaluationError where too few are left."""
        self._left -= steps
        if self._left < 0:
            raise EvaluationError("expression takes too many steps", expected=f"at most {MOST_STEPS}")


Names = Mapping[str, object]
Compiled = Callable[[Names, StepBudget], Any]
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
        return compiled(names, StepBudget(MOST_STEPS))
    except RecursionError:
        raise _too_deep(tree) from None
    except (TypeError, ValueError, IndexError, KeyError, ArithmeticError) as error:
        raise EvaluationError(f"the expression has no value here: {error}", got=_written(tree)) from error


@lru_cache(maxsize=1024)
def _written(tree: ast.expr) -> str:
    """The text of a tree; a search asks again and again for what has no value."""
    return ast.unparse(tree)


def compile_tree(tree: ast.expr) -> Compiled:
    """The function that a checked tree is evaluated with; EvaluationError where it is nested too deeply."""
    try:
        return _compiled(tree, None)
    except RecursionError:
        raise _too_deep(tree) from None


def _too_deep(tree: ast.expr) -> EvaluationError:
    return EvaluationError("expression nested too deeply", got=ast.unparse(tree)[:80])


class _Turn:
    """One turn of a loop: its variables with those of the loops around it, and the names beside them.

    `kept` is what parts came to that are the same in every turn, since they speak of no loop's variable.
    """

    __slots__ = ("kept", "names", "own")

    def __init__(self, names: Names, own: dict[str, object], kept: dict[ast.expr, Any]) -> None:
        self.names, self.own, self.kept = names, own, kept


_Bound = frozenset[str] | None
"""The variables of the loops around a part; None outside of loops, where it is given names and no turn."""
_Part = Callable[[Any, StepBudget], Any]
"""A compiled part: it is given names, and inside of loops a turn."""


def _compiled(node: ast.expr, bound: _Bound) -> _Part:
    if bound is not None and not isinstance(node, ast.Constant) and not bound & set(_variables(node)):
        return _once(node)
    match node:
        case ast.Constant(value=value):
            return lambda _names, _work: value
        case ast.Name(id=name):
            return _looked_up(name, bound)
        case ast.BinOp():
            return _binary(node, bound)
        case ast.UnaryOp():
            unary, operand = UNARY[type(node.op)], _compiled(node.operand, bound)
            return lambda names, work: unary(operand(names, work))
        case ast.BoolOp():
            return _boolean(node, bound)
        case ast.Compare():
            return _compared(node, bound)
        case ast.IfExp():
            test, body, otherwise = (_compiled(each, bound) for each in (node.test, node.body, node.orelse))
            return lambda names, work: body(names, work) if test(names, work) else otherwise(names, work)
        case ast.List() | ast.Tuple():
            parts = [_compiled(elt, bound) for elt in node.elts]
            return lambda names, work: [part(names, work) for part in parts]
        case ast.Set():
            members = [_compiled(elt, bound) for elt in node.elts]
            return lambda names, work: {member(names, work) for member in members}
        case ast.ListComp() | ast.GeneratorExp():
            return _comprehended(node.elt, node.generators, bound)
        case ast.SetComp():
            items = _comprehended(node.elt, node.generators, bound)
            return lambda names, work: set(items(names, work))
        case ast.Subscript():
            whole, index = _compiled(node.value, bound), _index(node.slice, bound)
            return lambda names, work: whole(names, work)[index(names, work)]
        case ast.Call(func=ast.Name(id=function)):
            return _called(FUNCTIONS[function], node, bound)
    raise EvaluationError("not part of the expression language", got=ast.unparse(node))


def _once(node: ast.expr) -> _Part:
    """A part that is the same in every turn of a loop: it is evaluated in the first that asks for it."""
    part = _compiled(node, None)

    def keep(turn: _Turn, work: StepBudget) -> Any:
        if node not in turn.kept:
            turn.kept[node] = part(turn.names, work)
        return turn.kept[node]

    return keep


def _looked_up(name: str, bound: _Bound) -> _Part:
    if bound is not None:
        return lambda turn, _work: turn.own[name]

    def look_up(names: Any, _work: StepBudget) -> Any:
        try:
            return names[name]
        except KeyError:
            raise EvaluationError("unknown name in an expression", got=repr(name)) from None

    return look_up


def _binary(node: ast.BinOp, bound: _Bound) -> _Part:
    operation = BINARY[type(node.op)]
    left, right = _compiled(node.left, bound), _compiled(node.right, bound)
    return lambda names, work: bounded(operation(left(names, work), right(names, work)))


def _boolean(node: ast.BoolOp, bound: _Bound) -> _Part:
    stop = isinstance(node.op, ast.Or)
    parts = [_compiled(value, bound) for value in node.values]

    def decide(names: Any, work: StepBudget) -> Any:
        result: Any = None
        for part in parts:
            result = part(names, work)
            if bool(result) is stop:
                break
        return result

    return decide


def _compared(node: ast.Compare, bound: _Bound) -> _Part:
    first = _compiled(node.left, bound)
    others = [
        (COMPARE[type(kind)], _compiled(comparator, bound))
        for kind, comparator in zip(node.ops, node.comparators, strict=True)
    ]
    if len(others) == 1:
        ((only, second),) = others
        listed = _constants(node.comparators[0])
        if listed is not None and isinstance(node.ops[0], ast.In | ast.NotIn):
            return lambda names, work: only(first(names, work), listed)
        return lambda names, work: only(first(names, work), second(names, work))

    def compare(names: Any, work: StepBudget) -> bool:
        left = first(names, work)
        for holds, other in others:
            right = other(names, work)
            if not holds(left, right):
                return False
            left = right
        return True

    return compare


def _constants(node: ast.expr) -> list[Any] | None:
    """The items of a list that is written out of constants alone; None for anything else."""
    if not isinstance(node, ast.List):
        return None
    constants = [elt for elt in node.elts if isinstance(elt, ast.Constant)]
    return [constant.value for constant in constants] if len(constants) == len(node.elts) else None


def _called(function: Callable[..., Any], node: ast.Call, bound: _Bound) -> _Part:
    arguments = [_compiled(argument, bound) for argument in node.args]
    keywords = {str(keyword.arg): _compiled(keyword.value, bound) for keyword in node.keywords}
    if len(arguments) == 1 and not keywords:
        (only,) = arguments
        return lambda names, work: function(only(names, work))

    def call(names: Any, work: StepBudget) -> Any:
        named = {name: keyword(names, work) for name, keyword in keywords.items()}
        return function(*[argument(names, work) for argument in arguments], **named)

    return call


def _index(node: ast.expr, bound: _Bound) -> _Part:
    if not isinstance(node, ast.Slice):
        return _compiled(node, bound)
    parts = [None if each is None else _compiled(each, bound) for each in (node.lower, node.upper, node.step)]
    return lambda names, work: slice(*[None if part is None else part(names, work) for part in parts])


def _comprehended(item: ast.expr, loops: list[ast.comprehension], bound: _Bound) -> _Part:
    """The list that a comprehension makes; each turn of a loop takes the parts below it off the work."""
    first, last = loops[0], len(loops) == 1
    inside = frozenset(_variables(first.target)) | (bound or frozenset())
    source, bind = _compiled(first.iter, bound), _binding(first.target)
    alone = first.target.id if isinstance(first.target, ast.Name) else None
    below = _compiled(item, inside) if last else _comprehended(item, loops[1:], inside)
    tests = [_compiled(node, inside) for node in first.ifs]
    steps = sum(1 for part in (item, *first.ifs) for _ in ast.walk(part))

    def comprehend(names: Any, work: StepBudget) -> list[Any]:
        # Nobody keeps a turn: each has the loop's variables in the place of those before.
        turn = _Turn(names, {}, {}) if bound is None else _Turn(names.names, dict(names.own), names.kept)
        own = turn.own
        made: list[Any] = []
        for each in source(names, work):
            work.charge(steps)
            if alone is None:
                bind(own, each)
            else:  # nearly all loops have one variable: its binding needs no call
                own[alone] = each
            if tests and not all(test(turn, work) for test in tests):
                continue
            if last:
                made.append(below(turn, work))
            else:
                made += below(turn, work)
        return made

    return comprehend


def _variables(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _binding(target: ast.expr) -> Callable[[dict[str, object], Any], None]:
    """What binds the variables of a loop to an item."""
    if isinstance(target, ast.Name):
        name = target.id
        return lambda own, value: own.__setitem__(name, value)
    assert isinstance(target, ast.Tuple)
    bindings = [_binding(elt) for elt in target.elts]

    def bind(own: dict[str, object], value: Any) -> None:
        parts = list(value)
        if len(parts) != len(bindings):
            raise EvaluationError("a loop's variables do not fit its items", got=repr(value))
        for binding, part in zip(bindings, parts, strict=True):
            binding(own, part)

    return bind

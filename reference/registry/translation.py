"""Operators that another one's reference computes: what that is given, and what is made of its answers.

An argument of the other one is an expression over this operator's attributes and inputs, as rules have them.
Where it names an input alone that tensor itself is handed over; so are lists of tensors, and what these make
of some: `permuted(X, axes)`, `shaped(X, extents)`, `taken(X, rows)`, `typed(X, type)`, `joined(X, Y)`,
`zeros(X)`. In `returns`, `result(n)` is the n-th answer of the other operator, `negated(...)` takes truth
values to their opposites; without an entry an output is the answer at its place.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.registry.reference_operator import Argument, ReferenceOperator
from specs.language.expressions import parse_tree, read_tree
from specs.model.call_scopes import scope_of
from specs.model.spec import SameAs, Spec

_RESULT = "result"
Scope = Mapping[str, Any]
Moved = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Translation:
    """How calls of an operator become calls of the one that computes it, and answers come back."""

    spec: Spec
    arguments: Mapping[str, ast.expr]
    """What each parameter of the other operator is given."""
    returns: tuple[ast.expr, ...]
    """What each output of this one is."""

    def given(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the other operator; None is left out."""
        scope = self._scope(call)
        found = {name: self._value(tree, scope, call) for name, tree in self.arguments.items()}
        return {name: value for name, value in found.items() if value is not None}

    def returned(self, call: Mapping[str, Any], answers: Sequence[Answer]) -> tuple[Answer, ...]:
        """This operator's outputs, as many as the other one answers; variadic ones are as they are."""
        scope, known = self._scope(call), len(self.returns)
        found = [
            self._value(tree, scope, dict.fromkeys(call), answers) for tree in self.returns[: len(answers)]
        ]
        others = answers[known:] if self.spec.outputs[-1].option == "variadic" else ()
        return (*found, *others)

    def _scope(self, call: Mapping[str, Any]) -> Scope:
        inputs = {each.name for each in self.spec.inputs}
        attributes = {name: value for name, value in call.items() if name not in inputs}
        tensors: list[tuple[str, Tensor | None]] = []
        for name, value in call.items():
            if name in inputs:
                several = value if isinstance(value, tuple) else (value,)
                tensors += [(name, each.expected if isinstance(each, Answer) else each) for each in several]
        return scope_of(self.spec, attributes, tensors)

    def _value(
        self, tree: ast.expr, scope: Scope, call: Mapping[str, Any], answers: Sequence[Answer] = ()
    ) -> Any:
        """The value of an expression; a tensor, an answer or a tuple of them where it is about such."""
        match tree:
            case ast.Name(id=name) if name in {each.name for each in self.spec.inputs}:
                return call.get(name)
            case ast.IfExp():
                chosen = tree.body if parse_tree(tree.test).evaluate(scope) else tree.orelse
                return self._value(chosen, scope, call, answers)
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=int(place))]) if name == _RESULT:
                return answers[place]
            case ast.Call(func=ast.Name(id=name), args=[first, second]) if name in _CHANGES:
                value = self._value(first, scope, call, answers)
                told = parse_tree(second).evaluate(scope)
                return None if value is None else _CHANGES[name](value, told)
            case ast.Call(func=ast.Name(id=name), args=[one]) if name in _OF_ONE:
                return _OF_ONE[name](self._value(one, scope, call, answers))
            case ast.Call(func=ast.Name(id="joined"), args=[one, other]):
                return _joined(*(self._value(each, scope, call, answers) for each in (one, other)))
            case ast.List(elts=[*elements]) if elements and all(map(self._is_tensor, elements)):
                return tuple(self._value(each, scope, call, answers) for each in elements)
        said = parse_tree(tree)
        value = said.evaluate(scope)
        if (
            isinstance(value, float)
            and math.isfinite(value)
            and said.names & {each.name for each in self.spec.inputs}
        ):
            return Fraction(value)  # attributes are float32, and what a tensor holds may be more exact
        return tuple(value) if isinstance(value, list) else value

    def _is_tensor(self, tree: ast.expr) -> bool:
        """Whether an expression stands for a tensor, and not for what rules see of one."""
        named = isinstance(tree, ast.Name) and any(each.name == tree.id for each in self.spec.inputs)
        return named or (
            isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in _CHANGES
        )


def translated(spec: Spec, same_as: SameAs, other: ReferenceOperator) -> ReferenceOperator:
    """The reference of an operator that another one's computes; UserError where the two do not fit.

    Inputs that no argument speaks of are those of the other operator in their order, attributes those of the
    same name. An attribute that goes nowhere is an error, unless it is one that the operator `ignores`.
    """
    taken = {*other.inputs, *other.attributes}
    if unknown := sorted(set(same_as.arguments) - taken):
        raise _wrong(
            same_as, f"{other.operator} has no such parameter", ", ".join(unknown), ", ".join(sorted(taken))
        )
    arguments = {name: _read(same_as, text) for name, text in same_as.arguments.items()}
    returns = [
        _read(same_as, same_as.returns.get(output.name, f"{_RESULT}({place})"))
        for place, output in enumerate(spec.outputs)
    ]
    spoken = {name for tree in (*arguments.values(), *returns) for name in _names(tree)}
    inputs = [each.name for each in spec.inputs]
    free = [name for name in other.inputs if name not in arguments]
    left = [name for name in inputs if name not in spoken and name not in same_as.ignores]
    if len(left) > len(free):
        raise _wrong(same_as, "more inputs than the other operator takes", ", ".join(left), ", ".join(free))
    arguments |= {name: ast.Name(own, ast.Load()) for name, own in zip(free, left, strict=False)}
    for name in spec.attributes:
        if name in taken and name not in arguments:
            arguments[name] = ast.Name(name, ast.Load())
        elif name not in spoken and name not in same_as.ignores:
            raise _wrong(
                same_as, "an attribute that goes nowhere", name, "an argument that speaks of it, or `ignores`"
            )
    required = {each.name for each in spec.inputs if each.option == "single"}
    return replace(
        other,
        operator=spec.operator,
        inputs=tuple(inputs),
        required=frozenset(required),
        attributes=frozenset(spec.attributes),
        segments=None,
        translation=Translation(spec, arguments, tuple(returns)),
        computes=other.operator,
    )


_LOOKED_AT = ("element_type", "rank", "shape")
"""Functions that look at an input and hand no element of it over."""


def _names(tree: ast.AST) -> Iterator[str]:
    """The names in an expression, but for inputs of which it asks a type or shape alone."""
    if isinstance(tree, ast.Name):
        yield tree.id
    elif not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in _LOOKED_AT):
        for child in ast.iter_child_nodes(tree):
            yield from _names(child)


def _read(same_as: SameAs, text: str) -> ast.expr:
    try:
        return read_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _wrong(same_as, "not an expression", text, str(error)) from None


def _wrong(same_as: SameAs, problem: str, got: str, expected: str) -> OpcertError:
    return UserError(problem, got=got, expected=expected or "none", where=same_as.place)


def _permuted(value: Any, axes: Sequence[int]) -> Any:
    order = [axis % len(axes) for axis in axes]
    return _moved(value, lambda array: np.ascontiguousarray(array.transpose(order)))


def _taken(value: Any, rows: Sequence[int]) -> Any:
    return _moved(value, lambda array: array[list(rows)])


def _joined(one: Tensor, other: Tensor) -> Tensor:
    """One behind the other along the first axis; a scalar is one element."""
    arrays = [each.array if each.shape else each.array.reshape(1) for each in (one, other)]
    return Tensor(one.element_type, np.concatenate(arrays))


def _shaped(value: Any, extents: Sequence[int]) -> Any:
    return _moved(value, lambda array: array.reshape(tuple(extents)))


def _moved(value: Any, move: Moved) -> Any:
    """A tensor or answer whose elements lie elsewhere."""
    if isinstance(value, Tensor):
        return Tensor(value.element_type, move(value.array))
    places = move(np.arange(math.prod(value.expected.shape)).reshape(value.expected.shape)).reshape(-1)
    others = value.alternatives or {}
    return replace(
        value,
        expected=_moved(value.expected, move),
        allowed=None if value.allowed is None else move(value.allowed),
        alternatives={to: others[int(at)] for to, at in enumerate(places) if int(at) in others} or None,
        shown=None if value.shown is None else _moved(value.shown, move),
    )


def _negated(value: Answer) -> Answer:
    """Truth values, each of them the other one; what is as good as one of them is so still."""
    others = {at: tuple(not each for each in these) for at, these in (value.alternatives or {}).items()}
    expected = Tensor(value.expected.element_type, ~value.expected.array)
    return replace(value, expected=expected, alternatives=others or None)


def _zeros(value: Tensor) -> Tensor:
    return Tensor(value.element_type, np.zeros_like(value.array))


def _typed(value: Any, element_type: str) -> Any:
    """Whole numbers and truth values in another type that holds them."""
    kind = ELEMENT_TYPES[element_type]
    if isinstance(value, Tensor):
        return Tensor(kind, value.array.astype(kind.storage))
    return replace(
        value,
        expected=_typed(value.expected, element_type),
        alternatives=None
        if value.alternatives is None
        else {
            at: tuple(np.asarray(each).astype(kind.storage)[()] for each in these)
            for at, these in value.alternatives.items()
        },
    )


_CHANGES: Mapping[str, Callable[[Any, Any], Argument | Answer]] = {
    "permuted": _permuted,
    "shaped": _shaped,
    "taken": _taken,
    "typed": _typed,
}
_OF_ONE: Mapping[str, Callable[[Any], Argument | Answer]] = {"negated": _negated, "zeros": _zeros}

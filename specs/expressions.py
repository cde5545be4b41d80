"""Expressions of specs: a whitelisted subset of Python, parsed with `ast` and never evaluated by `eval`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from opcert.attributes import Attribute
from opcert.errors import UserError
from opcert.tensors import Tensor
from specs.evaluation import BINARY, COMPARE, FUNCTIONS, KEYWORDS, UNARY, EvaluationError, Evaluator, Operand
from specs.model import Constraint, Spec

__all__ = [
    "EvaluationError",
    "Expression",
    "Operand",
    "Scope",
    "Violation",
    "check_constraints",
    "operand_of",
    "parse",
    "scope_of",
]

_LONGEST = 10_000
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
        return Evaluator().value(self.tree, names)


@lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Read an expression; raises UserError that names the part which is not in the subset."""
    if len(text) > _LONGEST:
        raise UserError("expression too long", got=f"{len(text)} characters", expected=f"at most {_LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(
            "not an expression", got=repr(text), expected=f"a Python expression ({error})"
        ) from None
    try:
        free = frozenset(_free_names(tree, frozenset()))
    except RecursionError:
        raise UserError("expression nested too deeply", got=repr(text[:80])) from None
    return Expression(text, tree, free)


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
    for each in node.args:
        yield from _free_names(each, bound)


def _targets(node: ast.expr) -> frozenset[str]:
    if isinstance(node, ast.Name):
        return frozenset({node.id})
    if isinstance(node, ast.Tuple):
        return frozenset().union(*(_targets(each) for each in node.elts))
    raise UserError("a loop's variable must be a name", got=_describe(node))


def _describe(node: ast.AST) -> str:
    return repr(ast.unparse(node)[:80])


class Scope(Mapping[str, object]):
    """Names for an evaluation; definitions (`let`) are evaluated when they are first asked for."""

    def __init__(self, values: Mapping[str, object], let: Mapping[str, str]) -> None:
        self._values = dict(values)
        self._let = dict(let)
        self._open: set[str] = set()

    def __getitem__(self, name: str) -> object:
        if name not in self._values:
            if name in self._open:
                raise EvaluationError("definition refers to itself", got=repr(name))
            self._open.add(name)
            try:
                self._values[name] = parse(self._let[name]).evaluate(self)
            finally:
                self._open.discard(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._let

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._let), **self._values})

    def __len__(self) -> int:
        return len(set(self._values) | set(self._let))


def operand_of(tensor: Tensor | Operand | None) -> Operand | None:
    """An input tensor as expressions see it; bfloat16 is decoded, float8 stays as bits."""
    if tensor is None or isinstance(tensor, Operand):
        return tensor
    array = tensor.array.reshape(-1)
    if tensor.element_type.name == "bfloat16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return Operand(tensor.element_type.name, tensor.shape, array.tolist())


@dataclass(frozen=True)
class Violation:
    """A constraint that a concrete call breaks."""

    constraint: Constraint

    @property
    def id(self) -> str:
        return self.constraint.id


def scope_of(
    spec: Spec, attributes: Mapping[str, Any], inputs: Mapping[str, Tensor | Operand | None]
) -> Scope:
    """The names of a call: every attribute (its default where it is left out) and every input, else None."""
    values: dict[str, object] = {
        name: each.default if each.has_default else None for name, each in spec.attributes.items()
    }
    for name, given in attributes.items():
        plain = given.value if isinstance(given, Attribute) else given
        values[name] = list(plain) if isinstance(plain, tuple) else plain
    values.update({each.name: None for each in spec.inputs})
    values.update({name: operand_of(each) for name, each in inputs.items()})
    return Scope(values, spec.let)


def check_constraints(
    spec: Spec, attributes: Mapping[str, Any], inputs: Mapping[str, Tensor | Operand | None]
) -> list[Violation]:
    """The constraints that a call violates, in the spec's order.

    A rule without a value under this call (an index outside a list, say) counts as following from another one
    that is violated; raises EvaluationError where no other is, for then the rule itself is wrong.
    """
    scope = scope_of(spec, attributes, inputs)
    violations: list[Violation] = []
    undecided: list[tuple[Constraint, EvaluationError]] = []
    for constraint in spec.constraints:
        if constraint.require is None:
            continue
        try:
            if constraint.when is not None and not parse(constraint.when).evaluate(scope):
                continue
            if not parse(constraint.require).evaluate(scope):
                violations.append(Violation(constraint))
        except EvaluationError as error:
            undecided.append((constraint, error))
    if undecided and not violations:
        first, cause = undecided[0]
        raise EvaluationError(
            f"constraint {first.id} of {spec.operator} cannot be decided", got=str(cause)
        ) from cause
    return violations

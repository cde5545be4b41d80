"""The space of an operator version's calls: factors, variables and rules, made from facts and declaration."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeGuard

from generator.asking.calls import Call
from generator.calls.solver.solving import CallSearch
from generator.calls.space.space_making import SpaceMaker, SpaceParts
from generator.calls.variables.kind import Level
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import Expression, parse
from specs.language.shape_expressions import parse_shape
from specs.model.spec import Constraint, Spec

_OF_FORM = frozenset(["rank", "shape", "len", "element_type", "present"])
"""Functions that ask an input for nothing that its elements tell."""


class _Part(NamedTuple):
    """What a rule asks an attribute or input for: anything at all, or its type, shape and presence alone."""

    name: str
    form: bool = False


@dataclass(frozen=True, eq=False)
class TouchedRules:
    """The rules of a spec by what they hang on; `drawn` are the inputs whose elements are random."""

    spec: Spec
    drawn: frozenset[str]

    @cached_property
    def ask_for_data(self) -> bool:
        """Whether a rule may ask an input for elements that are drawn."""
        return self.ask_for_elements(self.drawn)

    def ask_for_elements(self, names: Iterable[str]) -> bool:
        """Whether a rule may ask one of some inputs for its elements."""
        return any(_Part(name) in parts for name in names for parts in self._parts.values())

    def between(self, base: Call, changed: Call) -> tuple[Constraint, ...]:
        """The rules that may hold for one call and not for the other, in the spec's order."""
        if base.slots or changed.slots or base.outputs != changed.outputs:
            return self.spec.constraints
        different = set(_different(base, changed))
        return tuple(each for each in self.spec.constraints if different & self._parts[each.id])

    @cached_property
    def _parts(self) -> dict[str, frozenset[_Part]]:
        return {each.id: frozenset(self._behind(each)) for each in self.spec.constraints}

    @cached_property
    def _lists(self) -> frozenset[str]:
        return frozenset(each.name for each in self.spec.inputs if each.option == "variadic")

    @cached_property
    def _shaped(self) -> frozenset[_Part]:
        """What the extents of a call hang on: its inputs' shapes, and what declared shapes speak of."""
        declared = self.spec.declared.shapes if self.spec.declared is not None else {}
        named = frozenset[str]().union(*(parse_shape(each).names for each in declared.values()))
        return frozenset([*(_Part(each.name, form=True) for each in self.spec.inputs), *map(_Part, named)])

    def _behind(self, rule: Constraint) -> set[_Part]:
        texts = [text for text in (rule.when, rule.require) if text is not None]
        pending = [part for text in texts for part in _parts_of(parse(text), self._lists)]
        if rule.shape_of is not None:
            pending.extend(self._shaped)
        extents = self.spec.extents
        found: set[_Part] = set()
        while pending:
            part = pending.pop()
            if part in found:
                continue
            found.add(part)
            if part.name in self.spec.let:
                pending.extend(_parts_of(parse(self.spec.let[part.name]), self._lists))
            if part.name in extents:
                pending.extend(self._shaped)
        return found


def _parts_of(expression: Expression, lists: frozenset[str]) -> Iterator[_Part]:
    """What an expression asks of what it names; `lists` are the names of several tensors each."""
    nodes = list(ast.walk(expression.tree))
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    asked = [
        each.args[0].value if _is_member(each.args[0], lists) else each.args[0]
        for each in calls
        if _name(each.func) in _OF_FORM and len(each.args) == 1
    ]
    for each in nodes:
        if isinstance(each, ast.GeneratorExp | ast.ListComp | ast.SetComp) and len(each.generators) == 1:
            inner = [name for part in (each.elt, *each.generators[0].ifs) for name in ast.walk(part)]
            turned = _name(each.generators[0].target)
            if all(name in asked for name in inner if turned and _name(name) == turned):
                asked.extend(_listed(each.generators[0].iter, lists))
    functions = [each.func for each in calls]
    for each in nodes:
        if isinstance(each, ast.Name) and each not in functions:
            yield _Part(each.id, form=each in asked)


def _name(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _is_member(node: ast.expr, lists: frozenset[str]) -> TypeGuard[ast.Subscript]:
    return isinstance(node, ast.Subscript) and _name(node.value) in lists


def _listed(node: ast.expr, lists: frozenset[str]) -> Iterator[ast.expr]:
    """The names of tensors in lists of them that are written out, or put together."""
    match node:
        case ast.BinOp(op=ast.Add()):
            yield from _listed(node.left, lists)
            yield from _listed(node.right, lists)
        case ast.List():
            yield from (each for each in node.elts if isinstance(each, ast.Name))
        case ast.Name(id=name) if name in lists:
            yield node


def _different(base: Call, changed: Call) -> Iterator[_Part]:
    """What two calls give differently."""
    for name in {*base.attributes, *changed.attributes}:
        if base.attributes.get(name) != changed.attributes.get(name):
            yield from (_Part(name), _Part(name, form=True))
    for name in {name for name, _ in (*base.inputs, *changed.inputs)}:
        first, second = _given(base.inputs, name), _given(changed.inputs, name)
        if _forms(first) != _forms(second):
            yield from (_Part(name), _Part(name, form=True))
        elif first != second:
            yield _Part(name)


def _given(inputs: Sequence[tuple[str, Tensor | None]], name: str) -> list[Tensor | None]:
    return [each for which, each in inputs if which == name]


def _forms(tensors: Iterable[Tensor | None]) -> list[tuple[str, tuple[int, ...]] | None]:
    return [None if each is None else (each.element_type.name, each.shape) for each in tensors]


class CallSpace(SpaceParts):
    """One operator version's calls."""

    @cached_property
    def paired(self) -> frozenset[str]:
        """The factors of types that go with every other level; the others are dealt out over the rows."""
        declared = self.spec.declared.paired if self.spec.declared is not None else ()
        return frozenset(f"type_{each}" for each in declared) & frozenset(self.types)

    @cached_property
    def search(self) -> CallSearch:
        try:
            return CallSearch(self.spec, self.variables, self.spec.constraints)
        except UserError as error:
            inside = [each for each in self.kinds if f"kind:{each.name}" in (error.got or "")]
            error.where = error.where or (inside[0].subject.place if inside else None)
            error.remedy = "Take the name of one of them out of what the other one says."
            raise

    @cached_property
    def touched_rules(self) -> TouchedRules:
        drawn = {each.name for each in self.spec.inputs} - self.covered
        return TouchedRules(self.spec, frozenset(drawn))

    @cached_property
    def plainest(self) -> Mapping[str, Level]:
        """The first level of every factor."""
        return {name: levels[0] for name, levels in self.factors.items()}

    @cached_property
    def plain_types(self) -> Mapping[str, Level]:
        """The first types, and the first class of data; all other factors are free."""
        return {name: level for name, level in self.plainest.items() if name in (*self.types, "data")}

    @cached_property
    def plain_calls(self) -> Sequence[Mapping[str, Level]]:
        """Levels of calls in which nothing in particular is asked for, each for where none has those before.

        A narrower precision than the plainest allows more, and so tells less.
        """
        precisions = {factor for kind in self.kinds for factor in kind.precisions}
        plain = {name: level for name, level in self.plainest.items() if name in precisions}
        found = (self.plainest, {**plain, **self.plain_types}, self.plain_types)
        return tuple({tuple(each.items()): each for each in found}.values())

    @cached_property
    def covered(self) -> frozenset[str]:
        """The attributes and inputs that a kind gives values to."""
        return frozenset(name for each in self.kinds for name in each.covers)


def open_space(spec: Spec) -> CallSpace:
    """The space of a spec with a declaration; raises SeveralErrors with all that is wrong in its kinds."""
    made = SpaceMaker(spec).make()
    space = CallSpace(made.spec, made.kinds, made.data, made.factors, made.types, made.variables)
    assert space.search, "the variables have an order in which each has what it needs"
    return space

"""The names of a call, as expressions and rules see them: attributes, inputs, definitions, extents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.slots import Slots
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import element_type_in
from specs.language.evaluation import EvaluationError, Operand, Operands
from specs.language.expressions import parse
from specs.language.unification import Bindings, Matched, Unmatched, match_shapes
from specs.language.words import CONSTANTS
from specs.model.spec import Spec

Given = Tensor | Operand | None


Inputs = Mapping[str, Given] | Sequence[tuple[str, Given]]
"""Inputs by name, or as pairs, in which the tensors of a variadic input repeat its name."""


class CallScope(Mapping[str, object]):
    """Names for an evaluation; definitions (`let`) are evaluated when they are first asked for.

    `extents` are the names that shapes bind; `unification` finds them, likewise when one is first asked for.
    """

    def __init__(
        self,
        values: Mapping[str, object],
        let: Mapping[str, str],
        extents: frozenset[str] = frozenset(),
        unification: Unification | None = None,
    ) -> None:
        self._values = dict(values)
        self._let = dict(let)
        self._open: set[str] = set()
        self._extents = extents
        self._unify = unification

    def __getitem__(self, name: str) -> object:
        if name not in self._values:
            if name in self._open:
                raise EvaluationError("definition refers to itself", got=repr(name))
            self._open.add(name)
            try:
                self._values[name] = self._find(name)
            finally:
                self._open.discard(name)
        return self._values[name]

    def _find(self, name: str) -> object:
        if name in self._let:
            return parse(self._let[name]).evaluate(self)
        if self._unify is None or name not in self._extents:
            raise KeyError(name)
        found = self._unify.bindings(self)
        if name not in found:
            raise EvaluationError("no input of this call tells this extent", got=repr(name))
        return found[name]

    def has_shape(self, name: str) -> bool:
        """Whether an input has the shape that is declared for it, given those of the inputs before it."""
        if self._unify is None:
            return True
        found = self._unify.result(self)
        return not isinstance(found, Unmatched) or found.input != name

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._let or name in self._extents

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._let), **dict.fromkeys(self._extents), **self._values})

    def __len__(self) -> int:
        return len(set(self._values) | set(self._let) | self._extents)


class Unification:
    """The declared shapes of an operator held against those of one call's inputs, once."""

    def __init__(self, spec: Spec, shapes: Sequence[tuple[str, tuple[int, ...]]]) -> None:
        self._spec = spec
        self._shapes = shapes
        self._found: Matched | Unmatched | None = None
        self._asking = False

    def result(self, scope: Mapping[str, object]) -> Matched | Unmatched:
        """What matching says; it is tried when it is first asked for."""
        if self._found is None:
            if self._asking:
                raise EvaluationError("a shape hangs on its own extents")
            self._asking = True
            try:
                self._found = match_shapes(self._spec.shapes, self._spec.extents, scope, self._shapes)
            finally:
                self._asking = False
        return self._found

    def bindings(self, scope: Mapping[str, object]) -> Bindings:
        """The extents of the call; where an input has another shape than declared, those found before it."""
        return self.result(scope).bindings


def operand_of(tensor: Given) -> Operand | None:
    """An input tensor as expressions see it; bfloat16 and texts are decoded, float8 stays as bits."""
    return tensor if tensor is None or isinstance(tensor, Operand) else _TensorOperand(tensor)


class _TensorOperand(Operand):
    """A tensor of which the elements are listed when a rule looks at them: few rules do."""

    def __init__(self, tensor: Tensor) -> None:
        for field, value in (
            ("element_type", tensor.element_type.name),
            ("shape", tensor.shape),
            ("_tensor", tensor),
        ):
            object.__setattr__(self, field, value)

    _tensor: Tensor

    @cached_property
    def values(self) -> Sequence[Any]:
        array = self._tensor.array.reshape(-1)
        if self.element_type == "bfloat16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        found: list[Any] = array.tolist()
        if self.element_type == "string":
            return [element.decode(errors="surrogateescape") for element in found]
        return found


def scope_of(
    spec: Spec,
    attributes: Mapping[str, Any],
    inputs: Inputs,
    outputs: Sequence[str] | None = None,
    slots: Slots = (),
) -> CallScope:
    """The names of a call: every attribute (its default where it is left out) and every input, else None.

    A variadic input and a sequence are lists of their tensors. `wanted` are the names of the outputs that are
    asked for, and `outputs` is how many the node has. Extents of declared shapes are found when they are
    asked for.
    """
    values: dict[str, object] = {
        name: attribute.default if attribute.has_default else None
        for name, attribute in spec.attributes.items()
    }
    for name, given in attributes.items():
        plain = given.value if isinstance(given, Attribute) else given
        if isinstance(plain, Tensor):
            values[name] = operand_of(plain)
        else:
            values[name] = list(plain) if isinstance(plain, tuple) else plain
    pairs = list(inputs.items()) if isinstance(inputs, Mapping) else list(inputs)
    operands = [(name, operand_of(pair)) for name, pair in pairs]
    parts = operands
    if any(slot.type is None and slot.parts for slot in slots):
        # Two slots with one part are one tensor given twice: each of them is an input of its own.
        operands = [(slot.name, parts[part][1]) for slot in slots for part in slot.parts]
    variadic = {parameter.name for parameter in spec.inputs if parameter.option == "variadic"}
    lists: dict[str, list[Operand | None]] = {name: [] for name in variadic}
    values.update({parameter.name: lists.get(parameter.name) for parameter in spec.inputs})
    for name, operand in operands:
        if name in variadic:
            lists[name].append(operand)
        else:
            values[name] = operand
    if spec.declared is None:
        return CallScope(values, spec.let)
    values |= {"version": spec.operator.since_version, **CONSTANTS}
    asked = [output.name for output in spec.outputs] if outputs is None else list(outputs)
    values = {"outputs": len(asked), "wanted": [each for each in asked if each], **values}
    for slot in slots:
        if slot.type is not None:
            members = [operand for part in slot.parts if (operand := parts[part][1]) is not None]
            values[slot.name] = Operands(members, str(element_type_in(slot.type)), str(slot.type), slot.empty)
    shapes = [(name, operand.shape) for name, operand in operands if operand is not None]
    return CallScope(values, spec.let, spec.extents, Unification(spec, shapes))

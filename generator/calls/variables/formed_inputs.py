"""Inputs that may be more than a tensor, made of their levels: shapes, tensors, and the slot of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.form_levels import read_form
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.extents import candidate_shapes
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor, tensor
from specs.language.shape_expressions import Shape
from specs.model.spec import ParameterSpec
from specs.model.structures import TENSOR

Fill = Callable[[ElementType, Sequence[int], Draw], Tensor]
_ENTRIES = 2
"""Of each map in a sequence."""


@dataclass(frozen=True)
class FormedShapes:
    """The shapes of the tensors that an input is made of; `shape` is the declared one of each tensor.

    Keys and values of a map are as many as the level says.
    """

    name: str
    shape: Shape | None

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        key, level = f"shapes:{self.name}", scope.level(self.name)
        if level == OMITTED:
            yield {key: None}
            return
        held = read_form(str(level))
        places = range(len(held.part_types("float")))
        if held.is_map:
            entries = (held.count or 0) if held.form.startswith("map(") else _ENTRIES
            yield {key: [(entries,) for _ in places]}
            return
        found: list[tuple[int, ...]] = []
        for place in places:
            member = f"{self.name}/{place}"
            first: tuple[int, ...] | None = ()
            if self.shape is not None:
                first = next(candidate_shapes(member, self.shape, scope, draw.child(member), [member]), None)
            if first is None:
                return
            found.append(first)
        yield {key: found}


def formed_tensors(parameter: ParameterSpec, scope: Partial, draw: Draw, fill: Fill) -> list[Tensor | None]:
    """The tensors of an input, in the order of its slot's parts; keys of a map are different."""
    shapes = scope.bindings.get(f"shapes:{parameter.name}")
    if shapes is None or scope.level(parameter.name) == OMITTED:
        return [None]
    held = read_form(str(scope.level(parameter.name)))
    types = held.part_types(scope.element_type(parameter))
    found: list[Tensor | None] = []
    for place, (element_type, shape) in enumerate(zip(types, shapes, strict=True)):
        stream = draw.child(str(place))
        if held.is_map and place % 2 == 0:
            found.append(_keys(element_type, int(shape[0]), stream))
        else:
            found.append(fill(element_type, shape, stream))
    return found


def _keys(element_type: ElementType, count: int, draw: Draw) -> Tensor:
    """Different keys in no order: small natural numbers, or short words."""
    numbers = draw.shuffled(range(2 * count))[:count]
    if element_type.kind == "string":
        return tensor(np.array([f"k{number}" for number in numbers], dtype=object), element_type)
    return tensor(np.array(numbers, dtype=element_type.storage), element_type)


def formed_slot(
    parameter: ParameterSpec, scope: Partial, first: int, tensors: Sequence[Tensor | None]
) -> Slot:
    """The slot of an input whose tensors begin at that place of the call's inputs."""
    if list(tensors) == [None]:
        return Slot(parameter.name)
    parts = tuple(range(first, first + len(tensors)))
    held = read_form(str(scope.level(parameter.name)))
    if held.form == TENSOR:
        return Slot(parameter.name, parts)
    return Slot(parameter.name, parts, held.type(scope.element_type(parameter)), held.count is None)

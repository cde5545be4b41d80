"""A call that makes what a node makes: its attributes and types, chosen shapes, and data of some levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.space.drawing import draw_call
from generator.calls.variables.kind import Level
from generator.calls.variables.wanted_outputs import NAMES, OUTPUTS, WANTED
from generator.models.check.fed_values import fed_bindings, feeding_kinds
from generator.models.check.node_calls import NodeCall, NodeInput
from generator.models.check.shape_checks import ShapeChecks, Shapes, extents_in
from opcert.vocabulary.tensors import Tensor
from specs.language.evaluation import EvaluationError
from specs.model.call_scopes import operand_of
from specs.model.structures import TENSOR

OWN = "own"
"""The level of constants that are no shapes or axes: the model's own values, where the shapes let them."""
CONSTANTS = "constants"
"""The dimension of these: own, or data as that of what is fed."""
MOST_TRIES = 24
"""Combinations of fed values that are tried for one row."""


@dataclass(frozen=True, eq=False)
class CallDrawing:
    """Draws calls of one node."""

    node: NodeCall
    checks: ShapeChecks

    def draw(self, shapes: Shapes, levels: Mapping[str, Level], draw: Draw) -> Call | None:
        """A valid call with these shapes and levels of data and of fed values; None where none is found."""
        bound = self._bound(shapes, levels)
        for turn, extended in enumerate(islice(self._fed(bound, levels, draw, 0), MOST_TRIES)):
            try:
                call = self._call(extended, shapes, levels, draw.child(f"data/{turn}"))
                if self._is_of_node(call) and not find_violations(self.node.spec, call):
                    return call
            except (EvaluationError, ArithmeticError, LookupError, TypeError, ValueError):
                continue  # values that a kind drew and that do not go with what the node fixes
        return None

    def _bound(self, shapes: Shapes, levels: Mapping[str, Level]) -> dict[str, Any]:
        """What is known before kinds draw: attributes, types, shapes, extents, kept values, outputs."""
        node, spec = self.node, self.node.spec
        bound: dict[str, Any] = {f"level:{name}": level for name, level in levels.items()}
        bound |= {f"level:type_{name}": each for name, each in node.types.items()}
        for name in spec.attributes:
            given = node.attributes.get(name)
            value = None if given is None else given.value
            bound[name] = list(value) if isinstance(value, tuple) else value
        many: dict[str, list[tuple[int, ...]]] = {}
        for each, shape in zip(node.inputs, shapes, strict=True):
            form = spec.input_forms[each.name]
            if form.holds_several:
                many.setdefault(each.name, []).extend([] if shape is None else [shape])
                continue
            if form.is_structured:
                # Of all that it may be it is a tensor.
                bound[f"shapes:{each.name}"] = [] if shape is None else [shape]
                bound[f"level:{each.name}"] = OMITTED if shape is None else TENSOR
                continue
            if each.name not in node.listed or _is_said(each):
                bound[f"shape:{each.name}"] = shape
            if each.parameter.option == "optional":
                bound[f"level:{each.name}"] = OMITTED if shape is None else "given"
            if each.name in node.space.covered and each.name not in node.fed:
                bound[each.name] = None if each.kept is None else _plain(each.kept)
        bound |= {f"shapes:{name}": shapes_of for name, shapes_of in many.items()}
        bound |= {f"level:{name}_count": len(shapes_of) for name, shapes_of in many.items()}
        if node.wanted is not None:
            bound[WANTED] = [each for each in node.wanted if each]
            bound[OUTPUTS], bound[NAMES] = len(node.wanted), list(node.wanted)
        return {**extents_in(self.checks.scope(shapes), sorted(spec.extents)), **bound}

    def _fed(
        self, bound: Bindings, levels: Mapping[str, Level], draw: Draw, place: int
    ) -> Iterator[Bindings]:
        """All that is bound with the values of kinds, in every combination of a few candidates of each."""
        if place == len(self._kinds):
            yield bound
            return
        kind = self._kinds[place]
        wanted = {name: level for name, level in levels.items() if name in kind.factors()}
        for own in fed_bindings(self.node, kind, wanted, bound, draw.child(kind.name)):
            yield from self._fed({**bound, **own}, levels, draw, place + 1)

    @cached_property
    def _kinds(self) -> tuple[Any, ...]:
        return feeding_kinds(self.node)

    def _call(self, bound: Bindings, shapes: Shapes, levels: Mapping[str, Level], draw: Draw) -> Call:
        node = self.node
        known = {**levels, **{f"type_{name}": each for name, each in node.types.items()}}
        drawn = draw_call(node.space, Partial(node.spec, bound), known, draw)
        # Variadic inputs of several types are drawn in one: the others are left to nobody.
        inputs = list(drawn.inputs)
        for place, (each, shape) in enumerate(zip(node.inputs, shapes, strict=True)):
            value = each.kept
            if value is None and levels.get(CONSTANTS) == OWN and each.value is not None:
                value = each.value.constant if _fits(each.value.constant, shape) else None
            if value is not None and place < len(inputs):
                inputs[place] = (inputs[place][0], value)
        return replace(drawn, attributes=dict(node.attributes), inputs=tuple(inputs), outputs=node.wanted)

    def _is_of_node(self, call: Call) -> bool:
        """Whether a call has the inputs of the node, with their types and ranks."""
        given = dict(enumerate(call.inputs))
        for place, each in enumerate(self.node.inputs):
            tensor = given.get(place, (each.name, None))[1]
            if (tensor is None) != (each.value is None):
                return False
            if tensor is None or each.value is None:
                continue
            shape = each.value.shape
            if tensor.element_type.name != each.element_type:
                return False
            if shape is not None and len(shape) != len(tensor.shape):
                return False
        return True


def _is_said(given: NodeInput) -> bool:
    """Whether the model says every extent of an input."""
    shape = None if given.value is None else given.value.shape
    return shape is not None and all(isinstance(extent, int) for extent in shape)


def _fits(constant: Tensor | None, shape: tuple[int, ...] | None) -> bool:
    return constant is not None and constant.shape == shape


def _plain(kept: Tensor) -> Any:
    """A tensor as kinds and rules see the values of one: numbers in its shape."""
    values = operand_of(kept)
    assert values is not None
    return np.array(
        list(values.values), dtype=object if kept.element_type.kind == "string" else None
    ).reshape(kept.shape)

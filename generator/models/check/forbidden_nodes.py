"""Nodes that break a rule of their document by what the model says of them alone, whatever values come."""

from __future__ import annotations

import math

import numpy as np

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.models.check.node_calls import NodeCall, NodeInput
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from specs.language.evaluation import EvaluationError
from specs.model.spec import Constraint

_FILLINGS = (0, 1, 3)
_MOST = 1 << 20
_UNKNOWING = (EvaluationError, ArithmeticError, LookupError, TypeError, ValueError)


def broken_rule(node: NodeCall) -> Constraint | None:
    """A rule that a node breaks with each of several values for what is not known; None without one.

    Nothing is said of a node of which the model leaves an extent open.
    """
    broken: dict[str, Constraint] | None = None
    for filling in _FILLINGS:
        values = [_value(each, filling) for each in node.inputs]
        there = zip(values, node.inputs, strict=True)
        if any(value is None and each.value is not None for value, each in there):
            return None
        inputs = tuple((each.name, value) for each, value in zip(node.inputs, values, strict=True))
        call = Call(node.attributes, inputs, outputs=node.wanted).trimmed()
        try:
            found = find_violations(node.spec, call)
        except _UNKNOWING:
            return None
        told = {each.constraint.id: each.constraint for each in found}
        broken = told if broken is None else {name: each for name, each in broken.items() if name in told}
    return next(iter((broken or {}).values()), None)


def _value(given: NodeInput, filling: int) -> Tensor | None:
    """The constant that the model has; else so many elements of one value; None where it cannot be said."""
    value = given.value
    if value is None:
        return None
    if value.constant is not None:
        return value.constant
    kind = ELEMENT_TYPES[given.element_type]
    extents = [each for each in value.shape or () if isinstance(each, int)]
    if value.shape is None or len(extents) < len(value.shape) or math.prod(extents) > _MOST:
        return None
    storage = np.dtype(kind.storage)
    if storage.kind not in "fiub":
        return None
    return Tensor(kind, np.full(extents, filling).astype(storage))

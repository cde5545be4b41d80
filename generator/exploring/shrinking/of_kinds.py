"""Calls of a declared operator beside a call: with simpler values of its kinds, or values drawn anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.asking.calls import Call
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.space.drawing import value_tensor
from generator.exploring.shrinking.known_space import CallValidity
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.tensors import Tensor
from specs.language.evaluation import EvaluationError


def simpler_values(space: CallValidity, call: Call) -> Iterator[Call]:
    """The call with one value exchanged for one that its kind calls smaller, the simplest first."""
    if call.slots:
        return
    scope = _scope_of(space, call)
    for kind in space.levels.space.kinds:
        for name in kind.covers:
            try:
                for value in kind.smaller(name, scope.bindings.get(name), scope):
                    made = _with_values(space, call, {name: value})
                    if made is not None:
                        yield made
            except (EvaluationError, ValueError, IndexError, TypeError, ArithmeticError):
                continue  # a call that breaks a rule may have values that the kind has not


def drawn_anew(space: CallValidity, call: Call, draw: Draw) -> Call | None:
    """The call with the values of one of its kinds drawn anew, at any levels; None where it has none."""
    known = [each for each in space.levels.space.kinds if each.covers]
    if not known or call.slots:
        return None
    kind = draw.choice(known)
    levels = {name: draw.choice(levels) for name, levels in kind.factors().items()}
    try:
        found = next(iter(kind.candidates(levels, _scope_of(space, call), draw.child("values"))), None)
        return None if found is None else _with_values(space, call, found)
    except (EvaluationError, ValueError, IndexError, TypeError, ArithmeticError):
        return None  # what the kind needs, a call that was changed before may lack


def _scope_of(space: CallValidity, call: Call) -> Partial:
    """What a call binds: its attributes, the values of inputs that a kind gives, and the shapes of inputs."""
    covered = {name for each in space.levels.space.kinds for name in each.covers}
    bound: dict[str, Any] = {
        name: (given.value if given is not None else None)
        for name in space.spec.attributes
        for given in [call.attributes.get(name)]
    }
    bound = {name: list(each) if isinstance(each, tuple) else each for name, each in bound.items()}
    for name, given in call.inputs:
        bound[f"shape:{name}"] = None if given is None else given.shape
        if name in covered:
            bound[name] = None if given is None else given.array.tolist()
    for parameter in space.spec.inputs:
        if parameter.name in covered:
            bound.setdefault(parameter.name, None)
    return Partial(space.spec, bound)


def _with_values(space: CallValidity, call: Call, values: Bindings) -> Call | None:
    """The call with other values of attributes and inputs; None where it lacks an input that gets one."""
    given = dict(call.inputs)
    for name, value in values.items():
        known = space.spec.attributes.get(name)
        if known is not None and known.kind is not None:
            plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            call = call.with_attribute(name, None if value is None else attribute(known.kind, plain))
        elif name in given:
            tensor = given[name]
            if value is None:
                call = call.with_input(name, None)
            elif tensor is None:
                return None
            else:
                call = call.with_input(name, _as_tensor(value, tensor))
    return call


def _as_tensor(value: Any, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value
    array = np.asarray(value)
    if array.size == like.array.size and not array.ndim:
        array = array.reshape(like.shape)
    return value_tensor(array, like.element_type)

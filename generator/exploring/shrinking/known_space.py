"""One operator version's input space: which calls are valid, and which break one rule alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, prod
from pathlib import Path
from typing import Any

import numpy as np

from generator.asking.calls import Call
from generator.asking.questions import settled_options
from generator.asking.validity import find_violations
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.edits.change import attribute_value
from generator.calls.rows.factors import factor_model
from generator.calls.rows.feasibility import Solver
from generator.making.operators.discovery import open_spec
from opcert.vocabulary.attributes import Attribute, AttributeValue
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.registry import reference_of
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import AttributeSpec, Constraint, ParameterSpec, Spec

_LEAST, _GREATEST = ELEMENT_TYPES["int64"].integer_range
"""Of the integers of attributes."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """A call to try. One that breaks a rule names it, and has the valid call that it was made from."""

    call: Call
    breaks: Constraint | None = None
    made_from: Call | None = None


@dataclass(frozen=True, eq=False)
class CallValidity:
    """What is known of one operator version: its spec, its reference, and what makes its calls."""

    spec: Spec
    reference: ReferenceOperator
    levels: DeclaredLevels

    @cached_property
    def solver(self) -> Solver:
        return Solver(factor_model(self.spec))

    @cached_property
    def settled(self) -> dict[str, str]:
        """The options of the readings that are settled."""
        return settled_options(self.spec, self.reference)

    def attempt(self, call: Call, made_from: Call | None = None) -> Attempt | None:
        """The call as one to try: valid, or breaking one rule alone; None where it is neither.

        A call that lies outside what the spec's facts allow, without breaking a rule that is written down,
        is neither: no document says what must happen.
        """
        call = call.trimmed()
        try:
            broken = find_violations(self.spec, call)
        except UserError:
            return None  # no rule can be decided, such as that of an axis that is not there
        if not broken:
            return Attempt(call) if self._is_allowed(call) else None
        if len(broken) > 1 or made_from is None:
            return None
        return Attempt(call, broken[0].constraint, made_from)

    def value_of(self, call: Call, name: str) -> AttributeValue | None:
        """An attribute's value: its default where the call leaves it out."""
        return attribute_value(self.spec, call, name)

    def same_type(self, parameter: ParameterSpec) -> list[str]:
        """The inputs that have the element type of this one, itself among them."""
        if parameter.type not in self.spec.type_constraints:
            return [parameter.name]
        return [each.name for each in self.spec.inputs if each.type == parameter.type]

    def _is_allowed(self, call: Call) -> bool:
        """Whether a call that breaks no rule has inputs and values of attributes that facts speak of."""
        named = {parameter.name for parameter in self.spec.inputs}
        return all(name in named for name, _ in call.inputs) and all(
            _is_within(known, call) and self._is_of_levels(known, call)
            for known in self.spec.attributes.values()
        )

    def _is_of_levels(self, known: AttributeSpec, call: Call) -> bool:
        """Whether an integer is one of its factor's levels: of others nobody says what they mean."""
        levels = next((factor.levels for factor in self.spec.factors if factor.name == known.name), None)
        if levels is None or known.kind != "int" or all(isinstance(level, str) for level in levels):
            return True
        given = call.attributes.get(known.name)
        return given is None or given.value in levels


def open_space(operator: OperatorName, folders: Sequence[Path] = ()) -> CallValidity:
    """The space of an operator; raises UserError where it lacks spec, reference or declared calls."""
    spec, levels = open_spec(operator, folders)
    return CallValidity(spec, reference_of(spec), levels)


def growth(call: Call) -> float:
    """A number to compare calls by: ten times the outputs are at least about ten times the number.

    It is the number of elements of the first input, times the magnitude of every number in lists that is
    greater than 1: whether they are lengths, factors or amounts to add, none makes more than that.
    """
    numbers = [abs(listed_number) for listed_number in _listed_numbers(call) if abs(listed_number) > 1]
    first = call.first[1]
    return float(max(1, 0 if first is None else first.array.size)) * prod(1.0 + number for number in numbers)


HUGE = 1 << 20
"""A number from which on a length of that much takes long to work through."""


def without_huge_numbers(call: Call) -> Call | None:
    """The call with 3 in place of every huge number in its lists; None where it has none."""
    changed = call
    for name, given in call.inputs[1:]:
        if given is not None and given.array.dtype.kind in "iuf":
            huge = given.array.astype(np.float64) > HUGE
            modest = np.where(huge, 3, given.array).astype(given.array.dtype)
            changed = changed.with_input(name, Tensor(given.element_type, modest)) if huge.any() else changed
    for name, attribute in call.attributes.items():
        if attribute.kind == "ints" and isinstance(attribute.value, tuple):
            numbers = tuple(3 if int(one) > HUGE else int(one) for one in attribute.numbers)
            changed = (
                changed
                if numbers == attribute.value
                else changed.with_attribute(name, Attribute("ints", numbers))
            )
    return None if changed is call else changed


def _listed_numbers(call: Call) -> list[float]:
    found: list[float] = []
    for _, given in call.inputs[1:]:
        if given is not None and given.array.dtype.kind in "iuf" and given.array.ndim:
            found += [float(each) for each in given.array.reshape(-1) if np.isfinite(each)]
    for attribute in call.attributes.values():
        if attribute.kind in ("ints", "floats") and isinstance(attribute.value, tuple):
            found += [float(one) for one in attribute.numbers]
    return found


def _is_within(known: AttributeSpec, call: Call) -> bool:
    given = call.attributes.get(known.name)
    if given is None:
        return not known.required
    if given.kind != known.kind:
        return False
    if known.allowed is not None and given.value not in known.allowed:
        return False
    values: tuple[Any, ...] = given.value if isinstance(given.value, tuple) else (given.value,)
    if isinstance(given.value, tuple) and known.least_length is not None and len(values) < known.least_length:
        return False
    numbers = [value for value in values if not isinstance(value, str)]
    return (
        all(known.at_least is None or number >= known.at_least for number in numbers)
        and all(known.more_than is None or number > known.more_than for number in numbers)
        and all(known.at_most is None or number <= known.at_most for number in numbers)
        and all(
            _LEAST <= number <= _GREATEST if isinstance(number, int) else isfinite(number)
            for number in numbers
        )
    )

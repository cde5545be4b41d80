"""Calls that an older version takes over from the next newer one: those whose names, types and rules hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from conformance.suite.cases import Case
from generator.asking.calls import Call, call_of
from generator.asking.questions import ask
from generator.calls.rows.feasibility import Model, Solver
from generator.calls.space.space import CallSpace
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import UnstableLength
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import AttributeSpec, ParameterSpec, Spec
from specs.model.structures import form_of, listed_forms

OF_DOCUMENTS = "example"
"""The family whose cases are printed in a version's own documents."""
_INDICES = "int64"
"""The element type of inputs that are attributes of integers in another version."""


@dataclass(frozen=True, eq=False)
class Newer:
    """The next newer version of an operator: its spec and its cases."""

    spec: Spec
    cases: Sequence[Case]


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows that a covering array of this version may have."""

    model: Model
    solver: Solver
    space: CallSpace

    def known(self, levels: Mapping[str, str]) -> dict[str, str]:
        """The levels of a newer version's case that are levels here, too."""
        factors = self.space.factors
        return {name: text for name, text in levels.items() if text in map(str, factors.get(name, ()))}

    def has(self, levels: Mapping[str, str]) -> bool:
        """Whether levels are of every factor, types among them, and go together; a rare one is of no row."""
        row = self.model.row_of(levels)
        return row is not None and levels.keys() >= set(self.space.types) and self.solver.extendable(row)


def takes_over(workshop: Workshop) -> bool:
    """Whether an operator's reference is one of all versions."""
    return workshop.reference.segments is not None


def take_over(workshop: Workshop, newer: Newer) -> None:
    """Put the newer version's calls that hold in this one into the suite, under their families and words.

    Where the same call means the same in both and leaves the same open, what comes out is not asked again.
    Nothing is taken where an attribute that both have has another default: what is left out is another call.
    """
    if not _same_defaults(workshop.spec, newer.spec):
        return
    answered = answers_hold(workshop, newer.spec)
    rows = _Rows(workshop.model, Solver(workshop.model), workshop.levels.space)
    known = {str(each.id): each for each in newer.cases}
    for case in newer.cases:
        if case.demand == "answer" and case.family != OF_DOCUMENTS:
            _take_valid(workshop, rows, newer.spec, case, answered=answered)
    for case in newer.cases:
        if case.constraint is not None and case.valid_case is not None:
            _take_broken(workshop, newer.spec, case, known[case.valid_case])


def _take_valid(workshop: Workshop, rows: _Rows, newer: Spec, case: Case, *, answered: bool) -> None:
    call = taken_call(workshop.spec, newer, case)
    if call is None or workshop.has(call) or workshop.violations(call):
        return
    found = rows.known(case.levels)
    if case.family == "cover" and not rows.has(found):
        return
    try:
        expectations = case.expectations if answered else None
        workshop.take(case.family, case.id.word, call, found, expectations, case.properties)
    except UnstableLength:
        return
    if case.family == "cover":
        workshop.rows.append(found)


def _take_broken(workshop: Workshop, newer: Spec, case: Case, neighbour: Case) -> None:
    constraint = next((each for each in workshop.spec.constraints if each.id == case.constraint), None)
    call = call_in(workshop.spec, newer, call_of(case))
    valid = call_in(workshop.spec, newer, call_of(neighbour))
    demand = None if constraint is None else "refuse" if constraint.otherwise == "error" else "survive"
    if constraint is None or call is None or valid is None or demand != case.demand:
        return
    broken = [violation.id for violation in workshop.violations(call)]
    if broken != [constraint.id] or workshop.violations(valid):
        return
    if workshop.add_broken(case.family, constraint, valid, call) is not None:
        workshop.taken[case.family, case.id.word] += 1


def taken_call(spec: Spec, newer: Spec, case: Case) -> Call | None:
    """The call of a newer version's case as this version has it; None where it has names that this lacks."""
    return call_in(spec, newer, _without_defaults(spec, newer, case))


def call_in(spec: Spec, newer: Spec, call: Call) -> Call | None:
    """The call of a newer version as one of this version; None where it has names or types that this lacks.

    Integers that are an attribute in one version and an input in another are given the other way. Rules are
    not asked.
    """
    attributes = {name: each for name, each in call.attributes.items() if name in spec.attributes}
    if any(newer.attributes[name].kind != spec.attributes[name].kind for name in attributes):
        return None
    inputs = {parameter.name: parameter for parameter in spec.inputs}
    moved_in = {name: each for name, each in call.attributes.items() if name not in attributes}
    moved_out = {name: each for name, each in call.inputs if each is not None and name not in inputs}
    if call.slots and (
        moved_in or moved_out or list(inputs) != [parameter.name for parameter in newer.inputs]
    ):
        return None
    for name, value in moved_out.items():
        made = _as_attribute(spec.attributes.get(name), value)
        if made is None:
            return None
        attributes[name] = made
    # Slots name tensors by their places: these stay as they are.
    given = list(call.inputs) if call.slots else _inputs_in(spec, call, moved_in)
    if given is None or moved_in or not _types_hold(spec, given) or not _outputs_hold(spec, newer, call):
        return None
    if not _forms_hold(spec, call):
        return None
    return replace(call, attributes=attributes, inputs=tuple(given)).trimmed()


def _inputs_in(spec: Spec, call: Call, moved: dict[str, Attribute]) -> list[tuple[str, Tensor | None]] | None:
    """The inputs in this version's order; attributes that are inputs here are taken from `moved`."""
    given: list[tuple[str, Tensor | None]] = []
    for parameter in spec.inputs:
        same = [(name, each) for name, each in call.inputs if name == parameter.name]
        if parameter.name in moved:
            made = _as_input(spec, parameter, moved.pop(parameter.name))
            if made is None:
                return None
            same = [(parameter.name, made)]
        given += same or [(parameter.name, None)]
    return given


def _without_defaults(spec: Spec, newer: Spec, case: Case) -> Call:
    """The call of a case without attributes that this version lacks and that are written at their default.

    An attribute that the case is about, as its word says, stays.
    """
    call = call_of(case)
    for name, each in call.attributes.items():
        known = newer.attributes[name]
        lacks = name not in spec.attributes and all(other.name != name for other in spec.inputs)
        if (
            lacks
            and known.has_default
            and known.default_value == each.value
            and name not in (case.id.word or "")
        ):
            call = call.with_attribute(name, None)
    return call


def _as_attribute(spec: AttributeSpec | None, value: Tensor) -> Attribute | None:
    if spec is None or value.element_type.name != _INDICES or spec.kind not in ("int", "ints"):
        return None
    numbers = value.array.reshape(-1).tolist()
    if spec.kind == "int":
        return attribute("int", numbers[0]) if not value.shape else None
    return attribute("ints", numbers) if len(value.shape) == 1 else None


def _as_input(spec: Spec, parameter: ParameterSpec, value: Attribute) -> Tensor | None:
    if value.kind not in ("int", "ints") or _INDICES not in spec.types_of(parameter):
        return None
    return tensor(np.array(value.value), _INDICES)


def _forms_hold(spec: Spec, call: Call) -> bool:
    """Whether each input that is more than a tensor may be that in this version."""
    parameters = {parameter.name: parameter for parameter in spec.inputs}
    return all(
        slot.type is None or form_of(slot.type) in listed_forms(spec, parameters[slot.name])
        for slot in call.slots
    )


def _types_hold(spec: Spec, given: Iterable[tuple[str, Tensor | None]]) -> bool:
    """Whether every tensor has a type of its parameter, and those of one type variable have the same."""
    parameters = {each.name: each for each in spec.inputs}
    bound: dict[str, str] = {}
    for name, each in given:
        parameter = parameters[name]
        if each is None:
            continue
        kind = each.element_type.name
        if kind not in spec.types_of(parameter):
            return False
        if parameter.type in spec.type_constraints and bound.setdefault(parameter.type, kind) != kind:
            return parameter.option == "variadic"
    return True


def _outputs_hold(spec: Spec, newer: Spec, call: Call) -> bool:
    """Whether the outputs that are asked for stand in the same places here."""
    names = [output.name for output in spec.outputs]
    if call.outputs is None:
        return True
    variadic = bool(spec.outputs) and spec.outputs[-1].option == "variadic"
    same = [output.name for output in newer.outputs][: len(names)] == names
    return same and (variadic or len(call.outputs) <= len(names))


def _same_defaults(spec: Spec, newer: Spec) -> bool:
    both = spec.attributes.keys() & newer.attributes.keys()
    return all(spec.attributes[name].default == newer.attributes[name].default for name in both)


def answers_hold(workshop: Workshop, newer: Spec) -> bool:
    """Whether one call has one answer in both versions, and leaves the same open."""
    reference = workshop.reference
    return (
        means_the_same(reference, newer.operator)
        and _open(workshop.spec, reference) == _open(newer, reference)
        and [output.name for output in workshop.spec.outputs] == [output.name for output in newer.outputs]
    )


def means_the_same(reference: ReferenceOperator, newer: OperatorName) -> bool:
    """Whether the same call means the same in the newer version: no segment begins between the two."""
    if reference.segments is None or ("version" in reference.hints and not reference.segments):
        return False
    since = reference.operator.since_version
    return not any(since < segment <= newer.since_version for segment in reference.segments)


def _open(spec: Spec, reference: ReferenceOperator) -> object:
    asked = ask(spec, reference, Call({}, ()))
    return asked.settled, [(reading.id, reading.kind, tuple(reading.options)) for reading in asked.open]

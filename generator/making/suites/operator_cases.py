"""The cases of one operator: every family, in an order and with bytes that never change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from conformance.suite.cases import Case
from conformance.suite.suite_parts import suite_order
from generator.asking.calls import Call, call_of
from generator.asking.questions import ask
from generator.calls.declared.declared_levels import UnlearnedCore
from generator.calls.declared.modelled import KeptDraws, searched_of
from generator.calls.rows.feasibility import Model, Solver
from generator.calls.space.space import CallSpace
from generator.making.cases.mechanisms import (
    add_lone_levels,
    add_modes_together,
    add_specials_together,
    add_told_shortcuts,
)
from generator.making.cases.sized_cases import add_kernel_sizes, add_narrow_stages, add_sizes_in_vectors
from generator.making.cases.told_cases import add_told_losses, add_wide_values
from generator.making.cases.typed_cases import add_integer_ends, add_lengths_in_types, add_type_pairs
from generator.making.families import cover, example
from generator.making.families.boundary import make_boundary, make_inert, make_invalid, make_survival
from generator.making.operators.discovery import newer_versions, open_spec
from generator.making.operators.selections import read_selection
from generator.making.operators.workshop import Options, Workshop
from generator.making.suites.found_calls import add_calls, read_kept_calls
from generator.making.suites.manifest_facts import operator_facts
from generator.measured.slack import slack_facts
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import UnstableLength
from reference.registry import reference_of
from reference.registry.reference_operator import ReferenceOperator
from specs.files.library import load_spec
from specs.files.user_modules import mistakes_of
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


def keep_what_adds(workshop: Workshop) -> None:
    """Drop the cases of a workshop that add nothing to its selection; all stay where there is none.

    The covering rows stay (every level, once), the selection, for every constraint one case that breaks it,
    with its valid neighbour, and for every attribute one case outside its scope.
    """
    selected = {each.digest for each in workshop.selected}
    if not selected:
        return
    kept: dict[str, Case] = {}
    seen: set[tuple[str, str | None]] = set()
    for digest, case in workshop.cases.items():
        what = (case.family, case.constraint or case.id.word)
        is_first = case.family in ("invalid", "survival", "inert") and what not in seen
        if case.family == "cover" or digest in selected or is_first:
            seen.add(what)
            kept[digest] = case
    neighbours = {case.valid_case for case in kept.values()}
    workshop.cases = {
        digest: case
        for digest, case in workshop.cases.items()
        if digest in kept or str(case.id) in neighbours
    }


_MAKERS: tuple[Callable[[Workshop], None], ...] = (
    make_boundary,
    cover.make_cases,
    make_inert,
    make_invalid,
    make_survival,
    add_wide_values,
    add_sizes_in_vectors,
    add_told_losses,
    add_specials_together,
    add_kernel_sizes,
    add_narrow_stages,
    add_told_shortcuts,
    add_integer_ends,
    add_lengths_in_types,
    add_lone_levels,
    add_type_pairs,
    add_modes_together,
)
"""What makes cases behind those of documents, in an order that never changes: later ones add what lacks."""


@dataclass(frozen=True, eq=False)
class OperatorCases:
    """What was generated for one operator: cases in suite order, facts for the manifest, seconds taken.

    `draws` are those of the covering rows that became cases.
    """

    operator: OperatorName
    cases: tuple[Case, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    draws: KeptDraws | None = None


def generate_operator(
    operator: OperatorName,
    options: Options,
    folders: Sequence[Path] = (),
    cases_of: Callable[[OperatorName], Sequence[Case]] | None = None,
    *,
    afresh: bool = False,
) -> OperatorCases:
    """Every case of one operator; raises UserError where it lacks spec, reference or declared calls.

    An older version takes the calls of the next newer one over: `cases_of` gives its cases, which are made
    here where nobody has them. The draws of covering rows that are kept in its room, and what else searches
    found before, are taken as they are, unless they are to be searched for `afresh`; what is not kept there,
    or no longer true, is searched for.
    """
    try:
        return _generate(operator, options, folders, cases_of, afresh=afresh)
    except UnlearnedCore:
        return _generate(operator, options, folders, cases_of, afresh=afresh, learn=True)


def _generate(
    operator: OperatorName,
    options: Options,
    folders: Sequence[Path],
    cases_of: Callable[[OperatorName], Sequence[Case]] | None,
    *,
    afresh: bool,
    learn: bool = False,
) -> OperatorCases:
    started = perf_counter()
    spec, levels = open_spec(operator, folders, learn=learn)
    reference = reference_of(spec)
    selected = read_selection(operator, folders) if options.size == "small" else ()
    workshop = Workshop(spec, reference, levels, options, selected)
    if not afresh:
        workshop.kept_draws = searched_of(operator, folders).draws
    with mistakes_of(spec.reference_module):
        example.make_cases(workshop)
        _take_over(workshop, folders, cases_of)
        for make_cases in _MAKERS:
            make_cases(workshop)
        keep_what_adds(workshop)
        add_calls(workshop, read_kept_calls(operator, folders))
    cases = sorted(workshop.cases.values(), key=lambda each: suite_order(each.id))
    facts = operator_facts(workshop) | slack_facts(cases)
    return OperatorCases(operator, tuple(cases), facts, perf_counter() - started, workshop.draws)


def _take_over(
    workshop: Workshop, folders: Sequence[Path], cases_of: Callable[[OperatorName], Sequence[Case]] | None
) -> None:
    newer = next(iter(newer_versions(workshop.spec.operator, folders)), None)
    if newer is None or not takes_over(workshop):
        return
    cases = generate_operator(newer, workshop.options, folders).cases if cases_of is None else cases_of(newer)
    take_over(workshop, Newer(load_spec(newer, folders), cases))

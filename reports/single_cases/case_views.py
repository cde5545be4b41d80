"""A case as a page shows it: the call, what must happen, the rule and where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.suite.cases import Case, ExpectedOutput
from conformance.suite.properties import describe_property
from opcert.vocabulary.tensors import Tensor
from reports.results.case_facts import ABSENT, ELEMENT_TYPE
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, text
from reports.single_cases.passages_shown import ShownPassage, passages_of
from reports.text.phrasing import listed, plural
from reports.text.rule_words import absent_inputs, broken_rule
from reports.text.value_text import ViewedValue, attribute_text, shape_text, values_text


@dataclass(frozen=True)
class CaseView:
    """Everything that a page says about a case, whatever a runtime made of it."""

    id: str
    command: str
    demand: str
    attributes: tuple[ViewedValue, ...]
    inputs: tuple[ViewedValue, ...]
    expected: tuple[ViewedValue, ...]
    rules: tuple[ViewedValue, ...]
    passages: tuple[ShownPassage, ...]
    levels: tuple[ViewedValue, ...]


def view_case(results: Results, case: Case, marked: frozenset[str] = frozenset()) -> CaseView:
    """Put a case into words; `marked` are the features that its class names."""
    return CaseView(
        id=str(case.id),
        command=results.reproduction_command(case.id),
        demand=demand_text(case),
        attributes=tuple(
            ViewedValue(name, attribute_text(attribute.value), marked=name in marked)
            for name, attribute in sorted(case.attributes.items())
        ),
        inputs=tuple(_inputs(case)),
        expected=_expected(case),
        rules=_rules(case, results.operator_facts(case.operator)),
        passages=_passages(results, case),
        levels=_levels(case, marked),
    )


def demand_text(case: Case) -> str:
    """What must happen, in a line."""
    if case.demand == "refuse":
        rule = broken_rule(case.constraint, absent_inputs(case)) if case.constraint else ""
        return f"must be rejected: it is {rule}" if rule else "must be rejected"
    if case.demand == "survive":
        return "nothing is demanded but survival"
    if case.properties and not case.expectations:
        kinds = dict.fromkeys(str(describe_property(each)["kind"]) for each in case.properties)
        return f"what has the {listed([kind.replace('_', ' ') for kind in kinds])} that is demanded"
    first = case.expectations[0].outputs if case.expectations else ()
    text_of = "; ".join(f"{shape_text(output.expected)} {values_text(output.expected)}" for output in first)
    others = len(case.expectations) - 1
    text = f"{text_of} (or {plural(others, 'other reading')})" if others > 0 else text_of
    return f"{text}; a rejection is no fault" if case.may_refuse else text


def _inputs(case: Case) -> Iterator[ViewedValue]:
    """Each tensor, and before those of a sequence, an optional or a map what they make."""
    made = {slot.parts[0]: slot for slot in case.slots if slot.type is not None and slot.parts}
    for place, (name, tensor) in enumerate(case.inputs):
        if place in made:
            slot = made[place]
            yield ViewedValue(slot.name, f"of {plural(len(slot.parts), 'tensor')}", str(slot.type))
        yield _input(name, tensor)
    for slot in case.slots:
        if slot.type is not None and not slot.parts:
            yield ViewedValue(slot.name, "of nothing", str(slot.type))


def _input(name: str, tensor: Tensor | None) -> ViewedValue:
    if tensor is None:
        return ViewedValue(name, ABSENT)
    return ViewedValue(name, values_text(tensor), shape_text(tensor))


def _expected(case: Case) -> tuple[ViewedValue, ...]:
    if case.demand != "answer":
        return (ViewedValue("expected", demand_text(case)),)
    parts = []
    for expectation in case.expectations:
        options = {**expectation.readings, **expectation.behaviours}
        several = len(case.expectations) > 1
        under = "; ".join(f"{name}: {' or '.join(option)}" for name, option in sorted(options.items()))
        for output in expectation.outputs:
            name = f"expected {output.name}" + (f" ({under})" if several and under else "")
            parts.append(ViewedValue(name, values_text(output.expected), shape_text(output.expected)))
            parts.append(ViewedValue("allowed error", allowed_text(output)))
    return tuple(parts)


def allowed_text(output: ExpectedOutput) -> str:
    """The error allowed to the elements of an output: `none, equal bits`, `up to 1.2e-07`, `1e-9 to 3e-7`."""
    if output.allowed is None or not output.allowed.size:
        said = "none: equal bits"
    else:
        least, most = float(np.min(output.allowed)), float(np.max(output.allowed))
        if most == 0:
            said = "none"
        elif np.isinf(least):
            said = "any value"
        else:
            said = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}, element by element"
    number = len(output.alternatives)
    return f"{said}; {plural(number, 'element')} may have other values too" if number else said


def _rules(case: Case, facts: Mapping[str, Any]) -> tuple[ViewedValue, ...]:
    parts = []
    rule = case.rule
    if case.constraint is not None:
        constraint = mapping(mapping(facts.get("constraints")).get(case.constraint))
        rule = rule or text(constraint.get("rule"))
        parts.append(ViewedValue("rule broken", case.constraint))
    if rule:
        parts.append(ViewedValue("rule", rule))
    if case.valid_case:
        parts.append(ViewedValue("made from", case.valid_case))
    if case.may_refuse is not None:
        leave = mapping(mapping(facts.get("may_refuse")).get(case.may_refuse))
        parts.append(ViewedValue("may be rejected", text(leave.get("why")) or case.may_refuse))
    return tuple(parts)


def _passages(results: Results, case: Case) -> tuple[ShownPassage, ...]:
    """Where what is expected stands: the case's own sources, else those of the rule that it breaks."""
    facts = results.operator_facts(case.operator)
    constraint = mapping(mapping(facts.get("constraints")).get(case.constraint or ""))
    return passages_of(results, case.operator, case.sources or items(constraint.get("sources")))


def _levels(case: Case, marked: frozenset[str]) -> tuple[ViewedValue, ...]:
    """The levels that the case was built from, without those that only repeat an attribute."""
    attributes = {name: attribute_text(attribute.value) for name, attribute in case.attributes.items()}
    return tuple(
        ViewedValue(name, str(level), marked=name in marked)
        for name, level in case.levels.items()
        if name != ELEMENT_TYPE and attributes.get(name) != str(level)
    )

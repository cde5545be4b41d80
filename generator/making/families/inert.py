"""Cases in which an attribute is changed where it does not matter: the result must stay."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.suite.cases import Case, Expectation
from generator.asking.calls import Call
from generator.making.operators.workshop import Workshop, word_of
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.errors import InternalError
from specs.language.expressions import parse
from specs.model.call_scopes import scope_of
from specs.model.spec import AttributeSpec, Constraint

PER_ATTRIBUTE = 4
"""Cases for each attribute; as many calls outside its scope are changed."""


def make_cases(workshop: Workshop) -> None:
    """Change attributes outside their scope; InternalError where the reference's result then changes."""
    for constraint in workshop.spec.constraints:
        if constraint.effective_when is None or constraint.attribute not in workshop.spec.attributes:
            continue
        made = workshop.taken["inert", word_of(constraint.id)]
        if made >= PER_ATTRIBUTE:
            continue
        for base, call in _changed_calls(workshop, constraint):
            known = len(workshop.cases)
            case = workshop.add_valid("inert", word_of(constraint.id), call, base.levels)
            if len(workshop.cases) == known:
                continue
            if not _same_results(base, case):
                raise InternalError(
                    f"{constraint.attribute} of {workshop.spec.operator} changes a result outside its scope",
                    got=f"{case.id}, made from {base.id}",
                    expected=f"no change unless {constraint.effective_when}",
                )
            made += 1
            if made == PER_ATTRIBUTE:
                break


def _changed_calls(workshop: Workshop, constraint: Constraint) -> Iterator[tuple[Case, Call]]:
    """Covering cases outside the scope, spread over the covering array, with the attribute changed."""
    name, condition = str(constraint.attribute), parse(str(constraint.effective_when))
    outside = []
    for digest, call in workshop.calls.items():
        scope = scope_of(workshop.spec, call.attributes, dict(call.inputs))
        case = workshop.cases[digest]
        if case.family == "cover" and name not in call.attributes and not condition.evaluate(scope):
            outside.append((case, call))
    others = _other_values(workshop, workshop.spec.attributes[name])
    step = max(1, len(outside) // PER_ATTRIBUTE)
    spread = [outside[place] for start in range(step) for place in range(start, len(outside), step)]
    for place, (case, call) in enumerate(spread):
        if others:
            yield case, call.with_attribute(name, others[place % len(others)])


def _other_values(workshop: Workshop, spec: AttributeSpec) -> list[Attribute]:
    """Values that the attribute may have beside its default."""
    if spec.kind is None:
        return []
    if spec.allowed is not None:
        values = list(spec.allowed)
    else:
        levels = [
            each for factor in workshop.spec.factors if factor.name == spec.name for each in factor.levels
        ]
        values = [each for each in levels if not isinstance(each, str)]
    made = [attribute(spec.kind, each) for each in values]
    return [each for each in made if each.value != spec.default_value]


def _same_results(left: Case, right: Case) -> bool:
    return len(left.expectations) == len(right.expectations) and all(
        map(_same_expectation, left.expectations, right.expectations)
    )


def _same_expectation(left: Expectation, right: Expectation) -> bool:
    return [each.expected for each in left.outputs] == [each.expected for each in right.outputs]

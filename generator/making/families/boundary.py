"""Cases at the edges of the input space, where an attribute does not matter, and beyond one rule alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice, product

import numpy as np

from conformance.suite.cases import Case, Expectation
from generator.asking.ambiguity import ambiguity
from generator.asking.calls import Call
from generator.calls.data.floats import greatest, not_numbers, sign_bit
from generator.calls.rows.covering import cover, with_fixed
from generator.calls.rows.factors import first_types
from generator.calls.rows.feasibility import Level, Row
from generator.calls.variables.vector_lengths import LONG, MANY
from generator.making.operators.workshop import Workshop, word_of
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength
from specs.language.expressions import parse
from specs.model.call_scopes import scope_of
from specs.model.spec import AttributeSpec, Constraint

PLACES = ("first", "inside", "last", "throughout")
"""Where loops treat elements apart; and everywhere, where what a loop begins with may come out."""
_FEWEST = 3
"""Elements among which a first one, one inside and a last one are three."""
CLEARER = 6
"""Calls among which the clearest is taken."""
SPECIALS = ("nan", "infinity", "negative_infinity")
ENDS = ("greatest", "lowest")
"""Finite numbers that masks are made of, and that loops begin with: they stand throughout."""


def make_boundary(workshop: Workshop) -> None:
    calls = workshop.levels.boundary_calls(workshop.spec, workshop.draw("boundary"))
    for word, levels, call in workshop.lacking("boundary", calls):
        with suppress(UnstableLength):
            _add_affordable(workshop, word_of(word), call, levels)
    rows = _rows_with_specials(workshop)
    kinds = [*product(SPECIALS, PLACES), *product(ENDS, PLACES[-1:])]
    specials = ((f"{special}_{place}", special, place) for special, place in kinds)
    for word, special, place in workshop.lacking("boundary", specials):
        _add_clearest(workshop, word, _calls_with(workshop, rows, special, place))


def _add_affordable(workshop: Workshop, word: str, call: Call, levels: Mapping[str, str]) -> None:
    """The case of a call; of one whose many elements are too dear that of the same with fewer."""
    question = workshop.question(call)
    if workshop.has(call.trimmed()):
        return
    if workshop.affords(question):
        workshop.keep(call, workshop.make_valid("boundary", word, call, levels, question))
        return
    shorter = word.replace(str(MANY), str(LONG))
    if workshop.taken["boundary", shorter]:  # the declaration asks for as many itself
        return
    fewer = _shortened(call)
    case = workshop.attempt(shorter, fewer, levels)
    if case is not None:
        workshop.keep(fewer, case)


def _shortened(call: Call) -> Call:
    """The call with the first elements of each axis that has many."""

    def cut(given: Tensor) -> Tensor:
        kept = tuple(slice(LONG if length == MANY else length) for length in given.shape)
        return Tensor(given.element_type, np.ascontiguousarray(given.array[kept]))

    return call.with_tensors(
        tuple((name, None if given is None else cut(given)) for name, given in call.inputs)
    )


def _add_clearest(workshop: Workshop, word: str, calls: Iterator[tuple[Mapping[str, str], Call]]) -> None:
    """Of the first calls the one with the least share of elements that have several accepted results."""
    best: tuple[Fraction, Call, Case] | None = None
    for levels, call in islice(calls, CLEARER):
        try:
            case = workshop.make_valid("boundary", word, call, levels)
        except UnstableLength:
            continue
        share = ambiguity([case]).share
        if best is None or share < best[0]:
            best = (share, call, case)
        if not share:
            break
    if best is not None and not workshop.has(best[1]):
        workshop.keep(*best[1:])


def _rows_with_specials(workshop: Workshop) -> list[Row]:
    """Rows whose first input may hold NaN and infinities, all levels of the other factors among them.

    There are none of an operator without floating-point types, or without the class `nonfinite`.
    """
    model = workshop.model
    if not _plain_float(workshop) or "nonfinite" not in model.levels.get("data", ()):
        return []
    fixed: dict[str, Level] = {**_plain_float(workshop), "data": "nonfinite"}
    return cover(with_fixed(model, {name: level for name, level in fixed.items() if name in model.levels}), 1)


def _plain_float(workshop: Workshop) -> Mapping[str, str]:
    """A floating-point type with such values, float before others, as a level of the first input's types."""
    factor, types = first_types(workshop.spec, workshop.model)
    found = sorted((each for each in types if _has_specials(each)), key=lambda each: each != "float")
    return {factor: found[0]} if found else {}


def _calls_with(
    workshop: Workshop, rows: Sequence[Row], special: str, place: str
) -> Iterator[tuple[Mapping[str, str], Call]]:
    """Calls of these rows whose first input has such a value in that place, among distinct numbers."""
    model = workshop.model
    draw = workshop.draw("boundary", special, place)
    for row in draw.shuffled(rows):
        levels = {name: str(level) for name, level in model.row_levels(row).items()}
        levels |= _plain_float(workshop)
        call = workshop.levels.build_call(workshop.spec, {**levels, "data": "distinct"}, draw.child(str(row)))
        X = call.inputs[0][1] if call is not None and call.inputs else None
        if call is None or X is None or X.array.size < _FEWEST:
            continue
        changed = call.with_input(call.inputs[0][0], _with_special(X, special, place))
        if not workshop.violations(changed):
            yield levels, changed


def _has_specials(element_type: str) -> bool:
    kind = ELEMENT_TYPES[element_type]
    return kind.layout is not None and len(not_numbers(kind)) == len(SPECIALS)


def _with_special(X: Tensor, special: str, place: str) -> Tensor:
    last = greatest(X.element_type)
    codes = dict(zip(SPECIALS, not_numbers(X.element_type), strict=True))
    codes |= dict(zip(ENDS, (last, last | sign_bit(X.element_type)), strict=True))
    array = np.array(X.array)
    flat = array.reshape(-1)
    position = {"first": 0, "inside": flat.size // 2, "last": flat.size - 1}.get(place, slice(None))
    flat[position] = np.array(codes[special], dtype=f"u{flat.itemsize}").view(flat.dtype)
    return Tensor(X.element_type, array)


PER_ATTRIBUTE = 4
"""Cases for each attribute; as many calls outside its scope are changed."""


def make_inert(workshop: Workshop) -> None:
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
            level for factor in workshop.spec.factors if factor.name == spec.name for level in factor.levels
        ]
        values = [level for level in levels if not isinstance(level, str)]
    made = [attribute(spec.kind, value) for value in values]
    return [each for each in made if each.value != spec.default_value]


def _same_results(left: Case, right: Case) -> bool:
    return len(left.expectations) == len(right.expectations) and all(
        map(_same_expectation, left.expectations, right.expectations)
    )


def _same_expectation(left: Expectation, right: Expectation) -> bool:
    return [output.expected for output in left.outputs] == [output.expected for output in right.outputs]


def make_invalid(workshop: Workshop) -> None:
    """Break each constraint with `else: error`; InternalError for an id that the spec does not have."""
    _break(workshop, "invalid")


def make_survival(workshop: Workshop) -> None:
    """Break each constraint of which no document says what then happens."""
    _break(workshop, "survival")


def _break(workshop: Workshop, family: str) -> None:
    constraints = {constraint.id: constraint for constraint in workshop.spec.constraints}
    for name, valid, call in workshop.lacking(family, workshop.broken_calls):
        if name not in constraints:
            raise InternalError(f"{workshop.spec.operator} has no constraint {name} to break")
        if (constraints[name].otherwise == "error") is (family == "invalid"):
            workshop.add_broken(family, constraints[name], valid, call)

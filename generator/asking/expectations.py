"""What must come out of a call: one expectation for each distinct result of the open readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Alternative, Expectation, ExpectedOutput, Unordered
from generator.asking.calls import Call
from generator.asking.questions import Options, Question, ask, describe
from generator.asking.validity import find_violations
from opcert.vocabulary.errors import InternalError
from reference.answers import Answer, OutsideDomain
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import Reading, Spec

_FEW = 256
"""Of so many elements and fewer bounds are kept as they are."""
_BITS = 8
"""Significant bits of the bounds of more elements."""


def expect(spec: Spec, reference: ReferenceOperator, call: Call) -> tuple[Expectation, ...]:
    """The expectations of a valid call under every combination of open readings and behaviours.

    Combinations of one result are merged; each expectation lists the options that lead to it, for the
    readings that matter to this call. Raises UnstableLength where the reference does, or where one of the
    readings alone leaves the call outside its domain; InternalError where it is outside under the first ones,
    or breaks a rule of the spec, which is the domain: the reference does not ask.
    """
    if broken := find_violations(spec, call):
        outside = OutsideDomain(f"a call breaks {broken[0].id}")
        raise InternalError(
            f"a call made to be valid is outside the domain of {reference.operator}",
            got=f"{describe(call)}, which breaks {broken[0].id}",
        ) from outside
    return expectations_of(ask(spec, reference, call))


def expectations_of(asked: Question) -> tuple[Expectation, ...]:
    """What `expect` gives, of a call that is known to break no rule."""
    questions, matter = asked.open, _readings_that_matter(asked)
    groups: dict[int, list[Options]] = {}
    for options in _combinations(questions, matter):
        groups.setdefault(asked.result(options), []).append(options)
    return tuple(
        expectation_of(
            asked.answer(members[0]),
            _options_of(questions, matter, members, "reading"),
            _options_of(questions, matter, members, "behaviour"),
            _contradicted(questions, members),
            tuple(sorted(asked.functions)),
        )
        for members in groups.values()
    )


def _contradicted(questions: Sequence[Reading], members: Sequence[Options]) -> tuple[str, ...]:
    """The readings by which this result is against the text; none where it comes out by the text as well."""
    against = [
        sorted(
            question.id
            for question, option in zip(questions, options, strict=True)
            if option in question.contradicted
        )
        for options in members
    ]
    return tuple(min((len(names), names) for names in against)[1])


def expectation_of(
    answers: Sequence[tuple[str, Answer]],
    readings: Mapping[str, tuple[str, ...]] | None = None,
    behaviours: Mapping[str, tuple[str, ...]] | None = None,
    contradicted: tuple[str, ...] = (),
    functions: tuple[str, ...] = (),
) -> Expectation:
    """What comes out under some options, for the outputs that are asked for."""
    outputs = tuple(expected_output(*answer) for answer in answers)
    bounded = any(output.allowed is not None for output in outputs)
    return Expectation(
        outputs,
        readings or {},
        behaviours or {},
        tuple(Unordered((name,), 0) for name, answer in answers if answer.unordered),
        contradicted,
        functions if bounded else (),
    )


def _readings_that_matter(asked: Question) -> set[int]:
    """The places of the open readings that change this call's result.

    A reading that changes nothing alone is tried again beside every combination of those that do, until no
    more are found, and only where the reference asks for it; so the number of evaluations grows with the
    readings that matter, not with all.
    """
    matter: set[int] = set()
    compared: set[tuple[Options, int]] = set()
    grown = True
    while grown:
        grown = False
        for options in _combinations(asked.open, matter):
            for place, reading in enumerate(asked.open):
                if place in matter or (options, place) in compared or not asked.asks_for(reading.id, options):
                    continue
                compared.add((options, place))
                for option in list(reading.options)[1:]:
                    other = (*options[:place], option, *options[place + 1 :])
                    if asked.result(options) != asked.result(other):
                        matter.add(place)
                        grown = True
                        break
    return matter


def _combinations(questions: Sequence[Reading], vary: set[int]) -> list[Options]:
    choices = [
        list(question.options) if place in vary else [next(iter(question.options))]
        for place, question in enumerate(questions)
    ]
    return list(product(*choices))


def _options_of(
    questions: Sequence[Reading], matter: set[int], members: Sequence[Options], kind: str
) -> dict[str, tuple[str, ...]]:
    found = {}
    for place in sorted(matter):
        reading = questions[place]
        if reading.kind == kind:
            present = {options[place] for options in members}
            found[reading.id] = tuple(option for option in reading.options if option in present)
    return found


def expected_output(name: str, answer: Answer) -> ExpectedOutput:
    """An answer of the reference as a case holds it; of what is drawn any value is right."""
    alternatives = tuple(
        Alternative(index, tuple(values)) for index, values in sorted((answer.alternatives or {}).items())
    )
    allowed = answer.allowed if answer.valued else np.full(answer.expected.shape, np.inf)
    if allowed is not None and allowed.size > _FEW:
        allowed = short_bounds(allowed)
    return ExpectedOutput(name, answer.expected, allowed, alternatives)


def short_bounds(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bounds rounded up to few bits, by less than a 127th: they take fewer bytes, and none is smaller."""
    significands, exponents = np.frexp(bounds)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.ldexp(np.ceil(np.ldexp(significands, _BITS)), exponents - _BITS))

"""What an answer must be that no values can state: demands of a reference as properties of a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.suite.distributions import Distributed
from conformance.suite.properties import HasShape, HasType, InRange, Masked, Properties, Property, SameAgain
from generator.asking.questions import Question
from opcert.vocabulary.errors import InternalError
from reference.answers import Answer
from reference.answers.draws import Between, Demand, Drawn, MaskedBy, Repeated

LEVEL = 1e-9
"""The probability that a run of a suite accuses any honest runtime of a wrong distribution, at most."""
TESTS = 10_000
"""Among so many tests the level is divided: a suite has fewer, each form and repetition of a case counted."""
FALSE_ALARM = LEVEL / TESTS


def properties_of(asked: Question) -> Properties:
    """What must hold of the outputs of a call, in their order; the same under all options asked so far.

    Raises InternalError where it is not: a case has one set of properties.
    """
    found = {tuple(_properties(answers)) for answers in asked.answers.values()}
    if len(found) > 1:
        raise InternalError(
            f"what must hold of answers of {asked.reference.operator} hangs on an open reading",
            got=" or ".join(map(str, found)),
        )
    return next(iter(found), ())


def is_valued(asked: Question) -> bool:
    """Whether answers have values to compare with; what is drawn has none."""
    return all(answer.valued for answers in asked.answers.values() for _, answer in answers)


def _properties(answers: Sequence[tuple[str, Answer]]) -> Iterator[Property]:
    again = False
    for name, answer in answers:
        if not answer.valued:
            yield HasType(name, answer.expected.element_type)
            yield HasShape(name, answer.expected.shape)
        for demand in answer.demands:
            again |= isinstance(demand, Repeated)
            if not isinstance(demand, Repeated):
                yield _property(name, demand, [other for other, _ in answers])
    if again:
        yield SameAgain()


def _property(name: str, demand: Demand, names: Sequence[str]) -> Property:
    match demand:
        case Drawn():
            return Distributed(
                name, demand.family, demand.parameters, FALSE_ALARM, demand.rows, demand.resolution
            )
        case Between():
            return InRange(name, demand.low, demand.high, whole=demand.whole)
        case MaskedBy():
            return Masked(name, names[demand.place], demand.exactly)
        case Repeated():
            return SameAgain()

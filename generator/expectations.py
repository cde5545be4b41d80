"""What must come out of a call: one expectation for each distinct result of the open readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from conformance.suite.cases import Alternative, Expectation, ExpectedOutput, Unordered
from generator.answered_outputs import asked_answers, check_answers, declared_results
from generator.calls import Call
from generator.given_inputs import arguments_of, output_names
from generator.validity import find_violations
from opcert.vocabulary.attributes import AttributeValue
from opcert.vocabulary.errors import InternalError, OpcertError
from reference.answers import Answer, OutsideDomain, UnstableLength
from reference.reference_operator import Argument, ReferenceOperator
from specs.model import Reading, Spec
from specs.result_shapes import ResultShape

Options = tuple[str, ...]
"""One option for each open reading, in the spec's order."""


@dataclass(frozen=True, eq=False)
class Question:
    """A call and its answers so far, by the combination of options, with the readings asked for."""

    spec: Spec
    reference: ReferenceOperator
    settled: Mapping[str, str]
    open: Sequence[Reading]
    call: Call
    answers: dict[Options, tuple[tuple[str, Answer], ...]] = field(default_factory=dict)
    asked: dict[Options, set[str]] = field(default_factory=dict)

    def answer(self, options: Options) -> tuple[tuple[str, Answer], ...]:
        """What comes out under some options: the name and the answer of each tensor that a case holds."""
        if options not in self.answers:
            chosen = dict(self.settled)
            chosen.update({each.id: option for each, option in zip(self.open, options, strict=True)})
            asked: set[str] = set()
            try:
                found = self.reference.evaluate(
                    self._attributes, self._given, chosen, asked, len(self._names)
                )
                check_answers(self.spec, self.call, self._names, found, self._shapes)
                self.answers[options] = asked_answers(self.spec, self.call, self._names, found)
                self.asked[options] = asked
            except OutsideDomain as error:
                if self.answers:
                    raise UnstableLength(
                        f"an open reading leaves a call of {self.reference.operator} without a result",
                        got=f"{describe(self.call)} under {chosen}: {error}",
                    ) from error
                raise InternalError(
                    f"a call made to be valid is outside the domain of {self.reference.operator}",
                    got=f"{describe(self.call)} under {chosen}: {error}",
                ) from error
            except OpcertError as error:
                error.add_note(f"with {describe(self.call)} under {chosen}")
                raise
            except Exception as error:
                error.add_note(f"with {describe(self.call)} under {chosen}")
                raise
        return self.answers[options]

    @cached_property
    def _attributes(self) -> Mapping[str, AttributeValue]:
        return {name: each.value for name, each in self.call.attributes.items()}

    @cached_property
    def _given(self) -> Mapping[str, Argument]:
        return arguments_of(self.spec, self.call)

    @cached_property
    def _names(self) -> Sequence[str]:
        return output_names(self.spec, self.call)

    @cached_property
    def _shapes(self) -> Sequence[ResultShape | None]:
        return declared_results(self.spec, self.call, self._names)

    def plain_answers(self) -> Sequence[Answer]:
        """What comes out under the first option of every open reading, for a quick look.

        Raises UnstableLength where the reference does.
        """
        options = tuple(next(iter(each.options)) for each in self.open)
        return [answer for _, answer in self.answer(options)]

    def asks_for(self, reading: str, options: Options) -> bool:
        """Whether the answer under some options may be another with another option of a reading."""
        self.answer(options)
        return reading in self.asked[options]


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
    groups: list[tuple[tuple[tuple[str, Answer], ...], list[Options]]] = []
    for options in _combinations(questions, matter):
        answers = asked.answer(options)
        for known, members in groups:
            if _same_answers(known, answers):
                members.append(options)
                break
        else:
            groups.append((answers, [options]))
    return tuple(
        expectation_of(
            answers,
            _options_of(questions, matter, members, "reading"),
            _options_of(questions, matter, members, "behaviour"),
        )
        for answers, members in groups
    )


def expectation_of(
    answers: Sequence[tuple[str, Answer]],
    readings: Mapping[str, tuple[str, ...]] | None = None,
    behaviours: Mapping[str, tuple[str, ...]] | None = None,
) -> Expectation:
    """What comes out under some options, for the outputs that are asked for."""
    return Expectation(
        tuple(expected_output(*each) for each in answers),
        readings or {},
        behaviours or {},
        tuple(Unordered((name,), 0) for name, answer in answers if answer.unordered),
    )


def ask(spec: Spec, reference: ReferenceOperator, call: Call) -> Question:
    """What may be asked about a call: nothing is computed yet."""
    questions = [each for each in spec.readings if each.chosen is None]
    return Question(spec, reference, settled_options(spec, reference), questions, call)


def settled_options(spec: Spec, reference: ReferenceOperator) -> dict[str, str]:
    """The options of the readings that are settled, for a reference that has them."""
    return {
        each.id: each.chosen
        for each in spec.readings
        if each.chosen is not None and each.id in reference.readings
    }


def _readings_that_matter(asked: Question) -> set[int]:
    """The places of the open readings that change this call's result.

    A reading that changes nothing alone is tried again beside every combination of those that do, until no
    more are found, and only where the reference asks for it; so the number of evaluations grows with the
    readings that matter, not with all.
    """
    matter: set[int] = set()
    grown = True
    while grown:
        grown = False
        for options in _combinations(asked.open, matter):
            for place, reading in enumerate(asked.open):
                if place in matter or not asked.asks_for(reading.id, options):
                    continue
                for option in list(reading.options)[1:]:
                    other = (*options[:place], option, *options[place + 1 :])
                    if not _same_answers(asked.answer(options), asked.answer(other)):
                        matter.add(place)
                        grown = True
                        break
    return matter


def _combinations(questions: Sequence[Reading], vary: set[int]) -> list[Options]:
    choices = [
        list(each.options) if place in vary else [next(iter(each.options))]
        for place, each in enumerate(questions)
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
    """An answer of the reference as a case holds it."""
    alternatives = tuple(
        Alternative(index, tuple(values)) for index, values in sorted((answer.alternatives or {}).items())
    )
    return ExpectedOutput(name, answer.expected, answer.allowed, alternatives)


def _same_answers(left: Sequence[tuple[str, Answer]], right: Sequence[tuple[str, Answer]]) -> bool:
    if left is right:
        return True
    if len(left) != len(right):
        return False
    return all(_same_answer(ours, theirs) for (_, ours), (_, theirs) in zip(left, right, strict=True))


def _same_answer(left: Answer, right: Answer) -> bool:
    if left.expected != right.expected or (left.allowed is None) != (right.allowed is None):
        return False
    if left.allowed is not None and right.allowed is not None:
        return bool(np.array_equal(left.allowed, right.allowed)) and _same_alternatives(left, right)
    return _same_alternatives(left, right)


def _same_alternatives(left: Answer, right: Answer) -> bool:
    return repr(sorted((left.alternatives or {}).items())) == repr(sorted((right.alternatives or {}).items()))


def describe(call: Call) -> str:
    """A call in one line, for messages."""
    attributes = ", ".join(
        f"{name}={each.value if each.kind == 'type' else repr(each.value)}"
        for name, each in call.attributes.items()
    )
    inputs = ", ".join(
        f"{name}: {'omitted' if each is None else f'{each.element_type} {list(each.shape)}'}"
        for name, each in call.inputs
    )
    small = [
        f"{name}={each.array.tolist()}"
        for name, each in call.inputs[1:]
        if each is not None and each.array.size < 20
    ]
    return f"({attributes}) on ({inputs}) with {', '.join(small) or 'no small inputs'}"

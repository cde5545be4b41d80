"""Questions to a reference: a call, and what comes out of it under options of the open readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from generator.asking.answered_outputs import DeclaredOutput, asked_answers, check_answers, declared_results
from generator.asking.calls import Call
from generator.asking.given_inputs import arguments_of, output_names
from opcert.vocabulary.attributes import AttributeValue
from opcert.vocabulary.errors import InternalError, OpcertError
from reference.answers import Answer, OutsideDomain, UnstableLength
from reference.numbers.noted_functions import noting_functions
from reference.readings.choices import Stages, remembering
from reference.registry.conversions import PRECISION
from reference.registry.reference_operator import Argument, ReferenceOperator
from specs.model.spec import Reading, Spec

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
    functions: set[str] = field(default_factory=set)
    """Those of the table of allowed errors that any of the answers took."""
    arguments: Mapping[str, Argument] | None = None
    """What the reference is given, where that is not what the call holds: values with the error of each."""

    def answer(self, options: Options) -> tuple[tuple[str, Answer], ...]:
        """What comes out under some options: the name and the answer of each tensor that a case holds."""
        if options not in self.answers and (known := self._answered_alike(options)) is not None:
            self.answers[options], self.asked[options] = self.answers[known], self.asked[known]
        if options not in self.answers:
            chosen = dict(self.settled)
            chosen.update({reading.id: option for reading, option in zip(self.open, options, strict=True)})
            asked: set[str] = set()
            try:
                before = self.asked.get(self._under_first_precision(options), ())
                with noting_functions(self.functions), remembering(self._stages):
                    found = self.reference.evaluate(
                        self._attributes, self._given, chosen, asked, len(self._names), before
                    )
                check_answers(self.spec, self._names, found, self._declared)
                self.answers[options] = asked_answers(self.spec, self.call, self._names, found)
                self.asked[options] = asked
                places = tuple(at for at, reading in enumerate(self.open) if reading.id in asked)
                chose = tuple(options[at] for at in places)
                self._evaluated.setdefault(places, {})[chose] = options
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

    def _answered_alike(self, options: Options) -> Options | None:
        """Options under which it was evaluated, with the same for every reading that was asked for then."""
        for places, known in self._evaluated.items():
            alike = known.get(tuple(options[at] for at in places))
            if alike is not None:
                return alike
        return None

    def _under_first_precision(self, options: Options) -> Options:
        return tuple(
            next(iter(reading.options)) if reading.id == PRECISION else option
            for reading, option in zip(self.open, options, strict=True)
        )

    @cached_property
    def _evaluated(self) -> dict[tuple[int, ...], dict[Options, Options]]:
        """The options that it was evaluated under, by the places of the readings that it asked for then.

        For each such set of places they are found by what they choose there.
        """
        return {}

    @cached_property
    def _stages(self) -> Stages:
        return {}

    @cached_property
    def _attributes(self) -> Mapping[str, AttributeValue]:
        return {name: attribute.value for name, attribute in self.call.attributes.items()}

    @cached_property
    def _given(self) -> Mapping[str, Argument]:
        return arguments_of(self.spec, self.call) if self.arguments is None else self.arguments

    @cached_property
    def _names(self) -> Sequence[str]:
        return output_names(self.spec, self.call)

    @cached_property
    def _declared(self) -> Sequence[DeclaredOutput]:
        return declared_results(self.spec, self.call, self._names)

    @property
    def first_options(self) -> Options:
        """The first option of every open reading."""
        return tuple(next(iter(each.options)) for each in self.open)

    def plain_answers(self) -> Sequence[Answer]:
        """What comes out under the first option of every open reading, for a quick look.

        Raises UnstableLength where the reference does.
        """
        return [answer for _, answer in self.answer(self.first_options)]

    def result(self, options: Options) -> int:
        """What comes out under some options as a number: the same one where the same comes out."""
        if options not in self._results:
            found = tuple(_identity(answer) for _, answer in self.answer(options))
            self._results[options] = self._distinct.setdefault(found, len(self._distinct))
        return self._results[options]

    def has_one_result(self) -> bool:
        """Whether every open reading, each alone, leaves the result what it is.

        Raises UnstableLength where the reference does.
        """
        first = self.first_options
        return all(
            self.result((*first[:place], option, *first[place + 1 :])) == self.result(first)
            for place, reading in enumerate(self.open)
            if self.asks_for(reading.id, first)
            for option in list(reading.options)[1:]
        )

    @cached_property
    def _results(self) -> dict[Options, int]:
        return {}

    @cached_property
    def _distinct(self) -> dict[tuple[object, ...], int]:
        """The numbers of the results so far."""
        return {}

    def asks_for(self, reading: str, options: Options) -> bool:
        """Whether the answer under some options may be another with another option of a reading."""
        self.answer(options)
        return reading in self.asked[options]


def ask(spec: Spec, reference: ReferenceOperator, call: Call) -> Question:
    """What may be asked about a call: nothing is computed yet."""
    questions = [reading for reading in spec.readings if reading.chosen is None]
    return Question(spec, reference, settled_options(spec, reference), questions, call)


def _identity(answer: Answer) -> tuple[object, ...]:
    """What two answers share where they accept the same: elements, the distance allowed to each, others."""
    # Zero is the same distance whatever its sign.
    allowed = None if answer.allowed is None else (answer.allowed + 0.0).tobytes()
    return answer.expected, allowed, repr(sorted((answer.alternatives or {}).items())), answer.demands


def settled_options(spec: Spec, reference: ReferenceOperator) -> dict[str, str]:
    """The options of the readings that are settled, for a reference that has them."""
    return {
        reading.id: reading.chosen
        for reading in spec.readings
        if reading.chosen is not None and reading.id in reference.readings
    }


def describe(call: Call) -> str:
    """A call in one line, for messages."""
    attributes = ", ".join(
        f"{name}={attribute.value if attribute.kind == 'type' else repr(attribute.value)}"
        for name, attribute in call.attributes.items()
    )
    inputs = ", ".join(
        f"{name}: {'omitted' if tensor is None else f'{tensor.element_type} {list(tensor.shape)}'}"
        for name, tensor in call.inputs
    )
    small = [
        f"{name}={tensor.array.tolist()}"
        for name, tensor in call.inputs[1:]
        if tensor is not None and tensor.array.size < 20
    ]
    return f"({attributes}) on ({inputs}) with {', '.join(small) or 'no small inputs'}"

"""What every family of cases works with: one operator's spec, reference and calls, and the cases so far."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from conformance.suite.cases import Case, Expectation
from conformance.suite.properties import HasType, Properties
from generator.asking.bare_cases import bare_case
from generator.asking.calls import Call
from generator.asking.demands import is_valued, properties_of
from generator.asking.expectations import expectations_of
from generator.asking.questions import Question, ask, describe
from generator.asking.tensor_edits import is_main
from generator.asking.validity import find_refusable, find_violations
from generator.calls.data.draws import Draw
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.declared.modelled import KeptDraws
from generator.calls.rows.factors import factor_model
from generator.calls.rows.feasibility import Model
from generator.calls.space.stated_rules import stated_rules
from generator.making.operators.discovery import open_spec
from generator.measured.kept import Selected
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import CaseId, OperatorName
from reference.answers import UnstableLength
from reference.numbers.noted_functions import TooManySteps, within_steps
from reference.registry import reference_of
from reference.registry.reference_operator import ReferenceOperator
from specs.model.domain import Violation
from specs.model.spec import Constraint, Finding, Spec

Item = TypeVar("Item", bound=tuple[Any, ...])
"""What a family makes a case of: its name first."""


MOST_STEPS = 1_000_000
"""Steps (`reference/numbers/noted_functions.py`) that a case's first answer may take at sizes below full.

The longest axes of sums at kernel sizes take a third of it; what takes more is large, and no other mechanism.
"""


@dataclass(frozen=True)
class Options:
    """What a person may ask of the generator: `size` small, default or full, and the covering strength."""

    size: str = "default"
    strength: int = 2

    @classmethod
    def of(cls, size: str, strength: int | None = None) -> Options:
        """Options of a size; its own strength (small 1, default 2, full 3) unless one is given."""
        return cls(size, strength or {"small": 1, "default": 2, "full": 3}[size])


@dataclass(eq=False)
class Workshop:
    """One operator's bench: families put cases in, each call once, under the first family that made it."""

    spec: Spec
    reference: ReferenceOperator
    levels: DeclaredLevels
    options: Options
    selected: tuple[Selected, ...] = ()
    """At size small, cases of the default suite that kill mutants: they are made first."""
    cases: dict[str, Case] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    rows: list[Mapping[str, str]] = field(default_factory=list)
    """The factor levels of every covering row of which a case was made."""
    dropped: list[Mapping[str, str]] = field(default_factory=list)
    """The covering rows of which none could be made, because every draw's output length was unstable."""
    taken: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    """How many cases of a family and word are a newer version's: these need not be made again."""
    kept_draws: KeptDraws | None = None
    """Which draws became the cases of the covering rows when they were last searched for."""
    draws: KeptDraws | None = None
    """The same of the rows of now."""

    @cached_property
    def model(self) -> Model:
        """The factors that the suite covers; at size small without groups of a strength of their own."""
        model = factor_model(self.spec)
        return replace(model, groups=()) if self.options.size == "small" else model

    @cached_property
    def broken_calls(self) -> Sequence[tuple[str, Call, Call]]:
        """The rules that calls break, each with a valid call and the one that breaks it alone."""
        return list(self.levels.invalid_calls(self.spec, self.draw("invalid")))

    @cached_property
    def main_inputs(self) -> frozenset[str]:
        """The names of the inputs that have the type of the first one."""
        main = is_main(self.spec)
        return frozenset(each.name for each in self.spec.inputs if main(each))

    def draw(self, *labels: str) -> Draw:
        return Draw("/".join((str(self.spec.operator), *labels)))

    def has(self, call: Call) -> bool:
        return call.digest(self.spec.operator) in self.cases

    def violations(self, call: Call) -> list[Violation]:
        return find_violations(self.spec, call)

    @cached_property
    def stated(self) -> Spec:
        """The spec with the rules of documents, without those of what is drawn alone."""
        return stated_rules(self.levels.space, self.spec)

    def add_valid(
        self, family: str, word: str | None, call: Call, levels: Mapping[str, str] | None = None
    ) -> Case:
        """Make a case that must be answered, or find the one that this call has already.

        Raises as `make_valid` does.
        """
        call = call.trimmed()
        digest = call.digest(self.spec.operator)
        if digest in self.cases:
            return self.cases[digest]
        return self.keep(call, self.make_valid(family, word, call, levels))

    def take(
        self,
        family: str,
        word: str | None,
        call: Call,
        levels: Mapping[str, str],
        expectations: tuple[Expectation, ...] | None,
        properties: Properties = (),
    ) -> None:
        """Put a newer version's valid call in, with what comes out where that is known.

        Raises as `make_valid` does where it is not.
        """
        call = call.trimmed()
        if expectations is None:
            case = self.make_valid(family, word, call, levels)
        else:
            case = self._case(family, word, call, levels, expectations, properties)
        self.keep(call, case)
        self.taken[family, word] += 1

    def lacking(self, family: str, made: Iterable[Item]) -> Iterator[Item]:
        """What was made, each named first, without as many of each name as a newer version's cases have."""
        taken = self.taken.copy()
        for each in made:
            name = (family, word_of(each[0]))
            taken[name] -= 1
            if taken[name] < 0:
                yield each

    def question(self, call: Call) -> Question:
        """What may be asked about a call."""
        return ask(self.spec, self.reference, call.trimmed())

    def make_valid(
        self,
        family: str,
        word: str | None,
        call: Call,
        levels: Mapping[str, str] | None = None,
        question: Question | None = None,
    ) -> Case:
        """Make a case that must be answered, without keeping it; a `question` about it has answers already.

        Raises InternalError where the call breaks a stated rule, UnstableLength where the reference does.
        """
        call = call.trimmed()
        broken = find_violations(self.stated, call)
        if broken:
            raise InternalError(
                f"a call of the {family} family of {self.spec.operator} breaks {broken[0].id}",
                got=describe(call),
            )
        asked = self.question(call) if question is None else question
        expectations = expectations_of(asked)
        properties = properties_of(asked)
        # What is drawn has no values to compare with.
        return self._case(
            family, word, call, levels or {}, expectations if is_valued(asked) else (), properties
        )

    def affords(self, question: Question) -> bool:
        """Whether the first answer takes no more steps than a case of this size may.

        Raises UnstableLength where the reference does.
        """
        if self.options.size == "full":
            return True
        try:
            with within_steps(MOST_STEPS):
                question.plain_answers()
        except TooManySteps:
            return False
        return True

    def attempt(
        self,
        word: str | None,
        call: Call,
        levels: Mapping[str, str] | None = None,
        family: str = "boundary",
        alone: bool = False,
    ) -> Case | None:
        """The case of a call that is not in the suite, without keeping it.

        None where it is there, where the call breaks a rule, where an output length hangs on rounding or the
        size does not afford the answer; with `alone` also where an open reading makes another result.
        """
        if self.violations(call) or self.has(call):
            return None
        question = self.question(call)
        with suppress(UnstableLength):
            if self.affords(question) and (not alone or question.has_one_result()):
                return self.make_valid(family, word, call, levels, question)
        return None

    def keep(self, call: Call, case: Case) -> Case:
        """Put a case into the suite; the same case."""
        call = call.trimmed()
        digest = call.digest(self.spec.operator)
        self.cases[digest] = case
        self.calls[digest] = call
        return case

    def discard(self, call: Call) -> None:
        """Take a case out of the suite again."""
        digest = call.digest(self.spec.operator)
        del self.cases[digest], self.calls[digest]

    def add_broken(self, family: str, constraint: Constraint, valid: Call, call: Call) -> Case | None:
        """Make a case that breaks one constraint; None where the call is in the suite already.

        None as well where the valid call that it was made from has an output length that hangs on rounding.
        Raises InternalError where the call does not break exactly that constraint.
        """
        call = call.trimmed()
        digest = call.digest(self.spec.operator)
        if digest in self.cases:
            return None
        broken = [violation.id for violation in self.violations(call)]
        if broken != [constraint.id]:
            raise InternalError(
                f"a call made to break {constraint.id} of {self.spec.operator} breaks {broken or 'nothing'}",
                got=describe(call),
            )
        try:
            neighbour = self.add_valid("boundary", "neighbour", valid)
        except UnstableLength:  # beside a call whose answer nobody can say, a refusal says little
            return None
        sources = tuple((source.document, source.line) for source in constraint.origin.sources)
        case = replace(
            bare_case(self.spec, call),
            id=CaseId(self.spec.operator, family, word_of(constraint.id), digest),
            demand="refuse" if constraint.otherwise == "error" else "survive",
            constraint=constraint.id,
            valid_case=str(neighbour.id),
            rule=rule_text(constraint),
            sources=sources,
        )
        self.cases[digest] = case
        return case

    def _case(
        self,
        family: str,
        word: str | None,
        call: Call,
        levels: Mapping[str, str],
        expectations: tuple[Expectation, ...],
        properties: Properties = (),
    ) -> Case:
        bare, refusable = bare_case(self.spec, call), find_refusable(self.spec, call)
        first = next(
            (has_type.element_type for has_type in properties if isinstance(has_type, HasType)), None
        )
        if expectations:
            first = expectations[0].outputs[0].expected.element_type
        given = any(tensor is not None for _, tensor in call.inputs)
        return replace(
            bare,
            id=CaseId(self.spec.operator, family, word, call.digest(self.spec.operator)),
            # Without an input a case counts under the type that comes out.
            element_type=bare.element_type if given or first is None else first,
            output_names=bare.output_names
            if call.outputs or bare.output_types or not expectations
            else tuple(output.name for output in expectations[0].outputs),
            demand="answer",
            expectations=expectations,
            properties=properties,
            levels=dict(levels),
            sources=tuple(self._sources(call)),
            may_refuse=None if refusable is None else refusable.id,
            refusal_contradicted=refusable is not None and refusable.contradicted,
        )

    def _sources(self, call: Call) -> Iterator[tuple[str, int]]:
        """Where the documents speak of the attributes and inputs that the call gives."""
        given = {name for name, tensor in call.inputs if tensor is not None}
        origins = [self.spec.attributes[name].origin for name in call.attributes]
        origins += [parameter.origin for parameter in self.spec.inputs if parameter.name in given]
        for origin in origins:
            for source in origin.sources[:1]:
                yield (source.document, source.line)


def open_workshop(operator: OperatorName, options: Options, folders: Sequence[Path] = ()) -> Workshop:
    """The bench of an operator; raises UserError where it lacks spec, reference or declared calls."""
    spec, levels = open_spec(operator, folders)
    return Workshop(spec, reference_of(spec), levels, options)


def rule_text(constraint: Constraint) -> str:
    """A constraint as one line of text."""
    if constraint.require is None:
        return f"{constraint.attribute} matters only when {constraint.effective_when}"
    return f"{constraint.require} when {constraint.when}" if constraint.when else constraint.require


def word_of(text: str) -> str:
    """A constraint's or example's id as the word of a case id."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "unnamed"

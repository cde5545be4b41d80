"""What a case of a random call would accept, worked out no further than a response needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from conformance.judging.judge import judge
from conformance.judging.responses import Refused, Response
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case, Expectation
from generator.asking.bare_cases import first_type
from generator.asking.calls import Call
from generator.asking.computed import as_run
from generator.asking.expectations import expectation_of, expectations_of
from generator.asking.questions import Question, ask
from generator.asking.validity import find_refusable
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import CaseId
from reference.answers import UnstableLength
from specs.model.spec import Refusable


@dataclass(frozen=True, eq=False)
class Acceptance:
    """A valid call that the reference answers; while no mutant runs."""

    subject: MutatedOperator
    call: Call

    def accepts(self, response: Response) -> bool:
        """Whether the judge has nothing against a response; nor has it where no case is made of the call."""
        if isinstance(response, Refused) and self._refusable is not None:
            return True
        # Whatever is right under the first options of the open readings is right.
        return self._fits(self._first, response) or self._fits(self._whole, response)

    def _fits(self, case: Case | None, response: Response) -> bool:
        return case is None or judge(case, as_run(case, response)).verdict not in DIFFERENT

    @cached_property
    def _refusable(self) -> Refusable | None:
        return find_refusable(self.subject.spec, self.call)

    @cached_property
    def _asked(self) -> Question:
        return ask(self.subject.spec, self.subject.reference, self.call)

    @cached_property
    def _first(self) -> Case | None:
        """The case of the first options alone; None where no case is made of the call."""
        return self._case(lambda: (expectation_of(self._asked.answer(self._asked.first_options)),))

    @cached_property
    def _whole(self) -> Case | None:
        """The case of the call; None where none is made of it."""
        return self._case(lambda: expectations_of(self._asked))

    def _case(self, work_out: Callable[[], tuple[Expectation, ...]]) -> Case | None:
        """The case with these expectations, which say what errors are allowed; None where there are none."""
        try:
            expectations = work_out()
        except (UnstableLength, InternalError):
            return None
        operator = self.subject.spec.operator
        return Case(
            id=CaseId(operator, "cover", None, self.call.digest(operator)),
            element_type=first_type(self.subject.spec, self.call),
            attributes=self.call.attributes,
            inputs=self.call.inputs,
            output_names=(),
            demand="answer",
            expectations=expectations,
            may_refuse=None if self._refusable is None else self._refusable.id,
        )

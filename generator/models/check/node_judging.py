"""One node of a model that was run: is what it gave what its document says of what it took?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from conformance.checked_models.model_calls import ModelNode
from conformance.checked_models.whole_model import NodeNumbers, Why
from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from generator.asking.answered_outputs import asked_answers
from generator.asking.bare_cases import first_type
from generator.asking.expectations import expectation_of, expectations_of
from generator.asking.given_inputs import arguments_of, output_names
from generator.asking.questions import ask, settled_options
from generator.asking.validity import find_violations
from generator.models.check.actual_calls import ActualCall, PassedOver, actual_call
from generator.models.check.call_costs import estimated_seconds
from generator.models.check.sampled_calls import sample
from generator.models.check.shape_choice import left_open
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength
from specs.language.evaluation import EvaluationError

_FEWEST = 16
_WAITING = 6.0


@dataclass(frozen=True, eq=False)
class Judged:
    """What came of a node, and, where it is wrong and was judged whole, the right outputs that are wanted."""

    numbers: NodeNumbers
    right: tuple[Tensor, ...] | None = None


@dataclass(eq=False)
class NodeJudge:
    """Judges nodes within `seconds` of the processor in all, `node_seconds` for one, as estimated before.

    Estimates of an operator are corrected by what its calls took.
    """

    seconds: float
    node_seconds: float
    seed: int = 0
    _begun: float = field(default_factory=time.process_time)
    _clock: float = field(default_factory=time.monotonic)
    _slower: dict[str, float] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether no time is left: of the processor, or many times as much on the clock, which runs take."""
        busy, passed = time.process_time() - self._begun, time.monotonic() - self._clock
        return busy >= self.seconds or passed >= _WAITING * self.seconds

    def judge(
        self, node: ModelNode, taken: Sequence[Tensor | None], given: Sequence[Tensor | None]
    ) -> Judged:
        """`taken` and `given` are the node's inputs and outputs in order, None where one is left out."""
        why: Why
        try:
            whole = actual_call(node, taken, given)
            return self._judge(node, whole, self._affordable(whole))
        except PassedOver as error:
            why, reason = error.why, error.reason
        except (UnstableLength, OutsideDomain) as error:
            why, reason = "undefined", str(error)
        except InternalError as error:
            outside = isinstance(error.__cause__, OutsideDomain)
            why, reason = ("undefined", str(error.__cause__)) if outside else ("failed", str(error))
        except (UserError, EvaluationError) as error:
            why, reason = "not_valid", str(error)
        except (ArithmeticError, LookupError, TypeError, ValueError, MemoryError) as error:
            why, reason = "failed", f"a mistake of ours: {type(error).__name__}: {error}"[:300]
        return Judged(NodeNumbers(node.place, node.operator, "passed_over", why, reason))

    def _affordable(self, whole: ActualCall) -> ActualCall:
        """The call itself, or a part of it that costs little enough."""
        left = self.seconds - (time.process_time() - self._begun)
        if self.is_over:
            raise PassedOver("too_costly", f"the {self.seconds:g} s for judging are over")
        most = min(self.node_seconds, max(left, 0.0))
        seconds = self._estimate(whole)
        if seconds <= most:
            return whole
        elements = whole.of_elements
        while elements > _FEWEST:
            elements = max(_FEWEST, int(elements * min(most / seconds, 0.5)))
            part = sample(whole, elements, self.seed)
            if part is None:
                break
            seconds = self._estimate(part)
            if seconds <= most:
                return part
        about = f"would take about {self._estimate(whole):.0f} s"
        raise PassedOver("too_costly", f"exact arithmetic on {whole.of_elements:,} elements {about}")

    def _estimate(self, call: ActualCall) -> float:
        name = call.spec.operator.name
        count = sum(answer.array.size for answer in call.answers)
        return estimated_seconds(name, call.call, count) * self._slower.get(name, 1.0)

    def _judge(self, node: ModelNode, whole: ActualCall, part: ActualCall) -> Judged:
        if broken := find_violations(part.spec, part.call):
            if (told_open := left_open(broken[0].constraint)) is not None:
                raise PassedOver("undefined", told_open.reason.text)
            raise PassedOver("not_valid", f"the call breaks {broken[0].id}, so that nothing is owed")
        begun = time.process_time()
        expected = plain_expectation(part)
        took = time.process_time() - begun
        name = part.spec.operator.name
        self._slower[name] = max(self._slower.get(name, 1.0), took / max(self._estimate(part), 1e-3))
        if any(_is_drawn(output) for output in expected.outputs):
            raise PassedOver("undefined", "its values are drawn, and any are right")
        case, response = _case(part, (expected,)), Answered(part.answers)
        judgement = judge(case, response)
        if judgement.verdict == "mismatch":
            case = _case(part, expectations_of(ask(part.spec, part.reference, part.call)))
            judgement = judge(case, response)
        numbers = _numbers(node, whole, part, judgement)
        if numbers.verdict != "wrong" or part is not whole:
            return Judged(numbers)
        closest = case.expectations[judgement.expectation or 0]
        return Judged(numbers, tuple(output.expected for output in closest.outputs))


def plain_expectation(call: ActualCall) -> Expectation:
    """What must come out under the first option of every open reading."""
    values = {name: attribute.value for name, attribute in call.call.attributes.items()}
    names = output_names(call.spec, call.call)
    settled = settled_options(call.spec, call.reference)
    arguments = arguments_of(call.spec, call.call)
    answers = call.reference.evaluate(values, arguments, settled, outputs=len(names))
    return expectation_of(asked_answers(call.spec, call.call, names, answers))


def _is_drawn(output: ExpectedOutput) -> bool:
    allowed = output.allowed
    return allowed is not None and allowed.size > 0 and bool(np.isinf(allowed).all())


def _case(call: ActualCall, expectations: tuple[Expectation, ...]) -> Case:
    wanted = set(call.outputs)
    kept = tuple(
        replace(expectation, outputs=tuple(one for one in expectation.outputs if one.name in wanted))
        for expectation in expectations
    )
    return Case(
        id=CaseId(call.spec.operator, "boundary", None, "0" * 12),
        element_type=first_type(call.spec, call.call),
        attributes=call.call.attributes,
        inputs=call.call.inputs,
        output_names=call.outputs,
        demand="answer",
        expectations=kept,
    )


def _numbers(node: ModelNode, whole: ActualCall, part: ActualCall, judgement: Judgement) -> NodeNumbers:
    reason, worst, sampled = str(judgement.reason), judgement.worst, part is not whole
    if judgement.verdict not in ("pass", "inexact", "mismatch"):
        return NodeNumbers(node.place, node.operator, "passed_over", "failed", reason)
    count = sum(answer.array.size for answer in part.answers)
    found = NodeNumbers(node.place, node.operator, "right", elements=count, of_elements=whole.of_elements)
    if judgement.verdict == "inexact" and worst is not None:
        # Less exact than the table of functions is not wrong.
        return replace(found, ulps=worst.ulps, over_bound=worst.ratio)
    if judgement.verdict != "mismatch":
        return replace(found, ulps=judgement.ulps, over_bound=None if worst is None else worst.ratio)
    told = f"of {count:,} elements that were looked at, {reason}" if sampled else reason
    found = replace(found, verdict="wrong", reason=told)
    if worst is None:
        return found
    return replace(
        found,
        ulps=worst.ulps,
        over_bound=float("inf") if worst.ratio is None else worst.ratio,
        output=part.outputs[worst.output],
        index=None if sampled else worst.index,
        expected=str(worst.expected),
        got=str(worst.got),
    )

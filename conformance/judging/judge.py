"""The judge: a case and what a runtime did with it become a verdict with its reason. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.judging.expectation_trials import (
    DifferenceKind,
    ExpectationTrial,
    describe_inexact,
    describe_trial,
    match_bits,
    try_expectation,
)
from conformance.judging.output_comparison import Worst
from conformance.judging.refusals import shorten
from conformance.judging.responses import (
    Answered,
    Crashed,
    HarnessFailed,
    NotOffered,
    Refused,
    Response,
    ReturnedOther,
    TimedOut,
    WorkerFailed,
    changes_input,
)
from conformance.judging.verdicts import ACCEPTED_INVALID, DIFFERENT, HARNESS_ERROR, REJECTED_VALID, Verdict
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.properties import Masked, OfOutput, SameAgain, runs_twice
from conformance.suite.where_shown import has_ordinary_inputs, made_no_number
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.tensors import Tensor, tensor

Outputs = tuple[Tensor | ReturnedOther, ...]


def check_properties(case: Case, outputs: Outputs) -> tuple[Outputs, str | None]:
    """The outputs of the (first) run, and what the first property says that does not hold, or None."""
    if runs_twice(case.properties):
        half = len(outputs) // 2
        first, second = outputs[:half], outputs[half:]
        if len(first) != len(second):
            return first, f"two runs return {len(outputs)} outputs together"
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            if isinstance(one, ReturnedOther) or isinstance(other, ReturnedOther) or one != other:
                return first, f"a second run with the same seed returns another {_name(case, place)}"
        outputs = first
    if not case.output_types and len(outputs) != len(case.wanted):
        return outputs, f"{len(outputs)} outputs instead of {len(case.wanted)}"
    for each in case.properties:
        if not isinstance(each, SameAgain):
            told = _check(case, each, outputs)
            if told is not None:
                return outputs, told
    return outputs, None


def _check(case: Case, found: OfOutput | Masked, outputs: Outputs) -> str | None:
    got = _output(case, found.output, outputs)
    if isinstance(got, str):
        return got
    if not isinstance(found, Masked):
        return found.violation(got)
    mask = _output(case, found.mask, outputs)
    return mask if isinstance(mask, str) else found.violation(got, mask)


def _output(case: Case, name: str, outputs: Outputs) -> Tensor | str:
    """The output of that name, or why there is no such tensor."""
    names = case.wanted
    if case.output_types and case.expectations:
        names = tuple(output.name for output in case.expectations[0].outputs)
    place = names.index(name) if name in names else len(outputs)
    if place >= len(outputs):
        return f"output {name} is missing"
    got = outputs[place]
    if isinstance(got, ReturnedOther):
        return f"output {name} is no tensor but a {got.kind}: {got.text}"
    return got


def _name(case: Case, place: int) -> str:
    return f"output {case.wanted[place]}" if place < len(case.wanted) else f"output {place}"


@dataclass(frozen=True)
class Judgement:
    """A verdict and why.

    `readings` and `behaviours` hold, for each id, the options under which the answer is right. `expectation`
    is the number of the expectation that matched, or was the closest. `matched` holds, for each output, the
    number of the first expectation that it is bit for bit equal to, or None. `wrong` is the number of wrong
    elements in all outputs, of `elements`. `ulps` is how far a right answer is off at most, in steps of the
    type of each element. `no_number` counts the elements of a right answer that are NaN or infinite where the
    first expectation has a number, and all that was given is ordinary (`conformance.suite.where_shown`).
    """

    verdict: Verdict
    reason: str | None = None
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    behaviours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    worst: Worst | None = None
    difference: DifferenceKind | None = None
    pattern: str | None = None
    wrong: int | None = None
    elements: int | None = None
    ulps: int = 0
    expectation: int | None = None
    no_number: int = 0
    matched: tuple[int | None, ...] = ()

    @property
    def behaviour(self) -> str | None:
        """The implementation-defined behaviours shown, as one text: `flush: yes; ties: even or up`."""
        if not self.behaviours:
            return None
        return "; ".join(f"{name}: {' or '.join(each)}" for name, each in sorted(self.behaviours.items()))


def judge(case: Case, response: Response, *, valid_case_answered: bool = True) -> Judgement:
    """The verdict on a response.

    `valid_case_answered` says whether the runtime answered the valid case that a case that must be refused
    was made from: without that, a refusal shows nothing.
    """
    match response:
        case HarnessFailed() | WorkerFailed():
            return Judgement(HARNESS_ERROR, response.reason)
        case Crashed():
            return Judgement("limit" if response.by_limit else "crash", response.reason)
        case TimedOut():
            return Judgement("timeout", f"no answer to {response.stage} within {response.limit:g} s")
        case NotOffered():
            return Judgement("unsupported", response.reason)
        case Refused():
            return _judge_refusal(case, response, valid_case_answered)
        case Answered():
            if case.demand == "survive":
                return Judgement("observed", "answered")
            if case.demand == "refuse":
                return _judge_kept(response, Judgement(ACCEPTED_INVALID, _accepted(case)))
            judged = _judge_memory(response, _judge_answer(case, response))
            return _judge_kept(response, _say_which(response, judged))


def decisive(case: Case, response: Response) -> Response:
    """Of several answers to a case the first that is not right; of right ones the first, as of one alone."""
    if not isinstance(response, Answered) or not response.further:
        return response
    answers = [replace(response, further=()), *response.further]
    return next((answer for answer in answers if judge(case, answer).verdict in DIFFERENT), answers[0])


def _judge_memory(response: Answered, judged: Judgement) -> Judgement:
    """A right answer is wrong where the run changed an input; whose memory an output is no document says."""
    if not response.touched or judged.verdict != "pass":
        return judged
    told, changed = "; ".join(response.touched), [each for each in response.touched if changes_input(each)]
    if not changed:
        return replace(
            judged, verdict="document", reason=f"{told}; no document says whose memory an output is"
        )
    return replace(judged, verdict="mismatch", reason=told, difference="memory", readings={}, behaviours={})


def _judge_kept(response: Answered, judged: Judgement) -> Judgement:
    """What an optimiser kept is not its fault where it is wrong: it was so before."""
    if not response.kept or judged.verdict == "pass":
        return judged
    told = f"the model answers the same before it is optimised; {judged.reason}"
    return Judgement("unsupported", told, matched=judged.matched)


def _say_which(response: Answered, judged: Judgement) -> Judgement:
    """Of several answers, say which one it is that is wrong."""
    if response.told is None or judged.verdict != "mismatch":
        return judged
    return replace(judged, reason=f"{response.told}: {judged.reason}")


def _accepted(case: Case) -> str:
    rule = f" breaks {case.constraint}" if case.constraint else " is an error"
    return f"the call{rule} and must be refused, and was answered"


def _judge_refusal(case: Case, response: Refused, valid_case_answered: bool) -> Judgement:
    said = f"{response.kind}: {shorten(response.message)}"
    if case.demand == "survive":
        return Judgement("observed", f"refused with {said}")
    if case.demand == "refuse" and not response.elsewhere:
        if valid_case_answered:
            return Judgement("pass", f"refused with {said}")
        return Judgement(
            "unsupported", f"refused with {said}; so is the valid case that this one was made from"
        )
    if response.unsupported is not None:
        return Judgement("unsupported", said)
    if case.refusal_contradicted:
        return Judgement(
            "document", f"refused with {said}; by {case.may_refuse} the document contradicts itself"
        )
    if case.may_refuse is not None:
        return Judgement("observed", f"refused with {said}; {case.may_refuse} leaves that open")
    return Judgement(REJECTED_VALID, said)


def _judge_answer(case: Case, response: Answered) -> Judgement:
    if not case.expectations and not case.properties:
        return Judgement(HARNESS_ERROR, "the case demands an answer and states none")
    if case.properties:
        outputs, violation = check_properties(case, response.outputs)
        if violation is not None:
            return Judgement(
                "mismatch", violation, difference="property", matched=(None,) * len(response.outputs)
            )
        if not case.expectations:
            count = sum(output.array.size for output in outputs if isinstance(output, Tensor))
            return Judgement("pass", wrong=0, elements=count, matched=(None,) * len(response.outputs))
        again = len(response.outputs) - len(outputs)
        judgement = _judge_values(case, Answered(outputs, response.seconds))
        return replace(judgement, matched=judgement.matched * (2 if again else 1))
    return _judge_values(case, response)


def _judge_values(case: Case, response: Answered) -> Judgement:
    tried = [try_expectation(expectation, response) for expectation in case.expectations]
    matched = match_bits(tried, len(response.outputs))
    right = [number for number, trial in enumerate(tried) if trial.right]
    by_text = [number for number in right if not case.expectations[number].contradicted]
    if right:
        right = by_text or right
        chosen = tried[right[0]]
        against = case.expectations[right[0]].contradicted
        return Judgement(
            "document" if against else "pass",
            _contradiction(against) if against else None,
            readings=_collect(case.expectations[number].readings for number in right),
            behaviours=_collect(case.expectations[number].behaviours for number in right),
            worst=chosen.worst,
            wrong=0,
            elements=chosen.elements,
            ulps=chosen.ulps,
            expectation=right[0],
            no_number=_no_number(case, chosen) if any(each != 0 for each in matched) else 0,
            matched=matched,
        )
    closest = 0 if len(tried) == 1 else min(range(len(tried)), key=lambda each: tried[each].distance)
    found = describe_trial(case, case.expectations[closest], tried[closest], response)
    by_value = found.difference == "value"
    exactness = describe_inexact(case, case.expectations[closest], tried[closest]) if by_value else None
    return Judgement(
        "mismatch" if exactness is None else "inexact",
        found.reason if exactness is None else f"{exactness}; {found.reason}",
        worst=tried[closest].worst if by_value else None,
        difference=found.difference,
        pattern=found.pattern,
        wrong=tried[closest].wrong if by_value else None,
        elements=tried[closest].elements if by_value else None,
        expectation=closest,
        matched=matched,
    )


def _contradiction(readings: tuple[str, ...]) -> str:
    return f"right by a passage of the document that contradicts its text: {', '.join(readings)}"


def _no_number(case: Case, chosen: ExpectationTrial) -> int:
    """How many elements a reading lets be no number though nothing extraordinary was given."""
    first = case.expectations[0].outputs
    found = sum(
        made_no_number(wanted, got)
        for wanted, got in zip(first, chosen.outputs, strict=False)
        if isinstance(got, Tensor)
    )
    return found if found and has_ordinary_inputs(case) else 0


def _collect(options: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for option in options:
        for name, values in option.items():
            found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in sorted(found.items())}


def check_judge(case: Case, response: Answered) -> bool:
    """Hold an answer against itself, and against a perturbed copy; InternalError where that goes wrong.

    Whether the answer can say anything: it is tensors, and some have elements.
    """
    outputs = tuple(output for output in response.outputs if isinstance(output, Tensor))
    if len(outputs) != len(response.outputs) or not any(output.array.size for output in outputs):
        return False
    wrong = tuple(perturb(output) for output in outputs)
    alike = judge(expect(case, outputs), response).verdict
    different = judge(expect(case, wrong), replace(response, kept=False)).verdict
    if (alike, different) != ("pass", "mismatch"):
        raise InternalError(
            "the judge cannot tell right from wrong on this runtime's answers",
            got=f"{alike} for the answer itself, {different} for a perturbed copy",
        )
    return True


def expect(case: Case, outputs: Sequence[Tensor]) -> Case:
    """A copy of a case that demands exactly these outputs."""
    wanted = tuple(ExpectedOutput(f"output_{position}", output) for position, output in enumerate(outputs))
    return replace(case, demand="answer", expectations=(Expectation(wanted),), properties=())


def perturb(answer: Tensor) -> Tensor:
    """A copy with its first element changed; itself where it has none."""
    if answer.array.size == 0:
        return answer
    if answer.element_type.kind == "string":
        changed = answer.array.copy()
        changed.reshape(-1)[0] = changed.reshape(-1)[0] + b"x"
        return tensor(changed, answer.element_type)
    changed = answer.array.copy()
    flat = changed.reshape(-1)
    if answer.element_type.kind == "bool":
        flat[0] = not flat[0]
    else:
        flat[:1] = 1 if flat[0] != 1 else 2
    return Tensor(answer.element_type, changed)

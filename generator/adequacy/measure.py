"""Measuring a suite: every mutant of an operator's reference against its cases, through the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter
from typing import Protocol, TypeVar

from conformance.cases import Case
from conformance.judge import FAILING, judge
from conformance.responses import Response
from generator.adequacy.misreadings import make_misreadings
from generator.adequacy.mutants import make_mutants
from generator.adequacy.outcomes import RUN, Adequacy, Outcome
from generator.adequacy.random_calls import AIMED, Drawn, RandomCalls
from generator.adequacy.reach import Point
from generator.adequacy.subject import Subject, same_answers
from generator.adequacy.values_only import with_bounds
from generator.calls import Call
from generator.discovery import Levels
from generator.draws import Draw
from generator.expectations import describe, expect
from generator.workshop import element_type_of
from opcert.errors import InternalError
from opcert.names import CaseId
from reference.answers import UnstableLength

FIRST_CALLS = 200
"""Random calls that are drawn whatever comes: they tell what can be reached at all."""
USABLE = 0.5
"""The share of ONNX's tests, of a later version, that an operator version must pass to be asked at all."""

Item = TypeVar("Item")


class Faulty(Protocol):
    """What is common to mutants of the code and misreadings of the call."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def points(self) -> frozenset[Point]: ...
    @property
    def diff(self) -> tuple[str, ...]: ...
    def running(self) -> AbstractContextManager[None]: ...
    def respond(self, subject: Subject, call: Call) -> Response: ...


@dataclass(frozen=True, eq=False)
class Held:
    """A case, its call, the points that it comes by, readings that the right answer allows, and seconds."""

    name: str
    case: Case
    call: Call
    reached: frozenset[Point]
    readings: Mapping[str, tuple[str, ...]]
    seconds: float


@dataclass(eq=False)
class Bench:
    """The cases on which mutants are tried; everything within `Subject.quick`."""

    subject: Subject
    held: Sequence[Held]
    kills: Counter[str] = field(default_factory=Counter)

    def killer(self, mutant: Faulty) -> str | None:
        """The first case on which a mutant fails, those first that kill most for their time; RUN for all.

        The whole run fails where no option of a reading fits every case.
        """
        able = [each for each in self.held if mutant.points <= each.reached]
        able.sort(key=lambda each: -(self.kills[each.name] + 1) / each.seconds)
        readings = {each.name: each.readings for each in self.held}
        self.subject.forget()
        with mutant.running():
            for each in able:
                found = judge(each.case, mutant.respond(self.subject, each.call))
                if found.verdict in FAILING:
                    self.kills[each.name] += 1
                    return each.name
                readings[each.name] = found.readings
        return RUN if _contradict(readings.values()) else None

    def kills_one_of(self, mutant: Faulty, names: Sequence[str]) -> str | None:
        """The first of some cases on which a mutant fails."""
        by_name = {each.name: each for each in self.held}
        able = [by_name[name] for name in names if mutant.points <= by_name[name].reached]
        self.subject.forget()
        with mutant.running():
            for each in able:
                if judge(each.case, mutant.respond(self.subject, each.call)).verdict in FAILING:
                    return each.name
        return None


def hold(subject: Subject, cases: Mapping[str, Case], *, strict: bool) -> list[Held]:
    """Cases as a bench wants them; those on which the reference itself fails are left out.

    With `strict` they are an InternalError.
    """
    found = []
    for name, case in cases.items():
        call = Call(case.attributes, case.inputs)
        started = perf_counter()
        response, reached = subject.watch(call)
        seconds = perf_counter() - started
        judged = judge(case, response)
        if judged.verdict not in FAILING:
            found.append(Held(name, case, call, reached, judged.readings, seconds))
        elif strict:
            raise InternalError("the reference fails on a case", got=f"{case.id}: {judged.reason}")
    return found


def _contradict(readings: Iterable[Mapping[str, tuple[str, ...]]]) -> bool:
    common: dict[str, set[str]] = {}
    for each in readings:
        for name, options in each.items():
            common[name] = common.get(name, set(options)) & set(options)
    return not all(common.values())


def measure(
    subject: Subject,
    levels: Levels,
    cases: Mapping[str, Case],
    node_tests: Sequence[Case] = (),
    tell: Callable[[str], object] = lambda _: None,
) -> Adequacy:
    """Every mutant's outcome over an operator's cases (by the part of their id behind the operator).

    Raises InternalError where the reference itself fails on a case.
    """
    with subject.quick():
        demanding = {name: case for name, case in cases.items() if case.demand != "survive"}
        bench = Bench(subject, hold(subject, demanding, strict=True))
        usable = hold(subject, {str(each.id): each for each in node_tests}, strict=False)
        nodes = Bench(subject, usable if len(usable) >= USABLE * len(node_tests) else [])
        random = RandomCalls(subject, levels, Draw(f"{subject.spec.operator}/adequacy"))
        random.more(FIRST_CALLS)
        made, unreached = _worth_making(bench, random)
        outcomes = []
        for number, mutant in enumerate(made, start=1):
            outcomes.append(_outcome(mutant, bench, nodes, random))
            if number % 50 == 0 or number == len(made):
                tell(f"{subject.spec.operator}: {number} of {len(made)} mutants")
        killed: dict[str, list[Faulty]] = {}
        for mutant, outcome in zip(made, outcomes, strict=True):
            if outcome.killer not in (None, RUN):
                killed.setdefault(str(outcome.killer), []).append(mutant)
        selection = select(killed, bench.kills_one_of)
    return Adequacy(str(subject.spec.operator), tuple(outcomes), unreached, selection, len(nodes.held), AIMED)


def _worth_making(bench: Bench, random: RandomCalls) -> tuple[list[Faulty], tuple[str, ...]]:
    """The mutants that some call can tell from the right code, and the lines of those that none comes by.

    Of the checks that refuse calls those count that a document demands.
    """
    subject = bench.subject
    refused = [each for each in bench.held if each.case.demand == "refuse"]
    guards = {point for each in refused for point in subject.guards_of(each.case)}
    known: list[Held | Drawn] = [*bench.held, *random.drawn]
    reached = {each.reached for each in known}
    made: list[Faulty] = []
    unreached: dict[str, None] = {}
    for mutant in make_mutants(subject):
        if mutant.guard:
            if mutant.points <= guards:
                made.append(mutant)
        elif any(mutant.points <= each for each in reached):
            made.append(mutant)
        else:
            unreached[f"{mutant.file}:{mutant.line}"] = None
    calls = [each.call for each in known]
    made += [each for each in make_misreadings(subject) if any(each.applies(subject, call) for call in calls)]
    return made, tuple(unreached)


def _outcome(mutant: Faulty, bench: Bench, nodes: Bench, random: RandomCalls) -> Outcome:
    said = Outcome(mutant.id, mutant.kind, mutant.file, mutant.line, mutant.diff, "killed")
    if nodes.held:
        said = replace(said, by_node_tests=nodes.killer(mutant) is not None)
    killer = bench.killer(mutant)
    if killer is not None:
        return replace(said, killer=killer)
    agreeing, other = disagreeing(mutant, random)
    if other is not None:
        return replace(said, status="survived", calls=agreeing, call=describe(other))
    equivalent = agreeing >= AIMED and not said.by_node_tests
    return replace(said, status="equivalent" if equivalent else "survived", calls=agreeing)


def disagreeing(mutant: Faulty, random: RandomCalls) -> tuple[int, Call | None]:
    """How many random calls agree, and the first of which the judge would not accept the mutant's answer."""
    subject, agreeing = random.subject, 0
    for chunk in batched(random.aimed(mutant.points)):
        subject.forget()
        with mutant.running():
            responses = [mutant.respond(subject, each.call) for each in chunk]
        subject.forget()
        for each, response in zip(chunk, responses, strict=True):
            if not same_answers(response, each.answer) and not _accepted(subject, each.call, response):
                return agreeing, each.call
            agreeing += 1
    return agreeing, None


def batched(drawn: Iterable[Drawn]) -> Iterator[list[Drawn]]:
    """The calls in lists, the first short, for most that disagree do so soon."""
    source = iter(drawn)
    size = 10
    while chunk := list(islice(source, size)):
        yield chunk
        size = 200


def _accepted(subject: Subject, call: Call, response: Response) -> bool:
    """Whether a case of this call would accept a response."""
    operator = subject.spec.operator
    try:
        with with_bounds():
            expectations = expect(subject.spec, subject.reference, call)
    except (UnstableLength, InternalError):
        return True  # of such a call no case is made
    finally:
        subject.forget()
    case = Case(
        id=CaseId(operator, "cover", None, call.digest(operator)),
        element_type=element_type_of(call, subject.spec),
        attributes=call.attributes,
        inputs=call.inputs,
        output_names=(),
        demand="answer",
        expectations=expectations,
    )
    return judge(case, response).verdict not in FAILING


def select(
    killed: Mapping[str, Sequence[Item]], killer: Callable[[Item, Sequence[str]], str | None]
) -> dict[str, int]:
    """Few cases that together kill every mutant, given which mutants each killed first.

    Cases that killed few are left out where `killer` finds others that kill theirs. The case that kills most
    comes first; the numbers say how many mutants each kills.
    """
    left = {name: list(mutants) for name, mutants in killed.items()}
    for name in sorted(left, key=lambda each: (len(killed[each]), each)):
        others = sorted((each for each in left if each != name), key=lambda each: (-len(left[each]), each))
        found: list[tuple[str, Item]] = []
        for mutant in left[name]:
            other = killer(mutant, others)
            if other is None:
                break
            found.append((other, mutant))
        else:
            del left[name]
            for other, mutant in found:
                left[other].append(mutant)
    return {name: len(left[name]) for name in sorted(left, key=lambda each: (-len(left[each]), each))}

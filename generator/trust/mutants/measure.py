"""Measuring a suite: every mutant of an operator's reference against its cases, through the judge.

Kinds bring those of a declared operator's values and formula (`Kind.changes`, `generator/calls/edits`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

from conformance.adopting.node_tests import node_suite
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from generator.asking.answered_outputs import asked_outputs
from generator.asking.calls import Call
from generator.asking.questions import describe
from generator.asking.tensor_edits import is_main
from generator.calls.data.draws import Draw
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.edits.change import Change, Changed
from generator.calls.edits.finding import find_changes
from generator.trust.mutants.bench import RUN, Adequacy, Faulty, MutantOutcome, MutantTrials, TrialCase, hold
from generator.trust.mutants.mistake import Mistake, Mistaken
from generator.trust.mutants.mistakes_of_calls import make_mistakes
from generator.trust.mutants.mutants import make_mutants
from generator.trust.mutants.random_calls import AIMED, RandomCall, RandomCalls
from generator.trust.mutants.subject import MutatedOperator, same_answers, tells_nothing
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import OperatorName
from specs.model.spec import Spec

DOMAIN = "ai.onnx"


def tested_by_nodes(operators: Sequence[OperatorName], tell: Callable[[str], None]) -> set[OperatorName]:
    """The operators of which ONNX may have node tests: of their names, whatever the version."""
    ours = [operator for operator in operators if operator.domain == DOMAIN]
    if not ours:
        return set()
    with open_suite(node_suite(tell, "")) as suite:
        names = {
            case_id.split("/")[1].rpartition("-")[0]
            for case_id in suite.case_ids
            if case_id.startswith(DOMAIN)
        }
    return {own for own in ours if own.name in names}


def node_tests(operator: OperatorName, tell: Callable[[str], None]) -> list[Case]:
    """The tests of one node that demand an answer, for this version of the operator or a later one.

    ONNX ships the tests of the newest version alone; who asks an older version takes those that it passes.
    """
    if operator.domain != DOMAIN:
        return []
    with open_suite(node_suite(tell, "")) as suite:
        chosen = [case_id for case_id in suite.case_ids if case_id.startswith(f"{DOMAIN}/{operator.name}-")]
        cases = [suite.case(each) for each in chosen]
    return [
        case
        for case in cases
        if case.model is None
        and case.demand == "answer"
        and case.operator.since_version >= operator.since_version
    ]


def asking_for_its_outputs(case: Case, spec: Spec) -> Case:
    """A node test whose call asks for the outputs that its node names, by the operator's own names."""
    asked = asked_outputs(spec, case.output_names)
    return case if asked is None else replace(case, output_names=asked, outputs_asked=True)


def make_misreadings(subject: MutatedOperator) -> Iterator[Mistaken]:
    """Every change that makes sense for the operator, but for those that its spec leaves open.

    Nor for data that is turned round: the change is one of lists that ask for something.
    """
    is_data = is_main(subject.spec)
    turned = {f"input {parameter.name} reversed" for parameter in subject.spec.inputs if is_data(parameter)}
    for change in find_changes(subject.spec):
        if not change.is_accepted(subject.spec) and change.key not in turned:
            text = f"{change.subject} = {change.text}" if change.subject else change.text
            taken = partial(_misread, subject.reference.readings, change)
            yield Mistaken(Mistake(change.key, text, taken), "generator/calls/edits", "misreading")


def _misread(readings: Mapping[str, Sequence[str]], change: Change, spec: Spec, call: Call) -> Changed | None:
    """A call after a change; None where it is not valid for that, or the reference does not know it so."""
    try:
        changed = change.apply(spec, call)
    except InternalError:
        return None
    if changed is None or changed.narrow is not None:
        return None
    known = all(option in readings.get(name, ()) for name, option in changed.settled.items())
    return changed if known else None


FIRST_CALLS = 200
"""Random calls that are drawn whatever comes: they tell what can be reached at all."""
SET = 400
"""After so many mutants all begins anew: the order of the cases, and the random calls that were added."""
USABLE = 0.5
"""The share of ONNX's tests, of a later version, that an operator version must pass to be asked at all."""

Item = TypeVar("Item")


def measure(
    subject: MutatedOperator, levels: DeclaredLevels, cases: Mapping[str, Case], tests: Sequence[Case]
) -> Adequacy:
    """What an operator's cases notice, and ONNX's node tests beside them; within `MutatedOperator.quick`.

    `cases` are an operator's, by the part of their id behind it. Raises InternalError where the reference
    itself fails on one.
    """
    demanding = {name: case for name, case in cases.items() if case.demand != "survive"}
    held = hold(subject, demanding, strict=True)
    asked = {str(test.id): asking_for_its_outputs(test, subject.spec) for test in tests}
    usable = hold(subject, asked, strict=False)
    nodes = usable if len(usable) >= USABLE * len(tests) else []
    random = RandomCalls(subject, levels, Draw(f"{subject.spec.operator}/adequacy"))
    random.more(FIRST_CALLS)
    random.begin_with(held)
    made, unreached = _worth_making(held, random)
    outcomes = [
        outcome
        for first in range(0, len(made), SET)
        for outcome in _outcomes_of_set(made[first : first + SET], held, nodes, random.copied())
    ]
    told = [
        (mutant, outcome)
        for mutant, outcome in zip(made, outcomes, strict=True)
        # A mistake that matters to no valid call is about calls of which nothing is demanded.
        if mutant.points or outcome.status != "survived" or outcome.calls or outcome.call
    ]
    killed: dict[str, list[Faulty]] = {}
    for mutant, outcome in told:
        if outcome.killer not in (None, RUN):
            killed.setdefault(str(outcome.killer), []).append(mutant)
    selection = select(killed, MutantTrials(subject, held).kills_one_of)
    found = tuple(outcome for _, outcome in told)
    return Adequacy(str(subject.spec.operator), found, unreached, selection, len(nodes), AIMED)


def _outcomes_of_set(
    mutants: Sequence[Faulty], held: Sequence[TrialCase], nodes: Sequence[TrialCase], random: RandomCalls
) -> list[MutantOutcome]:
    """What becomes of the mutants of a set; whatever was done with the others has no part in it."""
    bench, tests = MutantTrials(random.subject, held), MutantTrials(random.subject, nodes)
    noticed = [_noticed(mutant, bench, tests) for mutant in mutants]
    return [
        said if said.killer is not None else _outcome(mutant, said, random)
        for mutant, said in zip(mutants, noticed, strict=True)
    ]


def _worth_making(held: Sequence[TrialCase], random: RandomCalls) -> tuple[list[Faulty], tuple[str, ...]]:
    """The mutants that some call can tell from the right code, and the lines of those that none comes by.

    None is of a check that refuses calls: which are valid the declaration says.
    """
    subject = random.subject
    known: list[TrialCase | RandomCall] = [*held, *random.drawn]
    reached = {each.reached for each in known}
    made: list[Faulty] = []
    unreached: dict[str, None] = {}
    for mutant in make_mutants(subject):
        if any(mutant.points <= each for each in reached):
            made.append(mutant)
        else:
            unreached[f"{mutant.file}:{mutant.line}"] = None
    planted: list[Faulty] = [*make_misreadings(subject), *make_mistakes(subject.spec)]
    made += [
        mistake
        for mistake in planted
        if any(mistake.applies(subject, each.call, each.answer) for each in known)
    ]
    return made, tuple(unreached)


def _noticed(mutant: Faulty, bench: MutantTrials, nodes: MutantTrials) -> MutantOutcome:
    """Which case notices a mutant, and whether ONNX's tests do."""
    said = MutantOutcome(mutant.id, mutant.kind, mutant.file, mutant.line, mutant.diff, "killed")
    if nodes.held:
        said = replace(said, by_node_tests=nodes.killer(mutant) is not None)
    return replace(said, killer=bench.killer(mutant))


def _outcome(mutant: Faulty, said: MutantOutcome, random: RandomCalls) -> MutantOutcome:
    """What becomes of a mutant that no case notices."""
    agreeing, other = disagreeing(mutant, random)
    if other is not None:
        return replace(said, status="survived", calls=agreeing, call=describe(other))
    equivalent = agreeing >= AIMED and not said.by_node_tests
    return replace(said, status="equivalent" if equivalent else "survived", calls=agreeing)


def disagreeing(mutant: Faulty, random: RandomCalls) -> tuple[int, Call | None]:
    """How many random calls agree, and the first of which the judge would not accept the mutant's answer."""
    agreeing = 0
    for calls in batched(random.aimed(mutant.points, mutant)):
        agreed, other = _agreeing(mutant, random.subject, calls)
        agreeing += agreed
        if other is not None:
            return agreeing, other
    return agreeing, None


def _agreeing(
    mutant: Faulty, subject: MutatedOperator, calls: Sequence[RandomCall]
) -> tuple[int, Call | None]:
    """How many calls agree with a mutant until one does not, and that one."""
    with subject.exchanged(mutant.running(), mutant.file):
        responses = [mutant.respond(subject, drawn.call, drawn.answer) for drawn in calls]
    agreeing = 0
    for drawn, response in zip(calls, responses, strict=True):
        if tells_nothing(response, drawn.seconds):
            continue
        if not same_answers(response, drawn.answer) and not drawn.acceptance.accepts(response):
            return agreeing, drawn.call
        agreeing += 1
    return agreeing, None


def batched(drawn: Iterable[RandomCall]) -> Iterator[list[RandomCall]]:
    """The calls in lists, the first short, for most that disagree do so soon."""
    source = iter(drawn)
    size = 10
    while chunk := list(islice(source, size)):
        yield chunk
        size = 90 if size == 10 else 100


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

"""Experiments on a runtime after a run: what wrong answers need to be wrong, and what each cause costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from conformance.judging.judge import judge
from conformance.judging.kept_diagnosis import Diagnosis
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.expectations import expect
from generator.exploring.diagnosis.causes_shown import Shown, put_together_by_type
from generator.exploring.diagnosis.change_trials import is_known, size_of
from generator.exploring.diagnosis.laboratory import MOST_HANGS, Laboratory
from generator.exploring.diagnosis.taking_apart import single_cures, take_apart
from generator.exploring.shrinking.judged_calls import Ask, Budget, Exhausted, case_of
from generator.exploring.shrinking.known_space import Attempt, CallValidity, open_space
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName

INTERRUPTED = "interrupted"
"""What `stopped` says of experiments that something else ended than their own bounds."""
KEPT_EVERY = 3.0
"""Seconds after which what is known is kept, so that little is lost whatever ends the process."""
MOST_OF_TOLD = 400
"""So many cases of a cause that was told are asked what becomes of them without it."""
MOST_SEEDS = 12
"""So many cases of a cause that was told are taken apart, until one says what it needs."""
COSTS_AT_ONCE = 20
"""So many cases of a cause that was told are asked for their cost before those of the next one are."""


class Spaces:
    """The input spaces of operators, opened once; None of those without a reference."""

    def __init__(self, folders: tuple[Path, ...] = ()) -> None:
        self._folders = folders
        self._found: dict[OperatorName, CallValidity | None] = {}

    def of(self, case: Case) -> CallValidity | None:
        """The space that a case is a call of."""
        space = self.opened(case)
        try:
            return space if is_known(case, self._folders) else None
        except (UserError, IndexError):
            return None

    def opened(self, case: Case) -> CallValidity | None:
        """The space of a case's operator, whatever the call is."""
        if case.operator not in self._found:
            try:
                self._found[case.operator] = open_space(case.operator, self._folders)
            except UserError:
                self._found[case.operator] = None
        return self._found[case.operator]


def diagnose(
    wrong: Sequence[Case],
    told: Sequence[Sequence[Case]],
    ask: Ask,
    *,
    seconds: float,
    most_calls: int = 100_000,
    folders: tuple[Path, ...] = (),
    earlier: Diagnosis | None = None,
    keep: Callable[[Diagnosis], None] = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
) -> Diagnosis:
    """Experiment on a runtime for so many seconds and calls.

    `wrong` are failing cases whose cause nobody told; `told` those of each cause that was told, of which only
    factors and costs are asked for. What experiments did not come to is in `unexplained`. Calls of an
    `earlier` diagnosis of the same run are not made again. `keep` is handed what is known every few seconds,
    and where something else ends the experiments, which is raised on.
    """
    begun = clock()
    before = earlier.seconds if earlier is not None else 0.0
    known = list(earlier.calls if earlier is not None else ())
    # To come to where experiments ended takes none of their time.
    budget = Budget(most_calls, seconds, MOST_HANGS, begun=None if known else begun)
    work = _Work(Laboratory(ask, budget, known), Spaces(folders))

    def told_so_far(stopped: str | None) -> Diagnosis:
        return work.diagnosis(wrong, round(before + clock() - begun, 3), stopped)

    stopped, kept_at = None, begun
    try:
        for task in work.tasks(wrong, told):
            task()
            if clock() - kept_at >= KEPT_EVERY:
                keep(told_so_far(INTERRUPTED))
                kept_at = clock()
    except Exhausted as error:
        stopped = str(error)
    except BaseException:
        keep(told_so_far(INTERRUPTED))
        raise
    return told_so_far(stopped)


class _Work:
    def __init__(self, laboratory: Laboratory, spaces: Spaces) -> None:
        self.laboratory = laboratory
        self.spaces = spaces
        self.shown: list[Shown] = []
        self.unsteady: list[str] = []
        self.allowed: list[str] = []

    def explain(self, case: Case) -> None:
        """Put a case to the cause that it has, or find a new one."""
        space, call, name = self.spaces.of(case), _call_of(case), str(case.id)
        if space is None:
            return
        outcome = self.laboratory.outcome(space, name, 0, call)
        failure = outcome.failure
        if failure is None:
            # Of what breaks a rule, or has no result that is defined, nothing more can be said.
            if outcome.word == "pass":
                self.ask_again(space, call, case)
            return
        known = [shown for shown in self.shown if not shown.told and _same_operator(shown, space)]
        cures = [cure.factor for cure in single_cures(self.laboratory, space, name, 0, call)]
        for shown in known:
            if shown.is_in(self.laboratory, space, call, failure, cures):
                shown.add(name, failure, "pass", confirmed=True)
                shown.ask_what_is_lost(self.laboratory, space, name, call, failure)
                return
        core = take_apart(self.laboratory, space, name, call, failure)
        if not core.needed:
            return
        found = next((shown for shown in known if shown.takes(self.laboratory, core)), None)
        if found is None:
            found = Shown(core, name)
            self.shown.append(found)
        found.add(name, failure, found.outcome_without(self.laboratory, space, name, call))
        found.losing |= set() if core.loses is None else {core.loses}

    def ask_again(self, space: CallValidity, call: Call, case: Case) -> None:
        """Ask a failing case once more as it stands, model and all, whose call passes by itself.

        It may have been chance, or fail by what the case expects alone: cases that somebody else wrote may
        have one result of several, or a tolerance of their own.
        """
        response = self.laboratory.ask(case, None)
        if judge(case, response).verdict not in FAILING:
            self.unsteady.append(str(case.id))
            return
        documents = expect(space.spec, space.reference, call)
        own = replace(case_of(space, Attempt(call)), expectations=documents)
        if judge(own, response).verdict == "pass":
            self.allowed.append(str(case.id))

    def tasks(self, wrong: Sequence[Case], told: Sequence[Sequence[Case]]) -> Iterator[Callable[[], None]]:
        """What is to be done, in its order: small wrong answers first, what was told of many cases, costs."""
        for case in sorted(wrong, key=size_of):
            yield partial(self.explain, case)
        groups = [sorted(cases, key=size_of) for cases in sorted(told, key=len, reverse=True)]
        # One case of each at a time: a cause that says nothing must not use up the time of others.
        for seed in range(MOST_SEEDS):
            for cases in groups:
                if seed < len(cases) and not self.is_shown(cases):
                    yield partial(self.find_told, cases, seed)
        # What each cause needs is worth more than what one of them costs in its last case.
        case_of = {str(each.id): each for cases in groups for each in cases}
        for start in range(0, MOST_OF_TOLD, COSTS_AT_ONCE):
            for found in [shown for shown in self.shown if shown.told]:
                cases = [case_of[name] for name in found.cases[start : start + COSTS_AT_ONCE]]
                if cases:
                    yield partial(self.cost, found, cases)

    def diagnosis(self, wrong: Sequence[Case], seconds: float, stopped: str | None) -> Diagnosis:
        """What is known by now, with causes put together; the work may go on after that."""
        shown = self.put_together()
        known = {case for each in shown for case in each.cases}.union(self.unsteady, self.allowed)
        return Diagnosis(
            tuple(each.kept() for each in shown),
            tuple(name for name in (str(each.id) for each in wrong) if name not in known),
            tuple(self.unsteady),
            seconds,
            stopped,
            tuple(self.laboratory.calls),
            tuple(self.allowed),
        )

    def put_together(self) -> list[Shown]:
        """The causes, those put to others that are part of them, those with the fewest factors first."""
        ordered = sorted(
            (shown.copy() for shown in self.shown if not shown.told), key=lambda shown: len(shown.core.crisp)
        )
        kept: list[Shown] = []
        for shown in ordered:
            space = shown.core.space
            alike = (
                one
                for one in kept
                if _same_operator(one, space) and (shown.is_part_of(one) or shown.is_like(one))
            )
            whole = next(alike, None)
            if whole is None:
                kept.append(shown)
            else:
                whole.include(shown)
        return [*put_together_by_type(kept), *(shown for shown in self.shown if shown.told)]

    def is_shown(self, cases: Sequence[Case]) -> bool:
        """Whether it was found what the cases of a cause that was told need."""
        names = [str(each.id) for each in cases]
        return any(shown.told and shown.cases == names for shown in self.shown)

    def find_told(self, cases: Sequence[Case], seed: int) -> None:
        """Find in one case of a cause that was told what it needs."""
        space, call, name = self.spaces.of(cases[seed]), _call_of(cases[seed]), str(cases[seed].id)
        if space is None:
            return
        failure = self.laboratory.outcome(space, name, 0, call).failure
        if failure is None:
            return
        core = take_apart(self.laboratory, space, name, call, failure)
        if not core.needed:
            return
        self.shown.append(Shown(core, name, told=True, cases=[str(each.id) for each in cases]))

    def cost(self, found: Shown, cases: Sequence[Case]) -> None:
        """Find what cases of a cause that was told would come to without it."""
        for case in cases:
            space, name = self.spaces.of(case), str(case.id)
            if space is not None:
                found.without[name] = found.outcome_without(self.laboratory, space, name, _call_of(case))


def _call_of(case: Case) -> Call:
    return Call(dict(case.attributes), case.inputs, case.slots, None)


def _same_operator(shown: Shown, space: CallValidity) -> bool:
    own, other = shown.core.space.spec.operator, space.spec.operator
    return (own.domain, own.name) == (other.domain, other.name)

"""The search: calls at random, those that fail made small, one find for each class of failures."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from generator.asking.calls import Call
from generator.calls.data.draws import Draw
from generator.calls.rows.feasibility import FREE
from generator.exploring.fuzzing.steps import take_step
from generator.exploring.shrinking.judged_calls import (
    NOTHING_SAID,
    Ask,
    Budget,
    CallFailure,
    CallTrials,
    Exhausted,
)
from generator.exploring.shrinking.known_space import Attempt, CallValidity, growth, without_huge_numbers
from generator.exploring.shrinking.relevant_factors import RelevantFactor, find_relevant_factors
from generator.exploring.shrinking.shrinking import Small, shrink

MOST_STEPS = 5
MOST_GROWTH = 8.0
"""How much more than the call that the steps began with may come out, at most."""


@dataclass(frozen=True, eq=False)
class CallSource:
    """Where the calls of one operator are drawn from. `most_steps` are taken from a call of the levels."""

    space: CallValidity
    most_steps: int = MOST_STEPS

    @cached_property
    def _edges(self) -> Sequence[Call]:
        levels, draw = self.space.levels, Draw("fuzzing")
        edges = [call for _, _, call in levels.boundary_calls(self.space.spec, draw)]
        edges += [valid for _, valid, _ in levels.invalid_calls(self.space.spec, draw)]
        distinct = {edge.digest(self.space.spec.operator): edge for edge in edges}
        return list(distinct.values())

    @cached_property
    def _broken(self) -> Sequence[tuple[Call, Call]]:
        found = self.space.levels.invalid_calls(self.space.spec, Draw("fuzzing"))
        return [(valid, broken) for _, valid, broken in found]

    def walk(self, draw: Draw) -> list[Attempt]:
        """Calls to try, each a step from the one before: none where what was drawn makes no call."""
        begun = self._begin(draw)
        if begun is None or begun.breaks is not None:
            return [] if begun is None else [begun]
        limit = MOST_GROWTH * growth(begun.call)
        walk, last = [begun], begun.call
        for number in range(draw.integer(0, self.most_steps)):
            changed = take_step(draw.child(f"step {number}"), self.space, last)
            attempt = None if changed is None else self.space.attempt(changed, last)
            if attempt is None:
                continue
            if attempt.breaks is not None:
                if not self._asks_too_much(attempt):
                    walk.append(attempt)
            elif growth(attempt.call) <= limit:
                walk.append(attempt)
                last = attempt.call
        return walk

    def _asks_too_much(self, attempt: Attempt) -> bool:
        """Whether a call breaks its rule without its huge numbers, too.

        Then a runtime that works its way through them, or runs out of memory, does nothing wrong.
        """
        modest = without_huge_numbers(attempt.call)
        if modest is None:
            return False
        again = self.space.attempt(modest, attempt.made_from)
        return again is not None and again.breaks is attempt.breaks

    def _begin(self, draw: Draw) -> Attempt | None:
        how = draw.integer(0, 9)
        if how < 7:
            call = self._of_levels(draw)
            return None if call is None else self.space.attempt(call)
        if how < 9 and self._edges:
            return self.space.attempt(draw.choice(self._edges))
        if self._broken:
            valid, broken = draw.choice(self._broken)
            return self.space.attempt(broken, valid)
        return None

    def _of_levels(self, draw: Draw) -> Call | None:
        model = self.space.solver.model
        partial = [FREE] * len(model.sizes)
        for name, level in self.space.levels.focus.items():
            # Where a runtime has few of these levels, most calls of others are not offered.
            if name in model.names and draw.integer(0, 1):
                partial[model.names.index(name)] = list(model.levels[name]).index(level)
        wanted = [_beginning_with(draw.integer(0, size - 1), size) for size in model.sizes]
        row = self.space.solver.complete(partial, wanted)
        if row is None:
            return None
        levels = {name: str(level) for name, level in model.row_levels(row).items()}
        return self.space.levels.build_call(self.space.spec, levels, draw.child("call"))


def _beginning_with(first: int, size: int) -> list[int]:
    return [(first + place) % size for place in range(size)]


Tell = Callable[["Find", Sequence["Find"]], object]


@dataclass(eq=False)
class Find:
    """A class of failing calls: its smallest call, what matters, and how many calls were taken for it."""

    small: Small
    matters: tuple[RelevantFactor, ...]
    calls: int = 1

    @property
    def failure(self) -> CallFailure:
        return self.small.failure

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from other classes: how it fails, and the values that matter in its smallest call."""
        decisive = [
            matter.name if matter.is_list else f"{matter.name}={matter.value}"
            for matter in self.matters
            if matter.decides
        ]
        return (self.failure.verdict, self.failure.how, self.breaks, *sorted(decisive))

    @property
    def breaks(self) -> str:
        """The rule that its call breaks, or nothing."""
        broken = self.small.attempt.breaks
        return "" if broken is None else broken.id

    def explains(self, space: CallValidity, attempt: Attempt, failure: CallFailure) -> bool:
        """Whether a failing call is of this class, as far as can be told without making it small.

        What a valid call shows, one that breaks a rule may show as well; not the other way round.
        """
        rule = "" if attempt.breaks is None else attempt.breaks.id
        if not failure.like(self.failure) or self.breaks not in ("", rule):
            return False
        return all(matter.covers(space, attempt.call) for matter in self.matters if matter.decides)


@dataclass(eq=False)
class FuzzResult:
    """What a search found. `tried` counts the calls by what became of them, those of shrinking included.

    `mistakes` are failures on our side, `failed` those that the worker told of as its own.
    """

    finds: list[Find] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    mistakes: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    drawn: int = 0
    seconds: float = 0.0

    @property
    def answered(self) -> int:
        """How many calls the runtime did not just call unsupported."""
        return sum(count for word, count in self.tried.items() if word not in NOTHING_SAID)


def fuzz(
    space: CallValidity,
    ask: Ask,
    chosen_seed: int,
    seconds: float,
    tell: Tell = lambda _find, _replaced: None,
    most_calls: int | None = None,
) -> FuzzResult:
    """Search for `seconds`, or for so many calls; `tell` is told of each find, and of those that it replaces.

    A seed fixes the calls and their order; the time only says how far the search gets.
    """
    found = FuzzResult()
    bench = CallTrials(space, ask, found.tried, found.mistakes, found.failed)
    source, draws, seen, number = CallSource(space), Budget(most_calls, seconds), set[str](), 0
    begin = time.monotonic()
    try:
        while True:
            draws.check()
            for attempt in source.walk(Draw(f"fuzzing/{chosen_seed}/{number}")):
                digest = attempt.call.digest(space.spec.operator)
                if digest not in seen:
                    draws.spend()
                    seen.add(digest)
                    found.drawn += 1
                    failure = bench.fails(attempt)
                    if failure is not None:
                        _take(bench, found, attempt, failure, tell)
            number += 1
    except Exhausted:
        found.seconds = time.monotonic() - begin
    return found


def _take(bench: CallTrials, found: FuzzResult, attempt: Attempt, failure: CallFailure, tell: Tell) -> None:
    """Count a failing call to the class that explains it, or make it small and begin a class.

    What is explained may hide something else: the second, fourth, eighth ... call of a class is made small
    all the same, but where that means to wait for no answer many times.
    """
    operator = bench.space.spec.operator
    for find in found.finds:
        if find.explains(bench.space, attempt, failure):
            find.calls += 1
            if find.calls & (find.calls - 1) or failure.verdict == "timeout":
                return
            break
    small = shrink(bench, attempt, failure)
    if any(
        small.attempt.call.digest(operator) == find.small.attempt.call.digest(operator)
        for find in found.finds
    ):
        return
    made = Find(small, find_relevant_factors(bench, small.attempt, small.failure))
    if _known(bench.space, found, made) is None:
        _begin_class(bench.space, found, made, tell)


def add_search(space: CallValidity, found: FuzzResult, other: FuzzResult, tell: Tell) -> None:
    """Take what another search has found into `found`: a class that both know is told once.

    What comes of several searches hangs on their order alone.
    """
    found.tried += other.tried
    found.mistakes += other.mistakes
    found.failed += other.failed
    found.drawn += other.drawn
    for made in other.finds:
        known = _known(space, found, made)
        if known is None:
            _begin_class(space, found, made, tell)
        else:
            known.calls += made.calls


def _known(space: CallValidity, found: FuzzResult, made: Find) -> Find | None:
    """The class that a new one is, too: of the same key, or of valid calls that fail so."""
    operator = space.spec.operator
    digest, call = made.small.attempt.call.digest(operator), made.small.attempt
    for find in found.finds:
        if made.key == find.key or digest == find.small.attempt.call.digest(operator):
            return find
        if made.breaks and not find.breaks and find.explains(space, call, made.failure):
            return find
    return None


def _begin_class(space: CallValidity, found: FuzzResult, made: Find, tell: Tell) -> None:
    # A valid call says more than one that breaks a rule and fails in the same way.
    replaced = [
        find for find in found.finds if find.breaks and made.explains(space, find.small.attempt, find.failure)
    ]
    made.calls += sum(find.calls for find in replaced)
    found.finds = [find for find in found.finds if find not in replaced] + [made]
    tell(made, replaced)

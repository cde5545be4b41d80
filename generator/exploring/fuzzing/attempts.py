"""Where a search draws its calls: factor levels and edges first, then random steps from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from generator.asking.calls import Call
from generator.calls.data.draws import Draw
from generator.calls.rows.feasibility import FREE
from generator.exploring.fuzzing.steps import take_step
from generator.exploring.shrinking.known_space import Attempt, CallValidity, growth, without_huge_numbers

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
        distinct = {each.digest(self.space.spec.operator): each for each in edges}
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

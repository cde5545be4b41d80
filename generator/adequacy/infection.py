"""Which mutants a call can tell at all: those whose mistake makes another value somewhere on its way.

Most mistakes that do not matter make no other value at the statement that they are in, or none that leaves
the function, or those within which it is called. One evaluation of the right code that works out beside each
value what the mutants have there says so for all, and takes little more time than an evaluation of one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from generator.adequacy.bench import Faulty
from generator.adequacy.call_chains import Stack, outer_parts
from generator.adequacy.checked_code import place_of_mistake
from generator.adequacy.mutants import Mutant
from generator.adequacy.mutated_parts import Part
from generator.adequacy.random_calls import Drawn
from generator.adequacy.subject import Subject
from generator.adequacy.watch import Watch

FIRST = 20
"""Calls in which a mutant is compared before it is said how often it makes another value."""
OFTEN = 0.5
"""The share of calls with another value, beyond which a mutant is compared further on, or not at all."""


class Infections:
    """Mutants that are compared with the right code, call by call; within `Subject.quick`."""

    def __init__(self, subject: Subject, mutants: Sequence[Mutant]) -> None:
        self._subject = subject
        self._places = {each: place for each in mutants if (place := place_of_mistake(each)) is not None}
        self._whole = {each for each in mutants if each not in self._places and self._ends_early(each)}
        self._further: dict[Mutant, frozenset[Part]] = {}
        self._height: Counter[Mutant] = Counter()
        self._stacks: defaultdict[Part, set[Stack]] = defaultdict(set)
        self._calls: Counter[Mutant] = Counter()
        self._often: Counter[Mutant] = Counter()
        self._known: dict[int, frozenset[Mutant]] = {}
        self._watch: Watch | None = None

    def may_tell(self, mutant: Faulty, drawn: Drawn) -> bool:
        """Whether a mutant may answer something else to a call than the right code: of others, any may."""
        if not isinstance(mutant, Mutant) or not self._is_compared(mutant):
            return True
        known = self._known.get(id(drawn))
        if known is None:
            known = self._known[id(drawn)] = self._infected_by(drawn)
        return mutant in known

    def leave(self, mutant: Faulty) -> None:
        """Compare a mutant no more: of what is not compared, any call may tell it."""
        if isinstance(mutant, Mutant) and self._is_compared(mutant):
            self._places.pop(mutant, None)
            self._whole.discard(mutant)
            self._further.pop(mutant, None)
            self._watch = None

    def _is_compared(self, mutant: Mutant) -> bool:
        return mutant in self._places or mutant in self._whole or mutant in self._further

    def _infected_by(self, drawn: Drawn) -> frozenset[Mutant]:
        if self._watch is None:
            self._watch = Watch(self._subject, self._places, self._whole, self._further, self._stacks)
        watch = self._watch
        found = watch.infected_by(drawn)
        for each in watch.hanging:
            self.leave(each)
        self._compare_later(watch.mutants, found)
        return found

    def _compare_later(self, compared: frozenset[Mutant], infected: frozenset[Mutant]) -> None:
        """What is often another value is compared where the function ends, further out, then not at all."""
        self._calls.update(compared)
        self._often.update(infected)
        for each in filter(self._is_compared, infected):
            if self._calls[each] < FIRST or self._often[each] < OFTEN * self._calls[each]:
                continue
            self._calls[each] = self._often[each] = 0
            at_the_place = each in self._places
            self.leave(each)
            if not self._ends_early(each):
                continue
            if at_the_place:
                self._whole.add(each)
                continue
            self._height[each] += 1
            main = self._subject.reference.function
            outer = outer_parts(list(self._stacks[each.part]), self._height[each], main)
            if outer is not None:
                self._further[each] = outer

    def _ends_early(self, mutant: Mutant) -> bool:
        """Whether to compare what the function returns takes less than to ask the mutant for its answer."""
        return not mutant.defaults and mutant.part.function is not self._subject.reference.function

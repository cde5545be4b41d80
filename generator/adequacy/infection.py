"""Which mutants a call can tell at all: those whose mistake makes another value somewhere on its way.

Most mistakes that do not matter make no other value at the statement that they are in, or none that leaves
the function. One evaluation of the right code that works out beside each value what the mutants have there
says so for all of them, and takes little more time than an evaluation of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from types import CodeType, FunctionType
from typing import Any

from generator.adequacy.alike import alike
from generator.adequacy.bench import Faulty
from generator.adequacy.checked_code import (
    BEGUN,
    CALLED,
    CHECKED,
    Place,
    called_code,
    checked_code,
    place_of_mistake,
)
from generator.adequacy.mutants import Mutant
from generator.adequacy.mutated_parts import Part
from generator.adequacy.random_calls import Drawn
from generator.adequacy.subject import Subject, same_answers
from generator.adequacy.trees import running

FIRST = 20
"""Calls in which a mutant is compared before it is said how often it makes another value."""
OFTEN = 0.5
"""The share of calls with another value, beyond which a mutant is compared further on, or not at all."""


@dataclass(frozen=True, eq=False)
class _Compared:
    """Mutants that are compared at a place of a part, or by what `functions` return, the right one first."""

    part: Part
    mutants: Sequence[Mutant]
    truth: bool = False
    functions: Sequence[FunctionType] = ()


class Infections:
    """Mutants that are compared with the right code, call by call; within `Subject.quick`."""

    def __init__(self, subject: Subject, mutants: Sequence[Mutant]) -> None:
        self._subject = subject
        self._places = {each: place for each in mutants if (place := place_of_mistake(each)) is not None}
        self._whole = {each for each in mutants if each not in self._places and self._ends_early(each)}
        self._calls: Counter[Mutant] = Counter()
        self._often: Counter[Mutant] = Counter()
        self._known: dict[int, frozenset[Mutant]] = {}
        # What objects keep may be worked out for a mutant first, and is not asked for again.
        self._keeps = any(isinstance(_attribute(each), cached_property) for each in subject.parts)
        self._compared: list[_Compared] = []
        self._codes: dict[FunctionType, CodeType] | None = None
        self._infected: set[Mutant] = set()
        self._begun: Counter[int] = Counter()
        self._within: Mutant | None = None
        self._passed = False

    def may_tell(self, mutant: Faulty, drawn: Drawn) -> bool:
        """Whether a mutant may answer something else to a call than the right code: of others, any may."""
        if mutant not in self._places and mutant not in self._whole:
            return True
        known = self._known.get(id(drawn))
        if known is None:
            known = self._known[id(drawn)] = self._infected_by(drawn)
        return mutant in known

    def leave(self, mutant: Faulty) -> None:
        """Compare a mutant no more: of what is not compared, any call may tell it."""
        if isinstance(mutant, Mutant) and (mutant in self._places or mutant in self._whole):
            self._places.pop(mutant, None)
            self._whole.discard(mutant)
            self._codes = None

    def _infected_by(self, drawn: Drawn) -> frozenset[Mutant]:
        compared = frozenset((*self._places, *self._whole))
        self._infected, self._begun, self._within = set(), Counter(), None
        self._subject.forget()
        with self._watched():
            response = self._subject.respond(drawn.call)
        self._subject.forget()
        for number, begun in self._begun.items():
            if begun:
                self._infected.update(self._compared[number].mutants)
        # Where the answer did not stay the same, or took too long, nothing is known of any.
        found = frozenset(self._infected) if same_answers(response, drawn.answer) else compared
        self._compare_later(compared, found)
        return found

    def _compare_later(self, compared: frozenset[Mutant], infected: frozenset[Mutant]) -> None:
        """What is often another value is compared where the function ends, then not at all."""
        self._calls.update(compared)
        self._often.update(infected)
        for each in infected:
            if self._calls[each] < FIRST or self._often[each] < OFTEN * self._calls[each]:
                continue
            self._calls[each] = self._often[each] = 0
            at_the_end = each in self._whole
            self.leave(each)
            if not at_the_end and self._ends_early(each):
                self._whole.add(each)

    def _ends_early(self, mutant: Mutant) -> bool:
        """Whether to compare what the function returns takes less than to ask the mutant for its answer."""
        return not mutant.defaults and mutant.part.function is not self._subject.reference.function

    @contextmanager
    def _watched(self) -> Iterator[None]:
        if self._codes is None:
            self._codes = self._make_codes()
        hooks = {BEGUN: self._begin, CHECKED: self._check, CALLED: self._call}
        with ExitStack() as stack:
            for module in {each.part.module.__name__: each.part.module for each in self._compared}.values():
                for name, hook in hooks.items():
                    setattr(module, name, hook)
                    stack.callback(delattr, module, name)
            stack.enter_context(running(self._codes))
            yield

    def _make_codes(self) -> dict[FunctionType, CodeType]:
        self._compared = []
        by_place: dict[int, tuple[Place, list[Mutant]]] = {}
        for mutant, place in self._places.items():
            by_place.setdefault(id(place.value), (place, []))[1].append(mutant)
        codes: dict[FunctionType, CodeType] = {}
        for part in self._subject.parts:
            places = []
            for place, mutants in by_place.values():
                if mutants[0].part is part:
                    places.append((len(self._compared), place, mutants))
                    self._compared.append(_Compared(part, mutants, truth=place.truth))
            if places:
                codes[part.function] = checked_code(part, places)
            whole = [each for each in self._whole if each.part is part]
            if whole:
                right = codes.get(part.function, part.function.__code__)
                functions = [
                    _with_code(part.function, code) for code in (right, *(each.code for each in whole))
                ]
                codes[part.function] = called_code(part, len(self._compared))
                self._compared.append(_Compared(part, whole, functions=functions))
        return codes

    def _begin(self, number: int) -> int:
        if self._within is None:
            self._begun[number] += 1
        else:
            self._passed = True
        return number

    def _check(self, number: int, value: Any, *mistaken: Callable[[], Any]) -> Any:
        compared = self._compared[number]
        if self._is_within(compared):
            return value
        self._begun[number] -= 1
        for mutant, work_out in zip(compared.mutants, mistaken, strict=True):
            self._compare(mutant, value, work_out, truth=compared.truth)
        return value

    def _call(self, number: int, given: Sequence[Any], named: dict[str, Any]) -> Any:
        compared = self._compared[number]
        function, *mistaken = compared.functions
        if self._is_within(compared):
            return function(*given, **named)
        self._begun[number] += 1
        value = function(*given, **named)
        self._begun[number] -= 1
        for mutant, other in zip(compared.mutants, mistaken, strict=True):
            self._compare(mutant, value, partial(other, *given, **named))
        return value

    def _is_within(self, compared: _Compared) -> bool:
        """Whether a mutant's value is being worked out, which comes by this place on its way."""
        if self._within is None:
            return False
        self._passed = True
        if self._keeps:
            self._infected.update(compared.mutants)
        elif self._within in compared.mutants:
            self._infected.add(self._within)
        return True

    def _compare(
        self, mutant: Mutant, right: Any, work_out: Callable[[], Any], *, truth: bool = False
    ) -> None:
        if mutant in self._infected:
            return
        self._within = mutant
        try:
            other = work_out()
            same = bool(right) == bool(other) if truth else alike(right, other)
        except Exception:  # noqa: BLE001 - a mutant may raise anything
            same = False
        except BaseException:
            self.leave(mutant)
            raise
        finally:
            self._within = None
            if self._passed:
                # What came by a place for a mutant is in no cache when the right code comes by.
                self._passed = False
                self._subject.forget()
        if not same:
            self._infected.add(mutant)


def _with_code(function: FunctionType, code: CodeType) -> FunctionType:
    other = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    other.__kwdefaults__ = function.__kwdefaults__
    return other


def _attribute(part: Part) -> Any:
    """What a class holds by the name of a method; nothing for other functions."""
    owner, _, name = part.name.rpartition(".")
    return vars(vars(part.module)[owner])[name] if owner else None

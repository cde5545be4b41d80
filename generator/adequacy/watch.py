"""One evaluation of the right code in which mutants are worked out beside it: at places, and at calls."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from generator.adequacy.alike import alike
from generator.adequacy.call_chains import MOST_STACKS, Called, Chain, Stack, is_kept, stack_at
from generator.adequacy.checked_code import BEGUN, CALLED, CHECKED, Place, called_code, checked_code
from generator.adequacy.mutants import Mutant
from generator.adequacy.mutated_parts import Part
from generator.adequacy.random_calls import Drawn
from generator.adequacy.subject import Subject, same_answers
from generator.adequacy.trees import running


@dataclass(frozen=True, eq=False)
class _Compared:
    """Mutants that are compared at a place of a part; of `truth` nothing matters but whether it is true."""

    mutants: Sequence[Mutant]
    truth: bool


class Watch:
    """Mutants that are compared at `places`, by what their part returns, or by what the parts further out do.

    `stacks` gets the ways by which parts are called, `hanging` the mutants that take too long.
    """

    def __init__(
        self,
        subject: Subject,
        places: Mapping[Mutant, Place],
        whole: Collection[Mutant],
        further: Mapping[Mutant, frozenset[Part]],
        stacks: defaultdict[Part, set[Stack]],
    ) -> None:
        self.mutants = frozenset((*places, *whole, *further))
        self.hanging: set[Mutant] = set()
        self._subject, self._stacks = subject, stacks
        self._compared: list[_Compared] = []
        self._called: list[Called] = []
        self._part_of = {each.function.__code__: each for each in subject.parts}
        self._codes = self._make_codes(places, whole, list(_chains(further)))
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._infected: set[Mutant] = set()
        self._begun: Counter[int] = Counter()
        self._active: dict[Chain, int] = {}
        self._within: Mutant | None = None
        self._passed = self._stale = False
        self._keeping = 0
        self._spoilt = False

    def infected_by(self, drawn: Drawn) -> frozenset[Mutant]:
        """The mutants that have another value on a call's way; all where nothing is known of any."""
        self._begin_anew()
        self._subject.forget()
        with self._watched():
            response = self._subject.respond(drawn.call)
        self._subject.forget()
        for number, begun in self._begun.items():
            if begun:
                self._infected.update(self._compared[number].mutants)
        # Where the answer did not stay the same, or took too long, nothing is known of any.
        known = same_answers(response, drawn.answer) and not self._spoilt
        return frozenset(self._infected) if known else self.mutants

    @contextmanager
    def _watched(self) -> Iterator[None]:
        hooks = {BEGUN: self._begin, CHECKED: self._check, CALLED: self._call}
        with ExitStack() as stack:
            for module in {each.module.__name__: each.module for each in self._subject.parts}.values():
                for name, hook in hooks.items():
                    setattr(module, name, hook)
                    stack.callback(delattr, module, name)
            stack.enter_context(running(self._codes))
            yield

    def _make_codes(
        self, at: Mapping[Mutant, Place], whole: Collection[Mutant], chains: Sequence[Chain]
    ) -> dict[FunctionType, CodeType]:
        by_place: dict[int, tuple[Place, list[Mutant]]] = {}
        for mutant, place in at.items():
            by_place.setdefault(id(place.value), (place, []))[1].append(mutant)
        codes: dict[FunctionType, CodeType] = {}
        for part in self._subject.parts:
            places = []
            for place, mutants in by_place.values():
                if mutants[0].part is part:
                    places.append((len(self._compared), place, mutants))
                    self._compared.append(_Compared(mutants, place.truth))
            if places:
                codes[part.function] = checked_code(part, places)
            right = _with_code(part.function, codes.get(part.function, part.function.__code__))
            called = _called_of(part, right, whole, chains)
            if called is not None:
                codes[part.function] = called_code(part, len(self._called))
                self._called.append(called)
                self._part_of[called.right.__code__] = part
            if part.function in codes:
                self._part_of[codes[part.function]] = part
        return codes

    def _begin(self, number: int) -> int:
        if self._within is None:
            self._begun[number] += 1
        else:
            self._passed = True
        return number

    def _check(self, number: int, value: Any, *mistaken: Callable[[], Any]) -> Any:
        compared = self._compared[number]
        if self._within is not None:
            self._pass_within(compared.mutants)
            return value
        self._begun[number] -= 1
        for mutant, work_out in zip(compared.mutants, mistaken, strict=True):
            self._compare(mutant, value, work_out, truth=compared.truth)
        self._forget_stale()
        return value

    def _call(self, number: int, given: Sequence[Any], named: dict[str, Any]) -> Any:
        called = self._called[number]
        if self._within is not None:
            return self._called_within(called, given, named)
        if (called.whole or called.inner) and len(self._stacks[called.part]) < MOST_STACKS:
            self._stacks[called.part].add(stack_at(sys._getframe(1), self._part_of))
        for chain in called.inner:
            if chain in self._active:
                self._active[chain] += 1
            else:
                self._infected.update(chain.functions)
        begun = [chain for chain in called.outer if chain not in self._active]
        for chain in begun:
            self._active[chain] = 0
            self._subject.forget(chain.part.place)
        try:
            value = called.right(*given, **named)
        except BaseException:
            # What ends a call on the way is compared nowhere.
            self._infected.update(called.whole)
            self._infected.update(each for chain in begun for each in chain.functions)
            raise
        finally:
            calls = {chain: self._active.pop(chain) for chain in begun}
        for mutant, other in called.whole.items():
            self._compare(mutant, value, partial(other, *given, **named))
        self._forget_stale()
        for chain in begun:
            if calls[chain]:
                self._compare_further(chain, value, partial(called.right, *given, **named), calls[chain])
        return value

    def _called_within(self, called: Called, given: Sequence[Any], named: dict[str, Any]) -> Any:
        """A call while a mutant's value is being worked out: it gets the mutant where it is its part."""
        self._pass_within(called.whole)
        for chain in called.inner:
            if self._keeping:
                self._infected.update(chain.functions)
            if self._within in chain.functions:
                self._active[chain] += 1
                # An object of the right code would keep what a mutant gave.
                self._spoilt |= self._keeping > 0
                return chain.functions[self._within](*given, **named)
        self._keeping += called.kept
        try:
            return called.right(*given, **named)
        finally:
            self._keeping -= called.kept

    def _pass_within(self, mutants: Collection[Mutant]) -> None:
        """Come by mutants while one's value is being worked out."""
        self._passed = True
        if self._keeping:
            # What objects keep is worked out for a mutant here, and the right code may not come by again.
            self._infected.update(mutants)
        elif self._within is not None and self._within in mutants:
            self._infected.add(self._within)

    def _compare_further(self, chain: Chain, right: Any, work_out: Callable[[], Any], calls: int) -> None:
        """Compare a chain's mutants; one that is called less often than the right code got what is kept."""
        for mutant in chain.functions:
            self._active[chain] = 0
            self._subject.forget(mutant.file)
            self._compare(mutant, right, work_out)
            self._forget_stale()
            if self._active.pop(chain) < calls:
                self._infected.add(mutant)

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
            self.hanging.add(mutant)
            raise
        finally:
            self._within = None
            self._stale |= self._passed
            self._passed = False
        if not same:
            self._infected.add(mutant)

    def _forget_stale(self) -> None:
        """What came by a place for a mutant is in no cache when the right code comes by.

        Mutants that are compared one after the other may share what is there: all that is called for one is
        right, but for those that are compared further out.
        """
        if self._stale:
            self._stale = False
            self._subject.forget()


def _called_of(
    part: Part, right: FunctionType, mutants: Collection[Mutant], chains: Sequence[Chain]
) -> Called | None:
    """What is to be watched at calls of a part; None where that is nothing."""
    whole = {each: _with_code(part.function, each.code) for each in mutants if each.part is part}
    inner = [each for each in chains if each.part is part]
    outer = [each for each in chains if part in each.outer]
    kept = is_kept(part)
    return Called(part, right, whole, inner, outer, kept) if whole or inner or outer or kept else None


def _chains(further: Mapping[Mutant, frozenset[Part]]) -> Iterable[Chain]:
    found: dict[tuple[Part, frozenset[Part]], Chain] = {}
    for mutant, outer in further.items():
        chain = found.setdefault((mutant.part, outer), Chain(mutant.part, outer))
        chain.functions[mutant] = _with_code(mutant.part.function, mutant.code)
    return found.values()


def _with_code(function: FunctionType, code: CodeType) -> FunctionType:
    other = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    other.__kwdefaults__ = function.__kwdefaults__
    return other

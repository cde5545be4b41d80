"""Random valid calls of an operator, far more than a suite has, and some that come by a given point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Refused, Response
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case, Expectation
from generator.asking.bare_cases import first_type
from generator.asking.calls import Call
from generator.asking.computed import as_run
from generator.asking.expectations import expectation_of, expectations_of
from generator.asking.questions import Question, ask
from generator.asking.validity import find_refusable
from generator.calls.data.draws import Draw
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.rows.factors import factor_model
from generator.calls.rows.feasibility import FREE, Solver
from generator.trust.mutants.bench import Faulty, TrialCase, weight_of
from generator.trust.mutants.mutated_parts import Point
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength
from specs.model.domain import check_constraints
from specs.model.spec import Refusable, Spec

FEW = 16
"""Inputs behind the first one with at most so many elements are numbers that ask for something."""
MOST = 512
"""Elements of a first input that is changed."""
_STEPS = (-3, -2, -1, 1, 2, 3)
_FACTORS = (0.5, 0.75, 1.25, 1.5, 2.0, -1.0)
_LETTERS = "abZ09 é漢"


def varied(spec: Spec, call: Call, draw: Draw) -> Call:
    """One to three numbers or words changed; the result need not be valid."""
    for _ in range(draw.integer(1, 3)):
        places: list[str | int] = [
            name for name in spec.attributes if _values(spec, name) or name in call.attributes
        ]
        places += [
            at
            for at, (_, each) in enumerate(call.inputs)
            if each is not None and 0 < each.array.size <= (FEW if at else MOST)
        ]
        if not places:
            return call
        place = draw.choice(places)
        if isinstance(place, str):
            call = _other_attribute(spec, call, place, draw)
        else:
            call = _other_input(call, place, draw)
    return call


def _values(spec: Spec, name: str) -> list[Any]:
    """The values that an attribute may have, where they can be listed: allowed ones, or a factor's levels."""
    known = spec.attributes[name]
    if known.kind is None:
        return []
    if known.allowed is not None:
        return list(known.allowed)
    levels = [level for factor in spec.factors if factor.name == name for level in factor.levels]
    return (
        []
        if known.kind not in ("int", "float")
        else [level for level in levels if not isinstance(level, str)]
    )


def _other_attribute(spec: Spec, call: Call, name: str, draw: Draw) -> Call:
    listed = _values(spec, name)
    if listed:
        return call.with_attribute(name, attribute(str(spec.attributes[name].kind), draw.choice(listed)))
    given = call.attributes[name]
    value = given.value
    if isinstance(value, tuple) and value and given.kind == "ints":
        place = draw.integer(0, len(value) - 1)
        items = [int(number) for number in given.numbers]
        items[place] += draw.choice(_STEPS)
        return call.with_attribute(name, Attribute(given.kind, tuple(items)))
    if isinstance(value, int | float):
        return call.with_attribute(name, replace(given, value=value + draw.choice(_STEPS)))
    return call


def _other_input(call: Call, at: int, draw: Draw) -> Call:
    name, given = call.inputs[at]
    assert given is not None
    changed = given.array.copy()
    flat = changed.reshape(-1)
    place = draw.integer(0, flat.size - 1)
    with np.errstate(all="ignore"):
        if given.element_type.is_packed:
            flat[place] = flat[draw.integer(0, flat.size - 1)]  # a sum may be beyond the type
        elif at == 0 and flat.dtype.kind in "iuf" and draw.integer(0, 1):
            _flip_bit(flat, place, draw)
        elif given.element_type.is_integer:
            flat[place] = flat[place] + np.array(draw.choice(_STEPS)).astype(flat.dtype)
        elif flat.dtype.kind == "f" and draw.integer(0, 1):
            flat[place] = flat[place] * flat.dtype.type(draw.choice(_FACTORS))
        elif given.element_type.kind == "bool":
            flat[place] = not flat[place]
        elif given.element_type.kind == "string" and draw.integer(0, 1):
            flat[place] = flat[place] + draw.choice(_LETTERS).encode()
        else:
            flat[place] = flat[draw.integer(0, flat.size - 1)]
    varied_one = (name, Tensor(given.element_type, changed))
    return replace(call, inputs=(*call.inputs[:at], varied_one, *call.inputs[at + 1 :]))


def _flip_bit(flat: NDArray[Any], place: int, draw: Draw) -> None:
    """One of an integer's last bits, or of a number's significand as far as half of its bits go."""
    bits = flat.view(f"u{flat.dtype.itemsize}")
    least = 4 if flat.dtype.kind in "iu" else 4 * flat.dtype.itemsize
    bits[place] ^= bits.dtype.type(1 << draw.integer(0, least - 1))


@dataclass(frozen=True, eq=False)
class Acceptance:
    """A valid call that the reference answers; while no mutant runs."""

    subject: MutatedOperator
    call: Call

    def accepts(self, response: Response) -> bool:
        """Whether the judge has nothing against a response; nor has it where no case is made of the call."""
        if isinstance(response, Refused) and self._refusable is not None:
            return True
        # Whatever is right under the first options of the open readings is right.
        return self._fits(self._first, response) or self._fits(self._whole, response)

    def _fits(self, case: Case | None, response: Response) -> bool:
        return case is None or judge(case, as_run(case, response)).verdict not in DIFFERENT

    @cached_property
    def _refusable(self) -> Refusable | None:
        return find_refusable(self.subject.spec, self.call)

    @cached_property
    def _asked(self) -> Question:
        return ask(self.subject.spec, self.subject.reference, self.call)

    @cached_property
    def _first(self) -> Case | None:
        """The case of the first options alone; None where no case is made of the call."""
        return self._case(lambda: (expectation_of(self._asked.answer(self._asked.first_options)),))

    @cached_property
    def _whole(self) -> Case | None:
        """The case of the call; None where none is made of it."""
        return self._case(lambda: expectations_of(self._asked))

    def _case(self, work_out: Callable[[], tuple[Expectation, ...]]) -> Case | None:
        """The case with these expectations, which say what errors are allowed; None where there are none."""
        try:
            expectations = work_out()
        except (UnstableLength, InternalError):
            return None
        operator = self.subject.spec.operator
        return Case(
            id=CaseId(operator, "cover", None, self.call.digest(operator)),
            element_type=first_type(self.subject.spec, self.call),
            attributes=self.call.attributes,
            inputs=self.call.inputs,
            output_names=(),
            demand="answer",
            expectations=expectations,
            may_refuse=None if self._refusable is None else self._refusable.id,
        )


AIMED = 2000
"""So many random calls that come by a changed line must agree before a mutant counts as equivalent."""
_BARREN = 20
"""Lists of tries in a row without any new call, after which there is none to be found."""
_TRIES = 96
"""Calls tried for each one that is wanted, before it is given up."""
_SEEN_SOON = 8
"""Calls tried for each one that is wanted, after which the others must be in sight."""
_LARGEST = 4096
"""Elements of the first output beyond which a call takes too long."""
_SMALLEST = 100
"""Of the calls that come by a point, so many of the smallest are varied."""
_SPENT = 6
"""Variations in a row that were known before or are no calls, after which a call is varied no more."""
_CHUNK = 100


@dataclass(eq=False)
class RandomCall:
    """One random call, the right answer, the points that it comes by, its weight, and seconds.

    `acceptance` says what a case of the call would accept.
    """

    call: Call
    answer: Answered
    reached: frozenset[Point]
    weight: int
    seconds: float
    acceptance: Acceptance


@dataclass(eq=False)
class RandomCalls:
    """Calls drawn so far; within `MutatedOperator.quick`, and while no mutant runs."""

    subject: MutatedOperator
    levels: DeclaredLevels
    draw: Draw
    drawn: list[RandomCall] = field(default_factory=list)
    _count: int = 0
    _bases: list[RandomCall] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _fruitless: Counter[int] = field(default_factory=Counter)
    _answered: dict[str, RandomCall | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._solver = Solver(factor_model(self.subject.spec))

    def copied(self) -> RandomCalls:
        """The same calls, from which another drawing goes on for itself; what both draw is asked once."""
        seen, fruitless = {*self._seen}, Counter(self._fruitless)
        return replace(self, drawn=[*self.drawn], _bases=[*self._bases], _seen=seen, _fruitless=fruitless)

    def begin_with(self, held: Sequence[TrialCase]) -> None:
        """Calls of cases, to be varied where no random call comes by a point."""
        for trial_case in held:
            if isinstance(trial_case.answer, Answered) and _size(trial_case.answer) <= _LARGEST:
                acceptance = Acceptance(self.subject, trial_case.call)
                self._bases.append(
                    RandomCall(
                        trial_case.call,
                        trial_case.answer,
                        trial_case.reached,
                        trial_case.weight,
                        trial_case.seconds,
                        acceptance,
                    )
                )

    def more(self, count: int) -> None:
        """Draw calls of any levels."""
        model = self._solver.model
        for draw in self._draws(count):
            wanted = [draw.shuffled(range(size)) for size in model.sizes]
            row = self._solver.complete([FREE] * len(model.sizes), wanted)
            if row is None:
                continue
            levels = {name: str(level) for name, level in model.row_levels(row).items()}
            call = self.levels.build_call(self.subject.spec, levels, draw.child("call"))
            if call is not None:
                self._try(call)

    def vary(self, count: int, bases: Sequence[RandomCall]) -> None:
        """Draw calls that differ a little from some that are known."""
        for draw in self._draws(count):
            base = draw.choice(bases)
            call = varied(self.subject.spec, base.call, draw.child("varied"))
            broken = check_constraints(
                self.subject.spec,
                call.attributes,
                call.inputs if call.slots else dict(call.inputs),
                slots=call.slots,
            )
            new = not broken and self._try(call)
            self._fruitless[id(base)] = 0 if new else self._fruitless[id(base)] + 1

    def aimed(self, points: frozenset[Point], mutant: Faulty | None = None) -> Iterator[RandomCall]:
        """AIMED calls that come by all of these points, and that a mutant can matter to.

        Small ones come first; there are fewer where no more are found.
        """

        def may_tell(drawn: RandomCall) -> bool:
            return points <= drawn.reached and (
                mutant is None or mutant.applies(self.subject, drawn.call, drawn.answer)
            )

        given, place, tries, barren, known = 0, 0, 0, 0, 0
        bases = [base for base in self._bases if may_tell(base)]
        first = self.drawn[:_CHUNK]
        often = 2 * sum(may_tell(random_call) for random_call in first) > len(first)
        while given < AIMED and tries <= _TRIES * AIMED:
            fresh = [random_call for random_call in self.drawn[place:] if may_tell(random_call)]
            place = len(self.drawn)
            for random_call in sorted(fresh, key=lambda each: each.weight)[: AIMED - given]:
                given += 1
                yield random_call
            bases += fresh
            known = known if tries else given
            tries += _CHUNK
            # As many as are found in so many tries are not enough in all that there may be.
            in_sight = given + (given - known) * (_TRIES * AIMED - tries) // tries
            if tries > _SEEN_SOON * AIMED and in_sight < AIMED:
                return
            if not bases and (tries > AIMED or not points):
                return
            if barren > _BARREN:
                return
            if not bases or (often and tries % (2 * _CHUNK)):
                self.more(_CHUNK)
            else:
                # To vary a call takes far less time than to draw one. Whatever is beside the smallest ones
                # may be known by now.
                fruitful = [base for base in bases if self._fruitless[id(base)] < _SPENT]
                smallest = sorted(fruitful or bases, key=lambda base: base.weight)
                self.vary(_CHUNK, smallest[: _SMALLEST << barren])
            barren = 0 if len(self.drawn) > place else barren + 1

    def _draws(self, count: int) -> Iterator[Draw]:
        for _ in range(count):
            self._count += 1
            yield self.draw.child(str(self._count))

    def _try(self, call: Call) -> bool:
        """Keep a call that the reference answers, with what it comes by; whether it was not known before."""
        call = call.trimmed()
        digest = call.digest(self.subject.spec.operator)
        if digest in self._seen:
            return False
        self._seen.add(digest)
        if digest not in self._answered:
            self._answered[digest] = self._ask(call)
        drawn = self._answered[digest]
        if drawn is not None:
            self.drawn.append(drawn)
        return True

    def _ask(self, call: Call) -> RandomCall | None:
        """A call with its answer; None where it is refused, or takes too long."""
        started = process_time()
        answer, reached = self.subject.watch(call)
        seconds = process_time() - started
        if not isinstance(answer, Answered) or _size(answer) > _LARGEST:
            return None
        weight = weight_of(call, answer)
        return RandomCall(call, answer, reached, weight, seconds, Acceptance(self.subject, call))


def _size(answer: Answered) -> int:
    return max((output.array.size for output in answer.outputs if isinstance(output, Tensor)), default=0)

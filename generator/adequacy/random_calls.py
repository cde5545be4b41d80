"""Random valid calls of an operator, far more than a suite has, and some that come by a given point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from conformance.responses import Answered, Response
from generator.adequacy.reach import Point
from generator.adequacy.subject import Subject
from generator.calls import Call
from generator.discovery import Levels
from generator.draws import Draw
from generator.factors import factor_model
from generator.feasibility import FREE, Row, Solver
from opcert.attributes import Attribute
from opcert.tensors import Tensor
from specs.expressions import check_constraints

AIMED = 2000
"""So many random calls that come by a changed line must agree before a mutant counts as equivalent."""
_TRIES = 6
"""Calls drawn for each one that is wanted, before it is given up."""
_LARGEST = 4096
"""Elements of the first output beyond which a call takes too long."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """One random call, the levels it was drawn from, the right answer, and the points that it comes by."""

    call: Call
    row: Row
    answer: Response
    reached: frozenset[Point]


@dataclass(eq=False)
class RandomCalls:
    """Calls drawn so far; within `Subject.quick`, and while no mutant runs."""

    subject: Subject
    levels: Levels
    draw: Draw
    drawn: list[Drawn] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self._solver = Solver(factor_model(self.subject.spec))

    def more(self, count: int, near: Sequence[Row] = ()) -> None:
        """Draw so many more calls, from any levels, or from levels half of which a row of `near` has."""
        with self.subject.points.watched() as seen:
            for _ in range(count):
                self._count += 1
                found = self._one(self.draw.child(str(self._count)), near, seen)
                if found is not None:
                    self.drawn.append(found)

    def aimed(self, points: frozenset[Point]) -> Iterator[Drawn]:
        """AIMED calls that come by all of these points, or fewer where no more are found."""
        given, place, tries = 0, 0, 0
        while given < AIMED:
            while place < len(self.drawn) and given < AIMED:
                each = self.drawn[place]
                place += 1
                if points <= each.reached:
                    given += 1
                    yield each
            if given < AIMED:
                if tries > _TRIES * AIMED:
                    return
                tries += AIMED // 4
                rows = [each.row for each in self.drawn if points <= each.reached]
                self.more(AIMED // 4, rows)

    def _one(self, draw: Draw, near: Sequence[Row], seen: set[Point]) -> Drawn | None:
        row = self._row(draw, near)
        if row is None:
            return None
        spec, model = self.subject.spec, self._solver.model
        levels = {name: str(level) for name, level in model.row_levels(row).items()}
        call = self.levels.build_call(spec, levels, draw.child("call"))
        if call is None:
            return None
        call = call.trimmed()
        if draw.integer(0, 1):
            call = _varied(call, draw.child("varied"))
            if check_constraints(spec, call.attributes, dict(call.inputs)):
                return None
        self.subject.forget()
        seen.clear()
        answer = self.subject.respond(call.attributes, dict(call.inputs))
        if not isinstance(answer, Answered) or _size(answer) > _LARGEST:
            return None
        return Drawn(call, row, answer, frozenset(seen))

    def _row(self, draw: Draw, near: Sequence[Row]) -> Row | None:
        sizes = self._solver.model.sizes
        partial = [FREE] * len(sizes)
        if near:
            start = draw.choice(near)
            partial = [value if draw.integer(0, 1) else FREE for value in start]
        return self._solver.complete(partial, [draw.shuffled(range(size)) for size in sizes])


def _size(answer: Answered) -> int:
    return max((each.array.size for each in answer.outputs if isinstance(each, Tensor)), default=0)


def _varied(call: Call, draw: Draw) -> Call:
    """The call with one number changed a little, in an attribute or in an input of few integers."""
    places: list[tuple[str, bool]] = [
        (name, True) for name, each in call.attributes.items() if each.kind in ("int", "ints", "float")
    ]
    places += [
        (name, False)
        for name, each in call.inputs[1:]
        if each is not None and 0 < each.array.size <= 16 and each.element_type.is_integer
    ]
    if not places:
        return call
    name, is_attribute = draw.choice(places)
    step = draw.choice((-3, -2, -1, 1, 2, 3))
    if is_attribute:
        return call.with_attribute(name, _stepped(call.attributes[name], step, draw))
    given = call.input(name)
    assert given is not None
    changed = given.array.copy()
    flat = changed.reshape(-1)
    place = draw.integer(0, flat.size - 1)
    with np.errstate(over="ignore"):
        flat[place] = flat[place] + np.array(step).astype(flat.dtype)
    return call.with_input(name, Tensor(given.element_type, changed))


def _stepped(given: Attribute, step: int, draw: Draw) -> Attribute:
    value = given.value
    if isinstance(value, tuple) and value:
        place = draw.integer(0, len(value) - 1)
        items = [int(each) for each in value]
        items[place] += step
        return Attribute(given.kind, tuple(items))
    return replace(given, value=value + step) if isinstance(value, int | float) else given

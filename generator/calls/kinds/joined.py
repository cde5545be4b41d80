"""Tensors that are joined along an axis: alike but for that axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import AXIS_MISREAD, Kind, KindChange, Level, misread_as
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_MANY = 40
_RANKS: tuple[Level, ...] = (2, 1, 3, 4)


@dataclass(frozen=True)
class Joined(Kind):
    """The shapes of a variadic input, and the axis along which its tensors may differ (an attribute).

    `negative=False` leaves counting from the end out. Where one shape is asked for, all tensors have it.
    `new` is an attribute that is 1 where the axis is one that no tensor has, so that all are alike.
    """

    axis: Expression
    negative: Expression | None = None
    new: Expression | None = None

    @property
    def covers(self) -> tuple[str, ...]:
        named = (self.axis.text, *((self.new.text,) if self.new is not None else ()))
        return tuple(name for name in named if self.subject.has(name))

    @property
    def binds(self) -> tuple[str, ...]:
        return (f"shapes:{self.name}",)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        counted: tuple[Level, ...] = ("negative", "lowest") if self._may_be_negative else ()
        found: dict[str, tuple[Level, ...]] = {
            f"{self.name}_count": (2, 1, 3),
            f"rank_{self.name}": _RANKS if self.new is None else (*_RANKS, 0),
            self.axis.text: ("last", "first", "inner", *counted),
            "joined": ("different", "equal", "ones", "one_empty"),
        }
        return found if self.new is None else {**found, self.new.text: (0, 1, OMITTED)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        rank = int(levels[f"rank_{self.name}"])
        new = {} if self.new is None else {self.new.text: levels[self.new.text]}
        stacked = 1 in new.values()
        axis = _axis(levels[self.axis.text], rank + stacked, draw)
        count = int(levels[f"{self.name}_count"])
        if axis is None or (levels["joined"] in ("different", "one_empty") and count < 2):
            return
        if (stacked and levels["joined"] != "equal") or not rank + stacked:
            return
        given = {name: None if level == OMITTED else int(level) for name, level in new.items()}
        asked = scope.find(f"given:{self.name}")
        shape = draw.shuffled(range(2, 6))[:rank] if asked is None else list(asked)
        shapes = []
        if stacked:
            yield {f"shapes:{self.name}": [tuple(shape)] * count, self.axis.text: axis, **given}
            return
        alike = None if asked is None else [shape[axis]] * count
        for length in alike or _lengths(levels["joined"], count, draw):
            own = list(shape)
            own[axis % rank] = length
            shapes.append(tuple(own))
        yield {f"shapes:{self.name}": shapes, self.axis.text: axis, **given}

    def rules(self) -> Iterable[Constraint]:
        name, axis = self.name, self.axis.text
        first = f"{name}[0]"
        same_rank = f"all(rank(each) == rank({first}) for each in {name})"
        yield self.rule(f"{name}_ranks", same_rank, about="summary")
        more = "" if self.new is None else f" + ({self.new.text} == 1)"
        low = f"-rank({first})" + more.replace("+", "-") if self._may_be_negative else "0"
        yield self.rule(f"{axis}_range", f"{low} <= {axis} < rank({first}){more}", about=axis)
        others = f"at != {axis} % rank({first})"
        if self.new is not None:
            others = f"({self.new.text} == 1 or {others})"
        fits = (
            f"all(shape(each)[at] == shape({first})[at] "
            f"for each in {name} for at in range(rank({first})) if {others})"
        )
        yield self.rule(f"{name}_alike", fits, f"rank({first}) > 0 and {same_rank}", about="summary")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shapes = [tuple(each) for each in scope.find(f"shapes:{self.name}")]
        rank, key = len(shapes[0]), f"shapes:{self.name}"
        stacked = self.new is not None and scope.find(self.new.text) == 1
        high = rank + stacked
        for axis in (high, -high - 1 if self._may_be_negative else -1, 2**31 - 1):
            yield f"{self.axis.text}_range", {self.axis.text: axis}
        yield f"{self.name}_ranks", {key: [*shapes, (*shapes[-1], 1)]}
        axis = int(scope.find(self.axis.text)) % high
        for at in range(rank):
            if at != axis or stacked:
                longer = tuple(shape + (place == at) for place, shape in enumerate(shapes[-1]))
                yield f"{self.name}_alike", {key: [*shapes, longer]}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shapes = [tuple(each) for each in scope.find(f"shapes:{self.name}")]
        yield f"{_MANY}_inputs", {f"shapes:{self.name}": [shapes[0]] * _MANY}
        for at in range(len(shapes[0])):
            empty = [tuple(0 if place == at else each for place, each in enumerate(one)) for one in shapes]
            yield f"axis_{at}_is_0", {f"shapes:{self.name}": empty}

    def changes(self) -> Iterable[KindChange]:
        if self._may_be_negative:
            yield from misread_as(self.axis.text, *AXIS_MISREAD)

    @property
    def _may_be_negative(self) -> bool:
        return self.says(self.negative, default=True)


def _axis(level: Level, rank: int, draw: Draw) -> int | None:
    if level == "last":
        return rank - 1
    if level == "first":
        return 0 if rank > 1 else None
    if level == "inner":
        return draw.integer(1, rank - 2) if rank > 2 else None
    if level == "lowest":
        return -rank
    return draw.integer(-rank + 1, -1) if rank > 1 else None


def _lengths(level: Level, count: int, draw: Draw) -> Sequence[int]:
    if level == "equal":
        return [draw.integer(2, 4)] * count
    if level == "ones":
        return [1] * count
    found = draw.shuffled(range(1, 6))[:count]
    if level == "one_empty":
        found[draw.integer(0, count - 1)] = 0
    return found

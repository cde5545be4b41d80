"""The tensors of a variadic input or of a sequence, and what their shapes have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import AXIS_MISREAD, InputName, Kind, KindChange, Level, misread_as
from generator.calls.variables.kind_checks import need_variadic
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Several(Kind):
    """What they have in common: they are `joined` along an axis, so with scales (`quantised`), `optimized` in
    groups, or `various`.
    """

    @property
    def binds(self) -> tuple[str, ...]:
        return (f"shapes:{self.name}",)


_MANY = 40
_RANKS: tuple[Level, ...] = (2, 1, 3, 4)


@dataclass(frozen=True)
class _JoinedTensors(Several):
    """The shapes of a variadic input, and the axis along which its tensors may differ (an attribute).

    `negative=False` leaves counting from the end out. Where one shape is asked for, all tensors have it.
    `new` is an attribute that is 1 where the axis is one that no tensor has, so that all are alike.
    """

    axis: Expression
    negative: Expression | None = None
    new: Expression | None = None

    @property
    def joined_along(self) -> Expression:
        return self.axis

    @property
    def covers(self) -> tuple[str, ...]:
        named = (self.axis.text, *((self.new.text,) if self.new is not None else ()))
        return tuple(name for name in named if self.subject.has(name))

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


_SHAPES: Mapping[Level, Sequence[tuple[int, ...]]] = {
    "different": ((2, 3), (), (4,)),
    "alike": ((5,),) * 3,
    "empty": ((0, 2), (3,), (0,)),
}


@dataclass(frozen=True)
class _OptimizedTensors(Several):
    """A variadic input in `groups`, of as many tensors each: those optimized, then what goes with them.

    Tensors at the same place of every group have one shape. The last group is of `squares`, which are not
    negative, where that is said.
    """

    groups: Expression
    squares: Expression | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        need_variadic(self.subject, self.name)

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,) if self.says(self.squares) else ()

    def mend_all(self, tensors: Sequence[Tensor], scope: Partial) -> Sequence[Tensor]:
        first = len(tensors) - len(tensors) // self._groups
        return [
            *tensors[:first],
            *(Tensor(each.element_type, np.abs(each.array)) for each in tensors[first:]),
        ]

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"optimized": (2, 1, 3), "optimized_shapes": tuple(_SHAPES)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shapes = _SHAPES[levels["optimized_shapes"]][: int(levels["optimized"])]
        yield {f"shapes:{self.name}": [*shapes] * self._groups}

    def rules(self) -> Iterable[Constraint]:
        name, groups = self.name, self._groups
        whole = f"len({name}) > 0 and len({name}) % {groups} == 0"
        yield self.rule(f"{name}_in_groups", whole)
        count = f"(len({name}) // {groups})"
        alike = f"all(shape({name}[at]) == shape({name}[at % {count}]) for at in range(len({name})))"
        yield self.rule(f"{name}_alike", alike, whole)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shapes = [tuple(shape) for shape in scope.find(f"shapes:{self.name}")]
        yield f"{self.name}_in_groups", {f"shapes:{self.name}": [*shapes, shapes[0]]}
        yield f"{self.name}_alike", {f"shapes:{self.name}": [*shapes[:-1], (*shapes[-1], 2)]}

    @property
    def _groups(self) -> int:
        return int(self.groups.evaluate({}))


@dataclass(frozen=True)
class _QuantisedTensors(_JoinedTensors):
    """Tensors that are joined, each with a scale and a zero point of all of it behind it.

    They have the type of the input `zero_point`.
    """

    zero_point: InputName | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        need_variadic(self.subject, self.name)

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,)

    def mend_all(self, tensors: Sequence[Tensor], scope: Partial) -> Sequence[Tensor]:
        kind, scales = self.type_of(scope, str(self.zero_point)), ELEMENT_TYPES["float"]
        low, high = kind.integer_range
        found = []
        for at, given in enumerate(tensors):
            if at % 3 == 1:
                found.append(tensor(np.array(_STEPS[at // 3 % len(_STEPS)]), scales))
            elif at % 3 == 2:
                found.append(tensor(np.array(_ZEROS[at // 3 % len(_ZEROS)]), kind))
            elif given.element_type == kind:
                found.append(given)
            else:
                places = np.arange(given.array.size) * 37 + 11 * at
                found.append(tensor((low + places % (high - low + 1)).reshape(given.shape), kind))
        return found

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        for found in super().candidates(levels, scope, draw):
            shapes = found[f"shapes:{self.name}"]
            yield {**found, f"shapes:{self.name}": _in_threes(shapes)}

    def rules(self) -> Iterable[Constraint]:
        name, axis = self.name, self.axis.text
        whole = f"len({name}) > 0 and len({name}) % 3 == 0"
        yield self.rule(f"{name}_in_threes", whole)
        one = f"all(rank({name}[at]) == 0 for at in range(len({name})) if at % 3 != 0)"
        yield self.rule(f"{name}_scales", one, whole)
        first, places = f"{name}[0]", f"for at in range(len({name})) if at % 3 == 0"
        same_rank = f"all(rank({name}[at]) == rank({first}) {places})"
        yield self.rule(f"{name}_ranks", same_rank, whole)
        yield self.rule(f"{axis}_range", f"-rank({first}) <= {axis} < rank({first})", whole, about=axis)
        fits = (
            f"all(shape({name}[at])[to] == shape({first})[to] {places} "
            f"for to in range(rank({first})) if to != {axis} % rank({first}))"
        )
        yield self.rule(f"{name}_alike", fits, f"{whole} and rank({first}) > 0 and {same_rank}")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        key = f"shapes:{self.name}"
        shapes = [tuple(shape) for shape in scope.find(key)]
        rank = len(shapes[0])
        yield f"{self.name}_in_threes", {key: shapes[:-1]}
        for axis in (rank, -rank - 1, 2**31 - 1):
            yield f"{self.axis.text}_range", {self.axis.text: axis}
        yield f"{self.name}_ranks", {key: [*shapes, (*shapes[0], 1), (), ()]}
        axis = int(scope.find(self.axis.text)) % rank
        for at in range(rank):
            if at != axis:
                longer = tuple(shape + (place == at) for place, shape in enumerate(shapes[0]))
                yield f"{self.name}_alike", {key: [*shapes, longer, (), ()]}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        key = f"shapes:{self.name}"
        shapes = [tuple(shape) for shape in scope.find(key)]
        yield f"{_MANY}_inputs", {key: _in_threes([shapes[0]] * _MANY)}
        for at in range(len(shapes[0])):
            empty = [
                tuple(0 if place == at else length for place, length in enumerate(one)) for one in shapes
            ]
            yield f"axis_{at}_is_0", {key: empty}


_STEPS = (0.5, 0.3713, 0.25, 0.7131)
_ZEROS = (37, 0, 113, 20)


def _in_threes(shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The shapes of tensors, and of a scale and a zero point behind each."""
    return [own for shape in shapes for own in (tuple(shape), (), ())]


_COUNTS: tuple[Level, ...] = (2, 1, 3, 0)
_MOST_RANK = 3


@dataclass(frozen=True)
class _VariousTensors(Several):
    """The shapes of the tensors of a sequence or of a variadic input, of which there are `least` at least.

    Shapes differ, so that two tensors that changed places are told apart even where their elements are not.
    """

    least: Expression | None = None

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        least = 0 if self.least is None else int(self.least.evaluate({}))
        counts = tuple(count for count in _COUNTS if int(count) >= least)
        return {f"{self.name}_count": counts, f"{self.name}_shapes": ("different", "ranks", "alike", "empty")}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        count = int(levels[f"{self.name}_count"])
        yield {f"shapes:{self.name}": _shapes(levels[f"{self.name}_shapes"], count, draw)}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shapes = [tuple(each) for each in scope.find(f"shapes:{self.name}")]
        yield f"{_MANY}_tensors", {f"shapes:{self.name}": (shapes or [(2,)])[:1] * _MANY}


def _shapes(level: Level, count: int, draw: Draw) -> list[tuple[int, ...]]:
    if level == "ranks":
        ranks = draw.shuffled(range(_MOST_RANK + 1))[:count]
        return [tuple(draw.integer(2, 3) for _ in range(rank)) for rank in ranks]
    rank = draw.integer(1, _MOST_RANK)
    shape = tuple(draw.integer(2, 4) for _ in range(rank))
    if level == "alike":
        return [shape] * count
    lengths = draw.shuffled(range(1, 6))[:count]
    if level == "empty" and count:
        lengths[draw.integer(0, count - 1)] = 0
    return [(*shape[:-1], length) for length in lengths]


Several.variants = {
    "joined": _JoinedTensors,
    "optimized": _OptimizedTensors,
    "quantised": _QuantisedTensors,
    "various": _VariousTensors,
}

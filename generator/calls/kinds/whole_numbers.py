"""Whole numbers: extents of an output, counts along axes, an order of axes, lengths of sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    KindChange,
    Level,
    Misreading,
    ResultChange,
    SingleKind,
    misread_as,
)
from generator.calls.variables.kind_checks import need_word
from generator.calls.variables.vector_lengths import MANY, lengths_around
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_LEVELS: Mapping[str, tuple[Level, ...]] = {
    "extents": ("some", "scalar", "one_axis", "ones", "with_zero", "many_axes", "long"),
    "counts": ("different", "equal", "ones"),
    "repeats": ("some", "ones", "one_axis", "none"),
    "expansion": ("wider", "same", "more_axes", "ones", "fewer_axes", "both_ways", "empty"),
    "permutation": ("reversed", "identity", "rotated", "random"),
    "images": ("some", "ones", "two", "one_axis_of_one", "long"),
    "lengths": ("ragged", "full", "least", "rising"),
    "alike": ("least",),
}
_NEEDED = {
    "repeats": ("of",),
    "expansion": ("of",),
    "counts": ("length",),
    "permutation": ("of",),
    "images": ("batch",),
    "lengths": ("most",),
    "alike": ("length",),
}
_TABLES = ([63, 65], [4, 33, 31])
"""Shapes of some four thousand elements, no extent of which is a multiple of a vector."""


@dataclass(frozen=True)
class WholeNumbers(SingleKind):
    """What they are is `what`: `extents` of any output, the shape that an input is broadcast with
    (`expansion`), `repeats` of each axis of an input, a `permutation` of these, or as many `counts` from 1 as
    `length` says; the shape of a batch of `images`, as many as `batch` says, or `lengths` of sequences, from
    `least` (0 where it is not given) to `most`. Those that are `alike`, as many as `length` says, are all the
    `least`.

    `drawn` are extents of an output of random numbers, which may be so many that their distribution shows.
    """

    what: Expression
    of: InputName | None = None
    length: Expression | None = field(default=None, kw_only=True)
    drawn: Expression | None = field(default=None, kw_only=True)
    batch: Expression | None = field(default=None, kw_only=True)
    most: Expression | None = field(default=None, kw_only=True)
    least: Expression | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        need_word(self, self.word, _LEVELS, _NEEDED)

    @property
    def needs_own_shape(self) -> bool:
        return self.word in ("images", "lengths")

    @property
    def is_permutation(self) -> bool:
        return self.word == "permutation"

    @property
    def word(self) -> str:
        return str(self.what.evaluate({}))

    def levels(self) -> tuple[Level, ...]:
        return (*(("many",) if self.says(self.drawn) else ()), *_LEVELS[self.word])

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        if level == "many":
            yield from draw.shuffled([*_TABLES, [MANY]])
            return
        shape = list(scope.shape(self.of)) if self.of is not None else []
        found: Any = None
        match self.word:
            case "extents":
                found = _extents(level, draw)
            case "counts":
                found = _counts(level, self._count(scope), draw)
            case "repeats":
                found = _repeats(level, len(shape), draw)
            case "expansion":
                found = _expansion(level, shape, draw)
            case "permutation":
                yield from _permutations(level, list(range(len(shape))), draw)
            case "images":
                found = _images(level, int(scope.value(self._batch)), scope.shape(self.name)[0] - 2, draw)
            case "alike":
                found = [self._least(scope)] * self._count(scope)
            case _:
                found = _lengths(level, scope.shape(self.name), *self._ends(scope), draw)
        if found is not None:
            yield found

    @property
    def _batch(self) -> Expression:
        assert self.batch is not None, "it is needed with images"
        return self.batch

    def _ends(self, scope: Partial) -> tuple[int, int]:
        """The least and the greatest length."""
        assert self.most is not None, "it is needed with lengths"
        return self._least(scope), int(scope.value(self.most))

    def _least(self, scope: Partial) -> int:
        return 0 if self.least is None else int(scope.value(self.least))

    def _count(self, scope: Partial) -> int:
        """How many numbers there are."""
        return len(scope.shape(str(self.of))) if self.length is None else int(scope.value(self.length))

    def rules(self) -> Iterable[Constraint]:
        for rule, required in self._required().items():
            yield self.rule(f"{self.name}_{rule}", required, self.given)

    def _required(self) -> dict[str, str]:
        """What each rule requires, by the end of its id."""
        name = self.name
        count = f"({self.length.text})" if self.length is not None else f"rank({self.of})"
        length = {"length": f"len({name}) == {count}"}
        not_negative = {"not_negative": f"all(each >= 0 for each in {name})"}
        match self.word:
            case "counts":
                return {**length, "positive": f"all(each > 0 for each in {name})"}
            case "repeats":
                return {**length, **not_negative}
            case "alike":
                low = "0" if self.least is None else self.least.text
                return {**length, "range": f"all(each >= ({low}) for each in {name})"}
            case "expansion":
                return {**not_negative, "broadcasts": f"broadcasts(shape({self.of}), {name})"}
            case "permutation":
                return {"is_permutation": f"sorted({name}) == range(rank({self.of}))"}
            case "images":
                batch = f"{name}[0] == ({self._batch.text})"
                return {"batch": batch, "positive": f"all(each > 0 for each in {name}[1:])"}
            case "lengths" if self.most is not None:
                low = "0" if self.least is None else self.least.text
                return {"range": f"all(({low}) <= each <= ({self.most.text}) for each in {name})"}
        return not_negative

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for rule, wrong in self._wrong(scope):
            yield f"{self.name}_{rule}", {self.name: wrong}

    def _wrong(self, scope: Partial) -> Iterator[tuple[str, Any]]:
        word = self.word
        shape = list(scope.shape(self.of)) if self.of is not None else [2]
        rank = len(shape)
        if word == "alike":
            count, least = self._count(scope), self._least(scope)
            yield "length", [least] * (count + 1)
            yield from (("range", [least] * (count - 1) + [least - 1]) for _ in range(min(count, 1)))
        elif word in ("counts", "repeats"):
            count, plain = self._count(scope), 2 if word == "counts" else 1
            yield "length", [plain] * (count + 1)
            if count:
                yield "length", [plain] * (count - 1)
            if word == "counts":
                yield from (("positive", [2] * (count - 1) + [value]) for value in (0, -1))
            elif count:
                yield "not_negative", [-1] * count
        elif word == "permutation":
            order = list(range(rank))
            yield "is_permutation", [*order, rank]
            for wrong in ([order[1:], [*order[:-1], rank], [0] * rank]) if rank > 1 else ():
                yield "is_permutation", wrong
        elif word == "images":
            given = [int(extent) for extent in np.asarray(scope.find(self.name)).reshape(-1).tolist()]
            yield "batch", [given[0] + 1, *given[1:]]
            yield from (("positive", [*given[:-1], value]) for value in (0, -1))
        elif word == "lengths":
            low, high = self._ends(scope)
            for value in (high + 1, low - 1, 2**31 - 1):
                lengths = np.full(scope.shape(self.name), high, dtype=np.int64)
                lengths.reshape(-1)[-1:] = value
                yield "range", lengths
        else:
            for value in (-1, -(2**31)):
                yield "not_negative", [value, *shape] if word == "expansion" else [*shape, value]
            for axis in reversed(range(rank)) if word == "expansion" else ():
                if shape[axis] > 1:
                    yield "broadcasts", [*shape[:axis], shape[axis] + 1, *shape[axis + 1 :]]

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Orders in which axes of length 1 move, and others of equal lengths beside them."""
        for word, shape, order in _MOVED if self.word == "permutation" else ():
            yield word, {f"shape:{self.of}": shape, self.name: order}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for length in lengths_around() if self.word == "extents" else ():
            yield f"length_{length}", {self.name: [length]}

    def changes(self) -> Iterable[KindChange]:
        yield from misread_as(self.name, *_MISREAD.get(self.word, ()))
        if self.word == "repeats" and self.of is not None:
            text = "each element repeated in its place, instead of the whole axis"
            yield ResultChange(f"{self.name} each element", text, self.of, self._each_element)
        if self.word == "expansion" and self.of is not None:
            text = "axes that lack added behind the others"
            yield ResultChange(f"{self.name} from the front", text, self.of, self._from_the_front)

    def _each_element(self, given: CallValues) -> NDArray[Any]:
        data, times = given.numbers(str(self.of)), given.numbers(self.name).reshape(-1)
        if len(times) != data.ndim:
            raise ValueError("not a number for each axis")
        for axis, count in enumerate(times):
            data = np.repeat(data, int(count), axis=axis)
        return data

    def _from_the_front(self, given: CallValues) -> NDArray[Any]:
        data, shape = given.numbers(str(self.of)), given.numbers(self.name).reshape(-1).tolist()
        rank = max(data.ndim, len(shape))
        if min(data.ndim, len(shape)) == rank:
            raise ValueError("no axes lack")
        aligned = data.reshape(*data.shape, *[1] * (rank - data.ndim))
        wanted = [*shape, *[1] * (rank - len(shape))]
        return np.broadcast_to(aligned, np.broadcast_shapes(aligned.shape, tuple(wanted)))


def _extents(level: Level, draw: Draw) -> list[int]:
    lists = {
        "scalar": [],
        "one_axis": [draw.integer(2, 7)],
        "ones": [1, 1, 1],
        "with_zero": [draw.integer(1, 3), 0, 2],
        "many_axes": [1, 2, 1, 3, 1, 2],
        "long": [67],
    }
    return lists.get(str(level), draw.shuffled(range(2, 6))[:3])


def _counts(level: Level, length: int, draw: Draw) -> list[int] | None:
    if level == "different":
        return draw.shuffled(range(1, length + 3))[:length] if length > 1 else None
    return [draw.integer(2, 3) if level == "equal" else 1] * length


def _repeats(level: Level, rank: int, draw: Draw) -> list[int] | None:
    if level == "ones":
        return [1] * rank
    if not rank:
        return None
    axis = draw.integer(0, rank - 1)
    if level == "some":
        return [draw.integer(2, 3) if at == axis else draw.integer(1, 3) for at in range(rank)]
    if level == "one_axis":
        return [3 if at == axis else 1 for at in range(rank)] if rank > 1 else None
    return [0 if at == axis else 2 for at in range(rank)]


def _expansion(level: Level, shape: list[int], draw: Draw) -> list[int] | None:
    narrow = [axis for axis, extent in enumerate(shape) if extent == 1]
    wide = [axis for axis, extent in enumerate(shape) if extent > 1]
    wider = [draw.integer(2, 4) if axis in narrow else extent for axis, extent in enumerate(shape)]
    if level == "wider":
        return wider if narrow else None
    if level == "more_axes":
        return [draw.integer(2, 3), *wider]
    if level == "ones":
        return [1] * len(shape) if wide else None
    if level == "fewer_axes":
        return wider[draw.integer(1, len(shape) - 1) :] if len(shape) > 1 else None
    if level == "both_ways":
        both = bool(narrow) and bool(wide)
        return [1 if axis in wide else extent for axis, extent in enumerate(wider)] if both else None
    return shape if level == "same" else []


_MOVED: tuple[tuple[str, tuple[int, ...], list[int]], ...] = (
    ("ones_stay_and_others_move", (4, 1, 4), [2, 1, 0]),
    ("ones_and_others_move", (1, 4, 4), [2, 1, 0]),
    ("a_one_moves_between_others", (4, 4, 1), [1, 2, 0]),
    ("pairs_move", (1, 3, 1, 3), [2, 3, 0, 1]),
)


def _permutations(level: Level, plain: list[int], draw: Draw) -> Iterator[list[int]]:
    turned = [*plain[1:], *plain[:1]]
    if level == "identity":
        yield plain
    elif level == "reversed" and len(plain) > 1:
        yield plain[::-1]
    elif level == "rotated" and len(plain) > 2:
        yield turned
    elif level == "random" and len(plain) > 2:
        drawn = (draw.child(str(turn)).shuffled(plain) for turn in range(8))
        yield from (order for order in drawn if order not in (plain, plain[::-1], turned))


def _images(level: Level, batch: int, rank: int, draw: Draw) -> list[int]:
    """How many images, how many channels, and the extents of an image."""
    extents = draw.shuffled(range(2, 6))[:rank]
    if level in ("ones", "two"):
        extents = [1 if level == "ones" else 2] * rank
    elif level != "some":
        extents = [2] * rank
        extents[draw.integer(0, rank - 1)] = 1 if level == "one_axis_of_one" else 17
    return [batch, draw.integer(1, 3), *extents]


def _lengths(
    level: Level, shape: tuple[int, ...], low: int, high: int, draw: Draw
) -> NDArray[np.int64] | None:
    if level in ("full", "least") and high >= low:
        return np.full(shape, high if level == "full" else low, dtype=np.int64)
    if high <= low:
        return None
    drawn = draw.integers(low, high, shape)
    if level == "rising":
        return np.array(sorted(drawn.reshape(-1).tolist()), dtype=np.int64).reshape(shape)
    if drawn.size < 2:
        return None
    drawn.reshape(-1)[0] = high
    drawn.reshape(-1)[-1] = draw.integer(low, high - 1)
    return drawn


def _inverted(permutation: NDArray[Any]) -> list[int]:
    places = [int(place) for place in permutation]
    return sorted(range(len(places)), key=places.__getitem__)


_MISREAD: Mapping[str, tuple[Misreading, ...]] = {
    "extents": (
        ("without ones", "extents of 1 left out", lambda sizes: sizes[sizes != 1]),
        ("at least 1", "extents of 0 taken for 1", lambda sizes: np.maximum(sizes, 1)),
        ("one element", "a scalar taken for one element", lambda sizes: sizes if sizes.size else [1]),
    ),
    "permutation": (("inverse", "the inverse of {}", _inverted),),
    "images": (
        ("reversed", "height and width exchanged", lambda size: [*size[:2], *size[2:][::-1]]),
        ("one less", "each extent one less", lambda size: [*size[:2], *(extent - 1 for extent in size[2:])]),
    ),
    "lengths": (
        (
            "first",
            "{}: that of the first for every sequence",
            lambda lengths: np.full_like(lengths, lengths.flat[0]),
        ),
        (
            "longest",
            "{}: the greatest for every sequence",
            lambda lengths: np.full_like(lengths, lengths.max()),
        ),
        ("one less", "{}: each one less", lambda lengths: lengths - 1),
    ),
    "counts": (("first", "the first number of {} for all", lambda counts: np.full_like(counts, counts[0])),),
}

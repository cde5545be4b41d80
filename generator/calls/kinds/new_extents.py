"""The extents that a tensor is to have: of the same elements, or with axes cut and filled up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    Kind,
    KindChange,
    Level,
    ResultChange,
    SingleKind,
    ValueChange,
)
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class NewExtents(Kind):
    """How an input gets them: it is `reshaped`, or `cropped` and padded."""


_AMOUNTS: Mapping[Level, tuple[int, int]] = {
    "crop_even": (2, 4),
    "crop_odd": (1, 3),
    "pad_even": (-2, -6),
    "pad_odd": (-1, -3),
    "same": (0, 0),
}
"""How much less an axis has afterwards, with the least and with a greater amount."""
_MANY = 1000


_MOST = 1 << 16
Begin = Callable[[int], int]
"""Where the shorter of two extents starts within the longer, of their difference."""


def _middle(difference: int) -> int:
    return difference // 2


def _start(_: int) -> int:
    return 0


def _end(difference: int) -> int:
    return difference


_PLACES: tuple[tuple[str, str, Begin, Begin], ...] = (
    ("crop start", "a window at the start", _start, _middle),
    ("crop end", "a window at the end", _end, _middle),
    ("pad end", "padding at the end alone", _middle, _start),
    ("pad start", "padding at the start alone", _middle, _end),
)


@dataclass(frozen=True)
class _CroppedExtents(NewExtents):
    """One extent for each of the `axes` of an input; of all its axes where these are left out.

    Levels: what happens to the first of the axes, to the others (`varied`: something else to each), by the
    least amount or more.
    """

    of: InputName
    axes: Expression

    keeps_axes: ClassVar[bool] = True

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "first": tuple(_AMOUNTS),
            "others": ("same", *(amount for amount in _AMOUNTS if amount != "same"), "varied"),
            "amount": ("least", "more"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shape, axes = scope.shape(self.of), self._chosen(scope)
        first, others = levels["first"], levels["others"]
        if first == "same" and levels["amount"] == "more":
            return
        if not axes:
            if first == others == "same":
                yield {self.name: []}
            return
        if (len(axes) == 1 and others != "same") or (len(axes) < 3 and others == "varied"):
            return
        wanted = [shape[axes[0]] - _AMOUNTS[first][int(levels["amount"] == "more")]]
        varied = draw.shuffled([amount for amount in _AMOUNTS if amount not in ("same", first)])
        for place, axis in enumerate(axes[1:]):
            level = varied[place % len(varied)] if others == "varied" else others
            less = _AMOUNTS[level][0]
            wanted.append(shape[axis] - less if less < shape[axis] else shape[axis])
        changed = sum(extent != shape[axis] for axis, extent in zip(axes[1:], wanted[1:], strict=True))
        shown = changed >= {"same": 0, "varied": 2}.get(str(others), 1)
        if shown and wanted[0] >= min(shape[axes[0]], 1):
            yield {self.name: wanted}

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        yield self.rule(f"{name}_rank", f"rank({name}) == 1")
        counted = f"(len({self.axes.text}) if present({self.axes.text}) else rank({self.of}))"
        yield self.rule(f"{name}_length", f"len(values({name})) == {counted}")
        yield self.rule(f"{name}_not_negative", f"all(extent >= 0 for extent in values({name}))")

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape, axes = scope.shape(self.of), self._chosen(scope)
        rank, name, axes_name = len(shape), self.name, self.axes.text
        yield "no_axes", {axes_name: [], name: []}
        if not rank or not axes:
            return
        plain = {axes_name: None}
        yield "crop_to_nothing", {**plain, name: [0, *shape[1:]]}
        yield "everything_to_nothing", {**plain, name: [0] * rank}
        yield "everything_to_one", {**plain, name: [1] * rank}
        yield "one_to_many", {**plain, **self._of_shape([1] * rank), name: [_MANY, *[1] * (rank - 1)]}
        yield "one_to_two", {**plain, **self._of_shape([1] * rank), name: [2] * rank}
        yield "two_to_one", {**plain, **self._of_shape([2] * rank), name: [1] * rank}
        yield "many_to_one", {**plain, **self._of_shape([1001, *[1] * (rank - 1)]), name: [1] * rank}
        empty = [0, *shape[1:]]
        yield "pad_from_nothing", {**plain, **self._of_shape(empty), name: [2, *shape[1:]]}
        yield "nothing_stays", {**plain, **self._of_shape(empty), name: empty}
        if rank > 1:
            beside = [0, shape[1] + 3, *shape[2:]]
            yield "nothing_with_padding_beside", {**plain, **self._of_shape(empty), name: beside}
            yield "nothing_with_cropping_beside", {**plain, **self._of_shape(empty), name: [0, 1, *shape[2:]]}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        wanted = [int(each) for each in scope.find(self.name)]
        yield f"{self.name}_rank", {self.name: [wanted]}
        if wanted:
            yield f"{self.name}_length", {self.name: wanted[:-1]}
            for value in (-1, -(2**31)):
                yield f"{self.name}_not_negative", {self.name: [*wanted[:-1], value]}
        yield f"{self.name}_length", {self.name: [*wanted, 1]}

    def changes(self) -> Iterable[KindChange]:
        for word, text, choose in (
            ("padding", "padding left out", np.minimum),
            ("cropping", "cropping left out", np.maximum),
        ):
            yield ValueChange(f"{self.name} no {word}", text, self._chosen_by(choose))
        for word, text, crop, pad in _PLACES:
            yield ResultChange(f"place {word}", text, self.of, self._placed_by(crop, pad))

    def _placed_by(self, crop: Begin, pad: Begin) -> Callable[[CallValues], NDArray[Any]]:
        """The window, or the input in the output, placed otherwise than in the centre."""

        def compute(given: CallValues) -> NDArray[Any]:
            data, wanted = given.numbers(self.of), given.numbers(self.name)
            rank, axes = data.ndim, self.axes.text
            named = given.numbers(axes).reshape(-1).tolist() if given.has(axes) else list(range(rank))
            plain, extents = [int(each) for each in named], [int(each) for each in wanted.reshape(-1)]
            chosen = {axis % rank for axis in plain if -rank <= axis < rank}
            if not wanted.dtype.kind == "i" or not len(chosen) == len(plain) == len(extents):
                raise ValueError("not an extent for each axis")
            if any(not 0 <= extent < _MOST for extent in extents):
                raise ValueError("no extents, or longer ones than are computed to explain something")
            shape = list(data.shape)
            taken, placed = [slice(None)] * rank, [slice(None)] * rank
            for axis, extent in zip(plain, extents, strict=True):
                surplus = shape[axis] - extent
                start = crop(surplus) if surplus >= 0 else pad(-surplus)
                if surplus >= 0:
                    taken[axis] = slice(start, start + extent)
                else:
                    placed[axis] = slice(start, start + shape[axis])
                shape[axis] = extent
            output = np.full(shape, b"" if data.dtype == object else 0, dtype=data.dtype)
            output[tuple(placed)] = data[tuple(taken)]
            return output

        return compute

    def _chosen_by(self, choose: Callable[..., Any]) -> Callable[[CallValues], Bindings]:
        def change(given: CallValues) -> Bindings:
            shape = np.array(given.shape(self.of), dtype=np.int64)
            axes = self.axes.text
            chosen = given.numbers(axes).reshape(-1) if given.has(axes) else np.arange(len(shape))
            return {self.name: choose(shape[chosen.astype(np.int64)], given.numbers(self.name))}

        return change

    def _chosen(self, scope: Partial) -> Sequence[int]:
        """The axes that the extents are of, in order, counted from the front."""
        rank, given = len(scope.shape(self.of)), scope.value(self.axes)
        return list(range(rank)) if given is None else [int(axis) % rank for axis in given]

    def _of_shape(self, shape: Sequence[int]) -> Bindings:
        return {f"shape:{self.of}": tuple(shape)}


@dataclass(frozen=True)
class _ReshapedExtents(NewExtents, SingleKind):
    """Extents of as many elements as the input has; `zero_copies` says when a 0 copies the input's extent."""

    of: InputName
    zero_copies: Expression | None = None

    def levels(self) -> tuple[Level, ...]:
        return (
            "merged",
            "same",
            "split",
            "flat",
            "regrouped",
            "longer",
            "inferred",
            "copied",
            "copied_inferred",
        )

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        shape = list(scope.shape(self.of))
        count = prod(shape)
        if level == "same":
            yield shape
        elif level == "merged" and len(shape) > 1:
            place = draw.integer(0, len(shape) - 2)
            yield [*shape[:place], shape[place] * shape[place + 1], *shape[place + 2 :]]
        elif level == "flat":
            yield [count]
        elif level == "split":
            yield from self._split(shape, draw)
        elif level == "regrouped" and len(shape) > 1 and sorted(shape) != shape:
            yield sorted(shape)
        elif level == "longer":
            yield [1, *shape, 1]
        elif level == "inferred" and count:
            found = shape or [1]
            place = draw.integer(0, len(found) - 1)
            yield [*found[:place], -1, *found[place + 1 :]]
        elif level in ("copied", "copied_inferred") and self._copies(scope) and shape and count:
            yield from self._copied(shape, level == "copied_inferred", draw)

    @staticmethod
    def _split(shape: list[int], draw: Draw) -> Iterator[list[int]]:
        for place in draw.shuffled(range(len(shape))):
            factors = [each for each in range(2, shape[place]) if shape[place] % each == 0]
            if factors:
                factor = draw.choice(factors)
                yield [*shape[:place], factor, shape[place] // factor, *shape[place + 1 :]]

    @staticmethod
    def _copied(shape: list[int], inferred: bool, draw: Draw) -> Iterator[list[int]]:
        place = draw.integer(0, len(shape) - 1)
        if not inferred:
            yield [*shape[:place], 0, *shape[place + 1 :]]
        elif len(shape) > 1:
            other = (place + 1) % len(shape)
            yield [0 if at == place else -1 if at == other else extent for at, extent in enumerate(shape)]

    def rules(self) -> Iterable[Constraint]:
        name = self.name
        yield self.rule(f"{name}_extents", f"all(each >= -1 for each in {name})", self.given)
        yield self.rule(
            f"{name}_inferred_once", f"sum([1 for each in {name} if each == -1]) <= 1", self.given
        )
        copies = "True" if self.zero_copies is None else self.zero_copies.text
        inside = f"all(each != 0 or at < rank({self.of}) for at, each in enumerate({name}))"
        yield self.rule(f"{name}_copies_an_axis", inside, self._and(copies))
        total = f"reshapes(shape({self.of}), {name}, {copies})"
        yield self.rule(f"{name}_total", total, self.given, otherwise="undefined")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape = list(scope.shape(self.of))
        count = prod(shape)
        for value in (-2, -(2**31)):
            yield f"{self.name}_extents", {self.name: [count, value]}
        yield f"{self.name}_inferred_once", {self.name: [-1, -1]}
        yield f"{self.name}_copies_an_axis", {self.name: [*shape, 0]}
        yield f"{self.name}_total", {self.name: [count + 1]}
        if count > 1:
            yield f"{self.name}_total", {self.name: [-1, count + 1]}
            yield f"{self.name}_total", {self.name: []}

    def changes(self) -> Iterable[KindChange]:
        name = self.name
        yield ValueChange(f"{name} without ones", f"extents of 1 in {name} left out", self._without_ones)
        text = "elements in the order in which the first axis runs fastest"
        yield ResultChange(f"{name} first axis fastest", text, self.of, self._first_axis_fastest)

    def _without_ones(self, given: CallValues) -> Bindings:
        target = given.numbers(self.name)
        if not (target > 1).any() or 0 in target:
            raise ValueError("places or numbers of elements that hang on the ones")
        return {self.name: target[target != 1]}

    def _first_axis_fastest(self, given: CallValues) -> NDArray[Any]:
        data, target = given.numbers(self.of), given.numbers(self.name).tolist()
        if 0 in target or target.count(-1) > 1:
            raise ValueError("copied extents, or several that are inferred")
        return data.reshape(target, order="F")

    def _copies(self, scope: Partial) -> bool:
        return self.zero_copies is None or bool(scope.value(self.zero_copies))

    def _and(self, condition: str) -> str:
        return condition if self.given is None else f"{self.given} and ({condition})"


NewExtents.variants = {"cropped": _CroppedExtents, "reshaped": _ReshapedExtents}

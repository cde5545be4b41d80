"""The inverse of a pool: kernel, strides, pads and the output's shape, and where each element belongs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import CallValues, InputName, Kind, KindChange, Level, ValueChange
from specs.language.functions.sliding_windows import unpooled
from specs.model.spec import Constraint

_NAMES = ("kernel_shape", "strides", "pads", "output_shape")
_STRIDES: tuple[Level, ...] = ("kernel", OMITTED, "beyond")


@dataclass(frozen=True)
class Unpooling(Kind):
    """The indices of this name into the output, for each element of an input whose first axes are N, C.

    It covers kernel_shape, strides, pads and output_shape as well, as far as the version has them.
    """

    of: InputName

    @property
    def covers(self) -> tuple[str, ...]:
        return (*(name for name in _NAMES if self.subject.has(name)), self.name)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shape:{self.of}"})

    @property
    def most_elements(self) -> int:
        return 60

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            self.name: ("in_windows", "anywhere", "reversed"),
            "kernel_shape": ("different", "equal", "one"),
            "strides": _STRIDES,
            "pads": (OMITTED, "zero", "begin", "end", "mixed"),
            "output_shape": (OMITTED, "exact"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if levels["pads"] in ("begin", "end", "mixed") and levels["kernel_shape"] == "one":
            return
        if levels["output_shape"] != OMITTED and levels["pads"] != OMITTED:
            return  # the text ignores one of them
        shape = scope.shape(self.of)
        rank = len(shape) - 2
        if levels["kernel_shape"] == "different" and rank < 2:
            return
        kernel = {"different": [2 + at for at in range(rank)], "equal": [2] * rank}.get(
            str(levels["kernel_shape"]), [1] * rank
        )
        more = {"kernel": 0, "beyond": 1}.get(str(levels["strides"]))
        strides = [1] * rank if more is None else [length + more for length in kernel]
        begin, end = int(levels["pads"] == "begin"), int(levels["pads"] == "end")
        pads = [begin] * rank + [end] * rank
        if levels["pads"] == "mixed":  # before the first axis and behind the last one
            pads[0], pads[-1] = 1, 2
        full = unpooled(shape, kernel, strides, pads)
        if min(full[2:], default=1) < 1:
            return
        indices = self._indices(levels[self.name], shape, full, strides, kernel, draw)
        if indices is None:
            return
        found: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": None if levels["strides"] == OMITTED else strides,
            "pads": None if levels["pads"] == OMITTED else pads,
            "output_shape": None if levels["output_shape"] == OMITTED else full,
            self.name: indices,
        }
        yield {name: found[name] for name in self.covers}

    @staticmethod
    def _indices(
        level: Level,
        shape: Sequence[int],
        room: Sequence[int],
        strides: Sequence[int],
        kernel: Sequence[int],
        draw: Draw,
    ) -> NDArray[np.int64] | None:
        """Places in the output, different from each other, of the same image and channel; None if too few."""
        per_plane, plane = prod(shape[2:]), prod(room[2:])
        if per_plane > plane:
            return None
        found = np.zeros((shape[0] * shape[1], per_plane), dtype=np.int64)
        for number in range(len(found)):
            if level == "in_windows":
                chosen = _in_windows(shape[2:], room[2:], strides, kernel, draw)
            else:
                chosen = sorted(draw.shuffled(range(plane))[:per_plane], reverse=level == "reversed")
            found[number] = [each + number * plane for each in chosen]
        return found.reshape(tuple(shape))

    def rules(self) -> Iterable[Constraint]:
        count, name = f"(rank({self.of}) - 2)", self.name
        yield self.rule("kernel_shape_length", f"len(kernel_shape) == {count}", about="kernel_shape")
        yield self.rule("kernel_positive", "all(each > 0 for each in kernel_shape)", about="kernel_shape")
        for word, times, low in (("strides", "", 1), ("pads", "2 * ", 0)):
            given = f"present({word})"
            yield self.rule(f"{word}_length", f"len({word}) == {times}{count}", given, about=word)
            sign = "positive" if low else "not_negative"
            yield self.rule(f"{word}_{sign}", f"all(each >= {low} for each in {word})", given, about=word)
        lengths = f"unpooled(shape({self.of}), kernel_shape, strides, pads)"
        yield self.rule("output_is_there", f"all(each > 0 for each in {lengths}[2:])", about="pads")
        same = f"len(output_shape) == rank({self.of})"
        yield self.rule("output_shape_length", same, "present(output_shape)", about="output_shape")
        # No text says in which of two shapes the indices count.
        plain = f"unpooled(shape({self.of}), kernel_shape, strides, None)"
        agrees = f"len(output_shape) != rank({self.of}) or [each for each in output_shape] == {plain}"
        yield self.rule("output_shape_agrees", agrees, "present(output_shape)", otherwise="undefined")
        total = f"prod(output_shape if present(output_shape) else {lengths})"
        ends = f"min(values({name})) >= 0 and max(values({name})) < {total}"
        yield self.rule(f"{name}_range", f"len(values({name})) == 0 or {ends}")
        apart = f"len(set(values({name}))) == len({name})"
        yield self.rule(f"{name}_distinct", apart, otherwise="undefined")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        kernel = list(scope.find("kernel_shape"))
        rank = len(kernel)
        yield "kernel_shape_length", {"kernel_shape": [*kernel, 1]}
        # Strides that leave room for the indices all the same.
        wide = {"strides": [9] * rank, "pads": None, "output_shape": None}
        yield "kernel_positive", {**wide, "kernel_shape": [0, *kernel[1:]]}
        yield "strides_length", {"strides": [2] * (rank + 1)}
        yield "strides_positive", {"strides": [0] * rank}
        yield "pads_length", {"pads": [0] * (2 * rank + 1)}
        yield "pads_not_negative", {"pads": [-1] + [0] * (2 * rank - 1)}
        yield "output_is_there", {"pads": [99] * 2 * rank}
        yield "output_shape_length", {"output_shape": [99] * (rank + 1)}
        larger = [each + 1 for each in unpooled(scope.shape(self.of), kernel, None, None)]
        yield "output_shape_agrees", {"output_shape": larger, "strides": None, "pads": None}
        given = np.array(scope.find(self.name))
        for value in (-1, 2**31 - 1):
            wrong = given.copy()
            wrong.reshape(-1)[-1:] = value
            yield f"{self.name}_range", {self.name: wrong}
        if given.size > 1:
            yield f"{self.name}_distinct", {self.name: np.zeros_like(given)}

    def changes(self) -> Iterable[KindChange]:
        name = self.name
        text = f"{name} counted within a plane whose first axis runs fastest"
        yield ValueChange(f"{name} first axis fastest", text, self._first_axis_fastest)
        yield ValueChange(f"{name} from one", f"{name} counted from 1", self._from_one)
        text = f"the elements in the order of {name}"
        yield ValueChange(f"{name} in order", text, self._in_order)

    def _first_axis_fastest(self, given: CallValues) -> Bindings:
        places, spatial = given.numbers(self.name), self._room(given)[2:]
        plane = max(prod(spatial), 1)
        found = np.unravel_index(places % plane, spatial, order="F")
        return {self.name: places // plane * plane + np.ravel_multi_index(found, spatial)}

    def _from_one(self, given: CallValues) -> Bindings:
        return {self.name: given.numbers(self.name) - 1}

    def _in_order(self, given: CallValues) -> Bindings:
        places = given.numbers(self.name)
        ordered = sorted(places.reshape(-1).tolist())
        return {self.name: np.array(ordered, dtype=np.int64).reshape(places.shape)}

    def _room(self, given: CallValues) -> tuple[int, ...]:
        """The shape of the output."""
        if given.has("output_shape"):
            return tuple(int(number) for number in given.numbers("output_shape"))
        kernel, strides, pads = (
            given.numbers(each).tolist() if given.has(each) else None
            for each in ("kernel_shape", "strides", "pads")
        )
        return tuple(unpooled(given.shape(self.of), kernel or [], strides, pads))


def _in_windows(
    places: Sequence[int], room: Sequence[int], strides: Sequence[int], kernel: Sequence[int], draw: Draw
) -> list[int]:
    """For each place one of its window's elements that no other has; any free one where there is none."""
    taken: dict[int, None] = {}
    for place in product(*map(range, places)):
        inside = [
            [at for at in range(p * s, p * s + k) if at < most] or [most - 1]
            for p, s, k, most in zip(place, strides, kernel, room, strict=True)
        ]
        wanted = [int(np.ravel_multi_index(each, tuple(room))) for each in product(*inside)]
        free = [each for each in draw.shuffled(wanted) if each not in taken]
        free = free or [each for each in range(prod(room)) if each not in taken]
        taken[free[0]] = None
    return list(taken)

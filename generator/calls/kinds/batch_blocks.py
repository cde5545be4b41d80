"""Blocks of space that lie in the batch: the sizes of a block, and what is cropped when they are put back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, Kind, Level, ValueChange
from generator.calls.variables.vector_lengths import MANY
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_NAMES = ("block_shape", "crops")
_BLOCKS: Mapping[Level, tuple[int, ...]] = {
    "different": (3, 2, 1),
    "equal": (2, 2, 2),
    "one_first": (1, 3, 2),
    "one_last": (2, 3, 1),
    "ones": (1, 1, 1),
}
_EXTENTS: Mapping[Level, tuple[int, ...]] = {"different": (2, 3, 4), "ones": (1, 1, 1)}
Crops = Sequence[Sequence[int]]
_NO_ROWS = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class BatchBlocks(Kind):
    """It covers block_shape and crops, and binds the batch that they divide and the extents of the space."""

    batch: Expression
    space: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return _NAMES

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.batch.text, self.space.text)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "spatial": (2, 1, 3),
            "blocks": tuple(_BLOCKS),
            "spatial_extents": tuple(_EXTENTS),
            "batch": ("several", "one_block"),
            "crops": ("both", "none", "begin", "end", "all_but_one"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        count = int(levels["spatial"])
        if count == 1 and levels["blocks"] in ("one_first", "one_last"):
            return
        blocks = list(_BLOCKS[levels["blocks"]][:count])
        if levels["blocks"] == "one_last":
            blocks[-1] = 1
        space = draw.shuffled(_EXTENTS[levels["spatial_extents"]][:count])
        crops = [_crop(levels["crops"], *each) for each in zip(space, blocks, strict=True)]
        if levels["crops"] == "both" and not any(end for _, end in crops) and count > 1:
            crops[-1] = crops[-1][::-1]
        shown = [any(begin for begin, _ in crops), any(end for _, end in crops)]
        if {"none": True, "both": all(shown)}.get(str(levels["crops"]), any(shown)):
            images = 1 if levels["batch"] == "one_block" else draw.integer(2, 3)
            yield self._bound(images * prod(blocks), space, blocks, crops)

    def rules(self) -> Iterable[Constraint]:
        blocks, crops = "values(block_shape)", "values(crops)"
        yield self.rule("block_shape_rank", "rank(block_shape) == 1", about="block_shape")
        yield self.rule("block_sizes_at_least_1", f"all(each >= 1 for each in {blocks})", about="block_shape")
        yield self.rule("crops_shape", f"shape(crops) == [len({blocks}), 2]", about="crops")
        yield self.rule("crops_not_negative", f"all(each >= 0 for each in {crops})", about="crops")
        whole = f"all(each >= 1 for each in {blocks}) and rank(input) > len({blocks})"
        fits = f"all({crops}[2 * i] + {crops}[2 * i + 1] <= {blocks}[i] * shape(input)[i + 1]"
        inside = f"{fits} for i in range(len({blocks})))"
        yield self.rule("crops_within_the_dimension", inside, whole, about="crops")
        divides = f"shape(input)[0] % prod({blocks}) == 0"
        yield self.rule("batch_divides", divides, whole, about="block_shape")

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        calls: tuple[tuple[str, int, list[int], list[int], Crops], ...] = (
            ("no_spatial_dimension", 3, [], [], ()),
            ("four_dimensions", 24, [2, 1, 2, 1], [2, 3, 2, 2], ((1, 0), (0, 2), (1, 1), (0, 1))),
            ("no_batch", 0, [2, 3], [2, 2], ((0, 1), (1, 0))),
            ("no_spatial_elements", 4, [0, 3], [2, 2], ((0, 0), (1, 2))),
            ("cropped_to_nothing", 4, [2, 3], [2, 2], ((1, 3), (0, 0))),
            ("cropped_to_nothing_at_begin", 6, [2], [3], ((6, 0),)),
            ("cropped_to_nothing_at_end", 6, [2], [3], ((0, 6),)),
            ("all_cropped_to_nothing", 4, [1, 1], [2, 2], ((1, 1), (2, 0))),
            ("one_element_left", 6, [2, 2], [3, 2], ((3, 2), (0, 3))),
            ("one_element", 1, [1], [1], ((0, 0),)),
            ("blocks_of_one", 2, [3, 4], [1, 1], ((1, 1), (0, 3))),
            ("long_block", 64, [2], [64], ((63, 1),)),
            ("crop_of_whole_blocks", 6, [3], [2], ((2, 2),)),
            ("crop_inside_a_block", 6, [3], [3], ((1, 1),)),
        )
        rest = scope.shape("input")[1 + len(scope.find("block_shape")) :]
        for word, batch, space, blocks, crops in calls:
            yield word, self._with_input((batch, *space, *rest), blocks, crops)
        yield "many_elements", self._with_input((2, (MANY + 1) // 2), [2], ((1, 0),))
        yield "batch_alone", self._with_input((3,), [], ())

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        blocks, crops = [int(each) for each in scope.find("block_shape")], _rows(scope.find("crops"))
        space = scope.shape("input")[1 : 1 + len(blocks)]
        none = [[0, 0] for _ in blocks]
        yield "block_shape_rank", {"block_shape": [blocks]}
        for value in (0, -blocks[0], -3):
            smaller = {"block_shape": [value, *blocks[1:]], "crops": [[0, 0], *crops[1:]]}
            yield "block_sizes_at_least_1", smaller
        for shape in (
            [*crops, [0, 0]],
            crops[:-1],
            [[*each, 0] for each in crops],
            [each for pair in crops for each in pair],
        ):
            yield "crops_shape", {"crops": shape}
        most = space[0] * blocks[0]
        for pair in ([-1, 0], [0, -1], [most + 1, -2]):
            yield "crops_not_negative", {"crops": [pair, *crops[1:]]}
        # Twice the greatest number of 32 and of 64 bits is less than 0 there.
        ends = ([2**31 - 1] * 2, [2**63 - 1] * 2)
        for pair in (*ends, [most + 1, 0], [0, most + 1], [most, 1]):
            yield "crops_within_the_dimension", {"crops": [pair, *none[1:]]}
        yield "input_shape", {"shape:input": scope.shape("input")[: len(blocks)]}
        for batch in (1, prod(blocks) - 1, prod(blocks) + 1):
            yield "batch_divides", {"shape:input": (batch, *scope.shape("input")[1:])}

    def changes(self) -> Iterable[ValueChange]:
        for word, text, order in _ORDERS:
            yield ValueChange(f"crops {word}", text, _cropped_by(order))
        innermost = "the batch as [batch, blocks] in place of [blocks, batch]"
        yield ValueChange("batch blocks innermost", innermost, lambda given: _reordered(given, inside=True))
        around = "the blocks of the batch in reverse order of the axes"
        yield ValueChange("batch blocks reversed", around, lambda given: _reordered(given, inside=False))

    def _bound(self, batch: int, space: Sequence[int], blocks: Sequence[int], crops: Crops) -> Bindings:
        return {
            self.batch.text: batch,
            self.space.text: list(space),
            "block_shape": list(blocks),
            "crops": _rows(crops),
        }

    def _with_input(self, shape: tuple[int, ...], blocks: list[int], crops: Crops) -> Bindings:
        batch, space = shape[0], shape[1 : 1 + len(blocks)]
        return {**self._bound(batch, space, blocks, crops), "shape:input": shape}


_ORDERS: tuple[tuple[str, str, Callable[[NDArray[Any]], NDArray[Any]]], ...] = (
    ("ignored", "crops ignored", np.zeros_like),
    ("exchanged", "the crops of begin and end exchanged", lambda crops: crops[:, ::-1]),
    ("axes reversed", "the crops of the axes in reverse order", lambda crops: crops[::-1]),
    ("transposed", "crops read as begins, then ends", lambda crops: crops.reshape(2, -1).T),
    ("begin alone", "the crops of the end ignored", lambda crops: crops * np.array([1, 0])),
    ("end alone", "the crops of the begin ignored", lambda crops: crops * np.array([0, 1])),
)


def _cropped_by(order: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[CallValues], Bindings]:
    return lambda given: {"crops": order(given.numbers("crops").reshape(-1, 2))}


def _reordered(given: CallValues, *, inside: bool) -> Bindings:
    """The images taken in another order: the blocks within each image, or their axes in reverse order."""
    blocks = [int(each) for each in given.numbers("block_shape").reshape(-1)]
    images = given.numbers("input")
    rest = images.shape[0] // max(prod(blocks), 1)
    if inside:
        order = np.arange(images.shape[0]).reshape(rest, prod(blocks)).T
    else:
        places = np.arange(images.shape[0]).reshape(*reversed(blocks), rest)
        order = places.transpose(*reversed(range(len(blocks))), len(blocks))
    return {"input": images[order.reshape(-1)]}


def _rows(crops: Any) -> Any:
    """Crops as rows of two; of no dimension none, which still have two columns."""
    rows = [[int(each) for each in row] for row in crops]
    return rows or _NO_ROWS


def _crop(level: Level, extent: int, block: int) -> tuple[int, int]:
    """How much is cropped at the beginning and the end of a dimension; at least one element stays."""
    spare = extent * block - 1
    return {
        "none": (0, 0),
        "begin": (min(1, spare), 0),
        "end": (0, min(1, spare)),
        "both": (min(1, spare), min(2, max(0, spare - 1))),
        "all_but_one": (spare // 2, spare - spare // 2),
    }[str(level)]

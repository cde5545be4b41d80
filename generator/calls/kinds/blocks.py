"""Blocks of space: those of an image, patches of one, blocks that lie in the batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import combinations
from math import prod
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import CallValues, Kind, Level, Misreading, ValueChange, misread_as
from generator.calls.variables.vector_lengths import MANY
from specs.language.expressions import Expression
from specs.language.functions.sliding_windows import block_count
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Blocks(Kind):
    """Blocks of space, and the extents of it: those of an `image`, `patches` of one, in the `batch`."""

    @property
    def binds(self) -> tuple[str, ...]:
        return tuple(getattr(self, field.name).text for field in fields(self) if field.name != "subject")


_NAMES = ("image_shape", "block_shape", "strides", "pads", "dilations")


@dataclass(frozen=True)
class _ImageBlocks(Blocks):
    """It covers image_shape, block_shape, strides, pads and dilations, and binds `count`, the blocks."""

    count: Expression

    covered: ClassVar[tuple[str, ...]] = _NAMES

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "image_rank": (2, 3),
            "block_shape": ("different", "equal", "one", "whole"),
            "remainder": ("none", "some"),
            "strides": (OMITTED, "one", "some", "beyond"),
            "pads": (OMITTED, "zero", "begin", "end", "both"),
            "dilations": (OMITTED, "one", "some"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if levels["remainder"] == "some" and levels["strides"] in (OMITTED, "one"):
            return
        rank = int(levels["image_rank"])
        begin, end = (int(levels["pads"] in (word, "both")) for word in ("begin", "end"))
        dilation = 2 if levels["dilations"] == "some" else 1
        for turn in range(8):
            stream = draw.child(str(turn))
            block = [stream.integer(2, 3)] * rank
            if levels["block_shape"] == "different":
                block = [1 + (at + turn) % 3 for at in range(rank)]
            elif levels["block_shape"] == "one":
                block = [1] * rank
            reach = [(each - 1) * dilation + 1 for each in block]
            step = {"some": 2, "beyond": max(reach) + 1}.get(str(levels["strides"]), 1)
            if levels["block_shape"] == "whole":
                image = [max(each - begin - end, 1) for each in reach]
            else:
                more = [step * stream.integer(1, 2) for _ in range(rank)]
                if rank > 2:  # the image grows with all of them
                    more = [step if at else 0 for at in range(rank)]
                image = [max(reach[at] + more[at] - begin - end, 1) for at in range(rank)]
            if levels["remainder"] == "some":
                image = [each + 1 for each in image]
            room = [image[at] + begin + end - reach[at] for at in range(rank)]
            left = any(each % step for each in room)
            if min(room) < 0 or left != (levels["remainder"] == "some"):
                continue
            values = ([step] * rank, [begin] * rank + [end] * rank, [dilation] * rank)
            listed = zip(_NAMES[2:], values, strict=True)
            given = {name: None if levels[name] == OMITTED else numbers for name, numbers in listed}
            count = block_count(image, block, *values)
            yield {"image_shape": image, "block_shape": block, **given, self.count.text: count}

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("image_rank", "len(image_shape) >= 2", about="image_shape")
        yield self.rule("image_positive", "all(each > 0 for each in image_shape)", about="image_shape")
        same = "len(block_shape) == len(image_shape)"
        yield self.rule("block_rank", same, about="block_shape")
        yield self.rule("block_positive", "all(each > 0 for each in block_shape)", about="block_shape")
        for name, times, low in (("strides", "", 1), ("dilations", "", 1), ("pads", "2 * ", 0)):
            given = f"present({name})"
            yield self.rule(f"{name}_length", f"len({name}) == {times}len(image_shape)", given, about=name)
            word = "positive" if low else "not_negative"
            yield self.rule(f"{name}_{word}", f"all(each >= {low} for each in {name})", given, about=name)
        count = f"shape(input)[2] == block_count({', '.join(_NAMES)})"
        yield self.rule("as_many_blocks", count, "rank(input) == 3", about="image_shape")

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        row = {"image_shape": [1, MANY], "block_shape": [1, 2], "shape:input": (1, 2, MANY - 1)}
        yield f"row_of_{MANY}", {**row, **dict.fromkeys(_NAMES[2:])}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        image, block = list(scope.find("image_shape")), list(scope.find("block_shape"))
        rank = len(image)
        flat, blocks = prod(block), int(scope.find(self.count.text))
        one_axis = {"image_shape": [flat + blocks - 1], "block_shape": [flat]}
        yield "image_rank", {**one_axis, **dict.fromkeys(_NAMES[2:])}
        yield "image_positive", {"image_shape": [0, *image[1:]]}
        yield "block_rank", {"block_shape": [*block, 1]}
        yield "block_positive", {"block_shape": [-1, -block[0] * block[1], *block[2:]]}
        for name, plain in (("strides", [1] * rank), ("dilations", [1] * rank), ("pads", [0] * 2 * rank)):
            yield f"{name}_length", {name: [*plain, plain[0]]}
            yield f"{name}_length", {name: plain[1:]}
            word = "not_negative" if name == "pads" else "positive"
            yield f"{name}_{word}", {name: [-1, *plain[1:]]}
        yield "as_many_blocks", {"image_shape": [each + 7 for each in image]}

    def changes(self) -> Iterable[ValueChange]:
        yield _exchange("strides", "dilations")
        turned = (
            "exchanged",
            "the pads of begin and end exchanged",
            lambda pads: pads.reshape(2, -1)[::-1].reshape(-1),
        )
        yield from misread_as("pads", turned)


_PAIRS = ("sizes", "strides", "rates")
_MODES: tuple[Level, ...] = ("valid", "same_upper", "same_lower")
Pair = tuple[int, int]
_SIZES: Mapping[Level, Pair] = {"square": (2, 2), "one": (1, 1), "tall": (3, 2), "wide": (1, 3)}
_STRIDES: Mapping[Level, Pair] = {"different": (2, 3), "one": (1, 1), "rows": (2, 1), "beyond": (7, 8)}
_RATES: Mapping[Level, Pair] = {"one": (1, 1), "rows": (2, 1), "columns": (1, 3), "both": (3, 2)}
_PATCHES = (3, 2)
"""Patches down and across, where there are several."""
_LONG = (15, 16, 17, 1031)
"""Lengths of a row: one shorter than a vector of four bytes each, as long, one longer, and many."""


@dataclass(frozen=True)
class _Patches(Blocks):
    """It covers sizes, strides, rates and auto_pad, and binds the extents of the image."""

    batch: Expression
    depth: Expression
    rows: Expression
    columns: Expression

    covered: ClassVar[tuple[str, ...]] = (*_PAIRS, "auto_pad")

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "sizes": tuple(_SIZES),
            "strides": tuple(_STRIDES),
            "rates": tuple(_RATES),
            "auto_pad": _MODES,
            "image": ("whole", "one_patch", "rest"),
            "depth": (3, 1),
            "batch": (2, 1),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if levels["image"] == "rest" and levels["strides"] == "one":
            return
        sizes, strides = _SIZES[levels["sizes"]], _STRIDES[levels["strides"]]
        rates = _RATES[levels["rates"]]
        extents = []
        for size, stride, rate, patches in zip(sizes, strides, rates, _PATCHES, strict=True):
            reach = 1 + (size - 1) * rate
            count = 1 if levels["image"] == "one_patch" else patches
            extent = reach + (count - 1) * stride if levels["auto_pad"] == "valid" else count * stride
            extents.append(extent + (min(1, stride - 1) if levels["image"] == "rest" else 0))
        image = (int(levels["batch"]), int(levels["depth"]), *extents)
        yield self._bound(image, sizes, strides, rates, levels["auto_pad"])

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        one = (1, 1)
        calls: tuple[tuple[str, tuple[int, ...], Pair, Pair, Pair, str], ...] = (
            ("no_images", (0, 2, 4, 5), (2, 2), one, one, "valid"),
            ("no_depth", (2, 0, 4, 5), (2, 2), one, one, "valid"),
            ("no_rows", (1, 2, 0, 5), (2, 2), one, one, "same_upper"),
            ("no_columns", (1, 2, 4, 0), (1, 3), (2, 1), one, "same_lower"),
            ("one_element", (1, 1, 1, 1), one, one, one, "valid"),
            ("one_element_in_padding", (1, 1, 1, 1), (2, 3), one, one, "same_upper"),
            ("one_element_in_padding_before", (1, 1, 1, 1), (2, 3), one, one, "same_lower"),
            ("patch_is_image", (2, 3, 4, 5), (4, 5), (3, 2), one, "valid"),
            ("dilated_patch_is_image", (2, 3, 5, 7), (3, 3), one, (2, 3), "valid"),
            ("patch_larger_than_image", (1, 2, 2, 3), (4, 5), (2, 2), one, "same_lower"),
            ("dilated_patch_larger_than_image", (1, 2, 3, 2), (2, 3), one, (4, 3), "same_upper"),
            ("samples_only_in_padding", (1, 1, 3, 3), (2, 2), one, (9, 9), "same_upper"),
            ("long_strides", (1, 2, 5, 4), (2, 2), (100, 100), one, "valid"),
            ("long_strides_in_padding", (1, 2, 5, 4), (2, 2), (100, 100), one, "same_upper"),
            ("stride_is_the_image", (1, 2, 5, 4), (3, 2), (5, 4), one, "same_lower"),
            ("rate_of_single_samples", (1, 2, 4, 5), one, (2, 2), (50, 50), "valid"),
            ("row", (1, 3, 1, 9), (1, 3), (1, 2), (1, 2), "same_upper"),
            ("column", (1, 3, 9, 1), (3, 1), (2, 1), (2, 1), "same_lower"),
            *((f"columns_{each}", (1, 2, 2, each), (1, 2), one, one, "same_upper") for each in _LONG),
        )
        for word, image, sizes, strides, rates, auto_pad in calls:
            yield word, {**self._bound(image, sizes, strides, rates, auto_pad), "shape:data": image}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        rows, columns = (int(scope.find(expression.text)) for expression in (self.rows, self.columns))
        for name in _PAIRS:
            first, second = (int(each) for each in scope.find(name))
            for numbers in ([first], [first, second, 1], []):
                yield f"{name}_are_two", {name: numbers}
            for pair in ([0, second], [first, 0], [-1, second], [first, -(2**31)]):
                yield f"{name}_positive", {name: pair}
        for word in ("explicit", "notset", "", "VALID"):
            yield "auto_pad_value", {"auto_pad": word}
        plain = {"auto_pad": "valid", "rates": [1, 1], "strides": [1, 1]}
        for sizes in ([rows + 1, 1], [1, columns + 1], [100, 100]):
            yield "a_patch_fits", {**plain, "sizes": sizes}
        yield "a_patch_fits", {**plain, "sizes": [2, 1], "rates": [rows, 1]}

    def changes(self) -> Iterable[ValueChange]:
        for name in ("rates", "strides"):
            yield from misread_as(name, ("ignored", "{} ignored", np.ones_like))
        text = "strides replaced by sizes"
        yield ValueChange("strides as sizes", text, lambda given: {"strides": given.numbers("sizes")})
        for first, second in combinations(_PAIRS, 2):
            yield _exchange(first, second)
        for name in _PAIRS:
            text = f"the first number of {name} for both axes"
            yield ValueChange(f"attribute {name} first", text, partial(_first_for_both, name))

    def _bound(
        self, image: Sequence[int], sizes: Pair, strides: Pair, rates: Pair, auto_pad: Level
    ) -> Bindings:
        given = {"sizes": list(sizes), "strides": list(strides), "rates": list(rates), "auto_pad": auto_pad}
        return {**dict(zip(self.binds, image, strict=True)), **given}


def _first_for_both(name: str, given: CallValues) -> Bindings:
    return {name: given.numbers(name)[[0, 0]]}


def _exchange(first: str, second: str) -> ValueChange:
    text = f"{first} and {second} exchanged"
    return ValueChange(
        f"attributes {text}", text, lambda given: {first: given.numbers(second), second: given.numbers(first)}
    )


_BLOCKS: Mapping[Level, tuple[int, ...]] = {
    "different": (3, 2, 1),
    "equal": (2, 2, 2),
    "one_first": (1, 3, 2),
    "one_last": (2, 3, 1),
    "ones": (1, 1, 1),
}
_EXTENTS: Mapping[Level, tuple[int, ...]] = {"different": (2, 3, 4), "ones": (1, 1, 1)}
Crops = Sequence[Sequence[int]]


@dataclass(frozen=True)
class _BatchBlocks(Blocks):
    """It covers block_shape and crops, and binds the batch that they divide and the extents of the space."""

    batch: Expression
    space: Expression

    covered: ClassVar[tuple[str, ...]] = ("block_shape", "crops")

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
            sizes = [value, *blocks[1:]]
            yield "block_sizes_at_least_1", {"block_shape": sizes, "crops": [[0, 0], *crops[1:]]}
        wider, flat = [[*pair, 0] for pair in crops], [amount for pair in crops for amount in pair]
        for shape in ([*crops, [0, 0]], crops[:-1], wider, flat):
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
        yield from misread_as("crops", *_ORDERS)
        text = "the batch as [batch, blocks] in place of [blocks, batch]"
        yield ValueChange("batch blocks innermost", text, partial(_reordered, inside=True))
        text = "the blocks of the batch in reverse order of the axes"
        yield ValueChange("batch blocks reversed", text, partial(_reordered, inside=False))

    def _bound(self, batch: int, space: Sequence[int], blocks: Sequence[int], crops: Crops) -> Bindings:
        bound = {self.batch.text: batch, self.space.text: list(space)}
        return {**bound, "block_shape": list(blocks), "crops": _rows(crops)}

    def _with_input(self, shape: tuple[int, ...], blocks: list[int], crops: Crops) -> Bindings:
        return {**self._bound(shape[0], shape[1 : 1 + len(blocks)], blocks, crops), "shape:input": shape}


_ORDERS: tuple[Misreading, ...] = (
    ("ignored", "crops ignored", np.zeros_like),
    ("exchanged", "the crops of begin and end exchanged", lambda crops: crops[:, ::-1]),
    ("axes reversed", "the crops of the axes in reverse order", lambda crops: crops[::-1]),
    ("transposed", "crops read as begins, then ends", lambda crops: crops.reshape(2, -1).T),
    ("begin alone", "the crops of the end ignored", lambda crops: crops * np.array([1, 0])),
    ("end alone", "the crops of the begin ignored", lambda crops: crops * np.array([0, 1])),
)


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
    return [[int(each) for each in row] for row in crops] or np.zeros((0, 2), dtype=np.int64)


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


Blocks.variants = {"image": _ImageBlocks, "patches": _Patches, "batch": _BatchBlocks}

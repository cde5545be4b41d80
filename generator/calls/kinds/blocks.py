"""Blocks of an image, as many as a window has places: image and block shape, strides, pads, dilations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import CallValues, Kind, KindChange, Level, ValueChange
from generator.calls.variables.vector_lengths import MANY
from specs.language.expressions import Expression
from specs.language.functions.sliding_windows import block_count
from specs.model.spec import Constraint

_NAMES = ("image_shape", "block_shape", "strides", "pads", "dilations")


@dataclass(frozen=True)
class Blocks(Kind):
    """It covers image_shape, block_shape, strides, pads and dilations, and binds `count`, the blocks."""

    count: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return _NAMES

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.count.text,)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

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
            values: dict[str, Any] = {
                "strides": [step] * rank,
                "pads": [begin] * rank + [end] * rank,
                "dilations": [dilation] * rank,
            }
            given = {name: None if levels[name] == OMITTED else each for name, each in values.items()}
            count = block_count(image, block, values["strides"], values["pads"], values["dilations"])
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
        told = "image_shape, block_shape, strides, pads, dilations"
        count = f"shape(input)[2] == block_count({told})"
        yield self.rule("as_many_blocks", count, "rank(input) == 3", about="image_shape")

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        plain = dict.fromkeys(("strides", "pads", "dilations"))
        yield (
            f"row_of_{MANY}",
            {"image_shape": [1, MANY], "block_shape": [1, 2], **plain, "shape:input": (1, 2, MANY - 1)},
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        image, block = list(scope.find("image_shape")), list(scope.find("block_shape"))
        rank = len(image)
        flat, plain_lists = prod(block), {"strides": None, "pads": None, "dilations": None}
        blocks = int(scope.find(self.count.text))
        one_axis = {"image_shape": [flat + blocks - 1], "block_shape": [flat]}
        yield "image_rank", {**one_axis, **plain_lists}
        yield "image_positive", {"image_shape": [0, *image[1:]]}
        yield "block_rank", {"block_shape": [*block, 1]}
        yield "block_positive", {"block_shape": [-1, -block[0] * block[1], *block[2:]]}
        for name, plain in (("strides", [1] * rank), ("dilations", [1] * rank), ("pads", [0] * 2 * rank)):
            yield f"{name}_length", {name: [*plain, plain[0]]}
            yield f"{name}_length", {name: plain[1:]}
            word = "not_negative" if name == "pads" else "positive"
            yield f"{name}_{word}", {name: [-1, *plain[1:]]}
        yield "as_many_blocks", {"image_shape": [each + 7 for each in image]}

    def changes(self) -> Iterable[KindChange]:
        def exchanged(first: str, second: str) -> Callable[[CallValues], Bindings]:
            return lambda given: {first: given.numbers(second), second: given.numbers(first)}

        def ends_first(given: CallValues) -> Bindings:
            return {"pads": given.numbers("pads").reshape(2, -1)[::-1].reshape(-1)}

        text = "strides and dilations exchanged"
        yield ValueChange(f"attributes {text}", text, exchanged("strides", "dilations"))
        yield ValueChange("pads exchanged", "the pads of begin and end exchanged", ends_first)

"""Operators that move elements, one after the other: what two of them come to together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generator.models.chains.chains import Chain, Weaver, different, integers


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain of operators that move elements."""
    yield from _turns(w)
    yield from _reshapes(w)
    yield from _slices(w)
    yield from _splits(w)
    yield from _pads(w)


def _turns(w: Weaver) -> Iterator[Chain]:
    for one, other in (
        ([1, 2, 0], [2, 0, 1]),
        ([1, 2, 0], [1, 2, 0]),
        ([0, 2, 1], [1, 0, 2]),
        ([2, 1, 0], [2, 1, 0]),
    ):
        w.node("Transpose", w.node("Transpose", w.given(different("x", 3, 3, 3)), perm=one), perm=other)
        yield w.end(
            "transpose_transpose", "the second turns what the first has turned", perms=f"{one} {other}"
        )
    w.node("Transpose", w.node("Transpose", w.given(different("x", 2, 3, 4))))
    yield w.end("transpose_transpose", "without perm the axes are reversed", perms="none")
    for place, operator in enumerate(("Unsqueeze", "Squeeze")):
        x = w.given(different("x", 2, 1, 3, 1))
        w.node(operator, w.node("Transpose", x, perm=[3, 0, 2, 1]), integers(0 if place else 1))
        yield w.end(f"transpose_{operator.lower()}", "axes are those of what was turned")
    for axes in ((1, 1), (0, 1), (2, 0), (-1, 0)):
        x = w.node("Unsqueeze", w.given(different("x", 1, 3, 1)), integers(axes[0]))
        w.node("Squeeze", x, integers(axes[1]))
        yield w.end("unsqueeze_squeeze", "another axis of length 1 is dropped than was added", axes=f"{axes}")
    w.node("Unsqueeze", w.node("Squeeze", w.given(different("x", 1, 3, 1, 2))), integers(0, 3))
    yield w.end("squeeze_unsqueeze", "without axes all of length 1 are dropped")


def _reshapes(w: Weaver) -> Iterator[Chain]:
    forms = (
        ("windows", (1, 4, 6, 2), (1, 2, 2, 2, 3, 2), [0, 1, 3, 2, 4, 5], (4, 2, 3, 2)),
        ("shuffled_channels", (1, 6, 2, 2), (1, 2, 3, 2, 2), [0, 2, 1, 3, 4], (1, 6, 2, 2)),
        ("depth_first", (1, 8, 2, 3), (1, 2, 2, 2, 2, 3), [0, 3, 4, 1, 5, 2], (1, 2, 4, 6)),
        ("column_first", (1, 8, 2, 3), (1, 2, 2, 2, 2, 3), [0, 1, 4, 2, 5, 3], (1, 2, 4, 6)),
        ("other_order", (1, 8, 2, 3), (1, 2, 2, 2, 2, 3), [0, 1, 4, 3, 5, 2], (1, 2, 4, 6)),
        ("space_to_depth", (1, 2, 4, 6), (1, 2, 2, 2, 3, 2), [0, 3, 5, 1, 2, 4], (1, 8, 2, 3)),
        ("heads", (2, 3, 4), (2, 3, 2, 2), [0, 2, 1, 3], (2, 2, 6)),
        ("joined_again", (2, 3, 4), (2, 3, 2, 2), [0, 1, 2, 3], (2, 3, 4)),
    )
    for word, start, inner, perm, end in forms:
        x = w.node("Reshape", w.given(different("x", *start)), integers(*inner))
        w.node("Reshape", w.node("Transpose", x, perm=perm), integers(*end))
        yield w.end(
            "reshape_transpose_reshape", "looks like a known rearrangement, and may be another", form=word
        )
    for first, second, allowed in (
        ((6, 4), (0, 2, 2), 0), ((4, 6), (0, -1), 0), ((2, 12), (0, 0), 0), ((3, 8), (-1, 0), 0),
        ((1, 0, 12), (0, 2, -1), 0), ((4, 2, 3), (2, 0, -1), 0), ((24,), (2, 3, 4), 0),
        ((-1, 2), (3, 0, 4), 0), ((4, -1), (2, -1), 1),
    ):  # fmt: skip
        x = w.node("Reshape", w.given(different("x", 2, 2, 6)), integers(*first))
        w.node("Reshape", x, integers(*second), **({"allowzero": allowed} if allowed else {}))
        yield w.end(
            "reshape_reshape", "a 0 stands for the extent between the two", shapes=f"{first} {second}"
        )
    x = w.node("Flatten", w.given(different("x", 2, 3, 4)), axis=2)
    w.node("Reshape", x, integers(0, 2, -1))
    yield w.end("flatten_reshape", "a 0 stands for the extent that Flatten made")
    w.node(
        "Reshape", w.node("Transpose", w.given(different("x", 1, 3, 4)), perm=[0, 2, 1]), integers(1, 3, 4)
    )
    yield w.end("transpose_reshape", "the shape is as before, the order is not")
    w.node("Reshape", w.node("Transpose", w.given(different("x", 1, 3, 1)), perm=[1, 2, 0]), integers(3))
    yield w.end("transpose_reshape", "only axes of length 1 change places: nothing moves", ones="yes")
    w.node("Transpose", w.node("Reshape", w.given(different("x", 3, 4)), integers(4, 3)), perm=[1, 0])
    yield w.end("reshape_transpose", "the shape is as before, the order is not")
    for mode in ("DCR", "CRD"):
        x = w.node("DepthToSpace", w.given(different("x", 1, 8, 2, 3)), blocksize=2, mode=mode)
        w.node("SpaceToDepth", x, blocksize=2)
        yield w.end("depth_to_space_to_depth", "only DCR is undone by SpaceToDepth", mode=mode)


def _slice(w: Weaver, value: str, start: int, end: int, axis: int, step: int = 1) -> str:
    return w.node("Slice", value, integers(start), integers(end), integers(axis), integers(step))


def _slices(w: Weaver) -> Iterator[Chain]:
    far = 1 << 40
    for one, other in (
        ((1, 9, 0, 2), (1, 3, 0, 1)), ((8, -far, 0, -1), (0, far, 0, 3)),
        ((-2, -far, 0, -2), (-1, -far, 0, -1)), ((2, far, 0, 1), (0, -1, 0, 1)),
        ((0, -3, 0, 1), (1, -1, 0, 1)), ((1, 5, 0, 1), (1, 3, 1, 1)),
        ((3, 3, 0, 1), (0, far, 0, 1)), ((0, far, 0, 3), (-2, far, 0, 1)),
    ):  # fmt: skip
        _slice(w, _slice(w, w.given(different("x", 10, 4)), *one), *other)
        yield w.end("slice_slice", "the second counts in what the first has left", slices=f"{one} {other}")
    for word, shape, span in (
        ("reversed", (-1, 2), (-1, -far, 0, -1)), ("every_second", (-1, 2), (0, far, 0, 2)),
        ("every_second_of_the_last", (2, 6), (1, far, 1, 2)), ("one_of_a_new_axis", (1, 12), (0, far, 0, 3)),
    ):  # fmt: skip
        _slice(w, w.node("Reshape", w.given(different("x", 12)), integers(*shape)), *span)
        yield w.end("reshape_slice", "steps along an axis that was not there before", part=word)
    pieces: dict[str, list[tuple[int, int]]] = {
        "whole": [(0, 2), (2, 6)], "swapped": [(2, 6), (0, 2)], "gap": [(0, 2), (3, 6)],
        "overlapping": [(0, 3), (2, 6)], "twice": [(0, 6), (0, 6)], "inner": [(1, 3), (3, 5)],
        "from_the_end": [(-6, -4), (-4, 6)],
    }  # fmt: skip
    for word, spans in pieces.items():
        fits = len({end - begin for begin, end in spans}) == 1
        for axis in (0, 1) if fits else (1,):
            x = w.given(different("x", 6, 6))
            w.node("Concat", *[_slice(w, x, *span, 1) for span in spans], axis=axis)
            why = "together they are the whole only in order, without gap, along the same axis"
            yield w.end("slice_concat", why, pieces=word, axis=str(axis))
    x = w.given(different("x", 2, 6))
    w.node("Concat", *[_slice(w, x, start, 6, 1, 2) for start in (0, 1)], axis=1)
    yield w.end("slice_concat", "steps of two, as patches are taken", pieces="every_second", axis="1")
    x = w.node("Concat", w.given(different("x", 2, 3)), w.given(different("y", 2, 3)), axis=1)
    _slice(w, x, 2, 5, 1)
    yield w.end("concat_slice", "across the seam")
    x = w.node("Concat", w.given(different("x", 2, 3)), w.given(different("y", 2, 3)), axis=1)
    _slice(w, x, 3, 6, 1)
    yield w.end("concat_slice", "the second alone", part="second")
    for first, second in (([2, 0, 1], [1, 1, -1]), ([-1, -2], [0, -1, 1])):
        x = w.node("Gather", w.given(different("x", 3, 4)), integers(*first), axis=0)
        w.node("Gather", x, integers(*second), axis=0)
        yield w.end(
            "gather_gather", "the second counts in what the first has taken", indices=f"{first} {second}"
        )
    w.node(
        "Gather", w.node("Transpose", w.given(different("x", 3, 3, 3)), perm=[2, 0, 1]), integers(2), axis=0
    )
    yield w.end("transpose_gather", "the axis is that of what was turned")


def _splits(w: Weaver) -> Iterator[Chain]:
    for word, order, axis in (("whole", (0, 1, 2), 1), ("swapped", (2, 0, 1), 1),
                              ("other_axis", (0, 1, 2), 0), ("part", (0, 2), 1),
                              ("twice", (1, 1), 1)):  # fmt: skip
        parts = w.nodes("Split", w.given(different("x", 2, 6)), integers(2, 2, 2), axis=1, outputs=3)
        w.node("Concat", *[parts[place] for place in order], axis=axis)
        yield w.end(
            "split_concat", "together they are the whole only in order, along the same axis", pieces=word
        )
    x = w.node("Concat", w.given(different("x", 2, 4)), w.given(different("y", 2, 2)), axis=1)
    parts = w.nodes("Split", x, integers(2, 4), axis=1, outputs=2)
    yield w.end("concat_split", "cut at another place than the seam")
    x = w.node("Transpose", w.given(different("x", 4, 4)), perm=[1, 0])
    parts = w.nodes("Split", x, integers(1, 3), axis=0, outputs=2)
    yield w.end("transpose_split", "the axis is that of what was turned")
    x, y = (w.node("Transpose", w.given(different(key, 2, 2, 2)), perm=[1, 2, 0]) for key in "xy")
    w.node("Concat", x, y, axis=0)
    yield w.end("transpose_concat", "the axis is that of what was turned")
    x = w.node("Transpose", w.given(different("x", 2, 2, 2)), perm=[1, 2, 0])
    y = w.node("Transpose", w.given(different("y", 2, 2, 2)), perm=[2, 0, 1])
    w.node("Concat", x, y, axis=0)
    yield w.end("transpose_concat", "turned in different ways", perms="two")


def _pads(w: Weaver) -> Iterator[Chain]:
    value = np.array(7, np.float32)
    for word, first, second in (("values", None, value), ("same", value, value), ("cropped", value, None)):
        x = w.node(
            "Pad", w.given(different("x", 2, 3)), integers(0, 1, 1, 2), *([] if first is None else [first])
        )
        pads = integers(0, -1, 0, -1) if word == "cropped" else integers(1, 0, 0, 1)
        w.node("Pad", x, pads, *([] if second is None else [second]))
        yield w.end("pad_pad", "each has its value", pads=word)
    for mode in ("edge", "reflect"):
        x = w.node("Pad", w.given(different("x", 2, 3)), integers(0, 1, 0, 1), mode=mode)
        w.node("Pad", x, integers(0, 1, 0, 1), mode=mode)
        yield w.end("pad_pad", "the second reflects what the first has added", pads=mode)
    _slice(w, w.node("Pad", w.given(different("x", 2, 3)), integers(0, 2, 0, 2), value), 1, 6, 1)
    yield w.end("pad_slice", "a part of the border stays")
    w.node("Pad", _slice(w, w.given(different("x", 2, 6)), 1, 5, 1), integers(0, 1, 0, 1))
    yield w.end("slice_pad", "what was cut away is not what is padded")
    x = w.node("Transpose", w.given(different("x", 2, 3, 2)), perm=[2, 0, 1])
    w.node("Pad", x, integers(1, 0, 0, 0, 2, 0))
    yield w.end("transpose_pad", "pads are those of what was turned")
    x = w.node("Expand", w.given(different("x", 3, 1)), integers(2, 3, 4))
    w.node("Reshape", x, integers(6, 4))
    yield w.end("expand_reshape", "expanded elements are there")
    _slice(w, w.node("Tile", w.given(different("x", 2, 3)), integers(1, 3)), 2, 8, 1, 2)
    yield w.end("tile_slice", "every second of what is repeated")

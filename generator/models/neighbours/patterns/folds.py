"""Constants that fold, operators that look like nothing, and what moves elements one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Weaver, different, integers, whole

_SPECIAL = [0.0, -0.0, 1.5, -2.0, float("inf"), -float("inf"), float("nan"), 1e-30]
_WHOLE = [7, -7, 0, 5, -1, 9]


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain of constants that fold, and of what moves elements."""
    yield from around_constants(w)
    yield from around_movement(w)


def around_constants(w: Weaver) -> Iterator[Chain]:
    """Every chain with a constant that folds or a node that may be dropped."""
    yield from _neutral(w)
    yield from _ranks(w)
    yield from _repeated(w)
    yield from _undone(w)
    yield from _folded(w)


def _neutral(w: Weaver) -> Iterator[Chain]:
    forms: tuple[tuple[str, str, float, bool, str], ...] = (
        ("add_zero", "Add", 0.0, False, "-0 + 0 is 0, which is not -0"),
        ("add_minus_zero", "Add", -0.0, False, "-0 is what adds nothing"),
        ("sub_zero", "Sub", 0.0, False, "x - 0 is x, -0 as well"),
        ("zero_sub", "Sub", 0.0, True, "0 - x is not -x where x is 0"),
        ("mul_one", "Mul", 1.0, False, "NaN stays NaN"),
        ("mul_minus_one", "Mul", -1.0, False, "0 becomes -0"),
        ("mul_zero", "Mul", 0.0, False, "NaN and infinity times 0 are NaN, what is negative becomes -0"),
        ("div_one", "Div", 1.0, False, "x / 1 is x"),
        ("zero_div", "Div", 0.0, True, "0 / 0 is NaN"),
        ("pow_one", "Pow", 1.0, False, "x to the 1 is x"),
        ("pow_zero", "Pow", 0.0, False, "whatever it is, to the 0 it is 1"),
    )
    for word, operator, number, first, why in forms:
        x = w.node("Neg", w.given(np.array(_SPECIAL, np.float32)))
        constant = w.constant(np.array(number, np.float32))
        y = w.node(operator, *((constant, x) if first else (x, constant)))
        w.node("Reshape", y, np.array([2, 4], np.int64))
        yield w.end(f"neg_{word}", why)
    for operator, number in (("Mul", 0), ("Add", 0), ("Mul", 1), ("Div", 1), ("Sub", 0)):
        x = w.node("Neg", w.given(np.array(_WHOLE, np.int32)))
        w.node(operator, x, np.array(number, np.int32))
        yield w.end(f"neg_{operator.lower()}_{number}", "nothing is left of it, or all", numbers="whole")
    for operator, why in (
        ("Sub", "inf - inf is NaN"),
        ("Div", "0 / 0 is NaN"),
        ("Equal", "NaN is not equal to itself"),
    ):
        x = w.node("Neg", w.given(np.array(_SPECIAL, np.float32)))
        w.node(operator, x, x)
        yield w.end(f"neg_{operator.lower()}_itself", why)


def _ranks(w: Weaver) -> Iterator[Chain]:
    for operator, number in (("Add", 0), ("Mul", 1), ("Sub", 0), ("Div", 1)):
        for shape in ((1,), (1, 1, 1), (2, 1, 1), (3, 4), (2, 3, 4)):
            x = w.node("Relu", w.given(whole("x", 3, 4)))
            w.node(operator, x, np.full(shape, number, np.float32))
            why = "what changes no number may broadcast, and give a rank more"
            yield w.end(f"relu_{operator.lower()}_neutral", why, shape=f"{shape}")
    for operator, number in (("Add", 0), ("Mul", 1), ("Sub", 0), ("Div", 1), ("Add", 2), ("Sub", 2)):
        for shape in ((1, 1, 1), (2, 1, 1)):
            x = w.node("Transpose", w.given(whole("x", 4, 3)), perm=[1, 0])
            w.node(operator, x, np.full(shape, number, np.float32))
            why = "turned afterwards instead, it turns axes that the constant has added"
            yield w.end(f"transpose_{operator.lower()}_rank", why, shape=f"{shape}", number=str(number))
    for shape in ((3, 4), (2, 3, 4), (1, 3, 4), (1, 1)):
        x = w.node("Relu", w.given(whole("x", 3, 4)))
        w.node("Expand", x, np.array(shape, np.int64))
        yield w.end("relu_expand", "only to its own shape is it nothing", shape=f"{shape}")


def _repeated(w: Weaver) -> Iterator[Chain]:
    low, high = np.array(-1, np.float32), np.array(3, np.float32)
    data = np.array([0.0, -0.0, -0.5, -3.0, 2.0, 5.0, 0.5], np.float32)
    forms: tuple[tuple[str, tuple[tuple[str, tuple[Any, ...]], ...], str], ...] = (
        ("relu_relu", (("Relu", ()), ("Relu", ())), "twice is once"),
        ("abs_abs", (("Abs", ()), ("Abs", ())), "twice is once"),
        ("neg_neg", (("Neg", ()), ("Neg", ())), "twice is nothing"),
        ("abs_neg", (("Neg", ()), ("Abs", ())), "the sign is gone"),
        ("clip_relu", (("Clip", (low, high)), ("Relu", ())), "from 0, not from the least"),
        ("relu_clip", (("Relu", ()), ("Clip", (low, high))), "from 0, not from the least"),
        ("relu_clip_above", (("Relu", ()), ("Clip", (np.array(1, np.float32), high))),
         "from the least, above 0"),
        ("relu_clip_below", (("Relu", ()), ("Clip", ("", low))), "all are what is least and greatest"),
        ("clip_clip", (("Clip", (low, high)), ("Clip", (np.array(2, np.float32), np.array(9, np.float32)))),
         "the limits of both"),
        ("clip_clip_apart",
         (("Clip", (low, np.array(0, np.float32))), ("Clip", (np.array(2, np.float32), high))),
         "limits that have nothing in common: the second's"),
        ("max_min", (("Max", (low,)), ("Min", (high,))), "as Clip"),
        ("min_max", (("Min", (low,)), ("Max", (high,))), "limits that are crossed: the second's"),
        ("floor_ceil", (("Floor", ()), ("Ceil", ())), "whole numbers stay"),
        ("sign_abs", (("Sign", ()), ("Abs", ())), "0 stays 0"),
    )  # fmt: skip
    for word, nodes, why in forms:
        y = w.given(data)
        for operator, further in nodes:
            y = w.node(operator, y, *further)
        yield w.end(word, why)
    numbers = np.array([0.0, 1.0, float("nan"), -1.0], np.float32)
    for operator in ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"):
        w.node("Not", w.node(operator, w.given(numbers), np.array(0, np.float32)))
        yield w.end(
            "not_of_comparison", "of NaN every comparison is false, and so its opposite", first=operator
        )
    w.node("Not", w.node("Not", w.given(np.array([True, False]))))
    yield w.end("not_not", "twice is nothing")


def _undone(w: Weaver) -> Iterator[Chain]:
    whole_numbers = np.array(_WHOLE, np.int32)
    two = np.array(2, np.int32)
    for word, nodes, why in (
        ("div_mul", ("Div", "Mul"), "what division drops is not there again"),
        ("mul_div", ("Mul", "Div"), "within the range nothing is lost"),
        ("add_sub", ("Add", "Sub"), "nothing is lost"),
        ("div_div", ("Div", "Div"), "rounded twice towards 0"),
        ("mul_mul", ("Mul", "Mul"), "four times"),
        ("sub_sub", ("Sub", "Sub"), "less four"),
    ):
        for given in ("array", "constant"):
            x = w.node(nodes[0], w.given(np.abs(whole_numbers) if "Div" in nodes else whole_numbers), two)
            w.node(nodes[1], x, np.array([2, 2, 2, 3, 3, 1], np.int32) if given == "array" else two)
            yield w.end(word, why, second=given)
    w.node("Sub", np.array(5, np.float32), w.node("Sub", w.given(whole("x", 6)), np.array(2, np.float32)))
    yield w.end("sub_from_sub", "5 - (x - 2) is 7 - x")
    w.node("Sub", np.array(5, np.float32), w.node("Sub", np.array(2, np.float32), w.given(whole("x", 6))))
    yield w.end("sub_from_sub", "5 - (2 - x) is 3 + x", turned="yes")
    x = w.node("Add", w.given(whole("x", 3, 4)), whole("a", 4))
    w.node("Mul", x, np.array([2, 0.5, -1, 4], np.float32))
    yield w.end("add_mul", "what is added is multiplied, too")
    x = w.node("Mul", w.given(whole("x", 3, 4)), np.array([2, 0.5, -1, 4], np.float32))
    w.node("Add", x, whole("a", 3, 1))
    yield w.end("mul_add", "along columns and along rows")
    w.node("Sqrt", w.node("Mul", w.given(np.array([-3, 3, 0, -16], np.float32)), np.array(4, np.float32)))
    yield w.end("mul_sqrt", "the root of what is negative is NaN", data="products")
    x = w.given(np.array([-3, 3, 0.5, -16], np.float32))
    w.node("Sqrt", w.node("Mul", x, x))
    yield w.end("square_sqrt", "the root of a square is the absolute value, not the number")


def _folded(w: Weaver) -> Iterator[Chain]:
    x8 = whole("x", 4, least=0, most=9, dtype=np.uint8)
    for operator, constants in (
        ("Add", ([200, 3], [100, 4])), ("Mul", ([20, 3], [20, 4])), ("Sub", ([3, 9], [5, 4])),
    ):  # fmt: skip
        one, other = (np.array(constant, np.int32) for constant in constants)
        folded = w.node(operator, w.constant(one), w.constant(other))
        w.node("Add", w.given(np.array([1, -1], np.int32)), folded)
        yield w.end("folded_constants", "what is folded has the type of its constants", operator=operator)
    shape = w.node(
        "Concat", w.constant(np.array([2], np.int64)), w.constant(np.array([-1], np.int64)), axis=0
    )
    w.node("Reshape", w.given(x8), shape)
    yield w.end("folded_shape", "a shape that is put together of constants")
    rounded = w.node("Cast", w.constant(np.array([16777217, 3], np.int32)), to=1)
    w.node("Add", w.given(np.array([0, 1], np.float32)), rounded)
    yield w.end("folded_cast", "rounded to float before it is added")
    halves = w.node(
        "Div", w.constant(np.array([7, 9, 5], np.int64)), w.constant(np.array([2, 4, 3], np.int64))
    )
    w.node("Mul", w.given(np.array([2, 4, 3], np.int64)), halves)
    yield w.end("folded_division", "division of whole numbers drops the fraction when it is folded, too")
    taken = w.node("Transpose", w.constant(np.arange(6, dtype=np.float32).reshape(2, 3)), perm=[1, 0])
    w.node("MatMul", w.given(whole("x", 2, 3)), taken)
    yield w.end("folded_transpose", "a constant that is turned")
    count = w.node("Range", *(w.constant(np.array(each, np.int64)) for each in (5, -1, -2)))
    w.node("Gather", w.given(np.arange(10, 17, dtype=np.float32)), count)
    yield w.end("folded_range", "counted downwards, the limit left out")
    place = w.node("NonZero", w.constant(np.array([0, 3, 0, 1], np.float32)))
    w.node("Gather", w.given(np.array([10, 11, 12, 13], np.float32)), place)
    yield w.end("folded_nonzero", "of one axis, and a row of places")
    chosen = w.constant(np.array([True, False, True]))
    x = w.node("Neg", w.given(np.array([1, float("nan"), 3], np.float32)))
    w.node("Where", chosen, x, w.constant(np.array([[4], [5]], np.float32)))
    yield w.end("neg_where", "a condition that is known broadcasts with the others")
    x = w.node("Dropout", w.given(whole("x", 6)), np.array(0.5, np.float32))
    w.node("Add", x, whole("a", 6))
    yield w.end("dropout_add", "outside of training nothing is dropped or scaled")
    w.node("Add", w.node("Identity", x := w.given(whole("x", 3))), x)
    yield w.end("identity_add", "one value by two names")


def around_movement(w: Weaver) -> Iterator[Chain]:
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


def _slices(w: Weaver) -> Iterator[Chain]:
    far = 1 << 40
    for one, other in (
        ((1, 9, 0, 2), (1, 3, 0, 1)), ((8, -far, 0, -1), (0, far, 0, 3)),
        ((-2, -far, 0, -2), (-1, -far, 0, -1)), ((2, far, 0, 1), (0, -1, 0, 1)),
        ((0, -3, 0, 1), (1, -1, 0, 1)), ((1, 5, 0, 1), (1, 3, 1, 1)),
        ((3, 3, 0, 1), (0, far, 0, 1)), ((0, far, 0, 3), (-2, far, 0, 1)),
    ):  # fmt: skip
        w.cut(w.cut(w.given(different("x", 10, 4)), *one), *other)
        yield w.end("slice_slice", "the second counts in what the first has left", slices=f"{one} {other}")
    for word, shape, span in (
        ("reversed", (-1, 2), (-1, -far, 0, -1)), ("every_second", (-1, 2), (0, far, 0, 2)),
        ("every_second_of_the_last", (2, 6), (1, far, 1, 2)), ("one_of_a_new_axis", (1, 12), (0, far, 0, 3)),
    ):  # fmt: skip
        w.cut(w.node("Reshape", w.given(different("x", 12)), integers(*shape)), *span)
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
            w.node("Concat", *[w.cut(x, *span, 1) for span in spans], axis=axis)
            why = "together they are the whole only in order, without gap, along the same axis"
            yield w.end("slice_concat", why, pieces=word, axis=str(axis))
    x = w.given(different("x", 2, 6))
    w.node("Concat", *[w.cut(x, start, 6, 1, 2) for start in (0, 1)], axis=1)
    yield w.end("slice_concat", "steps of two, as patches are taken", pieces="every_second", axis="1")
    x = w.node("Concat", w.given(different("x", 2, 3)), w.given(different("y", 2, 3)), axis=1)
    w.cut(x, 2, 5, 1)
    yield w.end("concat_slice", "across the seam")
    x = w.node("Concat", w.given(different("x", 2, 3)), w.given(different("y", 2, 3)), axis=1)
    w.cut(x, 3, 6, 1)
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
    w.cut(w.node("Pad", w.given(different("x", 2, 3)), integers(0, 2, 0, 2), value), 1, 6, 1)
    yield w.end("pad_slice", "a part of the border stays")
    w.node("Pad", w.cut(w.given(different("x", 2, 6)), 1, 5, 1), integers(0, 1, 0, 1))
    yield w.end("slice_pad", "what was cut away is not what is padded")
    x = w.node("Transpose", w.given(different("x", 2, 3, 2)), perm=[2, 0, 1])
    w.node("Pad", x, integers(1, 0, 0, 0, 2, 0))
    yield w.end("transpose_pad", "pads are those of what was turned")
    x = w.node("Expand", w.given(different("x", 3, 1)), integers(2, 3, 4))
    w.node("Reshape", x, integers(6, 4))
    yield w.end("expand_reshape", "expanded elements are there")
    w.cut(w.node("Tile", w.given(different("x", 2, 3)), integers(1, 3)), 2, 8, 1, 2)
    yield w.end("tile_slice", "every second of what is repeated")

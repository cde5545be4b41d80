"""Constants that fold, and operators that look like nothing: neutral elements, repetitions, inverses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Weaver, whole

_SPECIAL = [0.0, -0.0, 1.5, -2.0, float("inf"), -float("inf"), float("nan"), 1e-30]
_WHOLE = [7, -7, 0, 5, -1, 9]


def chains(w: Weaver) -> Iterator[Chain]:
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
        one, other = (np.array(each, np.int32) for each in constants)
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

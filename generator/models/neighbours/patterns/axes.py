"""Shapes that are computed, casts, movements and operators along axes beside what moves these axes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.models.chains.chains import Chain, Weaver, different, integers, powers, real, whole
from opcert.vocabulary.element_types import find_element_type


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain of casts, movements, and operators along axes that were moved."""
    yield from around_axes(w)
    yield from around_casts(w)
    yield from wide_axes(w)


def around_axes(w: Weaver) -> Iterator[Chain]:
    """Every chain with a computed shape, or with an operator along an axis that was moved."""
    yield from _computed_shapes(w)
    yield from _along_axes(w)


def _computed_shapes(w: Weaver) -> Iterator[Chain]:
    why = "the shape is computed of what goes in, and may be known before"
    x = w.given(different("x", 2, 3, 4))
    first = w.node("Gather", w.node("Shape", x), integers(0), axis=0)
    w.node("Reshape", x, w.node("Concat", first, integers(-1), axis=0))
    yield w.end("shape_gather_concat_reshape", why)
    x = w.given(different("x", 2, 3, 4))
    last = w.node("Slice", w.node("Shape", x), integers(-1), integers(1 << 40))
    w.node("Expand", w.node("Cast", last, to=1), w.node("Shape", x))
    yield w.end("shape_slice_expand", why)
    x = w.given(different("x", 2, 3))
    count = w.node("ReduceProd", w.node("Shape", x), keepdims=1)
    w.node("Reshape", x, count)
    yield w.end("shape_product_reshape", why)
    x = w.given(different("x", 2, 3))
    w.node("Add", w.node("ConstantOfShape", w.node("Shape", x)), x)
    yield w.end("constant_of_shape_add", why)
    x = w.given(np.zeros((0, 3), np.float32))
    w.node("ConstantOfShape", w.node("Concat", w.node("Shape", x), integers(2), axis=0))
    yield w.end("shape_concat_constant", "an extent of 0 stays 0")


def _along_axes(w: Weaver) -> Iterator[Chain]:
    axis_why = "the axis is that of what was turned"
    for operator, attributes in (
        ("ReduceMax", {"axes": [0], "keepdims": 0}), ("ReduceMean", {"axes": [1], "keepdims": 1}),
        ("ArgMax", {"axis": 1}), ("Softmax", {"axis": 0}), ("CumSum", {}), ("ReduceSum", {"axes": [0, 2]}),
    ):  # fmt: skip
        x = w.node("Transpose", w.given(different("x", 4, 4, 4)), perm=[1, 2, 0])
        further = {"CumSum": [np.array(2, np.int64)]}.get(operator, [])
        w.node(operator, x, *further, **attributes)
        yield w.end(f"transpose_{operator.lower()}", axis_why)
    for perm, axis in (([0, 2, 1], 0), ([2, 0, 1], 1), ([2, 1, 0], 2), ([1, 2, 0], 1), ([1, 0, 2], 1)):
        for operator in ("ReduceSum", "ReduceMax"):
            for kept in (0, 1):
                x = w.node("Transpose", w.given(different("x", 2, 3, 1)), perm=perm)
                w.node(operator, x, axes=[axis], keepdims=kept)
                why = "an axis of length 1 has its place among those that are left"
                order = " ".join(map(str, perm))
                yield w.end("transpose_reduce_of_one", why, perm=order, axis=str(axis), kept=str(kept))
    x = w.given(different("x", 2, 4, 4))
    w.node("Transpose", w.node("Softmax", x, axis=1), perm=[0, 2, 1])
    yield w.end("softmax_transpose", axis_why)
    for axes in ((3,), (3, 1), (3, 3)):
        x = w.node("Transpose", w.given(whole("x", 3, 3)), perm=[1, 0])
        w.node("Add", x, whole("y", *axes))
        yield w.end("transpose_add", "what is added broadcasts over what was turned", addend=f"{axes}")
    x = w.node("Transpose", w.given(whole("x", 3, 3)), perm=[1, 0])
    y = w.node("Transpose", w.given(whole("y", 3, 3)), perm=[1, 0])
    w.node("Transpose", w.node("Sub", x, y), perm=[1, 0])
    yield w.end("transpose_sub_transpose", "turned before and turned back")
    x = w.node("ReduceSum", w.given(whole("x", 2, 3, 4)), axes=[1], keepdims=0)
    w.node("ReduceSum", x, axes=[1], keepdims=0)
    yield w.end("reduce_sum_sum", "the second axis is counted in what is left")
    x = w.node("ReduceMax", w.given(whole("x", 2, 3, 4)), axes=[0], keepdims=0)
    w.node("Unsqueeze", x, integers(1))
    yield w.end("reduce_max_unsqueeze", "another axis is put in than was reduced")


_REAL = [0.0, -0.0, 0.25, -0.25, 2.75, -2.75, 7.0, 100.0, -100.0, 3.125]
_LARGE = [1 << 24, (1 << 24) + 1, (1 << 24) + 3, -(1 << 24) - 1, 5, -7, (1 << 30) + 1, 0]
_LARGER = [(1 << 53) + 1, -(1 << 53) - 1, (1 << 60) + 1, 3, -4, 0]

_CHAINS: tuple[tuple[str, list[Any], tuple[str, ...], str], ...] = (
    ("float", _REAL, ("int32", "float"), "the fraction is gone"),
    ("float", _REAL, ("int64", "float"), "the fraction is gone"),
    ("double", _REAL, ("int64", "double"), "the fraction is gone"),
    ("float", [0.0, 0.25, 2.75, 200.0, 255.0], ("uint8", "float"), "the fraction is gone"),
    ("float", _REAL, ("bool", "float"), "what is not 0 is 1"),
    ("int32", [0, 1, 2, -3, 256], ("bool", "int32"), "what is not 0 is 1"),
    ("float", [0.1, -0.3, 1e-3, 2049.0, 65504.0, 1e5, -1e5], ("float16", "float"), "rounded on the way"),
    ("double", [0.1, -0.3, 16777217.0, 1e300, -1e300, 1e-300], ("float", "double"), "rounded on the way"),
    ("double", [0.1, 2049.0, 1e5], ("float16", "float", "double"), "rounded to the narrowest on the way"),
    ("int32", _LARGE, ("float", "int32"), "float holds 24 bits"),
    ("int64", _LARGE, ("float", "int64"), "float holds 24 bits"),
    ("int64", _LARGER, ("double", "int64"), "double holds 53 bits"),
    ("int32", _LARGE, ("double", "int32"), "double holds all of them"),
    ("int64", [0, 1, -1, 1 << 30], ("int32", "int64"), "within the range nothing is lost"),
    ("uint8", [0, 1, 127, 128, 255], ("float", "uint8"), "nothing is lost"),
    ("uint8", [0, 1, 127, 200, 255], ("int32", "float", "int64"), "nothing is lost"),
    ("int8", [0, 1, -1, 127, -128], ("int32", "int8"), "nothing is lost"),
    ("bool", [True, False], ("float", "bool"), "nothing is lost"),
    ("bool", [True, False], ("int32", "float", "bool"), "nothing is lost"),
    ("float", [0.25, -0.25, 0.0, -3.5], ("bool", "int32", "float"), "what is not 0 is 1"),
    ("float", [0.75, -0.75, 5.5], ("int32", "bool"), "the fraction is gone before it counts as true"),
    ("float16", [0.1, 7.75, -2.25], ("int32", "float16"), "the fraction is gone"),
    ("float16", [0.1, -2.25, 60000.0], ("float", "float16"), "nothing is lost"),
    ("float", [float("nan"), float("inf"), -float("inf"), 1e30], ("double", "float"), "nothing is lost"),
)  # fmt: skip


def around_casts(w: Weaver) -> Iterator[Chain]:
    """Every chain with casts."""
    for start, values, kinds, why in _CHAINS:
        y = w.given(np.array(values, find_element_type(start).storage))
        for kind in kinds:
            y = w.node("Cast", y, to=find_element_type(kind).code)
        yield w.end("cast_cast", why, types=" ".join((start, *kinds)))
    yield from _around(w)


def _around(w: Weaver) -> Iterator[Chain]:
    code = {name: find_element_type(name).code for name in ("float", "int32", "int64", "double", "float16")}
    for kind in ("double", "int32", "float16"):
        x = w.node("Cast", w.given(np.array([[1.5, -2.75], [3.25, 7]], np.float32)), to=code[kind])
        y = w.node("Transpose", x, perm=[1, 0])
        w.node("Cast", y, to=code["float"])
        yield w.end("cast_transpose_cast", "moved in the other type, and rounded to it", types=kind)
    x = w.node("Cast", w.given(np.array([5, -5, 7, -9], np.int32)), to=code["float"])
    w.node("Cast", w.node("Mul", x, np.array(0.5, np.float32)), to=code["int32"])
    yield w.end("cast_mul_cast", "a half of a whole number is computed as a number with a fraction")
    x = w.node("Cast", w.given(np.array([(1 << 24) + 1, -(1 << 24) - 3, 7], np.int32)), to=code["float"])
    y = w.node("Cast", w.node("Mul", x, np.array(0.5, np.float32)), to=code["double"])
    w.node("Mul", y, np.array(2.0))
    yield w.end("cast_mul_cast", "rounded to 24 bits before it is halved", first="float")
    x = w.node("Cast", w.given(whole("x", 3, 4, dtype=np.int64)), to=code["float"])
    y = w.node("MatMul", x, whole("w", 4, 2))
    w.node("Cast", y, to=code["int64"])
    yield w.end("cast_matmul_cast", "whole numbers through a product of floats")
    x = w.node("Cast", w.given(np.array([2, -3, 0, 9], np.float32)), to=code["int64"])
    w.node("Gather", w.constant(np.arange(20, dtype=np.float32) * 3), x)
    yield w.end("cast_gather", "an index below 0 counts from the end")
    x = w.given(np.array([1.75, -3.25, 2.5], np.float32))
    y = w.node("Concat", w.node("Cast", x, to=code["int64"]), np.array([7], np.int64), axis=0)
    w.node("Cast", y, to=code["double"])
    yield w.end("cast_concat_cast", "each of them is cast before they stand together")


_LENGTH = 65
_FAR = 1 << 40


def wide_axes(w: Weaver) -> Iterator[Chain]:
    """Every chain of casts, of movements, and of operators along axes that were moved."""
    yield from _wide_casts(w)
    yield from _movements(w)
    yield from _slices(w)
    yield from _behind_transposes(w)
    yield from _scaled_softmax(w)


def _wide_casts(w: Weaver) -> Iterator[Chain]:
    fractions = real("casts", _LENGTH) * np.float32(8)
    wholes = whole("casts", _LENGTH, least=-(1 << 30), most=1 << 30, dtype=np.int64)
    wide = whole("wide", _LENGTH, least=-(1 << 62), most=1 << 62, dtype=np.int64)
    beside_halves = 1 + (2 * whole("halves", _LENGTH, least=0, most=500) + 1) * math.ldexp(1.0, -11)
    doubles = beside_halves.astype(np.float64) + np.where(np.arange(_LENGTH) % 2, 1, -1) * math.ldexp(
        1.0, -40
    )
    forms: tuple[tuple[str, NDArray[Any], tuple[str, ...], str], ...] = (
        ("float", fractions, ("float16", "float"), "rounded on the way"),
        ("float", fractions * 1024, ("bfloat16", "float"), "rounded on the way"),
        ("double", fractions.astype(np.float64) / 3, ("float", "double"), "rounded on the way"),
        ("double", fractions.astype(np.float64) / 3, ("float16", "float"), "rounded on the way"),
        ("double", doubles, ("float", "float16"), "rounded twice, and not once"),
        ("float", fractions, ("int32", "float"), "the fraction is gone"),
        ("float", np.abs(fractions) * 4, ("uint8", "float"), "the fraction is gone"),
        (
            "float",
            np.where(np.arange(_LENGTH) % 3, fractions / 64, 0),
            ("bool", "float"),
            "what is not 0 is 1",
        ),
        ("int32", wholes, ("float", "int32"), "float holds 24 bits"),
        ("int64", wide, ("double", "int64"), "double holds 53 bits"),
        ("int32", wholes >> 16, ("float16", "int32"), "float16 holds 11 bits"),
        ("int64", np.where(np.arange(_LENGTH) % 3, wholes << 12, 0), ("bool", "int64"), "what is not 0 is 1"),
        ("int32", wholes >> 8, ("int8", "int32"), "eight bits are left"),
        ("int64", wide, ("int32", "int64"), "32 bits are left"),
        ("int32", wholes >> 8, ("uint8", "int32"), "eight bits are left, without a sign"),
    )
    for start, values, kinds, why in forms:
        y = w.given(np.asarray(values).astype(find_element_type(start).storage))
        for kind in kinds:
            y = w.node("Cast", y, to=find_element_type(kind).code)
        yield w.end("wide_cast_cast", why, types=" ".join((start, *kinds)))


def _movements(w: Weaver) -> Iterator[Chain]:
    why = "the shape is as before, the order is not"
    x = w.node("Transpose", w.given(different("x", 17, _LENGTH)), perm=[1, 0])
    w.node("Reshape", x, integers(17, _LENGTH))
    yield w.end("wide_transpose_reshape", why, axes="two")
    x = w.node("Reshape", w.given(different("x", 17, _LENGTH)), integers(_LENGTH, 17))
    w.node("Transpose", x, perm=[1, 0])
    yield w.end("wide_reshape_transpose", why, axes="two")
    for word, start, inner, perm, end in (
        ("heads", (1, 17, 36), (0, 0, 4, 9), (0, 2, 1, 3), (4, 17, 9)),
        ("heads_back", (4, 17, 9), (1, 4, 17, 9), (0, 2, 1, 3), (0, 0, -1)),
        ("channels", (1, 34, 3, 3), (1, 2, 17, 3, 3), (0, 2, 1, 3, 4), (1, 34, 3, 3)),
        ("rows", (17, 2, 33), (34, 33), (1, 0), (33, 17, 2)),
    ):
        x = w.node("Reshape", w.given(different("x", *start)), integers(*inner))
        w.node("Reshape", w.node("Transpose", x, perm=list(perm)), integers(*end))
        yield w.end("wide_reshape_transpose_reshape", "turned between: the three are no reshape", form=word)
    for one, other in (((1, 2, 0), (1, 2, 0)), ((0, 2, 1), (2, 0, 1))):
        x = w.node("Transpose", w.given(different("x", 17, 17, 5)), perm=list(one))
        w.node("Transpose", x, perm=list(other))
        yield w.end(
            "wide_transpose_transpose", "the second turns what the first has turned", perms=f"{one} {other}"
        )


def _slices(w: Weaver) -> Iterator[Chain]:
    why = "the second counts in what the first has left"
    for one, other in (
        ((1, _FAR, 0, 1), (1, _FAR, 0, 1)), ((3, 200, 0, 2), (5, _FAR, 0, 3)),
        ((-1, -_FAR, 0, -1), (8, 65, 0, 1)), ((-2, -_FAR, 0, -2), (-1, -_FAR, 0, -3)),
        ((16, -16, 0, 1), (-65, -1, 0, 1)), ((64, 129, 0, 1), (1, 3, 1, 1)), ((2, _FAR, 1, 1), (0, 65, 0, 2)),
    ):  # fmt: skip
        w.cut(w.cut(w.given(different("x", 257, 4)), *one), *other)
        yield w.end("wide_slice_slice", why, slices=f"{one} {other}")
    x = w.node("Slice", w.given(different("x", 33, 33)), integers(1, 2), integers(30, 33), integers(0, 1))
    w.node("Slice", x, integers(2, 1), integers(20, 28), integers(1, 0))
    yield w.end("wide_slice_slice", why, slices="two axes in another order")


def _behind_transposes(w: Weaver) -> Iterator[Chain]:
    why = "the axis is that of what was turned"
    forms: tuple[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
        ("ReduceSum", (17, 17, 17), (1, 2, 0), {"axes": [0], "keepdims": 0}),
        ("ReduceSum", (9, 9, 9, 9), (0, 3, 1, 2), {"axes": [1, 2], "keepdims": 0}),
        ("ReduceMax", (17, 17, 17), (2, 0, 1), {"axes": [1], "keepdims": 1}),
        ("ReduceMean", (2, 16, 16, 16), (0, 2, 3, 1), {"axes": [1, 2], "keepdims": 0}),
        ("ArgMax", (17, 17, 17), (1, 2, 0), {"axis": 1, "keepdims": 0}),
        ("Softmax", (17, 17), (1, 0), {"axis": 1}),
        ("Softmax", (9, 9, 9), (1, 2, 0), {"axis": 0}),
        ("LogSoftmax", (17, 17), (1, 0), {"axis": 0}),
        ("CumSum", (17, 17, 17), (1, 2, 0), {}),
    )
    for operator, shape, perm, attributes in forms:
        data = real("x", *shape) if "Softmax" in operator else whole("x", *shape, least=-9, most=9)
        x = w.node("Transpose", w.given(data), perm=list(perm))
        further = [np.array(2, np.int64)] if operator == "CumSum" else []
        w.node(operator, x, *further, **attributes)
        order = " ".join(map(str, perm))
        yield w.end(f"wide_transpose_{operator.lower()}", why, perm=order)


def _scaled_softmax(w: Weaver) -> Iterator[Chain]:
    scales = {"scalar": np.array(0.375, np.float32), "columns": powers("s", _LENGTH),
              "rows": np.array([[1], [0], [3], [-1], [0.5]], np.float32)}  # fmt: skip
    for word, scale in scales.items():
        w.node("Mul", w.node("Softmax", w.given(real("x", 5, _LENGTH)), axis=1), scale)
        yield w.end("wide_softmax_mul", "scaled behind the quotient, not before the exponential", scale=word)

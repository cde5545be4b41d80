"""Casts, movements and operators along axes one after the other, on axes of whole vectors and a tail."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.models.chains.chains import Chain, Weaver, different, integers, powers, real, whole
from opcert.vocabulary.element_types import find_element_type

_LENGTH = 65
_FAR = 1 << 40


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain of casts, of movements, and of operators along axes that were moved."""
    yield from _casts(w)
    yield from _movements(w)
    yield from _slices(w)
    yield from _behind_transposes(w)
    yield from _scaled_softmax(w)


def _casts(w: Weaver) -> Iterator[Chain]:
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


def _slice(w: Weaver, value: str, start: int, end: int, axis: int, step: int = 1) -> str:
    return w.node("Slice", value, integers(start), integers(end), integers(axis), integers(step))


def _slices(w: Weaver) -> Iterator[Chain]:
    why = "the second counts in what the first has left"
    for one, other in (
        ((1, _FAR, 0, 1), (1, _FAR, 0, 1)), ((3, 200, 0, 2), (5, _FAR, 0, 3)),
        ((-1, -_FAR, 0, -1), (8, 65, 0, 1)), ((-2, -_FAR, 0, -2), (-1, -_FAR, 0, -3)),
        ((16, -16, 0, 1), (-65, -1, 0, 1)), ((64, 129, 0, 1), (1, 3, 1, 1)), ((2, _FAR, 1, 1), (0, 65, 0, 2)),
    ):  # fmt: skip
        _slice(w, _slice(w, w.given(different("x", 257, 4)), *one), *other)
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

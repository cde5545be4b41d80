"""Casts one after the other, and casts around operators: what is lost on the way stays lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Weaver, whole
from opcert.vocabulary.element_types import find_element_type

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


def chains(w: Weaver) -> Iterator[Chain]:
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

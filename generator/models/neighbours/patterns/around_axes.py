"""Shapes that are computed, and operators along axes beside what moves these axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generator.models.chains.chains import Chain, Weaver, different, integers, whole


def chains(w: Weaver) -> Iterator[Chain]:
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

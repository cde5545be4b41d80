"""Matrix products with what stands before and behind them: bias, scale, what turns their operands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from generator.models.chains.chains import Chain, Weaver, different, normalization, powers, whole


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain of a matrix product."""
    yield from around_products(w)
    yield from wide_products(w)


def around_products(w: Weaver) -> Iterator[Chain]:
    """Every chain around a product of matrices."""
    yield from _with_bias(w)
    yield from _turned(w)
    yield from _scaled(w)
    yield from _of_gemm(w)


def _with_bias(w: Weaver) -> Iterator[Chain]:
    shapes = {
        "columns": (4,), "row": (1, 4), "rows": (4, 1), "full": (4, 4), "scalar": (), "one": (1,),
        "rank_above": (2, 1, 4), "batch": (2, 1, 1, 4),
    }  # fmt: skip
    why = "the bias of a fused product is one row: other shapes broadcast, and may give a rank more"
    for word, axes in shapes.items():
        for first in (False, True):
            y = w.node("MatMul", w.given(whole("x", 4, 3)), whole("w", 3, 4))
            bias = w.constant(whole("bias", *axes))
            w.node("Add", *((bias, y) if first else (y, bias)))
            yield w.end("matmul_add", why, bias=word, first="bias" if first else "product")
    for word, left, right, axes in (
        ("vector_left", (3,), (3, 4), (4,)),
        ("vector_right", (4, 3), (3,), (4,)),
        ("batch_left", (2, 4, 3), (3, 4), (4,)),
        ("batch_both", (2, 4, 3), (2, 3, 4), (2, 1, 4)),
        ("batch_right", (4, 3), (2, 3, 4), (4,)),
        ("batch_of_one_row", (2, 1, 3), (3, 4), (2, 1, 4)),
    ):
        y = w.node("MatMul", w.given(whole("x", *left)), w.given(whole("w", *right)))
        w.node("Relu", w.node("Add", y, whole("bias", *axes)))
        yield w.end("matmul_add_relu", why, ranks=word)
    x = w.given(whole("x", 4, 4))
    y = w.node("MatMul", x, whole("w", 4, 4))
    w.node("Add", y, x)
    yield w.end("matmul_add", "what is added is no constant, and no row", bias="what_went_in")
    y = w.node("MatMul", w.given(whole("x", 4, 3)), whole("w", 3, 4))
    w.node("BatchNormalization", y, *normalization("normal ", 4), epsilon=0.5)
    yield w.end("matmul_bn", "columns are scaled, not rows")
    y = w.node("MatMul", w.given(whole("x", 4, 3)), whole("w", 3, 4))
    w.node("BatchNormalization", y, *normalization("normal ", 4))
    yield w.end("matmul_bn", "columns are scaled, not rows", epsilon="default")
    y = w.node("MatMul", w.given(whole("x", 3, 3)), whole("w", 3, 3))
    w.node("MatMul", y, whole("v", 3, 3))
    yield w.end(
        "matmul_matmul", "constant factors may be multiplied beforehand, in this order", constant="right"
    )
    y = w.node("MatMul", whole("w", 3, 3), w.given(whole("x", 3, 3)))
    w.node("MatMul", whole("v", 3, 3), y)
    yield w.end(
        "matmul_matmul", "constant factors may be multiplied beforehand, in this order", constant="left"
    )


def _turned(w: Weaver) -> Iterator[Chain]:
    why = "squares hide which factor is turned, and values do not"
    for perm in ([1, 0], [0, 1]):
        for which in ("left", "right", "both"):
            for given in ("constant", "given"):
                x = w.given(different("x", 3, 3))
                y = w.given(different("y", 3, 3)) if given == "given" else w.constant(different("y", 3, 3))
                left = w.node("Transpose", x, perm=perm) if which in ("left", "both") else x
                right = w.node("Transpose", y, perm=perm) if which in ("right", "both") else y
                w.node("MatMul", left, right)
                yield w.end("transpose_matmul", why, turned=which, right=given, perm=" ".join(map(str, perm)))
    for perm in ([0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]):
        for which in ("left", "right"):
            x, y = w.given(different("x", 3, 3, 3)), w.given(whole("y", 3, 3, 3))
            turned = w.node("Transpose", x if which == "left" else y, perm=perm)
            w.node("MatMul", *((turned, y) if which == "left" else (x, turned)))
            yield w.end("transpose_matmul", "only a turn of the last two axes is one of the matrix",
                        turned=which, perm=" ".join(map(str, perm)))  # fmt: skip
    for perm, axes in (([1, 0], (3,)), ([0, 2, 1], (3,)), ([1, 0], (2, 3, 2)), ([1, 0, 2], (3, 3, 1))):
        x, y = w.given(different("x", *((3, 4) if len(perm) == 2 else (3, 3, 3)))), w.given(whole("y", *axes))
        w.node("MatMul", w.node("Transpose", x, perm=perm), y)
        yield w.end("transpose_matmul", why, turned="left", perm=" ".join(map(str, perm)), right=f"{axes}")
    for perm, axes in (([1, 0], (3,)), ([0, 2, 1], (3,)), ([1, 0], (2, 2, 3)), ([1, 0, 2], (1, 3, 3))):
        x, y = w.given(whole("x", *axes)), w.given(different("y", *((4, 3) if len(perm) == 2 else (3, 3, 3))))
        w.node("MatMul", x, w.node("Transpose", y, perm=perm))
        yield w.end("transpose_matmul", why, turned="right", perm=" ".join(map(str, perm)), left=f"{axes}")
    x, y = w.given(different("x", 2, 3, 2, 3)), w.given(whole("y", 2, 3, 2, 3))
    left = w.node("Transpose", x, perm=[0, 2, 1, 3])
    right = w.node("Transpose", y, perm=[0, 2, 3, 1])
    w.node("MatMul", left, right)
    yield w.end("transpose_matmul", "as heads of attention are turned", turned="heads")
    for perm in ([1, 0, 2], [0, 2, 1]):
        y = w.node("MatMul", w.given(whole("x", 3, 3, 3)), w.given(whole("y", 3, 3, 3)))
        w.node("Transpose", y, perm=perm)
        yield w.end("matmul_transpose", "turned afterwards, both factors turn and change places",
                    perm=" ".join(map(str, perm)))  # fmt: skip
    y = w.node("Flatten", w.given(whole("x", 2, 3, 4)), axis=2)
    w.node("Gemm", y, whole("w", 5, 4), whole("c", 5), transB=1)
    yield w.end("flatten_gemm", "rows are what lies before the axis")
    y = w.node("Reshape", w.given(whole("x", 2, 3, 4)), np.array([-1, 4], np.int64))
    z = w.node("MatMul", y, whole("w", 4, 5))
    w.node("Reshape", z, np.array([2, 3, 5], np.int64))
    yield w.end("reshape_matmul_reshape", "rows of a batch stay in order")


def _scaled(w: Weaver) -> Iterator[Chain]:
    scales = {"scalar": (), "columns": (4,), "rows": (4, 1), "rank_above": (1, 1, 1)}
    for word, axes in scales.items():
        for operator in ("Mul", "Div"):
            for place in ("before", "behind"):
                if place == "before" and word in ("columns",):
                    continue
                x = w.given(whole("x", 4, 3))
                scale = w.constant(powers("scale", *axes))
                if place == "before":
                    w.node("MatMul", w.node(operator, x, scale), whole("w", 3, 4))
                else:
                    w.node(operator, w.node("MatMul", x, whole("w", 3, 4)), scale)
                name = f"{operator.lower()}_matmul" if place == "before" else f"matmul_{operator.lower()}"
                yield w.end(name, "a scalar goes into the product, and may give a rank more", scale=word)
    for size in (2, 4):
        x, y = w.given(whole("x", 1, 2, size, 4)), w.given(whole("y", 1, 2, 4, size))
        product = w.node("Div", w.node("MatMul", x, y), np.array(8, np.float32))
        places = range(size)
        mask = np.array([[-16 * (key > query) for key in places] for query in places], np.float32)
        w.node("Softmax", w.node("Add", product, mask), axis=-1)
        yield w.end(
            "scores", "the mask is added behind the scale, and the sum goes over keys", size=str(size)
        )


def _of_gemm(w: Weaver) -> Iterator[Chain]:
    for turned in (0, 1):
        for alpha, beta in ((1.0, 1.0), (0.5, 2.0), (2.0, 0.0)):
            weights = whole("w", 4, 3) if turned else whole("w", 3, 4)
            x = w.given(whole("x", 3, 2) if turned else whole("x", 2, 3))
            y = w.node(
                "Gemm", x, weights, whole("c", 4), alpha=alpha, beta=beta, transA=turned, transB=turned
            )
            w.node("Relu", y)
            yield w.end("gemm_relu", "factors scale product and bias apart", alpha=f"{alpha:g}",
                        turned="both" if turned else "none")  # fmt: skip
    for bias, axes in (("none", (4,)), ("row", (4,)), ("rows", (2, 1)), ("rank_above", (2, 1, 4))):
        further = [] if bias == "none" else [whole("c", 4)]
        y = w.node("Gemm", w.given(whole("x", 2, 3)), whole("w", 3, 4), *further, alpha=0.5, beta=2.0)
        w.node("Add", y, whole("addend", *axes))
        yield w.end("gemm_add", "what is added is not scaled by alpha or beta", bias=bias)
    y = w.node("Gemm", w.given(whole("x", 4, 3)), whole("w", 3, 4), whole("c", 4))
    w.node("BatchNormalization", y, *normalization("normal ", 4), epsilon=0.5)
    yield w.end("gemm_bn", "columns are scaled, not rows")
    for which in ("left", "right"):
        for perm in ([1, 0], [0, 1]):
            x, y = w.given(different("x", 3, 3)), w.given(whole("y", 3, 3))
            turned_one = w.node("Transpose", x if which == "left" else y, perm=perm)
            w.node("Gemm", *((turned_one, y) if which == "left" else (x, turned_one)), transB=1)
            why = "turned twice is not turned, and what perm leaves in place is not turned at all"
            yield w.end("transpose_gemm", why, turned=which, perm=" ".join(map(str, perm)))
            x, y = w.given(different("x", 3, 3)), w.given(whole("y", 3, 3))
            turned_one = w.node("Transpose", x if which == "left" else y, perm=perm)
            product = w.node("MatMul", *((turned_one, y) if which == "left" else (x, turned_one)))
            w.node("Add", product, whole("bias", 3))
            yield w.end("transpose_matmul_add", why, turned=which, perm=" ".join(map(str, perm)))
    y = w.node("Gemm", w.given(whole("x", 2, 3)), whole("w", 3, 4), whole("c", 4))
    w.node("Gemm", y, whole("v", 4, 2), whole("d", 2))
    yield w.end("gemm_gemm", "the first bias is multiplied by the second weights")


def wide_products(w: Weaver) -> Iterator[Chain]:
    """Every chain around a product of large matrices."""
    yield from _turned_matrices(w)
    yield from _turned_stacks(w)
    yield from _turned_gemm(w)
    yield from _wide_with_bias(w)


def _words(perm: tuple[int, ...]) -> str:
    return " ".join(map(str, perm))


def _turned_matrices(w: Weaver) -> Iterator[Chain]:
    why = "squares hide which factor is turned, and values do not"
    for perm, which in (
        ((1, 0), "left"),
        ((1, 0), "right"),
        ((1, 0), "both"),
        ((0, 1), "left"),
        ((0, 1), "right"),
    ):
        x, y = w.given(whole("x", 33, 33)), w.constant(whole("y", 33, 33))
        left = w.node("Transpose", x, perm=list(perm)) if which != "right" else x
        right = w.node("Transpose", y, perm=list(perm)) if which != "left" else y
        w.node("MatMul", left, right)
        yield w.end("wide_transpose_matmul", why, turned=which, perm=_words(perm))
    turned = w.node("Transpose", w.given(whole("x", 65, 17)), perm=[1, 0])
    w.node("Relu", w.node("Add", w.node("MatMul", turned, whole("y", 65, 33)), whole("bias", 33)))
    yield w.end("wide_transpose_matmul_add_relu", why, turned="left", perm="1 0")
    x, y = w.given(whole("x", 1, 17, 2, 16)), w.given(whole("y", 1, 17, 2, 16))
    left = w.node("Transpose", x, perm=[0, 2, 1, 3])
    w.node("MatMul", left, w.node("Transpose", y, perm=[0, 2, 3, 1]))
    yield w.end("wide_transpose_matmul", "as heads of attention are turned", turned="heads")
    product = w.node("MatMul", w.given(whole("x", 3, 17, 33)), whole("y", 3, 33, 17))
    w.node("Transpose", product, perm=[0, 2, 1])
    yield w.end("wide_matmul_transpose", "turned afterwards, both factors turn and change places")


def _turned_stacks(w: Weaver) -> Iterator[Chain]:
    why = "only a turn of the last two axes is one of the matrix; others move the batch"
    for rank, extent in ((3, 17), (4, 9)):
        perms = list(permutations(range(rank)))
        # Every permutation on one side or the other; of three axes on both.
        pairs = zip(perms, perms[1:] + perms[:1], strict=True)
        for one, other in pairs if rank == 3 else zip(perms[:12], reversed(perms[12:]), strict=True):
            x, y = w.given(whole("x", *[extent] * rank)), w.given(whole("y", *[extent] * rank))
            w.node("MatMul", w.node("Transpose", x, perm=list(one)), w.node("Transpose", y, perm=list(other)))
            yield w.end("wide_transpose_matmul", why, left=_words(one), right=_words(other))


def _turned_gemm(w: Weaver) -> Iterator[Chain]:
    why = "turned twice is not turned, and what perm leaves in place is not turned at all"
    for which in ("left", "right"):
        for flags in ((0, 0), (1, 1)):
            x, y = w.given(different("x", 33, 33)), w.given(whole("y", 33, 33))
            turned = w.node("Transpose", x if which == "left" else y, perm=[1, 0])
            factors = (turned, y) if which == "left" else (x, turned)
            w.node("Gemm", *factors, whole("c", 33), transA=flags[0], transB=flags[1], alpha=0.5, beta=2.0)
            yield w.end("wide_transpose_gemm", why, turned=which, flags=_words(flags))
    turned = w.node("Transpose", w.given(different("x", 33, 33)), perm=[0, 1])
    w.node("Gemm", turned, whole("y", 33, 33), whole("c", 33), transB=1)
    yield w.end("wide_transpose_gemm", why, turned="left", flags="none")


def _wide_with_bias(w: Weaver) -> Iterator[Chain]:
    shapes = {
        "columns": (17,), "row": (1, 17), "rows": (17, 1), "full": (17, 17), "scalar": (), "one": (1,),
        "rank_above": (2, 1, 17), "rows_above": (1, 17, 1),
    }  # fmt: skip
    why = "the bias of a fused product is one row: other shapes broadcast, and may give a rank more"
    for word, axes in shapes.items():
        w.node(
            "Add", w.node("MatMul", w.given(whole("x", 17, 257)), whole("w", 257, 17)), whole("bias", *axes)
        )
        yield w.end("wide_matmul_add", why, bias=word)
    for word, axes in {"columns": (17,), "rows": (17, 1), "batch": (3, 1, 1)}.items():
        w.node("Add", w.node("MatMul", w.given(whole("x", 3, 17, 65)), whole("w", 65, 17)), whole("b", *axes))
        yield w.end("wide_matmul_add", why, bias=word, batch="3")
    for word, axes in {"columns": (17,), "rows": (17, 1), "full": (17, 17)}.items():
        x, bias = w.given(whole("x", 17, 65)), whole("c", 17)
        w.node("Add", w.node("Gemm", x, whole("w", 65, 17), bias, alpha=0.5, beta=2.0), whole("b", *axes))
        yield w.end("wide_gemm_add", "what is added is not scaled by alpha or beta", bias=word)
    for word, axes in {"columns": (17,), "rows": (17, 1)}.items():
        w.node("Mul", w.node("MatMul", w.given(whole("x", 17, 65)), whole("w", 65, 17)), powers("s", *axes))
        yield w.end("wide_matmul_mul", "columns of the weights are scaled, or rows of the result", scale=word)

"""Products of matrices at the sizes of kernels: what is turned before them, and what is added behind.

Extents are equal where a wrong fusion would fail for its shapes alone, so that it shows in numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from generator.models.chains.chains import Chain, Weaver, different, powers, whole


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain around a product of large matrices."""
    yield from _turned_matrices(w)
    yield from _turned_stacks(w)
    yield from _turned_gemm(w)
    yield from _with_bias(w)


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


def _with_bias(w: Weaver) -> Iterator[Chain]:
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

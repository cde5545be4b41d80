"""MatMul, Gemm and MatMulInteger against numpy in float64 and integers, and in float32 by plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.test_number_arrays import accepted
from tests.reference.test_reductions import evaluate

DRAW = np.random.default_rng(21)


def shapes() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of two stacks of matrices that are broadcast against each other, or of vectors."""
    rows, inner, columns = (int(integer) for integer in DRAW.integers(1, 6, size=3))
    lead = tuple(int(integer) for integer in DRAW.integers(1, 4, size=int(DRAW.integers(3))))
    narrow = tuple(each if DRAW.random() < 0.6 else 1 for each in lead)
    left, right = (*lead, rows, inner), (*narrow, inner, columns)
    return (left if DRAW.random() < 0.8 else (inner,)), (right if DRAW.random() < 0.8 else (inner,))


def in_float32(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """numpy.matmul in float32: products added one after the other."""
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    found: Any = np.float32(0)
    for place in range(left.shape[-1]):
        found = found + left[..., :, place, None] * right[..., place, None, :]
    found = found[..., 0, :] if a.ndim == 1 else found
    return np.asarray(found[..., 0] if b.ndim == 1 else found)


def test_products_of_stacks_and_vectors() -> None:
    for _ in range(400):
        left, right = shapes()
        a, b = DRAW.normal(size=left).astype(np.float32), DRAW.normal(size=right).astype(np.float32)
        answer = evaluate("MatMul-13", {"A": a, "B": b})
        exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
        assert answer.expected.shape == exact.shape
        np.testing.assert_allclose(answer.expected.array, exact, rtol=1e-6, atol=1e-6)
        assert np.all(accepted(answer, in_float32(a, b)))


def test_a_term_less_is_noticed() -> None:
    for _ in range(100):
        inner = int(DRAW.integers(2, 40))
        a, b = (
            DRAW.uniform(1.25, 2, (2, inner)).astype(np.float32),
            DRAW.uniform(1.25, 2, (inner, 3)).astype(np.float32),
        )
        assert not accepted(evaluate("MatMul-13", {"A": a, "B": b}), in_float32(a[:, 1:], b[1:])).any()
        scaled = evaluate("Gemm-13", {"A": a, "B": b, "C": np.ones((1, 3), np.float32)}, alpha=0.5)
        assert not accepted(scaled, in_float32(a, b) / 2).any()


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32, np.uint64])
def test_integers_wrap_around(kind: Any) -> None:
    ends = np.iinfo(kind)
    for _ in range(30):
        a = DRAW.integers(ends.min, ends.max, size=(3, 4), dtype=kind, endpoint=True)
        b = DRAW.integers(ends.min, ends.max, size=(4, 2), dtype=kind, endpoint=True)
        exact = a.astype(object) @ b.astype(object)
        wrapped = (exact - int(ends.min)) % (int(ends.max) - int(ends.min) + 1) + int(ends.min)
        assert evaluate("MatMul-13", {"A": a, "B": b}).expected.array.tolist() == wrapped.tolist()


def test_gemm_is_scaled_transposed_and_added_to() -> None:
    for _ in range(400):
        rows, inner, columns = (int(integer) for integer in DRAW.integers(1, 6, size=3))
        across, down = int(DRAW.integers(2)), int(DRAW.integers(2))
        alpha, beta = (float(np.float32(each)) for each in DRAW.normal(size=2))
        a, b = DRAW.normal(size=(rows, inner)), DRAW.normal(size=(inner, columns))
        a, b = a.astype(np.float32), b.astype(np.float32)
        c = DRAW.normal(size=[(rows, columns), (1, columns), (rows, 1), (columns,), ()][DRAW.integers(5)])
        added = np.asarray(c, np.float32)
        given = {"A": a.T if across else a, "B": b.T if down else b, "C": added}
        answer = evaluate("Gemm-13", given, alpha=alpha, beta=beta, transA=across, transB=down)
        exact = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + beta * added.astype(np.float64)
        np.testing.assert_allclose(answer.expected.array, exact, rtol=1e-6, atol=1e-6)
        first = np.float32(alpha) * in_float32(a, b) + np.float32(beta) * added
        folded = in_float32(np.float32(alpha) * a, b) + np.float32(beta) * added
        assert accepted(answer, first).all()
        assert accepted(answer, folded).all()


def test_zero_points_go_by_rows_and_columns() -> None:
    for _ in range(200):
        rows, inner, columns = (int(integer) for integer in DRAW.integers(1, 6, size=3))
        a = DRAW.integers(0, 256, size=(rows, inner)).astype(np.uint8)
        b = DRAW.integers(-128, 128, size=(inner, columns)).astype(np.int8)
        by_rows = DRAW.integers(0, 256, size=(rows,)).astype(np.uint8)
        by_columns = DRAW.integers(-128, 128, size=(columns,)).astype(np.int8)
        given = {"A": a, "B": b, "a_zero_point": by_rows, "b_zero_point": by_columns}
        wanted = (a.astype(np.int64) - by_rows[:, None]) @ (b.astype(np.int64) - by_columns)
        answer = evaluate("MatMulInteger-10", given)
        assert answer.expected.element_type.name == "int32"
        assert answer.expected.array.tolist() == wanted.tolist()

"""Operators of com.microsoft against NumPy in double and integers of Python, and planted faults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.registry import find_operator

Array = NDArray[Any]
Program = Callable[..., Array | tuple[Array, ...]]
draw = np.random.default_rng(46)
erf = np.vectorize(math.erf, otypes=[np.float64])


@dataclass(frozen=True)
class Asked:
    """A call, a program for it in double or integers, and programs with a mistake."""

    name: str
    inputs: Mapping[str, Array]
    program: Program
    faults: Mapping[str, Program]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1
    domain: str = "com.microsoft"

    def answers(self) -> tuple[Answer, ...]:
        operator = find_operator(OperatorName(self.domain, self.name, 1))
        given = {name: tensor(array) for name, array in self.inputs.items()}
        return operator.evaluate(self.attributes, given, outputs=self.outputs)

    def worked_out(self, program: Program) -> Sequence[Array]:
        """What a program gives of the inputs in double; integers stay as they are."""
        wide = {
            "data" if name == "input" else name: array.astype(np.float64)
            if array.dtype.kind == "f"
            else array
            for name, array in self.inputs.items()
        }
        found = program(**wide, **self.attributes)
        return found if isinstance(found, tuple) else (found,)


def normal(*shape: int, scale: float = 1.0) -> Array:
    return np.asarray(draw.normal(0, scale, shape), dtype=np.float32)


def unpacked(packed: Array, bits: int, count: int) -> list[int]:
    """Numbers out of the bytes of a row, as one great integer whose lowest bits come first."""
    whole = int.from_bytes(bytes(packed.reshape(-1).tolist()), "little")
    return [(whole >> (bits * at)) % (1 << bits) for at in range(count)]


def product_of_bits(
    *,
    A: Array,
    B: Array,
    scales: Array,
    zero_points: Array | None = None,
    bias: Array | None = None,
    K: int,
    N: int,
    block_size: int,
    bits: int,
    high_first: bool = False,
    shifted: int = 0,
    default: int | None = None,
) -> Array:
    weights = np.zeros((N, K))
    for row in range(N):
        numbers = unpacked(B[row], bits, B[row].size * 8 // bits)
        if high_first:
            each = 8 // bits
            numbers = [numbers[at // each * each + each - 1 - at % each] for at in range(len(numbers))]
        for at in range(K):
            block = at // block_size
            if zero_points is None:
                zero: float = 1 << (bits - 1) if default is None else default
            elif zero_points.dtype == np.uint8:
                zero = unpacked(zero_points[row], bits, scales.shape[1])[block]
            else:
                zero = zero_points[row, block]
            scale = scales[row, (at + shifted) // block_size % scales.shape[1]]
            weights[row, at] = (numbers[at] - zero) * scale
    return np.asarray(A @ weights.T + (0 if bias is None else bias))


def of_bits(bits: int, K: int, N: int, block: int, zeros: str, bias: bool) -> Asked:
    blocks = -(-K // block)
    inputs = {
        "A": normal(2, 3, K),
        "B": draw.integers(0, 256, (N, blocks, block * bits // 8), dtype=np.uint8),
        "scales": normal(N, blocks),
    }
    if zeros == "packed":
        inputs["zero_points"] = draw.integers(0, 256, (N, -(-blocks * bits // 8)), dtype=np.uint8)
    elif zeros == "floats":
        inputs["zero_points"] = normal(N, blocks, scale=4)
    if bias:
        inputs["bias"] = normal(N)
    faults: dict[str, Program] = {}
    if bits < 8:
        faults["the high bits first"] = lambda **given: product_of_bits(**given, high_first=True)
    if blocks > 1:
        faults["blocks off by one"] = lambda **given: product_of_bits(**given, shifted=1)
    if zeros == "none":
        faults["zero points of 0"] = lambda **given: product_of_bits(**given, default=0)
    else:
        faults["zero points left out"] = lambda zero_points, **given: product_of_bits(**given)
    attributes = {"K": K, "N": N, "block_size": block, "bits": bits}
    return Asked("MatMulNBits", inputs, product_of_bits, faults, attributes)


def layer_norm(
    *,
    data: Array,
    skip: Array,
    gamma: Array,
    beta: Array | float = 0.0,
    bias: Array | float = 0.0,
    epsilon: float,
    unbiased: int = 0,
    skipped: float = 1.0,
) -> tuple[Array, ...]:
    added = data + skipped * skip + bias
    mean = added.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(added.var(-1, keepdims=True, ddof=unbiased) + epsilon)
    return (added - mean) * inverse * gamma + beta, mean, inverse, added


def rms_norm(
    *,
    data: Array,
    skip: Array,
    gamma: Array,
    bias: Array | float = 0.0,
    epsilon: float,
    centred: bool = False,
) -> tuple[Array, ...]:
    added = data + skip + bias
    middle = added.mean(-1, keepdims=True) if centred else np.zeros((*added.shape[:-1], 1))
    inverse = 1 / np.sqrt(((added - middle) ** 2).mean(-1, keepdims=True) + epsilon)
    return added * inverse * gamma, middle, inverse, added


def simplified(
    *, X: Array, scale: Array, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> tuple[Array, ...]:
    axes = tuple(range(axis % X.ndim, X.ndim))
    inverse = 1 / np.sqrt((X**2).mean(axes, keepdims=True) + epsilon)
    return X * inverse * scale, inverse


def gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + erf(x / math.sqrt(2))))


def by_tanh(x: Array, first: float = 0.797885, second: float = 0.035677) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(first * x + second * x**3)))


def split(X: Array, bias: Array, *, exchanged: bool = False) -> Array:
    left, right = np.split(X + bias, 2, axis=-1)
    return np.asarray(right * gelu(left) if exchanged else left * gelu(right))


def fused(
    *,
    A: Array,
    B: Array,
    alpha: float = 1,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Array:
    def turned(given: Array, batches: int, swapped: int) -> Array:
        given = np.moveaxis(given, 0, -2) if batches else given
        return given.swapaxes(-1, -2) if swapped else given

    return np.asarray(alpha * np.matmul(turned(A, transBatchA, transA), turned(B, transBatchB, transB)))


def without(*names: str, of: Program) -> Program:
    """A program that does not look at some of what it is given."""
    return lambda **given: of(**{name: value for name, value in given.items() if name not in names})


def rotated(
    *,
    data: Array,
    position_ids: Array,
    cos_cache: Array,
    sin_cache: Array,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    following: bool = True,
    sign: int = 1,
) -> Array:
    """Pair by pair, as a product of complex numbers."""
    half = cos_cache.shape[1]
    size = data.shape[-1] // num_heads if num_heads and data.ndim == 3 else 2 * half
    size = data.shape[-1] if data.ndim == 4 else size
    width, found = rotary_embedding_dim or size, data.copy()
    view = found.swapaxes(1, 2) if data.ndim == 4 else found.reshape(*data.shape[:2], -1, size)
    for batch, token in np.ndindex(view.shape[:2]):
        if position_ids.ndim == 1:
            at = position_ids[0] + (token if following else 0)
        else:
            at = position_ids[batch, token]
        for pair in range(half):
            one, other = (2 * pair, 2 * pair + 1) if interleaved else (pair, pair + width // 2)
            turn = cos_cache[at, pair] + sign * 1j * sin_cache[at, pair]
            turned = (view[batch, token, :, one] + 1j * view[batch, token, :, other]) * turn
            view[batch, token, :, one], view[batch, token, :, other] = turned.real, turned.imag
    return found


def rotary(shape: tuple[int, ...], half: int, positions: Any, **attributes: int) -> Asked:
    angles = draw.uniform(-3, 3, (9, half))
    inputs = {
        "input": normal(*shape),
        "position_ids": np.array(positions, dtype=np.int64),
        "cos_cache": np.cos(angles).astype(np.float32),
        "sin_cache": np.sin(angles).astype(np.float32),
    }
    faults: dict[str, Program] = {
        "turned back": lambda **given: rotated(**given, sign=-1),
        "the other pairs": lambda **given: rotated(
            **given | {"interleaved": 1 - given.get("interleaved", 0)}
        ),
    }
    if len(inputs["position_ids"].shape) == 1:
        faults["one position for all"] = lambda **given: rotated(**given, following=False)
    return Asked("RotaryEmbedding", inputs, rotated, faults, attributes)


def blocked(*, input_ids: Array, scores: Array, ngram_size: int, early: int = 0) -> Array:
    """By the set of all n-grams of a sequence."""
    found = scores.copy()
    for row, tokens in enumerate(input_ids.tolist()):
        ngrams = {tuple(tokens[at : at + ngram_size]) for at in range(len(tokens) - ngram_size + 1 - early)}
        for token in range(scores.shape[1]):
            if (*tokens[len(tokens) - ngram_size + 1 :], token) in ngrams:
                found[row, token] = -np.inf
    return found


def distinct(*, x: Array, ordered: bool = False) -> tuple[Array, ...]:
    order = sorted(set(x.tolist())) if ordered else list(dict.fromkeys(x.tolist()))
    places = [order.index(element) for element in x.tolist()]
    counts = [x.tolist().count(element) for element in order]
    return np.array(order), np.array(places), np.array(counts)


def distance(*, A: Array, B: Array, metric: str, squared: bool | None = None) -> Array:
    found = np.array([[sum((a - b) ** 2) for b in B] for a in A])
    return np.sqrt(found) if (metric == "euclidean") is not bool(squared) else found


def swish(*, X: Array, alpha: float = float(np.float32(1.702))) -> Array:
    return np.asarray(X / (1 + np.exp(-alpha * X)))


NORMAL = normal(2, 3, 33, scale=2), normal(2, 3, 33), normal(33), normal(33), normal(33)
ROWS = {"input": NORMAL[0], "skip": NORMAL[1], "gamma": NORMAL[2]}
SPREAD = np.linspace(-5, 5, 60, dtype=np.float32).reshape(6, 10)
NEAR = {"epsilon": 2.0**-10}
EACH: tuple[Asked, ...] = (
    of_bits(4, 45, 3, 16, "none", bias=False),
    of_bits(4, 32, 2, 32, "packed", bias=True),
    of_bits(4, 130, 3, 64, "packed", bias=False),
    of_bits(8, 128, 3, 64, "packed", bias=True),
    of_bits(8, 19, 2, 16, "none", bias=False),
    of_bits(2, 80, 3, 16, "packed", bias=False),
    of_bits(4, 64, 3, 16, "floats", bias=True),
    Asked(
        "SkipLayerNormalization",
        {**ROWS, "beta": NORMAL[3], "bias": NORMAL[4]},
        layer_norm,
        {
            "the variance of a sample": lambda **given: layer_norm(**given, unbiased=1),
            "the bias left out": without("bias", of=layer_norm),
            "nothing skipped": lambda **given: layer_norm(**given, skipped=0.0),
        },
        NEAR,
        4,
    ),
    Asked(
        "SkipLayerNormalization",
        {**ROWS, "skip": NORMAL[1][0]},
        layer_norm,
        {"beta of gamma": lambda **given: layer_norm(**given, beta=given["gamma"])},
        NEAR,
        4,
    ),
    Asked(
        "SkipSimplifiedLayerNormalization",
        {**ROWS, "bias": NORMAL[4]},
        rms_norm,
        {
            "centred": lambda **given: rms_norm(**given, centred=True),
            "the bias left out": without("bias", of=rms_norm),
        },
        NEAR,
        4,
    ),
    *(
        Asked(
            "SimplifiedLayerNormalization",
            {"X": NORMAL[0], "scale": scale},
            simplified,
            {
                "centred": lambda **given: simplified(
                    **given | {"X": given["X"] - given["X"].mean(-1, keepdims=True)}
                ),
                "along other axes": lambda other=other, **given: simplified(**given | {"axis": other}),
                "no scale": lambda **given: simplified(**given | {"scale": 1.0}),
                "the root itself": lambda **given: (simplified(**given)[0], 1 / simplified(**given)[1]),
            },
            attributes,
            2,
            "ai.onnx",
        )
        for scale, attributes, other in (
            (NORMAL[2], {}, 1),
            (NORMAL[1][0], {"axis": 1, "epsilon": 2.0**-3, "stash_type": 1}, 2),
        )
    ),
    Asked("Gelu", {"X": SPREAD}, lambda X: gelu(X), {"by tanh": lambda X: by_tanh(X)}),
    Asked(
        "BiasGelu",
        {"A": SPREAD, "B": normal(10)},
        lambda A, B: gelu(A + B),
        {"the bias behind": lambda A, B: gelu(A) + B},
    ),
    Asked(
        "FastGelu",
        {"X": SPREAD, "bias": normal(10)},
        lambda X, bias: by_tanh(X + bias),
        {"by erf": lambda X, bias: gelu(X + bias), "five digits": lambda X, bias: by_tanh(X + bias, 0.79788)},
    ),
    Asked("QuickGelu", {"X": SPREAD}, swish, {"alpha of 1": lambda X: swish(X=X, alpha=1.0)}),
    Asked(
        "QuickGelu", {"X": SPREAD}, swish, {"alpha forgotten": without("alpha", of=swish)}, {"alpha": 0.625}
    ),
    Asked(
        "BiasSplitGelu",
        {"X": normal(2, 3, 8), "bias": normal(8)},
        split,
        {"halves exchanged": lambda X, bias: split(X, bias, exchanged=True)},
    ),
    Asked(
        "FusedMatMul",
        {"A": normal(4, 4, 4), "B": normal(4, 4, 4)},
        fused,
        {
            "batches stay": without("transBatchA", of=fused),
            "A as it is": without("transA", of=fused),
            "no alpha": without("alpha", of=fused),
        },
        {"transBatchA": 1, "transA": 1, "transB": 1, "alpha": 0.75},
    ),
    Asked(
        "TransposeMatMul",
        {"A": normal(3, 4, 4), "B": normal(4, 5)},
        fused,
        {"A as it is": without("transA", of=fused)},
        {"transA": 1},
    ),
    rotary((2, 3, 12), 2, [[0, 5, 1], [8, 2, 2]], num_heads=3),
    rotary((2, 3, 12), 3, [4]),
    rotary((2, 2, 3, 8), 4, [[0, 5, 1], [8, 2, 2]], interleaved=1),
    rotary((1, 3, 16), 2, [2], num_heads=2, rotary_embedding_dim=4, interleaved=1),
    Asked(
        "NGramRepeatBlock",
        {"input_ids": np.array([[1, 2, 3, 1, 2], [0, 0, 0, 0, 0], [1, 2, 3, 4, 2]]), "scores": normal(3, 5)},
        blocked,
        {
            "pairs": lambda input_ids, scores, ngram_size: blocked(
                input_ids=input_ids, scores=scores, ngram_size=2
            )
        },
        {"ngram_size": 3},
    ),
    Asked(
        "Unique",
        {"x": np.array([2, 1, 1, 3, 4, 3, 2], dtype=np.float32)},
        distinct,
        {"sorted": lambda x: distinct(x=x, ordered=True)},
        outputs=3,
    ),
    Asked(
        "Trilu",
        {"X": normal(2, 4, 5), "k": np.array(1)},
        lambda X, k, upper: np.tril(X, int(k)),
        {"upper": lambda X, k, upper: np.triu(X, int(k)), "k of 0": lambda X, k, upper: np.tril(X)},
        {"upper": 0},
    ),
    Asked(
        "ExpandDims",
        {"X": normal(2, 3), "axis": np.array(-1, dtype=np.int32)},
        lambda X, axis: np.expand_dims(X, int(axis)),
        {"before the last": lambda X, axis: X[:, None]},
    ),
    *(
        Asked(
            "CDist",
            {"A": normal(3, 7), "B": normal(4, 7)},
            distance,
            {"the other metric": lambda **given: distance(**given, squared=True)},
            {"metric": metric},
        )
        for metric in ("sqeuclidean", "euclidean")
    ),
)


def outside(answers: Sequence[Answer], got: Sequence[Array]) -> int:
    """How many elements no honest program has, with half a unit more for what double rounds."""
    count = 0
    for answer, array in zip(answers, got, strict=True):
        expected = answer.expected.array
        if expected.shape != array.shape:
            return max(expected.size, 1)
        wide = expected.astype(np.float64)
        allowed = np.zeros(expected.shape) if answer.allowed is None else answer.allowed
        if expected.dtype == np.float32:
            allowed = allowed + np.where(np.isfinite(expected), np.abs(wide), 0) * 2.0**-24
        with np.errstate(invalid="ignore"):
            near = (wide == array) | (np.abs(wide - array) <= allowed)
        count += int(np.count_nonzero(~near))
    return count


@pytest.mark.parametrize("asked", EACH, ids=lambda asked: f"{asked.name}-{dict(asked.attributes)}")
def test_answers_are_those_of_double_and_faults_are_noticed(asked: Asked) -> None:
    answers, got = asked.answers(), asked.worked_out(asked.program)[: asked.outputs]
    assert outside(answers, got) == 0
    for answer, array in zip(answers, got, strict=True):
        if answer.expected.array.dtype == np.float32:
            # What is expected is what double has, rounded; the bound around it is of another part.
            np.testing.assert_allclose(answer.expected.array, array, rtol=2.0**-22, atol=1e-12)
    for what, program in asked.faults.items():
        assert outside(answers, asked.worked_out(program)[: asked.outputs]), what


def test_eight_bits_of_a_block_are_as_good_where_the_level_says_so() -> None:
    """Only the accuracy level 4 lets a program round the blocks of A to 127 steps; wrong ones stay out."""
    plain = of_bits(4, 64, 3, 16, "none", bias=False)
    blocks = plain.inputs["A"].astype(np.float64).reshape(2, 3, 4, 16)
    step = np.abs(blocks).max(-1, keepdims=True) / 127
    rounded = (np.round(blocks / step) * step).reshape(2, 3, 64)
    got = (product_of_bits(**{**plain.inputs, "A": rounded}, **plain.attributes),)
    loose = Asked(plain.name, plain.inputs, plain.program, {}, {**plain.attributes, "accuracy_level": 4})
    assert outside(loose.answers(), got) == 0
    assert outside(plain.answers(), got) > 0
    for program in plain.faults.values():
        assert outside(loose.answers(), plain.worked_out(program)) > 0

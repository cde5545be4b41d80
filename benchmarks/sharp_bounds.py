"""How near honest float32 arithmetic comes to its bound where it rounds once, twice or three times.

    uv run python -m benchmarks.sharp_bounds            # the table of docs/bounds.md

Random calls, the same in every run, of operations with few roundings; of each kind the fifty that err most
are held against the bound of the reference. The share that is printed shows how much smaller a bound could
be at all: it is reached by a program that does nothing but what the table says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import find_operator

Array = NDArray[Any]
CALLS = 1_000_000
KEPT = 50
_ONE = np.float32(1)


@dataclass(frozen=True)
class Sharp:
    """A family, what is computed, and the greatest share of the bound that was found."""

    family: str
    program: str
    share: float


def share(operator: str, inputs: Mapping[str, Array], got: Array) -> float:
    """The worst element's distance from the expectation, over what is allowed."""
    (answer,) = find_operator(OperatorName.parse(operator)).evaluate(
        {}, {name: tensor(each) for name, each in inputs.items()}
    )
    expected, allowed = answer.expected.array.astype(np.float64), answer.allowed
    assert allowed is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.abs(got.astype(np.float64).reshape(expected.shape) - expected)
        return float(np.where(apart == 0, 0.0, apart / allowed).max())


def _farthest(got: Array, exact: Array) -> NDArray[np.intp]:
    """The places that err most, in halves of a unit in their last place and as much of their size."""
    reach = np.ldexp(1.0, np.frexp(exact)[1] - 1) + exact
    return np.asarray(np.argsort(np.abs(got - exact) / reach, kind="stable")[-KEPT:], dtype=np.intp)


def quotients(draw: np.random.Generator) -> Sharp:
    """a * (1 / b), a just above 1 and b below 2: the reciprocal errs most, and so does the product."""
    above, below = draw.random((2, CALLS)) / 64
    a, b = (1 + above).astype(np.float32), (2 - below).astype(np.float32)
    got = a * (_ONE / b)
    chosen = _farthest(got, a.astype(np.float64) / b)
    found = share("ai.onnx::Div-14", {"A": a[chosen], "B": b[chosen]}, got[chosen])
    return Sharp("element by element", "a quotient by the reciprocal", found)


def means(draw: np.random.Generator, count: int) -> Sharp:
    """s * (1 / n) of a sum that is exact, since all its terms but one are zero."""
    a = (1 + draw.random(CALLS)).astype(np.float32)
    got = a * (_ONE / np.float32(count))
    chosen = _farthest(got, a.astype(np.float64) / count)
    given = np.zeros((KEPT, 1, count), np.float32)
    given[:, 0, 0] = a[chosen]
    found = share("ai.onnx::GlobalAveragePool-22", {"X": given}, got[chosen])
    return Sharp("pooling", f"a mean of {count}, by the reciprocal of the count", found)


def products(draw: np.random.Generator) -> Sharp:
    """a * b + c * d of numbers just above 1: both products and their sum are rounded."""
    a, b, c, d = (1 + draw.random((4, CALLS)) / 64).astype(np.float32)
    got = a * b + c * d
    # Each product has at most 48 bits, and float64 rounds their sum by far less than float32 errs.
    chosen = _farthest(got, a.astype(np.float64) * b + c.astype(np.float64) * d)
    left = np.stack([a, c], axis=-1)[chosen][:, None, :]
    right = np.stack([b, d], axis=-1)[chosen][:, :, None]
    found = share("ai.onnx::MatMul-13", {"A": left, "B": right}, got[chosen])
    return Sharp("contractions", "a sum of two products", found)


def measure() -> Iterator[Sharp]:
    draw = np.random.default_rng(15)
    yield quotients(draw)
    yield products(draw)
    for count in (7, 63):
        yield means(draw, count)


def table() -> str:
    """The table of docs/bounds.md."""
    rows = [f"| {each.family} | {each.program} | {each.share:.3f} |" for each in measure()]
    return "\n".join(["| family | program | greatest honest error / allowed |", "|---|---|---:|", *rows])


def main() -> int:
    if len(sys.argv) > 1:
        print(__doc__)
        return 0
    print(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())

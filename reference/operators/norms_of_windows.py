"""LpPool and GlobalLpPool: norms of windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import prod

import numpy as np

from reference.functions.powers import NARROW_ULPS, ULPS, SpecialPowers, power_of, power_ulps
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import MARGIN, rounded_up
from reference.readings.choices import Choice
from reference.registry import reference_operator
from reference.shared.windows import Ints, slide
from reference.sums.summation import mean_of, total

_NEVER_ASKED: SpecialPowers = Choice("pow")
"""Of magnitudes and of exponents above zero the power and the exponential of the logarithm are the same."""


@reference_operator("ai.onnx::LpPool")
def lp_pool(
    X: Numbers,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints = None,
    kernel_shape: tuple[int, ...],
    p: int = 2,
    pads: Ints = None,
    strides: Ints = None,
) -> Numbers:
    """The Lp norm of the elements of each window. Source: LpPool, Summary, p."""
    windows = slide(
        X.shape[2:], kernel_shape, strides=strides, pads=pads, dilations=dilations,
        auto_pad=auto_pad, ceil_mode=ceil_mode,
    )  # fmt: skip
    return norm(X, p, windows.gather).reshape((*X.shape[:2], *windows.lengths))


@reference_operator("ai.onnx::GlobalLpPool")
def global_lp_pool(X: Numbers, *, p: int = 2) -> Numbers:
    """The Lp norm of all elements of a channel. Source: GlobalLpPool, Summary, p."""
    rows = X.reshape((*X.shape[:2], prod(X.shape[2:])))
    return norm(rows, p, lambda each: each).reshape((*X.shape[:2], *(1 for _ in X.shape[2:])))


def norm(X: Numbers, p: int, rows_of: Callable[[Numbers], Numbers]) -> Numbers:
    """(|x1|^p + |x2|^p + ...)^(1/p) along the last axis of rows of elements.

    By products or by powers, which may err as much as a table allows; the square root also as such. Some
    programs add up by the mean of a window, which they multiply again.
    """
    sizes = abs(X)
    powers = sizes if p == 1 else _as_power(reduce(lambda power, _: power * sizes, range(p - 1), sizes))
    rows = rows_of(powers)
    summed = total(rows, -1)
    if count := rows.shape[-1]:
        sums = summed
        summed = whichever(sums, lambda: mean_of(sums, count) * count)
    if p == 1:
        return summed
    found = _as_power(summed.sqrt()) if p == 2 else _root(summed, p)
    small = summed.finite & (summed.error > 0) & (summed.magnitude <= 4 * summed.error)
    if small.any():
        # The sum may be zero: a power of two above the root of a power of two above its greatest.
        most = np.ldexp(1.0, -(-np.frexp(summed.magnitude)[1].astype(np.int64) // p))
        error, lost = np.where(small, most, found.error), np.where(small, summed.lost, found.lost)
        found = replace(found, error=error, lost=lost)
    return found


def _root(summed: Numbers, p: int) -> Numbers:
    """The p-th root of sums that are not negative, as a power with the exponent 1/p, which is rounded."""
    summed.working.needs_full_functions("roots of higher degree are")
    exponent = Numbers.exact(Fraction(1, p), summed.working)
    found = power_of(summed, exponent, _NEVER_ASKED)
    # Of s to the power of (1 + u) / p the share that it is off by is below 2 u |log2(s)| / p.
    bits = np.abs(np.frexp(summed.value.floats())[1]) + 1.0
    share = 2 * summed.working.unit * bits / p
    error = np.where(found.finite, rounded_up(found.error + share * found.magnitude), found.error)
    return replace(found, error=error)


def _as_power(found: Numbers) -> Numbers:
    """The same with the errors of a power beside its own; a zero is one by any way."""
    working = found.working
    narrow = working.is_narrow and working.layout == working.own_layout
    ulps = power_ulps(working, NARROW_ULPS if narrow else ULPS)
    free = (found.value.signs() == 0) & (found.error == 0)
    result = found.rounded(1, exact=False, free=free, least=np.ceil(ulps), ulps=ulps)
    beyond = result.finite & (result.magnitude >= working.greatest * (1 - MARGIN))
    return replace(result, lost=result.lost | beyond)

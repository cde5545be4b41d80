"""Ordinary data: numbers of which no program has an excuse to make anything but the result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Case, ExpectedOutput
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

LEAST, GREATEST = math.ldexp(1.0, -20), math.ldexp(1.0, 20)
"""The magnitudes of ordinary numbers other than zero."""


def is_ordinary(given: Tensor) -> bool:
    """Whether all numbers of a tensor of floats are zero or between 2^-20 and 2^20 in magnitude.

    Tensors of other types are ordinary whatever they hold.
    """
    kind = given.element_type
    if kind.kind == "complex":
        return all(_ordinary(kind.component, part) for part in (given.array.real, given.array.imag))
    return not kind.is_float or _ordinary(kind, given.array)


def has_ordinary_inputs(case: Case) -> bool:
    """Whether all that a case gives is ordinary."""
    return all(given is None or is_ordinary(given) for _, given in case.inputs)


def _ordinary(kind: ElementType, array: NDArray[Any]) -> bool:
    sizes = np.abs(decode_floats(kind, array))
    return bool(((sizes == 0) | ((sizes >= LEAST) & (sizes <= GREATEST))).all())


def made_no_number(wanted: ExpectedOutput, got: Tensor) -> int:
    """How many elements of an output of floats are NaN or an infinity where a number is expected.

    Where anything is allowed none is.
    """
    expected, kind = wanted.expected, wanted.expected.element_type
    if not kind.is_float or expected.shape != got.shape or got.element_type is not kind:
        return 0
    lost = ~np.isfinite(decode_floats(kind, got.array))
    if not lost.any():
        return 0
    told = np.isfinite(decode_floats(kind, expected.array))
    if wanted.allowed is not None:
        told &= np.isfinite(wanted.allowed)
    return int(np.count_nonzero(lost & told))

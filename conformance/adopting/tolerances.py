"""Tolerances of tests as the allowed error of each element."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from conformance.suite.values import decode_floats
from opcert.vocabulary.tensors import Tensor

# ONNX's own runner widens the relative tolerance of bfloat16 to two steps of that type.
_RTOL_OF_BFLOAT16 = 1 / 64


def allowed_error(expected: Tensor, rtol: float, atol: float) -> NDArray[np.float64] | None:
    """What `atol + rtol * |expected|` allows to each element, rounded up; None where equality is asked.

    An element that is no finite number has to be what it is. Strings and booleans have to be equal. Of a
    complex number each part may be off by what its magnitude allows.
    """
    element_type = expected.element_type
    if element_type.kind in ("string", "bool"):
        return None
    if element_type.name == "bfloat16":
        rtol = max(rtol, _RTOL_OF_BFLOAT16)
    if element_type.is_float:
        magnitude = np.abs(decode_floats(element_type, expected.array))
    elif element_type.kind == "complex":
        magnitude = _modulus(expected.array.astype(np.complex128))
    else:
        magnitude = np.abs(expected.array.astype(np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        allowed = np.nextafter(atol + rtol * magnitude, np.inf)
    finite = np.isfinite(magnitude)
    if rtol == 0 and atol == 0:
        finite = np.zeros_like(finite)
    return np.asarray(np.where(finite, allowed, 0.0), dtype=np.float64)


def _modulus(numbers: NDArray[np.complex128]) -> NDArray[np.float64]:
    """At least the magnitude of each complex number, and less than 2**-49 of it above: numpy's own varies."""
    with np.errstate(invalid="ignore", over="ignore"):
        real, imaginary = np.abs(numbers.real), np.abs(numbers.imag)
        long, short = np.maximum(real, imaginary), np.minimum(real, imaginary)
        ratio = np.divide(short, long, out=np.zeros(long.shape), where=(long > 0) & np.isfinite(long))
        return np.asarray(long * np.sqrt(1 + ratio * ratio) * (1 + math.ldexp(1.0, -50)))

"""Numbers of moderate size: those of a tensor times a power of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode, numbers


def scaled_down(given: Tensor, most: Fraction) -> Tensor:
    """The finite numbers of a tensor, all times one power of two, so that none is beyond `most`."""
    greatest, halvings = _greatest(given), 0
    while greatest > most * (1 << halvings):
        halvings += 1
    return Tensor(given.element_type, _halved(given, halvings).reshape(given.shape)) if halvings else given


def _greatest(tensor: Tensor) -> Fraction:
    """The greatest magnitude of the finite numbers; zero where there is none."""
    array = tensor.array
    if array.dtype.kind == "f":
        finite = np.abs(array[np.isfinite(array)])
        return Fraction(float(finite.max())) if finite.size else Fraction(0)
    given = numbers(tensor.element_type, array)
    return max((abs(number) for number in given if isinstance(number, Fraction)), default=Fraction(0))


def _halved(tensor: Tensor, times: int) -> NDArray[Any]:
    """The numbers times `2**-times`, each correctly rounded; what is not finite stays.

    The machine does so with types that it has itself, a hundred times as quickly: weights have millions.
    """
    kind, array = tensor.element_type, tensor.array
    if array.dtype.kind == "f":
        halved: NDArray[Any] = np.ldexp(array, -times)
        return halved
    scale = Fraction(1, 1 << times)
    given = numbers(kind, array)
    return encode(kind, [each * scale if isinstance(each, Fraction) else each for each in given])

"""Special values: all elements alike, only the sign of zero, NaN in place of numbers, subnormals flushed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.patterns.coincidences import STRANGE
from conformance.judging.patterns.elements import same_elements
from conformance.judging.patterns.wrong_output import FEWEST, WrongOutput
from conformance.suite.values import decode_loudly, element_to_json
from opcert.vocabulary.element_types import ElementType

_FEWEST_FLUSHED = 2


def find_special_values(output: WrongOutput) -> str | None:
    """All wrong elements are wrong in the same special way."""
    if output.wrong is None or not output.element_type.is_float:
        return None
    if not all(got == 0 or got != got for got, _, _ in output.first_pairs):
        return None
    sampled = output.sampled_places
    if not _special(output.element_type, output.got.reshape(-1)[sampled]).all():
        return None
    got = decode_loudly(output.element_type, output.wrong_got)
    wanted = decode_loudly(output.element_type, output.wrong_expected)
    zero = got == 0
    if (zero & (wanted == 0)).all():
        return "wrong only in the sign of zero"
    if zero.all() and got.size >= _FEWEST_FLUSHED and (np.abs(wanted) < _least_normal(output)).all():
        return "wrong only where subnormal numbers are expected: they are zero"
    if got.size >= FEWEST and got.size < output.got.size and np.isnan(got).all():
        return "every wrong element is NaN"
    return None


def _special(element_type: ElementType, storage: NDArray[Any]) -> NDArray[np.bool_]:
    values = decode_loudly(element_type, storage)
    return np.asarray((values == 0) | np.isnan(values))


def _least_normal(output: WrongOutput) -> float:
    layout = output.element_type.layout
    assert layout is not None
    return float(np.ldexp(1.0, layout.least_exponent))


def find_constant(output: WrongOutput) -> str | None:
    """All elements are alike, where more than one would not be so by chance.

    An element has one of at least 16 values in most types (4 bits of surprise), of 4 in integers of 2 bits,
    of 2 in booleans (1 bit).
    """
    flat = output.got.reshape(-1)
    if len({got for got, _, _ in output.first_pairs if got == got}) > 1:
        return None
    if flat.size < FEWEST or not _alike(output.element_type, flat[output.sampled_places]):
        return None
    bits = 1 if output.element_type.kind == "bool" else min(output.element_type.bits or 4, 4)
    if output.wrong_places.size < FEWEST or bits * output.wrong_places.size < STRANGE:
        return None
    if not _alike(output.element_type, flat):
        return None
    if output.wrong is not None and _alike(output.element_type, output.expected.reshape(-1)):
        return None  # then any offset and any factor would do as well
    value = element_to_json(output.element_type, flat[0])
    if output.element_type.kind == "string":
        return "all elements are empty" if value == "" else "all elements are the same"
    if flat[0] == 0:
        return "all elements are zero"
    return "all elements are NaN" if value == "NaN" else "all elements are the same"


def _alike(element_type: ElementType, flat: NDArray[Any]) -> bool:
    return bool(same_elements(element_type, flat[1:], np.repeat(flat[:1], flat.size - 1)).all())

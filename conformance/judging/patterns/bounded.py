"""Elements all alike, NaN and zeros in place of numbers; values stopped at a limit, values that should
have been, and whole numbers off by one in one direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.patterns.elements import same_elements
from conformance.judging.patterns.wrong_output import FEWEST, STRANGE, WrongOutput, is_strange_place
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


_FEWEST_ONE_OFF = 12
_FEWEST_RIGHT = 4


def find_clipping(output: WrongOutput) -> str | None:
    """Every wrong element stands at a limit of the output or of its type, or should stand at one."""
    if not output.has_numbers or output.wrong_places.size < FEWEST:
        return None
    if output.element_type.bits == 2:
        return None  # every other element is a limit
    if len({got for got, _, _ in output.first_pairs}) > 2:
        return _not_saturated(output)
    return _stopped(output) or _at_type_limit(output) or _not_saturated(output)


def _stopped(output: WrongOutput) -> str | None:
    """Where it is wrong, the output is its own greatest (least) element, and the expectation lies beyond."""
    sampled = output.sampled_places
    got, expected = (array.reshape(-1)[sampled] for array in (output.got, output.expected))
    if output.element_type.is_float:
        got, expected = (decode_loudly(output.element_type, array) for array in (got, expected))
    high, low = got.max(), got.min()
    beyond, below = (got == high) & (expected > high), (got == low) & (expected < low)
    if not (beyond | below).all():
        return None
    everything = output.got.reshape(-1)
    got, expected = output.wrong_got, output.wrong_expected
    if output.element_type.is_float:
        everything, got, expected = (
            decode_loudly(output.element_type, array) for array in (everything, got, expected)
        )
    beyond = (got == np.nanmax(everything)) & (expected > got)
    below = (got == np.nanmin(everything)) & (expected < got)
    if not (beyond | below).all():
        return None
    said = []
    for side, words in ((beyond, "at most"), (below, "at least")):
        if side.any():
            limit = element_to_json(output.element_type, output.wrong_got[int(side.argmax())])
            said.append(f"{words} {limit}")
    return f"the expected output clipped to {' and '.join(said)}"


def _at_type_limit(output: WrongOutput) -> str | None:
    if output.element_type.is_integer:
        low, high = output.element_type.integer_range
        got, expected = output.wrong_got, output.wrong_expected
        if not ((got == low) | (got == high)).all():
            return None
        ends = (expected == low) | (expected == high)
        if ends.all():
            return "every wrong element is the limit of its type opposite to the expected one"
        if ends.any() or (low == 0 and (got == 0).any()):
            return None  # that is no saturation
        reached = sorted(set(got.tolist()))
        return f"saturated: every wrong element is {' or '.join(map(str, reached))}"
    values = np.abs(decode_loudly(output.element_type, output.wrong_got))
    if np.isinf(values).all():
        return "saturated: every wrong element is infinite"
    if (values == _greatest(output)).all():
        return "saturated: every wrong element is the greatest finite number or its negative"
    return None


def _not_saturated(output: WrongOutput) -> str | None:
    """Wrong at elements that should be at a limit of their type, and nowhere else."""
    if len({abs(expected + 0.5) for _, expected, _ in output.first_pairs}) > 1:
        return None  # neither infinities nor the two limits of an integer type
    expected = output.expected.reshape(-1)
    if output.element_type.is_integer:
        low, high = output.element_type.integer_range
        limits = (low, high) if low < 0 else (high,)
        at_limit = np.isin(expected, limits)
        text = " or ".join(str(limit) for limit in limits)
    else:
        at_limit = np.isinf(decode_loudly(output.element_type, expected))
        text = "infinity"
    if not at_limit[output.wrong_places].all():
        return None
    strange = is_strange_place(expected.size, int(np.count_nonzero(at_limit)), output.wrong_places.size)
    return f"wrong only where {text} is expected" if strange else None


def _greatest(output: WrongOutput) -> float:
    layout = output.element_type.layout
    assert layout is not None
    patterns = (
        np.arange(1 << output.element_type.bits, dtype=np.uint32) if output.element_type.bits < 16 else None
    )
    if patterns is not None:
        values = decode_loudly(output.element_type, patterns.astype(output.element_type.storage))
        return float(np.max(values[np.isfinite(values)]))
    return math.ldexp(2.0 - math.ldexp(1.0, 1 - layout.precision), layout.greatest_exponent)


def find_direction(output: WrongOutput) -> str | None:
    """Every wrong element is a whole number too far by one, all in one direction, and others are right.

    At random, the directions of so many elements would agree once in 2**12 times.
    """
    wrong = output.wrong_places.size
    if any(abs(got - expected) != 1 for got, expected, _ in output.first_pairs):
        return None
    if not output.has_numbers or not output.element_type.is_integer:
        return None
    if wrong < _FEWEST_ONE_OFF or output.got.size - wrong < _FEWEST_RIGHT:
        return None
    got, expected = output.wrong_got, output.wrong_expected
    greater = got > expected
    apart = np.where(greater, got - expected, expected - got)
    if not (apart == 1).all():
        return None
    if not greater.any():
        return "every wrong element is one too small"
    if greater.all():
        return "every wrong element is one too great"
    if (greater == (expected < 0)).all():
        return "every wrong element is one too near to zero, as truncation makes it"
    if (greater == (got > 0)).all():
        return "every wrong element is one too far from zero"
    return None

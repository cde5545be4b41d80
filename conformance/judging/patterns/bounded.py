"""Values stopped at a limit, values that should have been, and whole numbers off by one in one direction."""

from __future__ import annotations

import math

import numpy as np

from conformance.judging.patterns.coincidences import is_strange_place
from conformance.judging.patterns.wrong_output import FEWEST, WrongOutput
from conformance.suite.values import decode_loudly, element_to_json

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
    got, expected = (each.reshape(-1)[sampled] for each in (output.got, output.expected))
    if output.element_type.is_float:
        got, expected = (decode_loudly(output.element_type, each) for each in (got, expected))
    high, low = got.max(), got.min()
    beyond, below = (got == high) & (expected > high), (got == low) & (expected < low)
    if not (beyond | below).all():
        return None
    everything = output.got.reshape(-1)
    got, expected = output.wrong_got, output.wrong_expected
    if output.element_type.is_float:
        everything, got, expected = (
            decode_loudly(output.element_type, each) for each in (everything, got, expected)
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
        text = " or ".join(str(each) for each in limits)
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

"""MelWeightMatrix against the printed formula in mpmath, programs in float32, and faulty ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray

from generator.calls.kinds.rows import _BANDS
from tests.reference.honest_programs import Asked

Array = NDArray[Any]
Values = tuple[float, ...]
CALLS = [each for listed in _BANDS.values() for each in listed]


def asked(values: Values, code: int = 1, kind: str = "float") -> Asked:
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    given = [
        (name, np.array(each, np.int32 if at < 3 else np.float32))
        for at, (name, each) in enumerate(zip(names, values, strict=True))
    ]
    return Asked.of("MelWeightMatrix", kind, given, {"output_datatype": code})


def bins_of(values: Values, steps: int) -> list[int]:
    """The bins of all edges, in 200 bits."""
    bands, length, rate, lower, upper = values
    with mpmath.workprec(200):
        low, high = (2595 * mpmath.log10(1 + mpmath.mpf(number) / 700) for number in (lower, upper))
        mels = [low + at * (high - low) / steps for at in range(int(bands) + 2)]
        hertz = [700 * (mpmath.power(10, mel / 2595) - 1) for mel in mels]
        return [int(mpmath.floor((length + 1) * each / rate)) for each in hertz]


def triangles(bins: list[int], length: int) -> Array:
    """The highest of the two sides of each band, as the page's loops have it."""
    found = np.zeros((length // 2 + 1, len(bins) - 2))
    for band in range(len(bins) - 2):
        left, centre, right = bins[band : band + 3]
        for row in range(found.shape[0]):
            if row == centre:
                found[row, band] = 1
            elif left <= row < centre:
                found[row, band] = (row - left) / (centre - left)
            elif centre < row < right:
                found[row, band] = (right - row) / (right - centre)
    return found


def in_single(values: Values, floor: Callable[[Any], Any] = np.floor, mel: str = "htk") -> Array:
    """The printed program in float32."""
    bands, length, rate = (int(value) for value in values[:3])
    lower, upper = (np.float32(value) for value in values[3:])
    if mel == "htk":
        low, high = (
            np.float32(2595) * np.log10(1 + frequency / np.float32(700)) for frequency in (lower, upper)
        )
    else:
        low, high = (frequency * np.float32(3 / 200) for frequency in (lower, upper))
    mels = np.arange(bands + 2).astype(np.float32) * ((high - low) / np.float32(bands + 2)) + low
    if mel == "htk":
        hertz = np.float32(700) * (np.power(np.float32(10), mels / np.float32(2595)) - 1)
    else:
        hertz = mels / np.float32(3 / 200)
    bins = floor(np.float32(length + 1) * hertz / np.float32(rate)).astype(int).tolist()
    return triangles(bins, length)


@pytest.mark.parametrize("values", CALLS)
def test_bands_are_those_of_the_formula(values: Values) -> None:
    found = asked(values)
    bands = int(values[0])
    for steps in (bands + 2, bands + 1):
        got = triangles(bins_of(values, steps), int(values[1])).astype(np.float32)
        assert not found.wrong(got).any(), steps
    assert not found.wrong(in_single(values).astype(np.float32)).any()


FAULTS: dict[str, Callable[[Values], Array]] = {
    "rounded bins": lambda v: in_single(v, np.round),
    "bins rounded up": lambda v: in_single(v, np.ceil),
    "hertz for mel": lambda v: in_single(v, mel="straight"),
    "a band later": lambda v: np.roll(in_single(v), 1, axis=1),
    "a bin later": lambda v: np.roll(in_single(v), 1, axis=0),
    "of equal area": lambda v: in_single(v) / np.maximum(in_single(v).sum(axis=0), 1),
    "the lower edge left out": lambda v: in_single((*v[:3], 0.0, v[4])),
}


@pytest.mark.parametrize("way", FAULTS)
def test_a_faulty_program_is_not(way: str) -> None:
    values = (4, 20, 8192, 1000.0, 3800.0)
    assert not asked(values).wrong(in_single(values).astype(np.float32)).any()
    assert asked(values).wrong(FAULTS[way](values).astype(np.float32)).any()


def test_the_printed_matrix() -> None:
    found = asked((8, 16, 8192, 0.0, 4096.0)).accepted[0][0].expected.array
    ones = [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7)]
    wanted = np.zeros((9, 8), np.float32)
    for place in ones:
        wanted[place] = 1
    assert np.array_equal(found, wanted)


def test_integers_are_truncated_or_rounded() -> None:
    values = (1, 24, 8000, 0.0, 3900.0)
    plain = triangles(bins_of(values, 3), 24)
    accepted = [each[0].expected.array for each in asked(values, code=7).accepted]
    assert any(np.array_equal(array, np.floor(plain)) for array in accepted)
    assert any(np.array_equal(array, np.round(plain)) for array in accepted)
    assert math.isclose(plain.max(), 1)

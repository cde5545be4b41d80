"""DFT and STFT against sums of mpmath, honest transforms in float32, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.honest_programs import KINDS, Asked

Array = NDArray[Any]
Transform = Callable[[Array, bool], Array]
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 31, 32, 60]


def draws(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def asked(signal: Array, kind: str = "float", length: int | None = None, **attributes: int) -> Asked:
    """The newest DFT of signals, samples by components, along the last but one axis."""
    given = [("input", signal.astype(KINDS[kind]))]
    if length is not None:
        given.append(("dft_length", np.array(length, np.int64)))
    return Asked.of("DFT", kind, given, attributes)


def summed(signal: Array, length: int, *, inverse: bool = False) -> Array:
    """All bins of one complex signal by direct sums of 200 bits, of which float64 gets the result."""
    taken = list(signal[:length]) + [0] * (length - len(signal))
    with mpmath.workprec(200):
        given = [mpmath.mpc(float(each.real), float(each.imag)) for each in map(complex, taken)]
        found = []
        for at in range(length):
            sign = 2 if inverse else -2
            terms = [each * mpmath.expjpi(mpmath.mpf(sign * at * n) / length) for n, each in enumerate(given)]
            found.append(complex(mpmath.fsum(terms) / (length if inverse else 1)))
    return np.array(found)


def parts(spectrum: Array) -> Array:
    return np.stack([spectrum.real, spectrum.imag], axis=-1)


def by_sums(signal: Array, inverse: bool) -> Array:
    """As the formula has it, each angle computed in float32 as it stands."""
    count = len(signal)
    sign = np.float32(2 * np.pi if inverse else -2 * np.pi)
    angles = np.multiply.outer(np.arange(count), np.arange(count)).astype(np.float32) * sign
    angles = (angles / np.float32(count)).astype(np.float32)
    roots = np.cos(angles) + np.complex64(1j) * np.sin(angles)
    found = np.zeros(count, np.complex64)
    for at in range(count):
        found = (found + roots[:, at] * signal[at]).astype(np.complex64)
    return found / np.float32(count) if inverse else found


def by_table(signal: Array, inverse: bool) -> Array:
    """Sums from the last sample on, of roots from a table."""
    count = len(signal)
    places = np.multiply.outer(np.arange(count), np.arange(count)) % count
    turns = 2j * np.pi * np.arange(count) / count
    roots = np.exp(turns if inverse else -turns).astype(np.complex64)[places]
    found = np.zeros(count, np.complex64)
    for at in reversed(range(count)):
        found = (found + roots[:, at] * signal[at]).astype(np.complex64)
    return found * np.float32(1 / count) if inverse else found


def fast(signal: Array, inverse: bool) -> Array:
    """By halves, thirds and so on, down to prime lengths."""
    return unscaled(signal, inverse) / np.float32(len(signal) if inverse else 1)


def unscaled(signal: Array, inverse: bool) -> Array:
    count = len(signal)
    factor = next((each for each in range(2, count) if count % each == 0), count)
    if factor == count:
        plain = by_table(signal, inverse)
        return plain * np.float32(count) if inverse else plain
    rest = count // factor
    inner = [unscaled(signal[at::factor], inverse) for at in range(factor)]
    sign = np.float32(2 * np.pi if inverse else -2 * np.pi)
    found = np.zeros(count, np.complex64)
    for at in range(factor):
        angles = (sign * np.float32(at) * np.arange(count).astype(np.float32)) / np.float32(count)
        roots = np.cos(angles) + np.complex64(1j) * np.sin(angles)
        found = (found + roots * np.tile(inner[at], factor)[: rest * factor]).astype(np.complex64)
    return found


def by_chirps(signal: Array, inverse: bool) -> Array:
    """Bluestein's way in float32 throughout, the angles of the chirp as they stand."""
    count = len(signal)
    size = 1 << (2 * count - 2).bit_length() if count > 1 else 1
    squares = np.arange(count).astype(np.float32) ** 2
    angles = np.float32(np.pi if inverse else -np.pi) * squares / np.float32(count)
    chirp = np.cos(angles) + np.complex64(1j) * np.sin(angles)
    first, second = np.zeros(size, np.complex64), np.zeros(size, np.complex64)
    first[:count] = signal * chirp
    second[:count] = np.conj(chirp)
    second[size - count + 1 :] = np.conj(chirp)[1:][::-1]
    joined = (unscaled(first, False) * unscaled(second, False)).astype(np.complex64)
    found = (unscaled(joined, True) / np.float32(size))[:count] * chirp
    return np.asarray(found / np.float32(count if inverse else 1), np.complex64)


def wide(signal: Array, inverse: bool) -> Array:
    wider = signal.astype(np.complex128)
    return (np.fft.ifft(wider) if inverse else np.fft.fft(wider)).astype(np.complex64)


HONEST: dict[str, Transform] = {
    "sums": by_sums,
    "a table": by_table,
    "factors": fast,
    "chirps": by_chirps,
    "double": wide,
}


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("way", HONEST)
def test_an_honest_transform_is_accepted(way: str, inverse: bool) -> None:
    for seed, count in enumerate(LENGTHS):
        for scale in (1.0, 1e-3, 1e4):
            signal = (scale * draws(seed).normal(size=(count, 2))).astype(np.float32)
            if seed % 2:
                signal[1:] *= np.float32(1e-4)
            got = HONEST[way]((signal[:, 0] + 1j * signal[:, 1]).astype(np.complex64), inverse)
            wrong = asked(signal, inverse=int(inverse)).wrong(parts(got.astype(np.complex64)))
            assert not wrong.any(), (count, scale)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inverse", [False, True])
def test_bins_are_the_sums_of_the_formula(kind: str, inverse: bool) -> None:
    relative = {"float": 2**-24, "double": 2**-53, "float16": 2**-11, "bfloat16": 2**-8}[kind]
    for seed, count in enumerate(LENGTHS):
        signal = draws(seed).normal(size=(count, 2)).astype(KINDS[kind])
        found = asked(signal, kind, inverse=int(inverse))
        values = signal.astype(np.float64)
        wanted = parts(summed(values[:, 0] + 1j * values[:, 1], count, inverse=inverse))
        got = found._decoded(found.accepted[0][0].expected.array)
        assert np.all(np.abs(got - wanted) <= 1.001 * relative * np.abs(wanted) + 1e-7 * (relative > 2**-30))


@pytest.mark.parametrize("count", [3, 4, 7, 8])
def test_lengths_cut_and_fill_up(count: int) -> None:
    signal = draws(count).normal(size=(6, 1)).astype(np.float32)
    wanted = summed(signal[:, 0].astype(np.float64), count)
    assert not asked(signal, length=count).wrong(parts(wanted).astype(np.float32)).any()
    half = parts(wanted[: count // 2 + 1]).astype(np.float32)
    assert not asked(signal, length=count, onesided=1).wrong(half).any()


@pytest.mark.parametrize("length", [None, 11, 12, 13, 16, 19])
def test_a_onesided_spectrum_gives_a_real_signal(length: int | None) -> None:
    half = draws(7).normal(size=(6, 2)).astype(np.float32)
    count = 10 if length is None else length
    bins = [complex(*each) for each in half.astype(np.float64)][: count // 2 + 1]
    bins += [0j] * (count // 2 + 1 - len(bins))
    whole = bins + [bins[count - at].conjugate() for at in range(count // 2 + 1, count)]
    wanted = summed(np.array(whole), count, inverse=True).real[:, None]
    found = asked(half, length=length, onesided=1, inverse=1)
    assert found.accepted[0][0].expected.array.shape == (count, 1)
    assert not found.wrong(wanted.astype(np.float32)).any()


FAULTS: dict[str, Callable[[Array], Array]] = {
    "the other sign": lambda x: np.fft.ifft(x) * len(x),
    "divided forwards": lambda x: np.fft.fft(x) / len(x),
    "divided by the root": lambda x: np.fft.fft(x, norm="ortho"),
    "a sample later": lambda x: np.fft.fft(np.roll(x, 1)),
    "the last sample left out": lambda x: np.fft.fft(np.append(x[:-1], 0)),
    "bins from the middle on": lambda x: np.fft.fftshift(np.fft.fft(x)),
    "conjugates": lambda x: np.conj(np.fft.fft(x)),
    "imaginary parts first": lambda x: np.fft.fft(x.imag + 1j * x.real),
    "the imaginary part left out": lambda x: np.fft.fft(x.real),
    "roots of two digits": lambda x: np.round(roots_of(len(x)), 2) @ x,
    "roots of a rough circle": lambda x: np.exp(-2j * 3.14 * outer(len(x)) / len(x)) @ x,
    "bins in bfloat16": lambda x: rounded(np.fft.fft(x), ml_dtypes.bfloat16),
}


def outer(count: int) -> Array:
    return np.multiply.outer(np.arange(count), np.arange(count))


def roots_of(count: int) -> Array:
    return np.asarray(np.exp(-2j * np.pi * outer(count) / count))


def rounded(given: Array, kind: Any) -> Array:
    real, imaginary = (array.astype(kind).astype(np.float64) for array in (given.real, given.imag))
    return np.asarray(real + 1j * imaginary)


@pytest.mark.parametrize("way", FAULTS)
@pytest.mark.parametrize("count", [5, 8, 12])
def test_a_faulty_transform_is_not(way: str, count: int) -> None:
    signal = (1 + draws(count).random(size=(count, 2))).astype(np.float32)
    got = FAULTS[way](signal[:, 0].astype(np.float64) + 1j * signal[:, 1])
    assert asked(signal).wrong(parts(got).astype(np.float32)).sum() >= 2


@pytest.mark.parametrize(("count", "length"), [(6, None), (5, 9)])
def test_a_faulty_inverse_of_one_side_is_not(count: int, length: int | None) -> None:
    half = (1 + draws(count).random(size=(count, 2))).astype(np.float32)
    bins = half[:, 0].astype(np.float64) + 1j * half[:, 1]
    total = 2 * (count - 1) if length is None else length
    found = asked(half, length=length, onesided=1, inverse=1)
    assert not found.wrong(np.fft.irfft(bins, total)[:, None].astype(np.float32)).any()
    mirrored = np.concatenate([bins, bins[1:][::-1]])[:total]
    filled = np.concatenate([bins, np.zeros(max(total - count, 0))])[:total]
    for fault in (
        np.fft.irfft(np.conj(bins), total),
        np.fft.irfft(bins, total) * total,
        np.fft.ifft(mirrored).real,
        np.fft.ifft(filled).real,
    ):
        assert found.wrong(fault[:, None].astype(np.float32)).any()


def test_an_axis_is_transformed_and_no_other() -> None:
    signal = draws(3).normal(size=(2, 3, 4, 2)).astype(np.float32)
    values = signal[..., 0].astype(np.float64) + 1j * signal[..., 1]
    for axis, same in ((0, -4), (1, -3), (2, -2)):
        wanted = parts(np.fft.fft(values, axis=axis)).astype(np.float32)
        for named in (axis, same):
            found = Asked.of("DFT", "float", [("input", signal), ("axis", np.array(named, np.int64))])
            assert not found.wrong(wanted).any()
            assert not Asked.of("DFT", "float", [("input", signal)], {"axis": named}, 17).wrong(wanted).any()
    plain = {20: 2, 17: 1}
    for version, axis in plain.items():
        wanted = parts(np.fft.fft(values, axis=axis)).astype(np.float32)
        assert not Asked.of("DFT", "float", [("input", signal)], version=version).wrong(wanted).any()


def test_beside_no_number_no_bin_is_one() -> None:
    signal = np.ones((2, 4, 1), np.float32)
    signal[0, 1] = np.inf
    found = asked(signal)
    got = parts(np.array([[1, 1, 1, 1], [4, 0, 0, 0]])).astype(np.float32)
    # Of the bins 0 and 2 the imaginary parts, of 1 and 3 the real ones, take nothing of the infinity.
    assert found.wrong(got)[0].tolist() == [[True, False], [False, True], [True, False], [False, True]]
    assert not found.wrong(got)[1].any()
    for other in (np.nan, np.inf, -np.inf):
        assert not found.wrong(np.stack([np.full((4, 2), other, np.float32), got[1]])).any()


def frames_of(signal: Array, step: int, window: Array, *, bins: int) -> Array:
    """The transforms of all frames that the signal fills, in double precision."""
    length = len(window)
    starts = range(0, len(signal) - length + 1, step)
    return parts(np.array([np.fft.fft(signal[start : start + length] * window)[:bins] for start in starts]))


def framed(signal: Array, step: int, window: Array | None, length: int | None, **attributes: int) -> Asked:
    given = [("signal", signal), ("frame_step", np.array(step, np.int64))]
    given += [("window", window)] if window is not None else []
    given += [("frame_length", np.array(length, np.int64))] if length is not None else []
    return Asked.of("STFT", "float", given, attributes)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("length", [1, 4, 5, 12])
def test_frames_are_transformed(step: int, length: int) -> None:
    signal = draws(step).normal(size=(2, 12, 1)).astype(np.float32)
    window = (0.5 + draws(length).random(length)).astype(np.float32)
    for given, whole in ((window, None), (None, length), (window, length)):
        taken = window if given is not None else np.ones(length)
        for onesided, bins in ((1, length // 2 + 1), (0, length)):
            rows = [
                frames_of(each.astype(np.float64), step, taken.astype(np.float64), bins=bins)
                for each in signal[..., 0]
            ]
            found = framed(signal, step, given, whole, onesided=onesided)
            assert not found.wrong(np.array(rows).astype(np.float32)).any()


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_sample_whose_product_with_the_window_overflows_leaves_its_frame_open(length: int) -> None:
    """An infinity of a program is NaN wherever its root has a part of zero, with which it multiplies."""
    signal = np.ones((1, 2 * length, 1), np.float32)
    signal[0, 0] = -3e38
    found = framed(signal, length, np.full(length, 3e38, np.float32), None, onesided=0)
    got = np.full((1, 2, length, 2), 3e38, np.float32)
    with np.errstate(all="ignore"):
        frames = [np.float32(3e38) * signal[0, at * length : (at + 1) * length, 0] for at in range(2)]
        roots = np.exp(-2j * np.pi * np.outer(np.arange(length), np.arange(length)) / length)
        got[0] = [
            parts((frame.astype(np.complex64) * roots.astype(np.complex64)).sum(-1)) for frame in frames
        ]
    wrong = found.wrong(got)[0]
    assert np.isnan(got[0, 0]).any()
    assert not wrong[0].any()
    got[0, 1, 0, 0] = 2e38
    assert found.wrong(got)[0, 1, 0, 0]


def test_faulty_frames_are_not() -> None:
    signal = (1 + draws(1).random(size=(1, 12, 1))).astype(np.float32)
    window = (0.5 + draws(2).random(4)).astype(np.float32)
    found = framed(signal, 2, window, None)
    values, wide_window = signal[0, :, 0].astype(np.float64), window.astype(np.float64)
    plain = frames_of(values, 2, wide_window, bins=3)
    assert not found.wrong(plain[None].astype(np.float32)).any()
    faults = {
        "no window": frames_of(values, 2, np.ones(4), bins=3),
        "the window twice": frames_of(values, 2, wide_window**2, bins=3),
        "the window backwards": frames_of(values, 2, wide_window[::-1], bins=3),
        "a sample later": frames_of(np.roll(values, -1), 2, wide_window, bins=3),
        "a step of one": frames_of(values, 1, wide_window, bins=3)[:5],
        "conjugates": plain * [1, -1],
        "over their length": plain / 4,
    }
    for word, fault in faults.items():
        assert found.wrong(fault[None].astype(np.float32)).any(), word

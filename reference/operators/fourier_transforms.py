"""DFT and STFT: discrete Fourier transforms along an axis, and of the frames of a signal.

Whatever a program sums up first, its error is bounded by the norm of what it transforms, and not by the
elements that come out; docs/why-believe.md derives by how much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from opcert.vocabulary.element_types import BINARY64
from reference.answers import Answer, OutsideDomain
from reference.answers.number_answers import answer_of
from reference.functions.functions import DOUBLE_BITS, USUAL_BITS
from reference.numbers.accumulations import WHOLE
from reference.numbers.binary_numbers import BinaryNumber
from reference.numbers.enclosures import Ball, nearest_binary
from reference.numbers.number_arrays import Numbers, settled
from reference.numbers.numbers import encode, smallest_normal
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.stacks import beside
from reference.numbers.working import MARGIN, Floats, Mask, rounded_up
from reference.readings.choices import Choice
from reference.registry import reference_operator

_ZERO, _HALF, _ONE = BinaryNumber(0, 0), BinaryNumber(1, -1), BinaryNumber(1, 0)
_RATIONAL = {Fraction(0): _ONE, Fraction(1, 6): _HALF, Fraction(1, 4): _ZERO}
"""Of the parts of a turn up to a quarter, those that have a rational cosine; there are no others."""


@lru_cache(maxsize=64)
def roots_of_unity(count: int, bits: int) -> tuple[Rationals, Rationals]:
    """The cosines and the sines of the multiples of a turn's `count`th part, of which there are as many.

    What is alike by symmetry is one number, so that what cancels in exact arithmetic between two places
    that mirror each other cancels here.
    """
    turns = [Fraction(each, count) for each in range(count)]
    cosines = [_cosine(each, bits) for each in turns]
    sines = [_cosine((each - Fraction(1, 4)) % 1, bits) for each in turns]
    return Rationals.of_binary(cosines, (count,)), Rationals.of_binary(sines, (count,))


def places_of_roots(bins: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]:
    """Which root a bin takes of each sample: bins by samples."""
    return np.asarray(np.arange(bins)[:, None] * np.arange(count) % count, dtype=np.intp)


def _cosine(turn: Fraction, bits: int) -> BinaryNumber:
    """The cosine of a part of a turn, from 0 on and below 1."""
    turn = min(turn, 1 - turn)
    if turn > Fraction(1, 4):
        found = _cosine(Fraction(1, 2) - turn, bits)
        return BinaryNumber(-found.whole, found.power)
    if turn in _RATIONAL:
        return _RATIONAL[turn]
    return nearest_binary(_cosine_of_turns, turn.numerator, turn.denominator, bits)


def _cosine_of_turns(turns: Ball) -> Ball:
    return (2 * turns).cos_pi()


_SLIGHT = 1.0 / 1024
"""What is less than such a part of a bound is part of the bound's own margin."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Real and imaginary parts along a new last axis; `none` are those that come out as no finite number."""

    parts: Numbers
    none: Mask

    def moved(self, axis: int) -> Spectrum:
        """With the axis of the bins, the last but one, at another place."""
        return Spectrum(
            self.parts.arranged(lambda each: np.moveaxis(each, -2, axis)), np.moveaxis(self.none, -2, axis)
        )

    def real(self) -> Spectrum:
        """The real parts alone."""
        return Spectrum(self.parts.arranged(lambda each: each[..., :1]), self.none[..., :1])

    def answer(self) -> Answer:
        """Rounded to the type of the data; NaN and either infinity for what is no finite number."""
        if not self.none.any():
            return answer_of(self.parts, Choice("saturate"))
        parts = replace(
            self.parts,
            error=np.where(self.none, 0.0, self.parts.error),
            sign=np.where(self.none, np.nan, self.parts.sign),
            lost=self.parts.lost & ~self.none,
        )
        found = answer_of(parts, Choice("saturate"))
        kind = parts.working.element_type
        infinities = tuple(encode(kind, [math.inf, -math.inf]).tolist())
        others = dict.fromkeys(np.flatnonzero(self.none).tolist(), infinities)
        return replace(found, alternatives={**(found.alternatives or {}), **others})


def transformed(real: Numbers, imaginary: Numbers, bins: int, *, inverse: bool) -> Spectrum:
    """The first bins of the sums of elements times roots of unity; of the inverse, over their number.

    Beside NaN or an infinity no bin is a finite number, but where the root that it takes of the element has
    a part of zero: there a program multiplies with it or does not, and anything may come out.
    """
    working, count = real.working, real.shape[-1]
    bits = DOUBLE_BITS if working.layout == BINARY64 else USUAL_BITS
    places = places_of_roots(bins, count)
    cosines, sines = (each.arranged(lambda one: one[places]) for each in roots_of_unity(count, bits))
    sines = sines if inverse else -sines
    re, im = real.value.spread(real.shape).shared(), imaginary.value.spread(imaginary.shape).shared()
    sums = (
        _summed(re, cosines) - _summed(im, sines),
        _summed(im, cosines) + _summed(re, sines),
    )
    common = math.lcm(*(int(each.denominator[()]) for each in sums))
    numerators = [each.numerator * (common // int(each.denominator[()])) for each in sums]
    value = Rationals(np.stack(numerators, axis=-1), np.array(common, dtype=object))
    error, beyond = _error(real, imaginary, re, im)
    lost = beyond | (real.lost | imaginary.lost).any(axis=-1)
    shape = value.shape
    line = (..., None, None)
    zeros = np.zeros(shape)
    found = settled(
        working,
        value,
        np.broadcast_to(error[line], shape),
        zeros,
        zeros,
        np.broadcast_to(lost[line], shape),
    )
    working.note_chain(found.error > 0)
    none, doubtful = _not_finite(real, imaginary, cosines.signs() != 0, sines.signs() != 0)
    found = opened(found, doubtful) if doubtful.any() else found
    found = found / count if inverse else found
    return Spectrum(_unflushed(found), none)


def _unflushed(numbers: Numbers) -> Numbers:
    """The same, and no subnormal number asks for anything where it is a small part of what is allowed."""
    working = numbers.working
    tiny = working.may_flush(np.abs(numbers.value.floats()), numbers.error)
    if (tiny & (numbers.error * _SLIGHT < working.least_normal)).any():
        return numbers.rounded(0, exact=False, free=True)
    return replace(numbers, working=replace(working, subnormals=Choice("kept")))


def _summed(values: Rationals, roots: Rationals) -> Rationals:
    """Values of a last axis times the roots that each bin takes of them, summed up."""
    if not values.signs().any():
        return Rationals(
            np.zeros((*values.shape[:-1], roots.shape[0]), dtype=object), np.array(1, dtype=object)
        )
    products = values.numerator[..., None, :] * roots.numerator
    numerator = np.asarray(products.sum(axis=-1), dtype=object)  # exact: Python's integers
    return Rationals(numerator, np.asarray(values.denominator * roots.denominator, dtype=object))


def _error(real: Numbers, imaginary: Numbers, re: Rationals, im: Rationals) -> tuple[Floats, Mask]:
    """What each part of each bin of a line may be off by, and whether a sum on the way may overflow.

    A product that overflowed before the transform is an infinity in it, whose part of a bin is then NaN where
    the root has a part of zero.
    """
    working, count = real.working, real.shape[-1]
    working.needs_full_functions("transforms are")
    given = rounded_up(WHOLE.floats(real.error + imaginary.error)[..., 0])
    if count == 1:
        held = np.maximum(real.magnitude, imaginary.magnitude)[..., 0]
        return given, (given > 0) & (held >= working.greatest)
    squares = (re * re + im * im).total(-1)
    sizes = np.array([_root_up(each * count) for each in squares.fractions()]).reshape(given.shape)
    norm = rounded_up(sizes + math.sqrt(count) * given)
    is_own = working.is_narrow and working.layout == working.own_layout
    steps, growth = roundings_of(count, is_own=is_own), 1 if is_own else 8 * count
    with np.errstate(over="ignore"):
        error = rounded_up(norm * working.unit * steps * (1 + steps * working.unit) + given)
        held = norm * growth
        beyond = (given > 0) | (norm > 0)
        beyond = beyond & (held * (1 + MARGIN) >= working.greatest)
    error = np.where(norm > 0, error + count * growth * working.least, 0.0)
    reach = count * growth * float(smallest_normal(working.layout))
    if working.flushes((norm > 0) & (reach > _SLIGHT * error)):
        error = error + reach
    return rounded_up(error * (1 + _SLIGHT)), beyond


def roundings_of(count: int, *, is_own: bool) -> float:
    """How many unit roundoffs of its norm a transform may be off by, times the root of its length.

    By direct sums, or a fast transform; where the length is no power of two by convolution with a chirp, too.
    `is_own` says that a narrow type is computed in itself: then with roots within their allowance, and by the
    first two.
    """
    levels = (count - 1).bit_length()
    if is_own:
        return max(2 * count + 6, 10 * levels) + 2
    if not count & (count - 1):
        return max(13 * count, 24 * levels) + 12
    return 122 * (levels + 1) + 18 * count + 36


def _root_up(square: Fraction) -> float:
    """Not less than the square root of a number, and not more by much."""
    top, bottom = square.numerator, square.denominator
    half = (top.bit_length() - bottom.bit_length()) // 2
    scaled = square / Fraction(4) ** half
    with np.errstate(over="ignore"):
        return float(np.ldexp(math.nextafter(math.sqrt(float(scaled)), math.inf), half)) if top else 0.0


def _not_finite(real: Numbers, imaginary: Numbers, cosines: Mask, sines: Mask) -> tuple[Mask, Mask]:
    """Which parts of bins are no finite number, and of which no text says what they are."""
    ours, theirs = ~real.finite, ~imaginary.finite
    if not (ours.any() or theirs.any()):
        nothing = np.zeros((*real.shape[:-1], cosines.shape[0], 2), dtype=np.bool_)
        return nothing, nothing
    parts = [_any(ours, cosines) | _any(theirs, sines), _any(theirs, cosines) | _any(ours, sines)]
    none = np.stack(parts, axis=-1)
    touched = np.asarray((ours | theirs).any(axis=-1))[..., None, None]
    return none, touched & ~none


def _any(given: Mask, roots: Mask) -> Mask:
    return np.asarray((given[..., None, :] & roots).any(axis=-1), dtype=np.bool_)


@reference_operator("ai.onnx::DFT", segments=(20,))
def transform(
    input: Numbers,
    dft_length: int | None = None,
    axis: int | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
    version: int,
) -> Answer:
    """y[k] = sum over n of e^(-2 pi j k n / N) x[n], and the inverse of it.

    The real signal of a onesided spectrum is that of all bins, X[N - k] being the conjugate of X[k].
    Source: DFT, Summary, axis, onesided, dft_length, output.
    """
    place = (1 if version < 20 else -2) if axis is None else axis
    place %= input.ndim
    signal = input.arranged(lambda each: np.moveaxis(each, place, -2))
    real, imaginary = _parts(signal)
    extent = real.shape[-1]
    back = bool(onesided and inverse)
    length = dft_length if dft_length is not None else 2 * (extent - 1) if back else extent
    if length < 1:
        raise OutsideDomain("a transform of no samples")
    if back:
        half = length // 2 + 1
        real, imaginary = _mirrored(_cut(real, half), length), _mirrored(_cut(imaginary, half), length, -1)
        return transformed(real, imaginary, length, inverse=True).real().moved(place).answer()
    bins = length // 2 + 1 if onesided else length
    real, imaginary = _cut(real, length), _cut(imaginary, length)
    return transformed(real, imaginary, bins, inverse=bool(inverse)).moved(place).answer()


@reference_operator("com.microsoft::Rfft")
def transform_of_real_signal(
    X: Numbers, *, normalized: int = 0, onesided: int = 1, signal_ndim: int = 1
) -> Answer:
    """The first n / 2 + 1 bins of the transform along the last axis. Source: Rfft, Summary, Y."""
    return transform(X.reshape((*X.shape, 1)), onesided=1, version=20)


@reference_operator("com.microsoft::Irfft")
def signal_of_first_bins(
    X: Numbers, *, normalized: int = 0, onesided: int = 1, signal_ndim: int = 1
) -> Answer:
    """The real signal of n samples that has these n / 2 + 1 bins. Source: Irfft, Summary, Y."""
    length = 2 * (X.shape[-2] - 1)
    real, imaginary = (_mirrored(part, length, sign) for part, sign in zip(_parts(X), (1, -1), strict=True))
    found = transformed(real, imaginary, length, inverse=True).real()
    return Spectrum(found.parts.reshape(found.parts.shape[:-1]), found.none[..., 0]).answer()


@reference_operator("ai.onnx::STFT")
def transform_frames(
    signal: Numbers,
    frame_step: int,
    window: Numbers | None = None,
    frame_length: int | None = None,
    *,
    onesided: int = 1,
) -> Answer:
    """The transforms of frames times the window; a frame that the signal does not fill is left out.

    Source: STFT, onesided, signal, frame_step, window, output, Examples.
    """
    length = window.shape[0] if frame_length is None and window is not None else frame_length
    if length is None:
        raise OutsideDomain("neither a window nor the length of a frame")
    frames = (signal.shape[1] - length) // frame_step + 1
    places = frame_step * np.arange(frames)[:, None] + np.arange(length)
    real, imaginary = (each.arranged(lambda one: one[:, places]) for each in _parts(signal))
    if window is not None:
        real = real * window
        imaginary = imaginary * window if signal.shape[2] > 1 else imaginary
    return transformed(real, imaginary, length // 2 + 1 if onesided else length, inverse=False).answer()


def _parts(signal: Numbers) -> tuple[Numbers, Numbers]:
    """The real and the imaginary parts, which are zero where there is one component."""
    real = signal.arranged(lambda each: each[..., 0])
    if signal.shape[-1] > 1:
        return real, signal.arranged(lambda each: each[..., 1])
    return real, Numbers.exact(np.zeros(real.shape, dtype=object), signal.working)


def _cut(numbers: Numbers, length: int) -> Numbers:
    """The first elements of the last axis, with zeros behind them where there are fewer."""
    cut = numbers.arranged(lambda each: each[..., :length])
    more = (*cut.shape[:-1], length - cut.shape[-1])
    return beside(cut, Numbers.exact(np.zeros(more, dtype=object), numbers.working)) if more[-1] else cut


def _mirrored(half: Numbers, length: int, sign: int = 1) -> Numbers:
    """A part of all bins by that of the first half; of imaginary parts with the other sign."""
    others = half.arranged(lambda each: each[..., 1 : length - half.shape[-1] + 1][..., ::-1])
    return beside(half, others if sign > 0 else -others)

"""DFT and STFT: discrete Fourier transforms along an axis, and of the frames of a signal."""

from __future__ import annotations

import numpy as np

from reference.answers import Answer, OutsideDomain
from reference.numbers.number_arrays import Numbers
from reference.numbers.stacks import beside
from reference.registry import reference_operator
from reference.shared.fourier import transformed


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

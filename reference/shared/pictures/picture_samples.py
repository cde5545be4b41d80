"""A picture as its file has it: samples between 0 and a greatest one, and bits out of bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_SAMPLES = 1 << 24
"""A file that promises more samples is not read."""


class NoPicture(Exception):
    """A file that is not one of the kinds that are read, or is broken."""


@dataclass(frozen=True, eq=False)
class DecodedPicture:
    """Samples (H, W, C) from 0 to `most`, of one channel or of red, green and blue.

    A lossy file's may honestly be `off` by so many.
    """

    samples: NDArray[np.int64]
    most: int = 255
    off: int = 0

    @property
    def in_colour(self) -> NDArray[np.int64]:
        """Three channels: those of one channel are all alike."""
        return np.broadcast_to(self.samples, (*self.samples.shape[:2], 3))


def check_extents(width: int, height: int, channels: int) -> None:
    """Raise NoPicture where no picture has these extents."""
    if width < 1 or height < 1 or width * height * channels > MOST_SAMPLES:
        raise NoPicture(f"{width} by {height} samples of {channels}")


def samples_of_rows(rows: NDArray[np.uint8], count: int, bits: int, *, little: bool = False) -> NDArray[Any]:
    """The first `count` samples of rows of bytes: the highest bits of a byte come first."""
    if bits == 8:
        return rows[:, :count].astype(np.int64)
    if bits == 16:
        pairs = rows[:, : 2 * count].astype(np.int64).reshape(len(rows), count, 2)
        first, second = pairs[..., 0], pairs[..., 1]
        return second * 256 + first if little else first * 256 + second
    places = np.arange(count)
    in_byte = 8 // bits
    shifts = 8 - bits * (1 + places % in_byte)
    return (rows[:, places // in_byte].astype(np.int64) >> shifts) & ((1 << bits) - 1)


def coloured(indices: NDArray[np.int64], colours: NDArray[np.int64]) -> NDArray[np.int64]:
    """The colours (N, 3) of indices (H, W)."""
    if indices.size and int(indices.max()) >= len(colours):
        raise NoPicture("an index behind the last colour")
    return colours[indices]

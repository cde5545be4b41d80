"""PNG: chunks, filters, passes. Source: Portable Network Graphics (ISO/IEC 15948), clauses 5 to 11."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reference.shared.pictures.picture_samples import (
    DecodedPicture,
    NoPicture,
    check_extents,
    coloured,
    samples_of_rows,
)

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _COLOUR, _INDEXED, _GRAY_ALPHA, _COLOUR_ALPHA = 0, 2, 3, 4, 6
_DEPTHS = {
    _GRAY: (1, 2, 4, 8, 16),
    _COLOUR: (8, 16),
    _INDEXED: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _COLOUR_ALPHA: (8, 16),
}
_CHANNELS = {_GRAY: 1, _COLOUR: 3, _INDEXED: 1, _GRAY_ALPHA: 2, _COLOUR_ALPHA: 4}
_PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
"""Of Adam7: the first row and column, and the steps between rows and columns."""


def read_png(raw: bytes) -> DecodedPicture:
    """The samples without transparency; NoPicture where a file is broken, or something shines through."""
    chunks = list(_chunks(raw))
    if not chunks or chunks[0][0] != b"IHDR" or chunks[-1][0] != b"IEND" or len(chunks[0][1]) != 13:
        raise NoPicture("chunks without a head or an end")
    width, height, depth, kind, compression, filtering, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    if depth not in _DEPTHS.get(kind, ()) or compression or filtering or interlace > 1:
        raise NoPicture("a head of no kind of PNG")
    channels = _CHANNELS[kind]
    check_extents(width, height, channels)
    if any(name == b"tRNS" for name, _ in chunks):
        raise NoPicture("a colour that is transparent")
    passes = _PASSES if interlace else ((0, 0, 1, 1),)
    data = _inflated(b"".join(content for name, content in chunks if name == b"IDAT"))
    samples = np.zeros((height, width, channels), np.int64)
    for top, left, down, right in passes:
        rows, columns = len(range(top, height, down)), len(range(left, width, right))
        if not rows or not columns:
            continue
        length = -(-columns * channels * depth // 8)
        lines, data = data[: rows * (1 + length)], data[rows * (1 + length) :]
        if len(lines) < rows * (1 + length):
            raise NoPicture("fewer rows than its head says")
        plain = _unfiltered(lines, rows, length, max(1, channels * depth // 8))
        found = samples_of_rows(plain, columns * channels, depth)
        samples[top::down, left::right] = found.reshape(rows, columns, channels)
    most = (1 << depth) - 1
    if kind == _INDEXED:
        palette = next((content for name, content in chunks if name == b"PLTE"), b"")
        colours = np.frombuffer(palette, np.uint8).astype(np.int64).reshape(-1, 3)
        return DecodedPicture(coloured(samples[..., 0], colours))
    if kind in (_GRAY_ALPHA, _COLOUR_ALPHA):
        if (samples[..., -1] != most).any():
            raise NoPicture("samples that something shines through")
        samples = samples[..., :-1]
    return DecodedPicture(samples, most)


def _chunks(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(raw):
        if at + 12 > len(raw):
            raise NoPicture("a chunk that is cut off")
        length, name = struct.unpack(">I4s", raw[at : at + 8])
        content, end = raw[at + 8 : at + 8 + length], at + 8 + length
        if raw[end : end + 4] != struct.pack(">I", zlib.crc32(name + content)):
            raise NoPicture("a chunk whose sum is another one")
        yield name, content
        at = end + 4


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise NoPicture(str(error)) from error


def _unfiltered(lines: bytes, rows: int, length: int, step: int) -> NDArray[np.uint8]:
    """The bytes of rows, each of which is said by what stands before it and above it."""
    found = np.zeros((rows + 1, step + length), np.int64)
    for row in range(rows):
        line = lines[row * (1 + length) : (row + 1) * (1 + length)]
        for place, byte in enumerate(line[1:], start=step):
            before, above = int(found[row + 1, place - step]), int(found[row, place])
            corner = int(found[row, place - step])
            found[row + 1, place] = (byte + _predicted(line[0], before, above, corner)) % 256
    return found[1:, step:].astype(np.uint8)


def _predicted(kind: int, before: int, above: int, corner: int) -> int:
    if kind == 4:
        whole = before + above - corner
        return min((before, above, corner), key=lambda near: abs(whole - near))
    if kind > 4:
        raise NoPicture("a filter of no kind")
    return (0, before, above, (before + above) // 2)[kind]

"""BMP and PNM: samples row by row. Sources: Windows' BITMAPINFOHEADER; the manual pages pbm, pgm, ppm."""

from __future__ import annotations

import re
import struct

import numpy as np

from reference.shared.pictures.picture_samples import (
    DecodedPicture,
    NoPicture,
    check_extents,
    coloured,
    samples_of_rows,
)

_HEAD = struct.Struct("<2sIHHIIiiHHIIiiII")
_INDEXED = (1, 4, 8)


def read_bmp(raw: bytes) -> DecodedPicture:
    """Rows of four bytes' multiples from the lowest up, or down where the height is negative."""
    if len(raw) < _HEAD.size:
        raise NoPicture("a head that is cut off")
    _, _, _, _, start, size, width, height, _, bits, compression, _, _, _, used, _ = _HEAD.unpack(
        raw[: _HEAD.size]
    )
    if size != 40 or compression or bits not in (*_INDEXED, 24, 32):
        raise NoPicture("a form of BMP that is not read")
    rows, length = abs(height), -(-width * bits // 32) * 4
    check_extents(width, rows, 4)
    data = raw[start : start + rows * length]
    if len(data) < rows * length:
        raise NoPicture("fewer rows than its head says")
    lines = np.frombuffer(data, np.uint8).reshape(rows, length)
    if height > 0:
        lines = lines[::-1]
    if bits in _INDEXED:
        count = used or 1 << bits
        table = np.frombuffer(raw[_HEAD.size : _HEAD.size + 4 * count], np.uint8)
        colours = table[: len(table) // 4 * 4].astype(np.int64).reshape(-1, 4)[:, 2::-1]
        return DecodedPicture(coloured(samples_of_rows(lines, width, bits), colours))
    channels = bits // 8
    pixels = lines[:, : width * channels].astype(np.int64).reshape(rows, width, channels)
    return DecodedPicture(pixels[..., 2::-1])


_SPACE = rb"(?:[ \t\r\n\v\f]|#[^\r\n]*[\r\n])+"
_WORD = re.compile(_SPACE + rb"(\d+)")
_CHANNELS = {b"P1": 1, b"P2": 1, b"P3": 3, b"P4": 1, b"P5": 1, b"P6": 3}


def read_pnm(raw: bytes) -> DecodedPicture:
    """Samples as numbers in text (P1 to P3) or in bytes (P4 to P6); of bits 1 is black."""
    kind, at = raw[:2], 2
    channels = _CHANNELS[kind]
    words: list[int] = []
    of_bits = kind in (b"P1", b"P4")
    while len(words) < (2 if of_bits else 3):
        found = _WORD.match(raw, at)
        if found is None:
            raise NoPicture("a head that is cut off")
        words.append(int(found[1]))
        at = found.end()
    width, height, most = words[0], words[1], 1 if of_bits else words[2]
    check_extents(width, height, channels)
    if not 1 <= most <= 65535:
        raise NoPicture("a greatest sample of no kind")
    count = width * channels
    if kind in (b"P1", b"P2", b"P3"):
        digits = re.sub(rb"#[^\r\n]*", b"", raw[at:])
        listed = [int(word) for word in (re.findall(rb"[01]", digits) if of_bits else digits.split())]
        samples = np.array(listed[: height * count], np.int64)
    else:
        bits = 1 if kind == b"P4" else 8 if most < 256 else 16
        length = -(-count * bits // 8)
        data = raw[at + 1 : at + 1 + height * length]
        if len(data) < height * length:
            raise NoPicture("fewer rows than its head says")
        samples = samples_of_rows(np.frombuffer(data, np.uint8).reshape(height, length), count, bits)
    if samples.size != height * count or (samples > most).any():
        raise NoPicture("fewer samples than its head says, or greater ones")
    shaped = samples.reshape(height, width, channels)
    return DecodedPicture(1 - shaped if of_bits else shaped, most)

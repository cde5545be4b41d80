"""TIFF: a directory of tags, strips of rows. Source: TIFF 6.0, sections 2 to 9."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reference.shared.pictures.picture_samples import (
    DecodedPicture,
    NoPicture,
    check_extents,
    coloured,
    samples_of_rows,
)

_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _STARTS = 256, 257, 258, 259, 262, 273
_CHANNELS, _ROWS, _COUNTS, _PLANAR, _COLOURS = 277, 278, 279, 284, 320
_SIZES = {1: "B", 3: "H", 4: "I"}
_NOT_COMPRESSED, _PACKED = 1, 32773
_WHITE_IS_0, _BLACK_IS_0, _RGB, _INDEXED = 0, 1, 2, 3
_MOST_TAGS = 4096


def read_tiff(raw: bytes) -> DecodedPicture:
    """The first picture of a file, of either order of bytes."""
    order = "<" if raw[:2] == b"II" else ">"
    try:
        tags = _tags(raw, order)
        return _picture(raw, tags, little=order == "<")
    except (struct.error, KeyError, IndexError) as error:
        raise NoPicture(f"a directory that does not fit: {error}") from error


def _tags(raw: bytes, order: str) -> dict[int, tuple[int, ...]]:
    (start,) = struct.unpack_from(f"{order}I", raw, 4)
    (count,) = struct.unpack_from(f"{order}H", raw, start)
    if count > _MOST_TAGS:
        raise NoPicture("more tags than are read")
    found: dict[int, tuple[int, ...]] = {}
    for place in range(count):
        at = start + 2 + 12 * place
        tag, kind, length = struct.unpack_from(f"{order}HHI", raw, at)
        if kind not in _SIZES:
            continue
        form = f"{order}{length}{_SIZES[kind]}"
        if struct.calcsize(form) > len(raw):
            raise NoPicture("a tag of more values than the file has bytes")
        if struct.calcsize(form) > 4:
            (at,) = struct.unpack_from(f"{order}I", raw, at + 8)
            found[tag] = struct.unpack_from(form, raw, at)
        else:
            found[tag] = struct.unpack_from(form, raw, at + 8)
    return found


def _picture(raw: bytes, tags: Mapping[int, tuple[int, ...]], *, little: bool) -> DecodedPicture:
    width, height = tags[_WIDTH][0], tags[_HEIGHT][0]
    channels, planar = tags.get(_CHANNELS, (1,))[0], tags.get(_PLANAR, (1,))[0] == 2
    check_extents(width, height, max(channels, 1))
    bits, photometric = set(tags.get(_BITS, (1,))), tags[_PHOTOMETRIC][0]
    if len(bits) != 1 or channels != (3 if photometric == _RGB else 1) or photometric > _INDEXED:
        raise NoPicture("a form of TIFF that is not read")
    (depth,) = bits
    if depth not in (1, 2, 4, 8, 16):
        raise NoPicture("samples of so many bits are not read")
    in_row = width if planar else width * channels
    length, per_strip = -(-in_row * depth // 8), min(tags.get(_ROWS, (height,))[0], height)
    lines = _lines(raw, tags, length, (height, per_strip, channels if planar else 1))
    found = samples_of_rows(lines, in_row, depth, little=little)
    if planar:
        samples = np.moveaxis(found.reshape(channels, height, width), 0, -1)
    else:
        samples = found.reshape(height, width, channels)
    most = (1 << depth) - 1
    if photometric == _INDEXED:
        colours = np.array(tags[_COLOURS], np.int64).reshape(3, -1).T
        return DecodedPicture(coloured(samples[..., 0], colours), 65535)
    return DecodedPicture(most - samples if photometric == _WHITE_IS_0 else samples, most)


def _lines(
    raw: bytes, tags: Mapping[int, Sequence[int]], length: int, sizes: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """The rows of all strips, plane after plane."""
    height, per_strip, planes = sizes
    strips = -(-height // max(per_strip, 1))
    packed = tags.get(_COMPRESSION, (_NOT_COMPRESSED,))[0]
    if packed not in (_NOT_COMPRESSED, _PACKED):
        raise NoPicture("a compression that is not read")
    found = []
    for place in range(strips * planes):
        rows = min(per_strip, height - per_strip * (place % strips))
        start, count = tags[_STARTS][place], tags[_COUNTS][place]
        data = raw[start : start + count]
        data = _unpacked(data, rows * length) if packed == _PACKED else data
        if len(data) < rows * length:
            raise NoPicture("a strip that is too short")
        found.append(np.frombuffer(data[: rows * length], np.uint8).reshape(rows, length))
    return np.concatenate(found)


def _unpacked(data: bytes, most: int) -> bytes:
    """PackBits: so many bytes as they are, or one byte so many times."""
    found, at = bytearray(), 0
    while at < len(data) and len(found) < most:
        count = data[at]
        if count < 128:
            found += data[at + 1 : at + 2 + count]
            at += 2 + count
        elif count > 128:
            found += data[at + 1 : at + 2] * (257 - count)
            at += 2
        else:
            at += 1
    return bytes(found)

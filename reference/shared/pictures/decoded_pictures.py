"""PNG, BMP, PNM and TIFF, read into their samples: between 0 and a greatest one.

Sources: Portable Network Graphics (ISO/IEC 15948), clauses 5 to 11; Windows' BITMAPINFOHEADER; the manual
pages pbm, pgm, ppm; TIFF 6.0, sections 2 to 9.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_SAMPLES = 1 << 24
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


def _check_extents(width: int, height: int, channels: int) -> None:
    """Raise NoPicture where no picture has these extents."""
    if width < 1 or height < 1 or width * height * channels > _MOST_SAMPLES:
        raise NoPicture(f"{width} by {height} samples of {channels}")


def _samples_of_rows(rows: NDArray[np.uint8], count: int, bits: int, *, little: bool = False) -> NDArray[Any]:
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


def _coloured(indices: NDArray[np.int64], colours: NDArray[np.int64]) -> NDArray[np.int64]:
    """The colours (N, 3) of indices (H, W)."""
    if indices.size and int(indices.max()) >= len(colours):
        raise NoPicture("an index behind the last colour")
    return colours[indices]


_HEAD = struct.Struct("<2sIHHIIiiHHIIiiII")
_BMP_INDEXED = (1, 4, 8)


def read_bmp(raw: bytes) -> DecodedPicture:
    """Rows of four bytes' multiples from the lowest up, or down where the height is negative."""
    if len(raw) < _HEAD.size:
        raise NoPicture("a head that is cut off")
    _, _, _, _, start, size, width, height, _, bits, compression, _, _, _, used, _ = _HEAD.unpack(
        raw[: _HEAD.size]
    )
    if size != 40 or compression or bits not in (*_BMP_INDEXED, 24, 32):
        raise NoPicture("a form of BMP that is not read")
    rows, length = abs(height), -(-width * bits // 32) * 4
    _check_extents(width, rows, 4)
    data = raw[start : start + rows * length]
    if len(data) < rows * length:
        raise NoPicture("fewer rows than its head says")
    lines = np.frombuffer(data, np.uint8).reshape(rows, length)
    if height > 0:
        lines = lines[::-1]
    if bits in _BMP_INDEXED:
        count = used or 1 << bits
        table = np.frombuffer(raw[_HEAD.size : _HEAD.size + 4 * count], np.uint8)
        colours = table[: len(table) // 4 * 4].astype(np.int64).reshape(-1, 4)[:, 2::-1]
        return DecodedPicture(_coloured(_samples_of_rows(lines, width, bits), colours))
    channels = bits // 8
    pixels = lines[:, : width * channels].astype(np.int64).reshape(rows, width, channels)
    return DecodedPicture(pixels[..., 2::-1])


_SPACE = rb"(?:[ \t\r\n\v\f]|#[^\r\n]*[\r\n])+"
_WORD = re.compile(_SPACE + rb"(\d+)")
_PNM_CHANNELS = {b"P1": 1, b"P2": 1, b"P3": 3, b"P4": 1, b"P5": 1, b"P6": 3}


def read_pnm(raw: bytes) -> DecodedPicture:
    """Samples as numbers in text (P1 to P3) or in bytes (P4 to P6); of bits 1 is black."""
    kind, at = raw[:2], 2
    channels = _PNM_CHANNELS[kind]
    words: list[int] = []
    of_bits = kind in (b"P1", b"P4")
    while len(words) < (2 if of_bits else 3):
        found = _WORD.match(raw, at)
        if found is None:
            raise NoPicture("a head that is cut off")
        words.append(int(found[1]))
        at = found.end()
    width, height, most = words[0], words[1], 1 if of_bits else words[2]
    _check_extents(width, height, channels)
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
        samples = _samples_of_rows(np.frombuffer(data, np.uint8).reshape(height, length), count, bits)
    if samples.size != height * count or (samples > most).any():
        raise NoPicture("fewer samples than its head says, or greater ones")
    shaped = samples.reshape(height, width, channels)
    return DecodedPicture(1 - shaped if of_bits else shaped, most)


_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _COLOUR, _PNG_INDEXED, _GRAY_ALPHA, _COLOUR_ALPHA = 0, 2, 3, 4, 6
_DEPTHS = {
    _GRAY: (1, 2, 4, 8, 16),
    _COLOUR: (8, 16),
    _PNG_INDEXED: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _COLOUR_ALPHA: (8, 16),
}
_PNG_CHANNELS = {_GRAY: 1, _COLOUR: 3, _PNG_INDEXED: 1, _GRAY_ALPHA: 2, _COLOUR_ALPHA: 4}
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
    channels = _PNG_CHANNELS[kind]
    _check_extents(width, height, channels)
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
        found = _samples_of_rows(plain, columns * channels, depth)
        samples[top::down, left::right] = found.reshape(rows, columns, channels)
    most = (1 << depth) - 1
    if kind == _PNG_INDEXED:
        palette = next((content for name, content in chunks if name == b"PLTE"), b"")
        colours = np.frombuffer(palette, np.uint8).astype(np.int64).reshape(-1, 3)
        return DecodedPicture(_coloured(samples[..., 0], colours))
    if kind in (_GRAY_ALPHA, _COLOUR_ALPHA):
        if (samples[..., -1] != most).any():
            raise NoPicture("samples that something shines through")
        samples = samples[..., :-1]
    return DecodedPicture(samples, most)


def _chunks(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG_SIGNATURE)
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


_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _STARTS = 256, 257, 258, 259, 262, 273
_CHANNELS, _ROWS, _COUNTS, _PLANAR, _COLOURS = 277, 278, 279, 284, 320
_SIZES = {1: "B", 3: "H", 4: "I"}
_NOT_COMPRESSED, _PACKED = 1, 32773
_WHITE_IS_0, _BLACK_IS_0, _RGB, _TIFF_INDEXED = 0, 1, 2, 3
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
    _check_extents(width, height, max(channels, 1))
    bits, photometric = set(tags.get(_BITS, (1,))), tags[_PHOTOMETRIC][0]
    if len(bits) != 1 or channels != (3 if photometric == _RGB else 1) or photometric > _TIFF_INDEXED:
        raise NoPicture("a form of TIFF that is not read")
    (depth,) = bits
    if depth not in (1, 2, 4, 8, 16):
        raise NoPicture("samples of so many bits are not read")
    in_row = width if planar else width * channels
    length, per_strip = -(-in_row * depth // 8), min(tags.get(_ROWS, (height,))[0], height)
    lines = _lines(raw, tags, length, (height, per_strip, channels if planar else 1))
    found = _samples_of_rows(lines, in_row, depth, little=little)
    if planar:
        samples = np.moveaxis(found.reshape(channels, height, width), 0, -1)
    else:
        samples = found.reshape(height, width, channels)
    most = (1 << depth) - 1
    if photometric == _TIFF_INDEXED:
        colours = np.array(tags[_COLOURS], np.int64).reshape(3, -1).T
        return DecodedPicture(_coloured(samples[..., 0], colours), 65535)
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

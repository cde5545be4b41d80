"""Whether bytes are a whole file of a picture: its parts are there, and as long as its head says."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence

_MOST_BYTES = 1 << 26
_MOST_SAMPLES = 1 << 24
_CHANNELS_OF_PNG = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS_OF_PNG = {0: (1, 2, 4, 8, 16), 3: (1, 2, 4, 8)}
_ADAM7 = ((8, 8, 0, 0), (8, 8, 0, 4), (8, 4, 4, 0), (4, 4, 0, 2), (4, 2, 2, 0), (2, 2, 0, 1), (2, 1, 1, 0))


def picture_format(stream: Sequence[int]) -> str:
    """The format whose mark bytes begin with; nothing of others."""
    raw = bytes(int(byte) for byte in stream[:_LONGEST_MARK])
    return next((name for mark, (name, _) in _FORMATS.items() if raw.startswith(mark)), "")


def is_picture(stream: Sequence[int]) -> bool:
    """Whether bytes are a whole PNG, BMP, TIFF, PNM, JPEG, WebP or JPEG 2000; of others nothing is known."""
    found = picture_format(stream)
    if not found or len(stream) > _MOST_BYTES:
        return False
    raw = bytes(int(byte) for byte in stream)
    is_whole = next(check for name, check in _FORMATS.values() if name == found)
    try:
        return is_whole(raw)
    except (struct.error, zlib.error, KeyError, IndexError, ValueError, OverflowError):
        return False


def _fits(width: int, height: int, channels: int) -> bool:
    return width >= 1 and height >= 1 and width * height * channels <= _MOST_SAMPLES


def _is_png(raw: bytes) -> bool:
    at, names, data, head = 8, list[bytes](), b"", b""
    while at < len(raw):
        length, name = struct.unpack_from(">I4s", raw, at)
        content = raw[at + 8 : at + 8 + length]
        (total,) = struct.unpack_from(">I", raw, at + 8 + length)
        if total != zlib.crc32(name + content):
            return False
        head = content if name == b"IHDR" else head
        data += content if name == b"IDAT" else b""
        names.append(name)
        at += 12 + length
    width, height, depth, kind, method, filtering, interlace = struct.unpack(">IIBBBBB", head)
    channels = _CHANNELS_OF_PNG[kind]
    known = depth in _DEPTHS_OF_PNG.get(kind, (8, 16)) and not method and not filtering and interlace <= 1
    if not (known and _fits(width, height, channels) and names[0] == b"IHDR" and names[-1] == b"IEND"):
        return False
    needed = 0
    for down, right, top, left in _ADAM7 if interlace else ((1, 1, 0, 0),):
        rows, columns = -(-(height - top) // down), -(-(width - left) // right)
        if rows > 0 and columns > 0:
            needed += rows * (1 + -(-columns * channels * depth // 8))
    return len(zlib.decompressobj().decompress(data, needed + 1)) == needed


def _is_bmp(raw: bytes) -> bool:
    start, size, width, height = struct.unpack_from("<IIii", raw, 10)
    (bits,) = struct.unpack_from("<H", raw, 28)
    whole = size >= 40 and bits in (1, 4, 8, 16, 24, 32) and _fits(width, abs(height), 4)
    return whole and start >= 14 + size and len(raw) >= start + abs(height) * (-(-width * bits // 32) * 4)


_HEAD_OF_PNM = re.compile(rb"P([1-6])" + rb"(?:\s|#[^\n]*\n)+(\d{1,9})" * 2)
_MOST_OF_PNM = re.compile(rb"(?:\s|#[^\n]*\n)+(\d{1,9})")


def _is_pnm(raw: bytes) -> bool:
    head = _HEAD_OF_PNM.match(raw)
    if head is None:
        return False
    kind, width, height = (int(word) for word in head.groups())
    end, most, channels = head.end(), 1, 3 if kind in (3, 6) else 1
    if kind not in (1, 4):
        greatest = _MOST_OF_PNM.match(raw, end)
        if greatest is None:
            return False
        end, most = greatest.end(), int(greatest[1])
    if not (_fits(width, height, channels) and 1 <= most <= 65535):
        return False
    if kind <= 3:
        count = len(re.findall(rb"[01]" if kind == 1 else rb"\d+", re.sub(rb"#[^\n]*", b"", raw[end:])))
        return count >= width * height * channels
    in_row = -(-width // 8) if kind == 4 else width * channels * (1 if most < 256 else 2)
    return len(raw) > end and len(raw) - end - 1 >= height * in_row


def _is_tiff(raw: bytes) -> bool:
    order = "<" if raw[:2] == b"II" else ">"
    (start,) = struct.unpack_from(f"{order}I", raw, 4)
    (count,) = struct.unpack_from(f"{order}H", raw, start)
    tags: dict[int, tuple[int, ...]] = {}
    for place in range(count):
        at = start + 2 + 12 * place
        tag, kind, length = struct.unpack_from(f"{order}HHI", raw, at)
        form = {3: "H", 4: "I"}.get(kind)
        if form is None or length > len(raw):
            continue
        if struct.calcsize(form) * length > 4:
            (at,) = struct.unpack_from(f"{order}I", raw, at + 8)
        else:
            at += 8
        tags[tag] = struct.unpack_from(f"{order}{length}{form}", raw, at)
    width, height, starts, counts = tags[256][0], tags[257][0], tags[273], tags[279]
    channels, packed = tags.get(277, (1,))[0], tags.get(259, (1,))[0] != 1
    strips = zip(starts, counts, strict=True)
    inside = all(at >= 8 and length > 0 and at + length <= len(raw) for at, length in strips)
    in_row = -(-width * channels * tags.get(258, (1,))[0] // 8)
    return _fits(width, height, channels) and inside and (packed or sum(counts) >= height * in_row)


def _is_jpeg(raw: bytes) -> bool:
    return raw[2:3] == b"\xff" and raw[-2:] == b"\xff\xd9"


def _is_webp(raw: bytes) -> bool:
    (length,) = struct.unpack_from("<I", raw, 4)
    return raw[8:12] == b"WEBP" and length + 8 == len(raw)


def _is_jpeg2000(raw: bytes) -> bool:
    return raw[-2:] == b"\xff\xd9"


_FORMATS: Mapping[bytes, tuple[str, Callable[[bytes], bool]]] = {
    b"\x89PNG\r\n\x1a\n": ("png", _is_png),
    b"BM": ("bmp", _is_bmp),
    b"II*\x00": ("tiff", _is_tiff),
    b"MM\x00*": ("tiff", _is_tiff),
    b"\xff\xd8": ("jpeg", _is_jpeg),
    b"RIFF": ("webp", _is_webp),
    b"\x00\x00\x00\x0cjP  \r\n\x87\n": ("jpeg2000", _is_jpeg2000),
    **{f"P{kind}".encode(): ("pnm", _is_pnm) for kind in range(1, 7)},
}
"""By the mark that a file begins with."""
_LONGEST_MARK = max(map(len, _FORMATS))
PICTURE_FORMATS = tuple(dict.fromkeys(name for name, _ in _FORMATS.values()))

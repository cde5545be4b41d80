"""The file of a picture, byte for byte: of each format what a decoder may get wrong by itself."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from reference.shared.pictures.kept_pictures import KEPT
from specs.language.functions.whole_pictures import PICTURE_FORMATS, is_picture, picture_format
from specs.model.spec import Constraint

_SIZES: Mapping[Level, tuple[int, int]] = {
    "7x5": (5, 7),
    "1x1": (1, 1),
    "17x9": (9, 17),
}
_KEPT_SIZE = "15x12"


@dataclass(frozen=True)
class Picture(Kind):
    """An input of bytes; the samples in them are drawn, all alike in their channels, or at their ends."""

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            f"{self.name}_form": (*FORMS, *KEPT),
            f"{self.name}_size": (*_SIZES, _KEPT_SIZE),
            f"{self.name}_samples": ("any", "gray", "ends"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        form, size = str(levels[f"{self.name}_form"]), levels[f"{self.name}_size"]
        samples = str(levels[f"{self.name}_samples"])
        if (form in KEPT) != (size == _KEPT_SIZE) or (form in KEPT and samples != "any"):
            return
        yield {
            self.name: _bytes(KEPT[form].raw if form in KEPT else _drawn(form, _SIZES[size], samples, draw))
        }

    def rules(self) -> Iterable[Constraint]:
        name, one_axis = self.name, f"rank({self.name}) == 1"
        yield self.rule(f"{name}_rank", one_axis)
        yield self.rule(f"{name}_format", f"picture_format({name}) != ''", one_axis)
        for each in PICTURE_FORMATS:
            of_format = f"{one_axis} and picture_format({name}) == '{each}'"
            yield self.rule(f"{name}_whole_{each}", f"is_picture({name})", of_format)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        given = np.asarray(scope.find(self.name))
        yield f"{self.name}_rank", {self.name: given[np.newaxis]}
        for raw in (b"", b"GIF89a\x01\x00\x01\x00\x00\x00\x00;", b"no picture at all"):
            yield f"{self.name}_format", {self.name: _bytes(raw)}
        for raw in _broken(draw):
            assert not is_picture(list(raw)), raw
            yield f"{self.name}_whole_{picture_format(list(raw))}", {self.name: _bytes(raw)}


def _bytes(raw: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(raw, np.uint8)


def _drawn(form: str, shape: tuple[int, int], samples: str, draw: Draw) -> bytes:
    """A file of drawn samples; of colours that are looked up some of each."""
    how = FORMS[form]
    if how.colours:
        colours = [
            (at, at, at) if samples == "gray" else _colour(draw.child(f"colour/{at}"))
            for at in range(how.colours)
        ]
        return how.write(_numbers(how.colours - 1, (*shape, 1), samples, draw), colours)
    found = _numbers(how.most, (*shape, how.channels), samples, draw)
    return how.write(np.repeat(found[..., :1], how.channels, axis=-1) if samples == "gray" else found, ())


def _numbers(most: int, shape: tuple[int, ...], samples: str, draw: Draw) -> NDArray[np.int64]:
    count = prod(shape)
    numbers = np.array(draw.child("samples").numbers(0, 1 if samples == "ends" else most, count), np.int64)
    return (numbers * most if samples == "ends" else numbers).reshape(shape)


def _colour(draw: Draw) -> tuple[int, int, int]:
    red, green, blue = draw.numbers(0, 255, 3)
    return int(red), int(green), int(blue)


_HEAD = struct.Struct(">IIBBBBB")


def _broken(draw: Draw) -> Iterator[bytes]:
    """Files that promise what they do not have, are cut off, or have a byte that is another."""
    nothing = _png_chunk(b"IDAT", b"x\x9c\x03\x00\x00\x00\x00\x01")
    yield _png_file(_HEAD.pack(2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0), nothing)
    sizes = struct.pack("<IiiHHIIiiII", 40, 2**31 - 1, -(2**31), 1, 24, 0, 0, 0, 0, 0, 0)
    yield struct.pack("<2sIHHI", b"BM", 54, 0, 0, 54) + sizes
    yield b"P6\n999999999 999999999\n255\n" + bytes(12)
    large = (4, [2**31])
    tags = {256: large, 257: large, 258: (3, [8]), 262: (3, [1]), 273: large, 279: large}
    yield _tiff_file("<", bytes(8), tags)
    yield b"MM\x00*\xff\xff\xff\xff"
    yield b"P5\n2 2\n70000\n" + bytes(8)
    whole = bytearray(_drawn("png_rgb", (5, 7), "any", draw))
    whole[45] ^= 255
    yield bytes(whole)
    for form in ("png_rgb", "bmp_rgb", "pnm_rgb", "tiff_rgb"):
        cut = _drawn(form, (5, 7), "any", draw)
        yield cut[: len(cut) // 2]
        yield cut[:9]
    for kept in KEPT.values():
        yield kept.raw[: len(kept.raw) // 2]
        yield kept.raw[:16]


_Samples = NDArray[np.int64]
_Colours = Sequence[tuple[int, int, int]]
_Writer = Callable[[_Samples, _Colours], bytes]


@dataclass(frozen=True)
class _FileForm:
    """One way to write a picture: samples up to `most`, of so many channels, or `colours` and indices."""

    write: _Writer
    most: int = 255
    channels: int = 3
    colours: int = 0


def _packed_rows(samples: _Samples, bits: int, order: str = ">", multiple: int = 1) -> list[bytes]:
    """The bytes of each row of samples (H, N), the first in the highest bits, rows of a multiple of bytes."""
    rows = []
    for row in samples.tolist():
        if bits == 16:
            line = struct.pack(f"{order}{len(row)}H", *row)
        else:
            text = "".join(f"{sample:0{bits}b}" for sample in row)
            text += "0" * (-len(text) % 8)
            line = bytes(int(text[at : at + 8], 2) for at in range(0, len(text), 8))
        rows.append(line + bytes(-len(line) % multiple))
    return rows


def _flat(samples: _Samples) -> _Samples:
    return samples.reshape(len(samples), -1)


_ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def _png_chunk(name: bytes, content: bytes) -> bytes:
    """A chunk with its length and its sum."""
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _png_file(head: bytes, *chunks: bytes) -> bytes:
    """A file of a head and chunks between it and the end."""
    return b"\x89PNG\r\n\x1a\n" + _png_chunk(b"IHDR", head) + b"".join(chunks) + _png_chunk(b"IEND", b"")


def _png(kind: int, bits: int, *, interlaced: bool = False, alpha: bool = False) -> _Writer:
    def write(samples: _Samples, colours: _Colours) -> bytes:
        height, width = samples.shape[:2]
        if alpha:
            full = np.full((height, width, 1), (1 << bits) - 1)
            samples = np.concatenate([samples, full], axis=-1)
        step = max(1, samples.shape[-1] * bits // 8)
        data = b""
        for top, left, down, right in _ADAM7 if interlaced else ((0, 0, 1, 1),):
            part = samples[top::down, left::right]
            if part.size:
                data += _filtered(_packed_rows(_flat(part), bits), step)
        chunks = [_png_chunk(b"PLTE", b"".join(map(bytes, colours)))] if kind == 3 else []
        stream = zlib.compress(data)
        half = len(stream) // 2
        chunks += [_png_chunk(b"IDAT", stream[:half]), _png_chunk(b"IDAT", stream[half:])]
        return _png_file(struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, interlaced), *chunks)

    return write


def _filtered(rows: Sequence[bytes], step: int) -> bytes:
    """The rows, each with the next of the five filters."""
    found, above = bytearray(), bytes(len(rows[0]))
    for place, row in enumerate(rows):
        kind = place % 5
        found.append(kind)
        for at, byte in enumerate(row):
            before = row[at - step] if at >= step else 0
            corner = above[at - step] if at >= step else 0
            found.append((byte - _guess(kind, before, above[at], corner)) & 255)
        above = row
    return bytes(found)


def _guess(kind: int, before: int, above: int, corner: int) -> int:
    if kind == 4:
        to_before, to_above = abs(above - corner), abs(before - corner)
        to_corner = abs(before + above - 2 * corner)
        if to_before <= to_above and to_before <= to_corner:
            return before
        return above if to_above <= to_corner else corner
    return (0, before, above, (before + above) >> 1)[kind]


def _bmp(bits: int, *, down: bool = False) -> _Writer:
    def write(samples: _Samples, colours: _Colours) -> bytes:
        height, width = samples.shape[:2]
        table = b"".join(bytes((blue, green, red, 0)) for red, green, blue in colours)
        pixels = samples if table else samples[..., ::-1]
        if bits == 32:
            pixels = np.concatenate([pixels, np.zeros((height, width, 1), np.int64)], axis=-1)
        lines = _packed_rows(_flat(pixels), bits if table else 8, multiple=4)
        data = b"".join(lines if down else lines[::-1])
        start = 54 + len(table)
        head = struct.pack("<2sIHHI", b"BM", start + len(data), 0, 0, start)
        sizes = (40, width, -height if down else height, 1, bits, 0, len(data), 2835, 2835)
        return head + struct.pack("<IiiHHIIiiII", *sizes, len(colours), 0) + table + data

    return write


def _pnm(kind: int, most: int) -> _Writer:
    def write(samples: _Samples, _: _Colours) -> bytes:
        height, width = samples.shape[:2]
        of_bits = kind in (1, 4)
        head = f"P{kind}\n# a comment\n{width} {height}\n" + ("" if of_bits else f"{most}\n")
        values = 1 - samples if of_bits else samples
        if kind <= 3:
            lines = [" ".join(map(str, row)) for row in _flat(values).tolist()]
            return (head + "\n".join(lines) + "\n").encode()
        bits = 1 if of_bits else 8 if most < 256 else 16
        return head.encode() + b"".join(_packed_rows(_flat(values), bits))

    return write


_ROWS_OF_STRIP = 2


def _tiff(
    photometric: int,
    bits: int,
    order: str = "<",
    *,
    packed: bool = False,
    planar: bool = False,
) -> _Writer:
    def write(samples: _Samples, colours: _Colours) -> bytes:
        height, width, channels = samples.shape
        values = (1 << bits) - 1 - samples if photometric == 0 else samples
        planes = [values[..., at] for at in range(channels)] if planar else [_flat(values)]
        lines = [_packed_rows(plane, bits, order) for plane in planes]
        begins = range(0, height, _ROWS_OF_STRIP)
        strips = [_strip(plane[at : at + _ROWS_OF_STRIP], packed) for plane in lines for at in begins]
        starts = [8 + sum(map(len, strips[:at])) for at in range(len(strips))]
        tags: dict[int, tuple[int, Sequence[int]]] = {
            256: (3, [width]), 257: (3, [height]), 258: (3, [bits] * channels),
            259: (3, [32773 if packed else 1]), 262: (3, [photometric]), 273: (4, starts),
            277: (3, [channels]),
            278: (3, [_ROWS_OF_STRIP]),
            279: (4, [len(strip) for strip in strips]),
            284: (3, [2 if planar else 1]),
        }  # fmt: skip
        if photometric == 3:
            table = [*colours, *([(0, 0, 0)] * ((1 << bits) - len(colours)))]
            tags[320] = (3, [257 * colour[at] for at in range(3) for colour in table])
        return _tiff_file(order, b"".join(strips), tags)

    return write


def _tiff_file(order: str, data: bytes, tags: Mapping[int, tuple[int, Sequence[int]]]) -> bytes:
    """A file of data, which begins at 8, and one directory behind it."""
    data += bytes(len(data) % 2)
    start = 8 + len(data)
    behind, entries = start + 6 + 12 * len(tags), b""
    further = b""
    for tag, (kind, values) in sorted(tags.items()):
        content = struct.pack(f"{order}{len(values)}{'H' if kind == 3 else 'I'}", *values)
        entries += struct.pack(f"{order}HHI", tag, kind, len(values))
        if len(content) > 4:
            entries += struct.pack(f"{order}I", behind + len(further))
            further += content + bytes(len(content) % 2)
        else:
            entries += content + bytes(4 - len(content))
    mark = b"II" if order == "<" else b"MM"
    head = mark + struct.pack(f"{order}HI", 42, start)
    return head + data + struct.pack(f"{order}H", len(tags)) + entries + bytes(4) + further


def _strip(rows: Sequence[bytes], packed: bool) -> bytes:
    return b"".join(map(_packed, rows) if packed else rows)


def _packed(row: bytes) -> bytes:
    """PackBits: runs of one byte from three on, and what stands between them as it is."""
    found, at, plain = b"", 0, b""
    while at < len(row):
        count = 1
        while count < 128 and row[at + count : at + count + 1] == row[at : at + 1]:
            count += 1
        if count < 3:
            plain += row[at : at + 1]
            at += 1
        if plain and (count >= 3 or at == len(row) or len(plain) == 128):
            found, plain = found + bytes([len(plain) - 1]) + plain, b""
        if count >= 3:
            found += bytes([257 - count]) + row[at : at + 1]
            at += count
    return found


FORMS: Mapping[str, _FileForm] = {
    "png_rgb": _FileForm(_png(2, 8)),
    "png_rgb_16": _FileForm(_png(2, 16), 65535),
    "png_rgb_interlaced": _FileForm(_png(2, 8, interlaced=True)),
    "png_rgb_opaque": _FileForm(_png(6, 8, alpha=True)),
    "png_gray_opaque_16": _FileForm(_png(4, 16, alpha=True), 65535, 1),
    **{f"png_gray_{bits}": _FileForm(_png(0, bits), (1 << bits) - 1, 1) for bits in (1, 2, 4, 8, 16)},
    **{f"png_indexed_{bits}": _FileForm(_png(3, bits), 0, 1, min(1 << bits, 17)) for bits in (1, 2, 4, 8)},
    "png_indexed_interlaced": _FileForm(_png(3, 4, interlaced=True), 0, 1, 11),
    "bmp_rgb": _FileForm(_bmp(24)),
    "bmp_rgb_32": _FileForm(_bmp(32)),
    "bmp_rgb_downwards": _FileForm(_bmp(24, down=True)),
    **{f"bmp_indexed_{bits}": _FileForm(_bmp(bits), 0, 1, min(1 << bits, 17)) for bits in (1, 4, 8)},
    "pnm_bits_text": _FileForm(_pnm(1, 1), 1, 1),
    "pnm_gray_text": _FileForm(_pnm(2, 15), 15, 1),
    "pnm_rgb_text": _FileForm(_pnm(3, 255)),
    "pnm_bits": _FileForm(_pnm(4, 1), 1, 1),
    "pnm_gray": _FileForm(_pnm(5, 255), 255, 1),
    "pnm_gray_16": _FileForm(_pnm(5, 65535), 65535, 1),
    "pnm_rgb": _FileForm(_pnm(6, 255)),
    "pnm_rgb_to_100": _FileForm(_pnm(6, 100), 100),
    "tiff_rgb": _FileForm(_tiff(2, 8)),
    "tiff_rgb_big_endian": _FileForm(_tiff(2, 8, ">", packed=True)),
    "tiff_rgb_planar": _FileForm(_tiff(2, 8, planar=True)),
    "tiff_rgb_16": _FileForm(_tiff(2, 16, ">"), 65535),
    "tiff_bits_white_is_0": _FileForm(_tiff(0, 1), 1, 1),
    "tiff_gray_4": _FileForm(_tiff(1, 4), 15, 1),
    "tiff_gray": _FileForm(_tiff(1, 8, packed=True), 255, 1),
    "tiff_gray_16": _FileForm(_tiff(1, 16), 65535, 1),
    "tiff_indexed_4": _FileForm(_tiff(3, 4), 0, 1, 16),
    "tiff_indexed": _FileForm(_tiff(3, 8), 0, 1, 17),
}  # fmt: skip
"""Of each format what a decoder may get wrong by itself."""

"""The file of a picture, byte for byte: of each format what a decoder may get wrong by itself."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.data.picture_files import FORMS, png_chunk, png_file, tiff_file
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
    nothing = png_chunk(b"IDAT", b"x\x9c\x03\x00\x00\x00\x00\x01")
    yield png_file(_HEAD.pack(2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0), nothing)
    sizes = struct.pack("<IiiHHIIiiII", 40, 2**31 - 1, -(2**31), 1, 24, 0, 0, 0, 0, 0, 0)
    yield struct.pack("<2sIHHI", b"BM", 54, 0, 0, 54) + sizes
    yield b"P6\n999999999 999999999\n255\n" + bytes(12)
    large = (4, [2**31])
    tags = {256: large, 257: large, 258: (3, [8]), 262: (3, [1]), 273: large, 279: large}
    yield tiff_file("<", bytes(8), tags)
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

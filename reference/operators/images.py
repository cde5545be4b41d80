"""ImageDecoder: the samples of a picture's file, in an order of channels.

PNG, BMP, PNM and TIFF are read here. Of JPEG, WebP and JPEG 2000 a few files are known, with what a decoder
makes of them, and how far another may honestly be from that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.pictures.decoded_pictures import (
    DecodedPicture,
    NoPicture,
    read_bmp,
    read_png,
    read_pnm,
    read_tiff,
)
from reference.shared.pictures.kept_pictures import kept_picture
from specs.language.functions.whole_pictures import picture_format

_READERS: Mapping[str, Callable[[bytes], DecodedPicture]] = {
    "png": read_png,
    "bmp": read_bmp,
    "tiff": read_tiff,
    "pnm": read_pnm,
}
"""By the name of the format whose mark a file begins with."""
_WEIGHTS = {"bt601": (299, 587, 114), "bt709": (2126, 7152, 722)}
"""Of red, green and blue in what is seen as their brightness."""
_PARTS = 50
"""Weights in fixed point may put a brightness by such a part to the other side of a whole number."""


@reference_operator("ai.onnx::ImageDecoder")
def image_decoder(
    encoded_stream: Tensor,
    *,
    pixel_format: str = "RGB",
    luma: Annotated[Choice[Literal["bt601", "bt709"]], AsReading],
) -> Answer:
    """Samples (H, W, C) from 0 to 255, of which either neighbour of an exact one is as good.

    Source: ImageDecoder, Summary, pixel_format.
    """
    picture = _read(encoded_stream.array.tobytes())
    samples = picture.in_colour
    if pixel_format == "Grayscale":
        if (samples == samples[..., :1]).all():
            return _scaled(samples[..., :1], picture.most, picture.off)
        weights = _WEIGHTS[luma.ask()]
        weighed = samples @ np.array(weights)[:, None]  # exact: integers
        return _scaled(weighed, picture.most * sum(weights), picture.off, weighed=True)
    if pixel_format == "BGR":
        samples = samples[..., ::-1]
    return _scaled(samples, picture.most, picture.off)


def _read(raw: bytes) -> DecodedPicture:
    known = kept_picture(raw)
    if known is not None:
        return known
    read = _READERS.get(picture_format(raw))
    if read is None:
        raise OutsideDomain("a picture of a format that is not decoded here")
    try:
        return read(raw)
    except NoPicture as error:
        raise OutsideDomain(
            "a picture that is broken, or of a form that is not read", got=str(error)
        ) from error


def _scaled(samples: NDArray[np.int64], most: int, off: int, *, weighed: bool = False) -> Answer:
    """Samples of `most` as samples of 255: the nearest whole number, and the one on the other side."""
    exact = 255 * samples.reshape(-1)
    near = most if weighed else 0
    nearest = (2 * exact + most) // (2 * most)
    lowest = np.maximum((_PARTS * exact - near) // (_PARTS * most) - off, 0)
    highest = np.minimum(-((-_PARTS * exact - near) // (_PARTS * most)) + off, 255)
    others = {
        int(place): tuple(
            np.uint8(other) for other in range(lowest[place], highest[place] + 1) if other != nearest[place]
        )
        for place in np.flatnonzero(lowest < highest)
    }
    values = nearest.astype(np.uint8).reshape(samples.shape)
    return Answer(Tensor(ELEMENT_TYPES["uint8"], values), alternatives=others or None)

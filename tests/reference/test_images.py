"""ImageDecoder beside Pillow and beside what was written, on files of every form; ONNX's own node tests."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from generator.calls.kinds.picture import FORMS
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer, OutsideDomain
from reference.registry import find_operator
from reference.shared.pictures.kept_pictures import KEPT
from specs.language.functions.whole_pictures import is_picture

SIZES = ((5, 7), (1, 1), (2, 9), (17, 3))
LOSSY = ("jpeg", "webp", "jpeg2k")


def decoded(raw: bytes, pixel_format: str = "RGB", luma: str = "bt601") -> Answer:
    stream = tensor(np.frombuffer(raw, np.uint8))
    operator = find_operator(OperatorName("ai.onnx", "ImageDecoder", 20))
    return operator.evaluate({"pixel_format": pixel_format}, {"encoded_stream": stream}, {"luma": luma})[0]


def accepts(answer: Answer, got: NDArray[Any]) -> bool:
    """Whether elements are those of an answer, or as good."""
    wanted = answer.expected.array
    if wanted.shape != got.shape:
        return False
    others = answer.alternatives or {}
    pairs = zip(wanted.reshape(-1).tolist(), got.reshape(-1).tolist(), strict=True)
    return all(one == other or other in others.get(at, ()) for at, (one, other) in enumerate(pairs))


def written(form: str, size: tuple[int, int], *, gray: bool = False) -> tuple[bytes, NDArray[Any], int]:
    """A file, the samples in it in three channels, and the greatest that they may be."""
    how, rng = FORMS[form], np.random.default_rng(len(form) + 7 * size[0])
    if how.colours:
        table = rng.integers(0, 256, (how.colours, 3))
        indices = rng.integers(0, how.colours, (*size, 1))
        colours = [(int(red), int(green), int(blue)) for red, green, blue in table]
        return how.write(indices, colours), table[indices[..., 0]], 255
    samples = rng.integers(0, how.most + 1, (*size, how.channels))
    samples = np.repeat(samples[..., :1], how.channels, axis=-1) if gray else samples
    return how.write(samples, ()), np.broadcast_to(samples, (*size, 3)), how.most


def of_pillow(raw: bytes) -> NDArray[Any]:
    """What Pillow reads, as samples from 0 to 255 in three channels."""
    image = Image.open(io.BytesIO(raw))
    if image.mode.startswith("I"):
        return np.repeat((np.array(image) // 257).astype(np.uint8)[..., None], 3, axis=-1)
    return np.array(image.convert("RGB"))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_as_it_was_written_and_as_pillow_reads_it(form: str) -> None:
    for size in SIZES:
        raw, samples, most = written(form, size)
        assert is_picture(list(raw))
        answer = decoded(raw)
        assert accepts(answer, of_pillow(raw)), size
        exact = 255 * samples / most
        assert accepts(answer, np.floor(exact).astype(np.uint8))
        assert accepts(answer, np.ceil(exact).astype(np.uint8))
        assert not accepts(answer, np.floor(exact - 1.01).clip(0).astype(np.uint8)) or not samples.any()
        assert np.array_equal(decoded(raw, "BGR").expected.array[..., ::-1], answer.expected.array)


@pytest.mark.parametrize("form", ["png_rgb", "bmp_rgb", "pnm_rgb", "tiff_rgb", "png_indexed_4"])
def test_gray_is_what_the_weights_make_of_colours(form: str) -> None:
    raw, samples, _ = written(form, (9, 11))
    gray = np.array(Image.open(io.BytesIO(raw)).convert("RGB").convert("L"))[..., None]
    answer = decoded(raw, "Grayscale")
    assert accepts(answer, gray)
    weighed = (samples * [0.2126, 0.7152, 0.0722]).sum(-1, keepdims=True)
    assert accepts(decoded(raw, "Grayscale", "bt709"), np.round(weighed).astype(np.uint8))
    assert not accepts(answer, np.round(samples.mean(-1, keepdims=True)).astype(np.uint8))


def test_gray_of_gray_is_exact() -> None:
    raw, samples, _ = written("png_rgb", (9, 11), gray=True)
    answer = decoded(raw, "Grayscale")
    assert answer.alternatives is None
    assert np.array_equal(answer.expected.array, samples[..., :1])


@pytest.mark.parametrize("name", KEPT)
def test_kept_files_are_what_pillow_reads(name: str) -> None:
    assert is_picture(list(KEPT[name].raw))
    answer = decoded(KEPT[name].raw)
    assert accepts(answer, of_pillow(KEPT[name].raw))
    if KEPT[name].off:
        far = np.where(answer.expected.array > 127, answer.expected.array - 5, answer.expected.array + 5)
        assert not accepts(answer, far)
    else:
        assert answer.alternatives is None


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda raw: raw[:-20],
    "a byte that is another": lambda raw: raw[:45] + bytes([raw[45] ^ 255]) + raw[46:],
    "no head": lambda raw: raw[8:],
    "nothing": lambda _: b"",
}


@pytest.mark.parametrize("how", BROKEN)
def test_of_broken_files_nothing_is_said(how: str) -> None:
    raw = BROKEN[how](written("png_rgb", (5, 7))[0])
    assert not is_picture(list(raw))
    with pytest.raises(OutsideDomain):
        decoded(raw)


def test_what_shines_through_has_no_samples_of_its_own() -> None:
    file = io.BytesIO()
    Image.fromarray(np.full((2, 2, 4), 100, np.uint8)).save(file, "PNG")
    with pytest.raises(OutsideDomain, match="shines through"):
        decoded(file.getvalue())


def test_node_tests_of_onnx_agree_but_for_files_that_are_not_decoded_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    official = importlib.import_module("onnx.backend.test.case.node.image_decoder")
    agreed, unknown = [], []

    def compare(node: Any, inputs: list[Any], outputs: list[Any], name: str) -> None:
        raw = inputs[0].tobytes()
        try:
            answer = decoded(raw, node.attribute[0].s.decode())
        except OutsideDomain:
            unknown.append(name)
            return
        assert accepts(answer, outputs[0]), name
        agreed.append(name)

    monkeypatch.setattr(official, "expect", compare)
    for name, export in vars(official.ImageDecoder).items():
        if name.startswith("export"):
            export()
    assert len(agreed) == 4
    assert len(unknown) == 5
    assert all(any(kind in name for kind in LOSSY) for name in unknown)

"""Calls of ExtractImagePatches: sizes, strides and rates, and images in which patches fit or leave a rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from generator.calls import Call
from generator.data import fill
from generator.draws import Draw
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.tensors import Tensor
from specs.model import Spec

OPERATORS = ("org.openvino::ExtractImagePatches-3",)

Pair = tuple[int, int]
_SIZES: dict[str, Pair] = {"one": (1, 1), "square": (2, 2), "tall": (3, 2), "wide": (1, 3)}
_STRIDES: dict[str, Pair] = {"one": (1, 1), "rows": (2, 1), "different": (2, 3), "beyond_the_patch": (7, 8)}
_RATES: dict[str, Pair] = {"one": (1, 1), "rows": (2, 1), "columns": (1, 3), "both": (3, 2)}
_PATCHES = (3, 2)
"""Patches down and across, where there are several."""


def build_call(_spec: Spec, levels: Mapping[str, str], draw: Draw) -> Call | None:
    """The call of these levels; None for a rest between strides of one."""
    sizes, strides, rates = _SIZES[levels["sizes"]], _STRIDES[levels["strides"]], _RATES[levels["rates"]]
    if levels["image"] == "rest" and levels["strides"] == "one":
        return None
    extents = []
    for size, stride, rate, patches in zip(sizes, strides, rates, _PATCHES, strict=True):
        reach = 1 + (size - 1) * rate
        if levels["image"] == "one_patch":
            extent = reach if levels["auto_pad"] == "valid" else stride
        elif levels["auto_pad"] == "valid":
            extent = reach + (patches - 1) * stride
        else:
            extent = patches * stride
        extents.append(extent + (min(1, stride - 1) if levels["image"] == "rest" else 0))
    shape = (int(levels["batch"]), int(levels["depth"]), *extents)
    data = fill(levels["element_type"], shape, levels["data"], draw.child("data"))
    return _call(data, sizes, strides, rates, levels["auto_pad"])


def boundary_calls(_spec: Spec, draw: Draw) -> Iterator[tuple[str, Mapping[str, str], Call]]:
    """No images, depth or rows; single elements; patches as large as the image and larger; long strides."""
    one = (1, 1)
    edges: list[tuple[str, str, Sequence[int], Pair, Pair, Pair, str]] = [
        ("no_images", "float", (0, 2, 4, 5), (2, 2), one, one, "valid"),
        ("no_depth", "float", (2, 0, 4, 5), (2, 2), one, one, "valid"),
        ("no_rows", "float", (1, 2, 0, 5), (2, 2), one, one, "same_upper"),
        ("no_columns", "float", (1, 2, 4, 0), (1, 3), (2, 1), one, "same_lower"),
        ("one_element", "float", (1, 1, 1, 1), one, one, one, "valid"),
        ("one_element_in_padding", "float", (1, 1, 1, 1), (2, 3), one, one, "same_upper"),
        ("one_element_in_padding_before", "float", (1, 1, 1, 1), (2, 3), one, one, "same_lower"),
        ("patch_is_image", "int32", (2, 3, 4, 5), (4, 5), (3, 2), one, "valid"),
        ("dilated_patch_is_image", "int32", (2, 3, 5, 7), (3, 3), one, (2, 3), "valid"),
        ("patch_larger_than_image", "int8", (1, 2, 2, 3), (4, 5), (2, 2), one, "same_lower"),
        ("dilated_patch_larger_than_image", "int8", (1, 2, 3, 2), (2, 3), one, (4, 3), "same_upper"),
        ("samples_only_in_padding", "uint8", (1, 1, 3, 3), (2, 2), one, (9, 9), "same_upper"),
        ("long_strides", "int64", (1, 2, 5, 4), (2, 2), (100, 100), one, "valid"),
        ("long_strides_in_padding", "int64", (1, 2, 5, 4), (2, 2), (100, 100), one, "same_upper"),
        ("stride_is_the_image", "float16", (1, 2, 5, 4), (3, 2), (5, 4), one, "same_lower"),
        ("rate_of_single_samples", "bfloat16", (1, 2, 4, 5), one, (2, 2), (50, 50), "valid"),
        ("row", "double", (1, 3, 1, 9), (1, 3), (1, 2), (1, 2), "same_upper"),
        ("column", "double", (1, 3, 9, 1), (3, 1), (2, 1), (2, 1), "same_lower"),
    ]
    for word, element_type, shape, sizes, strides, rates, auto_pad in edges:
        data = fill(element_type, shape, "distinct", draw.child(word))
        levels = {"element_type": element_type, "auto_pad": auto_pad, "data": "distinct"}
        yield word, levels, _call(data, sizes, strides, rates, auto_pad)
    for data_class in ("nonfinite", "signed_zero", "subnormal", "huge"):
        for element_type in ("float", "float16", "bfloat16", "double"):
            word = f"{data_class}_{element_type}"
            data = fill(element_type, (1, 2, 3, 4), data_class, draw.child(word))
            levels = {"element_type": element_type, "auto_pad": "same_upper", "data": data_class}
            yield word, levels, _call(data, (2, 2), (1, 2), (1, 1), "same_upper")


def invalid_calls(_spec: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
    """Missing attributes; then what is undefined: zeros, other lengths, patches that do not fit."""
    data = fill("float", (1, 2, 6, 7), "distinct", draw.child("data"))
    valid = _call(data, (2, 3), (2, 2), (1, 2), "valid")
    for name in ("sizes", "strides", "rates", "auto_pad"):
        yield f"{name}_given", valid, valid.with_attribute(name, None)
    for name in ("sizes", "strides", "rates"):
        others: list[tuple[int, ...]] = [(2,), (2, 1, 1), ()]
        for numbers in others:
            yield f"{name}_are_two", valid, valid.with_attribute(name, Attribute("ints", numbers))
        for pair in ((0, 2), (2, 0), (-1, 2), (2, -(2**31)), (2**62, 0)):
            broken = valid.with_attribute(name, Attribute("ints", pair))
            yield f"{name}_positive", valid, broken
    for auto_pad in ("explicit", "notset", "", "SAME"):
        other = valid.with_attribute("auto_pad", Attribute("string", auto_pad))
        yield "auto_pad_known", valid, other
    for shape in ((2, 6, 7), (1, 1, 2, 6, 7), (7,)):
        yield (
            "data_rank",
            valid,
            valid.with_input("data", fill("float", shape, "distinct", draw.child(f"{shape}"))),
        )
    for sizes in ((7, 3), (2, 5), (100, 100)):
        yield "a_patch_fits", valid, valid.with_attribute("sizes", Attribute("ints", sizes))
    yield "a_patch_fits", valid, valid.with_attribute("rates", Attribute("ints", (6, 2)))
    long = _call(data, (2, 3), (50, 50), (1, 2), "valid")
    yield "a_patch_fits", long, long.with_attribute("sizes", Attribute("ints", (7, 3)))


def _call(data: Tensor, sizes: Pair, strides: Pair, rates: Pair, auto_pad: str) -> Call:
    attributes = {
        "sizes": Attribute("ints", sizes),
        "strides": Attribute("ints", strides),
        "rates": Attribute("ints", rates),
        "auto_pad": Attribute("string", auto_pad),
    }
    return Call(attributes, (("data", data),))

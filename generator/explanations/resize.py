"""What Resize is computed as by mistake: the region's layout, the output's length, the order of axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from generator.calls import Call
from generator.changes.attribute_changes import set_attribute
from generator.changes.change import Change, Changed
from generator.changes.input_changes import change_input
from generator.explanations._axes import axes_changes
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model import Spec

OPERATORS = ("ai.onnx::Resize",)


def changes(spec: Spec) -> Sequence[Change]:
    """The changes of one version."""
    found = list(axes_changes())
    if "nearest_mode" in spec.attributes:
        found.append(set_attribute("nearest_mode", Attribute("string", "ceil_downsampling")))
    if any(each.name == "roi" for each in spec.inputs):
        found += [
            change_input("roi whole", "roi ignored (the whole tensor)", "roi", _whole),
            change_input("roi pairs", "roi read as pairs of start and end", "roi", _as_pairs),
            change_input("roi exchanged", "the starts and ends of roi exchanged", "roi", _exchanged),
        ]
    if any(each.name == "sizes" for each in spec.inputs):
        found += [
            _length("floor", "an output length that leaves roi out", math.floor),
            _length("ceil", "an output length rounded up", math.ceil, region=True),
            _length("round", "an output length rounded to nearest", _to_nearest, region=True),
            _length("ceil whole", "an output length rounded up that leaves roi out", math.ceil),
            _length("round whole", "an output length rounded to nearest that leaves roi out", _to_nearest),
        ]
    return found


def _whole(roi: Tensor) -> Tensor | None:
    half = roi.array.size // 2
    if roi.array.size == 0 or roi.array.size % 2:
        return None
    return Tensor(roi.element_type, np.array([0] * half + [1] * half, dtype=roi.array.dtype))


def _as_pairs(roi: Tensor) -> Tensor | None:
    if roi.array.size % 2 or len(roi.shape) != 1:
        return None
    return Tensor(roi.element_type, roi.array.reshape(-1, 2).T.reshape(-1))


def _exchanged(roi: Tensor) -> Tensor | None:
    if roi.array.size % 2 or len(roi.shape) != 1:
        return None
    return Tensor(roi.element_type, np.roll(roi.array, roi.array.size // 2))


def _to_nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def _length(word: str, text: str, rule: Callable[[Fraction], int], region: bool = False) -> Change:
    """`sizes` in place of `scales`, as a rule makes them; without the region, for calls that have one."""

    def apply(spec: Spec, call: Call) -> Changed | None:
        inputs = dict(call.inputs)
        X, roi, scales = inputs.get("X"), inputs.get("roi"), inputs.get("scales")
        if X is None or scales is None or scales.array.size == 0 or inputs.get("sizes") is not None:
            return None
        axes = _axes(call, len(X.shape))
        if scales.array.size != len(axes) or any(not -len(X.shape) <= axis < len(X.shape) for axis in axes):
            return None
        cropping = _mode(call) == "tf_crop_and_resize" and roi is not None and roi.array.size == 2 * len(axes)
        if not region and not cropping:
            return None
        factors = scales.array.astype(np.float64).tolist()
        spans = [1.0] * len(axes)
        if cropping and region and roi is not None:
            bounds = roi.array.astype(np.float64).tolist()
            spans = [end - start for start, end in zip(bounds[: len(axes)], bounds[len(axes) :], strict=True)]
        if not all(map(math.isfinite, factors + spans)):
            return None
        lengths = [
            rule(X.shape[axis] * Fraction(span) * Fraction(factor))
            for axis, span, factor in zip(axes, spans, factors, strict=True)
        ]
        if min(lengths, default=0) < 0 or max(lengths, default=0) > _MOST:
            return None
        required = any(each.name == "scales" and each.option == "single" for each in spec.inputs)
        nothing = tensor(np.zeros(0, np.float32), "float") if required else None
        changed = call.with_input("scales", nothing)
        return Changed(changed.with_input("sizes", tensor(np.array(lengths, np.int64), "int64")))

    return Change(f"length {word}", text, apply)


_MOST = 1 << 12
"""Longer axes are not computed to explain something."""


def _axes(call: Call, rank: int) -> list[int]:
    given = call.attributes.get("axes")
    if given is None or not isinstance(given.value, tuple):
        return list(range(rank))
    return [int(each) for each in given.numbers]


def _mode(call: Call) -> object:
    given = call.attributes.get("coordinate_transformation_mode")
    return None if given is None else given.value

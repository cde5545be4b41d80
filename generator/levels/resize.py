"""Resize: from factor levels to calls, for every version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from generator.calls import Call
from generator.data import fill
from generator.draws import Draw
from generator.kinds.one_sign import of_one_sign
from generator.levels._resize_calls import listed_axes, resize_call
from generator.levels._resize_edges import edges
from generator.levels._resize_faults import faults
from generator.rescaled_axes import ResizedAxis, Wish, draw_axes
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model import Spec

OPERATORS = (
    "ai.onnx::Resize-11",
    "ai.onnx::Resize-13",
    "ai.onnx::Resize-18",
    "ai.onnx::Resize-19",
)

FOCUS = {"element_type": "float", "roi_type": "float"}


def build_call(spec: Spec, levels: Mapping[str, str], draw: Draw) -> Call | None:
    """A call of these levels; None where they exclude each other."""
    axes = draw_axes(_wish(levels), draw.child("axes"))
    if axes is None:
        return None
    listed = listed_axes(levels.get("axes", "absent"), levels, draw.child("listed"))
    if listed is None:
        return None
    attributes = _attributes(spec, levels)
    if levels.get("axes", "absent") != "absent":
        attributes["axes"] = attribute("ints", listed)
    picked = [axes[axis] for axis in listed]
    roi = _roi(levels, picked)
    if roi is not None and (levels["roi"] == "flipped" and levels["target"] == "scales"):
        return None
    X = fill(levels["element_type"], [axis.length for axis in axes], levels["data"], draw.child("X"))
    if levels["data"] == "huge" and levels["mode"] == "linear":
        # The difference of two such numbers of both signs may overflow, whereupon anything is accepted.
        X = of_one_sign(X)
    if levels.get("target", "scales") == "scales":
        scales = tensor(np.array([axis.scale for axis in picked], np.float32), "float")
        return resize_call(spec, X, attributes, roi=roi, scales=scales)
    sizes = tensor(np.array([axis.resized for axis in picked], np.int64), "int64")
    return resize_call(spec, X, attributes, roi=roi, sizes=sizes)


def _wish(levels: Mapping[str, str]) -> Wish:
    region = levels.get("roi", "absent")
    return Wish(
        rank=int(levels["X_rank"]),
        part=levels["resized"],
        ratio=levels["ratio"],
        region=None if region in ("absent", "empty") else region,
        by_scales=levels.get("target") == "scales",
        policy=levels.get("keep_aspect_ratio_policy", "stretch"),
        only_changing=levels.get("axes") == "partial",
    )


def _attributes(spec: Spec, levels: Mapping[str, str]) -> dict[str, Attribute]:
    """The attributes that are factors of their own; those at their default are written or left out."""
    found = {}
    for name, each in spec.attributes.items():
        if name not in levels or name == "axes":
            continue
        text = levels[name]
        value = {"int": int, "float": float, "string": str}[str(each.kind)](text)
        if value != each.default or levels["defaults"] == "written":
            found[name] = attribute(str(each.kind), value)
    return found


def _roi(levels: Mapping[str, str], picked: list[ResizedAxis]) -> Tensor | None:
    if levels.get("roi", "absent") in ("absent", "empty"):
        return None
    values = [axis.start for axis in picked] + [axis.end for axis in picked]
    kind = levels["roi_type"]
    storage = {"float": np.float32, "double": np.float64}[kind]
    # Every type gets the float32 number, so that the two differ in precision alone.
    return tensor(np.array(values, np.float32).astype(storage), kind)


def boundary_calls(spec: Spec, draw: Draw) -> Iterator[tuple[str, Mapping[str, str], Call]]:
    """Calls at the edges of the input space."""
    for word, call in edges(spec, draw):
        yield word, {}, call


def invalid_calls(spec: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
    """For each constraint of the version: a valid call, and the same with it broken alone."""
    known = {each.id for each in spec.constraints}
    for name, valid, broken in faults(spec, draw):
        if name in known:
            yield name, valid, broken

"""Putting a Resize call together: each version takes other inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from generator.calls import Call
from generator.draws import Draw
from generator.rescaled_axes import changing_axes
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model import Spec


def resize_call(
    spec: Spec,
    X: Tensor,
    attributes: Mapping[str, Attribute],
    *,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
) -> Call:
    """A call in the form of the spec's version.

    Version 10 takes X and scales; version 11 takes all inputs but sizes always, empty where they say nothing;
    later ones leave out what is not given.
    """
    version = spec.operator.since_version
    if version == 10:
        return Call(dict(attributes), (("X", X), ("scales", scales)))
    if version == 11:
        nothing = tensor(np.zeros(0, np.float32), "float")
        roi, scales = roi or nothing, scales or nothing
    return Call(dict(attributes), (("X", X), ("roi", roi), ("scales", scales), ("sizes", sizes))).trimmed()


def plain_call(
    spec: Spec,
    X: Tensor,
    *,
    scales: Sequence[float] | None = None,
    sizes: Sequence[int] | None = None,
    roi: Sequence[float] | None = None,
    **attributes: str | int | float | list[int],
) -> Call:
    """A call from plain values; attributes that the version does not have must not be given."""
    kinds = {name: str(spec.attributes[name].kind) for name in attributes}
    return resize_call(
        spec,
        X,
        {name: attribute(kinds[name], value) for name, value in attributes.items()},
        roi=None if roi is None else tensor(np.array(roi, np.float32), "float"),
        scales=None if scales is None else tensor(np.array(scales, np.float32), "float"),
        sizes=None if sizes is None else tensor(np.array(sizes, np.int64), "int64"),
    )


def listed_axes(form: str, levels: Mapping[str, str], draw: Draw) -> list[int] | None:
    """The value of `axes`, or every axis where it is absent; None where a form needs more axes."""
    rank = int(levels["X_rank"])
    every = list(range(rank))
    if form in ("absent", "all"):
        return every
    if form == "negative":
        return [axis - rank for axis in every]
    if form == "permuted":
        if rank < 2:
            return None
        order = every
        while order == every:
            order = draw.shuffled(every)
        return order
    changing = changing_axes(rank, levels["resized"])
    return None if changing is None or len(changing) == rank else draw.shuffled(changing)

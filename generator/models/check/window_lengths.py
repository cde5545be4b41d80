"""Lengths over which a window takes two steps: shorter ones do not show how far it steps."""

from __future__ import annotations

from collections.abc import Mapping

from generator.models.check.extent_classes import Class, Outline
from generator.models.check.node_calls import NodeCall

MOST = 80
"""A longer one is left out: what a window over two axes holds takes too long."""
_SPATIAL = 2
"""Windows slide over the axes from this one on."""


def window_lengths(node: NodeCall, outline: Outline) -> Mapping[Class, int]:
    """For the classes that a window slides over a length with two whole steps and something left.

    Nothing where the node has neither strides nor a kernel.
    """
    kernel = _listed(node, "kernel_shape") or _kernel_of_weights(node)
    if kernel is None or not outline.inputs or outline.inputs[0] is None:
        return {}
    strides = _listed(node, "strides") or (1,) * len(kernel)
    dilations = _listed(node, "dilations") or (1,) * len(kernel)
    found: dict[Class, int] = {}
    axes = outline.inputs[0][_SPATIAL:]
    if not len(axes) == len(kernel) == len(strides) == len(dilations):
        return {}
    for each, extent, stride, dilation in zip(axes, kernel, strides, dilations, strict=True):
        length = (extent - 1) * dilation + 1 + 2 * stride + (stride > 1)
        if not isinstance(each, int) and length <= MOST:
            found[each] = max(length, found.get(each, 0))
    return found


def _listed(node: NodeCall, name: str) -> tuple[int, ...] | None:
    given = node.attributes.get(name)
    return None if given is None else tuple(int(each) for each in given.numbers)


def _kernel_of_weights(node: NodeCall) -> tuple[int, ...] | None:
    """The kernel that the second input's shape says, where the node has strides."""
    if "strides" not in node.attributes or len(node.inputs) < 2:
        return None
    value = node.inputs[1].value
    extents = () if value is None or value.shape is None else value.shape[_SPATIAL:]
    return tuple(each if isinstance(each, int) else 1 for each in extents) or None

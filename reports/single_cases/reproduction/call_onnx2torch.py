"""onnx2torch: a model as a module of PyTorch, on the CPU."""

from __future__ import annotations

from typing import Any

import torch

try:
    import torchvision  # noqa: F401 - it imports that
except RuntimeError:  # one made for another processor does not load; two of its operators must be described
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        library.define(name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import onnx2torch


def prepare(model: Any) -> Any:
    module = onnx2torch.convert(model).eval()

    def call(inputs: Any) -> Any:
        with torch.no_grad():
            found = module(*[torch.from_numpy(inputs[each.name]) for each in model.graph.input])
        return [each.numpy() for each in (found if isinstance(found, (list, tuple)) else [found])]

    return call

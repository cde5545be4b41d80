"""As much of onnx2torch as its worker calls: modules of one node, computed by numpy."""

from __future__ import annotations

from typing import Any

import torch
from onnx import numpy_helper

if len(torch.trained.operators) < 3:
    raise RuntimeError("nobody described the operators of torchvision")


class Module:
    def __init__(self, model: Any) -> None:
        self.graph, self.evaluated = model.graph, False

    def eval(self) -> Module:
        self.evaluated = True
        return self

    def __call__(self, *inputs: Any) -> Any:
        if not self.evaluated or torch.trained.gradients:
            raise RuntimeError("it is trained")
        names = [each.name for each in self.graph.input]
        values = {each.name: numpy_helper.to_array(each) for each in self.graph.initializer}
        values |= {name: each.array for name, each in zip(names, inputs, strict=True)}
        given = [values[name] for name in self.graph.node[0].input]
        if self.graph.node[0].op_type == "Sub":
            return torch.from_numpy(given[0] - given[1])
        if self.graph.node[0].op_type == "Split":
            return [torch.from_numpy(given[0][:1]), torch.from_numpy(given[0][1:])]
        return inputs[0] if self.graph.node[0].op_type == "Identity" else "no tensor"


convert = Module

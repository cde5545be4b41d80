"""Backends that compute with ONNX's reference evaluator, and go wrong in one form of a run on purpose."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

__version__ = "1.0"


class Honest:
    """Computes what the evaluator does, node by node, and hands out memory of its own."""

    thread_counts = (1, 2, 4)

    def __init__(self, model: Any, threads: int) -> None:
        self.threads = threads
        self.graph = model.graph
        self.opsets = model.opset_import
        self.constants = {
            initializer.name: onnx.numpy_helper.to_array(initializer)
            for initializer in model.graph.initializer
        }
        shapes = [value_info.type.tensor_type.shape.dim for value_info in model.graph.input]
        self.is_open = any(extent.dim_param for shape in shapes for extent in shape)
        self.runs = 0

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"

    @classmethod
    def prepare(cls, model: Any, _device: str = "CPU", threads: int = 1) -> Any:
        return cls(model, threads)

    def run(self, inputs: Any) -> Any:
        self.runs += 1
        names = [value_info.name for value_info in self.graph.input]
        values = {**self.packed(), **dict(zip(names, inputs, strict=True))}
        for node in self.graph.node:
            found = self.node(node, [values.get(value_info) for value_info in node.input])
            values |= {name: each for name, each in zip(node.output, found, strict=True) if name}
        outputs = [np.array(values[value_info.name]) for value_info in self.graph.output]
        return tuple(self.returned(outputs, inputs))

    def packed(self) -> dict[str, Any]:
        """The constants, as the kernels have them."""
        return dict(self.constants)

    def node(self, node: Any, inputs: list[Any]) -> list[Any]:
        if node.op_type == "Transpose" and node.output[0] not in {
            value_info.name for value_info in self.graph.output
        }:
            return [inputs[0].transpose(list(onnx.helper.get_attribute_value(node.attribute[0])))]
        names = [f"i{place}" if name else "" for place, name in enumerate(node.input)]
        wanted = [f"o{place}" if name else "" for place, name in enumerate(node.output)]
        copy = onnx.NodeProto(op_type=node.op_type, domain=node.domain, attribute=node.attribute)
        copy.input.extend(names)
        copy.output.extend(wanted)
        values = [onnx.ValueInfoProto(name=name) for name in names if name]
        outputs = [onnx.ValueInfoProto(name=each) for each in wanted if each]
        graph = onnx.helper.make_graph([copy], "one", values, outputs)
        one = onnx.helper.make_model(graph, opset_imports=self.opsets)
        given = {name: self.read(each) for name, each in zip(names, inputs, strict=True) if name}
        found = iter(ReferenceEvaluator(one).run(None, given))
        return [next(found) if name else None for name in wanted]

    def read(self, given: Any) -> Any:
        """An input as the kernel reads it."""
        return given

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        return outputs


class PacksFirstMatrix(Honest):
    """A batch of matrices that is a constant is packed as its first one."""

    def packed(self) -> dict[str, Any]:
        return {
            name: np.broadcast_to(constant[(0,) * (constant.ndim - 2)], constant.shape)
            if constant.ndim > 2
            else constant
            for name, constant in self.constants.items()
        }


class PacksByName(Honest):
    """What was packed once under a name is taken for the constant of that name in every model."""

    kept: ClassVar[dict[tuple[Any, ...], Any]] = {}

    def packed(self) -> dict[str, Any]:
        keys = {name: (name, constant.shape, constant.dtype) for name, constant in self.constants.items()}
        return {name: self.kept.setdefault(key, self.constants[name]) for name, key in keys.items()}


class DropsTails(Honest):
    """Of a constant of more than four columns what is beyond the last four is not packed."""

    def packed(self) -> dict[str, Any]:
        found = {name: np.array(constant) for name, constant in self.constants.items()}
        for array in found.values():
            if array.ndim and array.dtype.kind == "f" and array.shape[-1] > 4:
                array[..., array.shape[-1] // 4 * 4 :] = 0
        return found


class TakesOpenForFour(Honest):
    """An extent that is not known is taken for at most four."""

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        if self.is_open:
            return [np.array(output[:4]) if output.ndim else output for output in outputs]
        return outputs


class KeepsShape(Honest):
    """The shapes of the first run are those of all."""

    shapes: list[Any] | None = None

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        if self.shapes is None:
            self.shapes = [output.shape for output in outputs]
        return [np.resize(output, shape) for output, shape in zip(outputs, self.shapes, strict=True)]


class KeepsAnswer(Honest):
    """The answer to the call before comes once more where its elements are as many or more."""

    before: list[Any] | None = None

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        before, self.before = self.before, [np.array(output) for output in outputs]
        if before is None:
            return outputs
        return [
            np.array(old.ravel()[: new.size].reshape(new.shape)) if old.size > new.size else new
            for old, new in zip(before, outputs, strict=True)
        ]


class WritesIntoInputs(Honest):
    """Works where its first input lies."""

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        if inputs and inputs[0].dtype.kind == "f" and inputs[0].size:
            inputs[0].reshape(-1)[0] += 1
        return outputs


class SameBuffer(Honest):
    """Has one buffer for the outputs of all runs."""

    buffers: tuple[Any, ...] | list[Any] = ()

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        if [buffer.shape for buffer in self.buffers] != [output.shape for output in outputs]:
            self.buffers = [np.array(output) for output in outputs]
        for buffer, output in zip(self.buffers, outputs, strict=True):
            buffer[...] = output
        return list(self.buffers)


class HandsOutInputs(Honest):
    """An output of an input's shape and type lies where that lies."""

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        for each in inputs:
            if each.size and each.shape == outputs[0].shape and each.dtype == outputs[0].dtype:
                each[...] = outputs[0]
                return [each, *outputs[1:]]
        return outputs


class LosesLastPart(Honest):
    """With two threads and more the last element of an output is nobody's."""

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        for output in outputs:
            if self.threads > 1 and output.size > 1 and output.dtype.kind == "f":
                output.reshape(-1)[-1] = output.reshape(-1)[0] + 7
        return outputs


class DiesOfOne(Honest):
    """Is lost by a product of six rows and seven."""

    def returned(self, outputs: list[Any], inputs: Any) -> list[Any]:
        if inputs[0].shape == (6, 7):
            os.abort()
        return outputs


class IgnoresStrides(Honest):
    """Takes whatever it reads for contiguous."""

    def read(self, given: Any) -> Any:
        return given.ravel(order="K").reshape(given.shape)


class WrongUnlessAsked(Honest):
    """The first output is wrong where a later one is not asked for."""

    def node(self, node: Any, inputs: list[Any]) -> list[Any]:
        found = super().node(node, inputs)
        if node.op_type == "LayerNormalization" and len(node.output) < 3:
            return [each if each is None else each + np.float32(1) for each in found]
        return found


class WrongPlace(Honest):
    """An output that is left out moves the next one to its place."""

    def node(self, node: Any, inputs: list[Any]) -> list[Any]:
        if node.op_type != "LayerNormalization" or list(node.output)[1:2] != [""]:
            return super().node(node, inputs)
        whole = onnx.NodeProto()
        whole.CopyFrom(node)
        whole.output[1] = "left_out"
        found = super().node(whole, inputs)
        return [found[0], None, found[1]]

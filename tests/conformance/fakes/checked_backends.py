"""Backends that compute with ONNX's reference evaluator, some of them wrong in one operator on purpose."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

__version__ = "3.1"


class Right:
    """Computes what the evaluator does; the classes below answer otherwise."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"

    @classmethod
    def run_model(cls, model: Any, inputs: Any, _device: str = "CPU") -> Any:
        graph = model.graph
        values = {
            initializer.name: onnx.numpy_helper.to_array(initializer) for initializer in graph.initializer
        }
        values |= dict(zip([value_info.name for value_info in graph.input], inputs, strict=True))
        for node in graph.node:
            attributes = {
                attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute
            }
            outputs = cls.answer(node.op_type, attributes, cls.computed(model, node, values))
            values |= dict(zip(node.output, outputs, strict=True))
        return tuple(values[value_info.name] for value_info in graph.output)

    @classmethod
    def computed(cls, model: Any, node: Any, values: Any) -> Any:
        """What the evaluator makes of one node; of org.example it knows Frobnicate, which does nothing."""
        if node.domain == "org.example" and node.op_type == "Frobnicate":
            return [values[node.input[0]]]
        given = {name: values[name] for name in node.input if name}
        declared = [
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(each.dtype), each.shape
            )
            for name, each in given.items()
        ]
        asked = [onnx.ValueInfoProto(name=value_info) for value_info in node.output if value_info]
        alone = onnx.helper.make_graph([node], "node", declared, asked)
        one = onnx.helper.make_model(alone, opset_imports=model.opset_import, ir_version=model.ir_version)
        return ReferenceEvaluator(one).run(None, given)

    @classmethod
    def answer(cls, _operator: str, _attributes: Any, outputs: Any) -> Any:
        return outputs


class TurnedScores(Right):
    """Scores of classes come out in the order of the last class first."""

    @classmethod
    def answer(cls, operator: str, _attributes: Any, outputs: Any) -> Any:
        return [outputs[0], outputs[1][:, ::-1]] if operator == "TreeEnsembleClassifier" else outputs


class WrongAlpha(Right):
    """Is wrong by a thousandth where LeakyRelu has an alpha of a quarter."""

    @classmethod
    def answer(cls, operator: str, attributes: Any, outputs: Any) -> Any:
        if operator == "LeakyRelu" and attributes.get("alpha") == 0.25:
            return [
                np.where(output < 0, output * np.float32(1.001), output).astype(output.dtype)
                for output in outputs
            ]
        return outputs


class WrongWhenOpen(Right):
    """Is wrong by one in LeakyRelu of which it does not know an extent before the run."""

    @classmethod
    def run_model(cls, model: Any, inputs: Any, _device: str = "CPU") -> Any:
        outputs = super().run_model(model, inputs, _device)
        dimensions = [
            one for value_info in model.graph.input for one in value_info.type.tensor_type.shape.dim
        ]
        if model.graph.node[0].op_type == "LeakyRelu" and any(
            dimension.dim_param for dimension in dimensions
        ):
            return tuple(output + 1 for output in outputs)
        return outputs


class DiesOfFlatten(Right):
    @classmethod
    def answer(cls, operator: str, _attributes: Any, outputs: Any) -> Any:
        if operator == "Flatten":
            os.kill(os.getpid(), signal.SIGSEGV)
        return outputs


class OneNode(Right):
    """Takes models of one node alone."""

    @classmethod
    def run_model(cls, model: Any, inputs: Any, _device: str = "CPU") -> Any:
        if len(model.graph.node) != 1:
            raise NotImplementedError("models of one node alone")
        return super().run_model(model, inputs, _device)


class Prepares(Right):
    """Prepares models, and refuses one with a Frobnicate before it is run, in many words."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU") -> Any:
        if any(node.op_type == "Frobnicate" for node in model.graph.node):
            raise RuntimeError("no kernel for Frobnicate; " + "and so on, " * 80 + "and at its end a word")

        class Prepared:
            @staticmethod
            def run(inputs: Any) -> Any:
                return cls.run_model(model, inputs, device)

        return Prepared


class RefusesNeg(Right):
    @classmethod
    def answer(cls, operator: str, _attributes: Any, outputs: Any) -> Any:
        if operator == "Neg":
            raise RuntimeError("there is no room for a Neg in this kernel")
        return outputs


class Rows(Right):
    """Computes models as a whole."""

    @classmethod
    def run_model(cls, model: Any, inputs: Any, _device: str = "CPU") -> Any:
        outputs = super().run_model(model, inputs, _device)
        return tuple(cls.answer_row([node.op_type for node in model.graph.node], outputs))

    @classmethod
    def answer_row(cls, _operators: Any, outputs: Any) -> Any:
        return outputs


class FusesWrongly(Rows):
    """Is wrong where a Transpose stands before a MatMul, and right about each of them alone."""

    @classmethod
    def answer_row(cls, operators: Any, outputs: Any) -> Any:
        return [output + 1 for output in outputs] if operators[:2] == ["Transpose", "MatMul"] else outputs


class WrongMatMul(Rows):
    """Is wrong wherever a MatMul stands."""

    @classmethod
    def answer_row(cls, operators: Any, outputs: Any) -> Any:
        return [output + 1 for output in outputs] if "MatMul" in operators else outputs


class DiesOfRows(Rows):
    """Is lost where nodes stand in a row, and right about each of them alone."""

    @classmethod
    def answer_row(cls, operators: Any, outputs: Any) -> Any:
        if len(operators) > 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        return outputs


class WrongAdd(Right):
    """Is wrong by a thousandth in Add."""

    @classmethod
    def answer(cls, operator: str, _attributes: Any, outputs: Any) -> Any:
        if operator == "Add":
            return [(output * np.float32(1.001)).astype(output.dtype) for output in outputs]
        return outputs


class LosesNan(Right):
    """Makes 0 of NaN in Add and Gather."""

    @classmethod
    def answer(cls, operator: str, _attributes: Any, outputs: Any) -> Any:
        if operator not in ("Add", "Gather"):
            return outputs
        return [np.where(np.isnan(output), 0, output).astype(output.dtype) for output in outputs]


class AddOff(Right):
    """Is one step off in Add wherever the sum is a number."""

    @classmethod
    def answer(cls, operator: str, _attributes: Any, outputs: Any) -> Any:
        if operator != "Add":
            return outputs
        next_ones = [np.nextafter(output, output.dtype.type(np.inf)) for output in outputs]
        return [
            np.where(np.abs(one) < 1e30, other, one) for one, other in zip(outputs, next_ones, strict=True)
        ]


class ShortTanh(Right):
    """Rounds what Tanh makes to the digits of bfloat16."""

    @classmethod
    def answer(cls, operator: str, _attributes: Any, outputs: Any) -> Any:
        if operator != "Tanh":
            return outputs
        return [(output.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32) for output in outputs]


class HalvesFrobnicate(Right):
    """Has another idea of Frobnicate than the others."""

    @classmethod
    def answer(cls, operator: str, _attributes: Any, outputs: Any) -> Any:
        return [output / 2 for output in outputs] if operator == "Frobnicate" else outputs


class WrongAsAWhole(Right):
    """Is wrong in models of several nodes of which nobody asks for more than one value."""

    @classmethod
    def run_model(cls, model: Any, inputs: Any, _device: str = "CPU") -> Any:
        outputs = super().run_model(model, inputs, _device)
        if len(model.graph.node) > 1 and len(outputs) == 1:
            return tuple((output * np.float32(1.001)).astype(output.dtype) for output in outputs)
        return outputs


class NeverRunsWhole(Right):
    """Prepares models of several nodes, and runs none of them."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU") -> Any:
        class Prepared:
            @staticmethod
            def run(inputs: Any) -> Any:
                if len(model.graph.node) > 1:
                    raise RuntimeError("there is no memory for it")
                return cls.run_model(model, inputs, device)

        return Prepared

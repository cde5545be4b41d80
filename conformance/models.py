"""A case as a runtime of ONNX models takes it: a model of one node, or its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from onnx import GraphProto, ModelProto, OperatorSetIdProto
from onnx.helper import find_min_ir_version_for

from conformance.cases import Case
from conformance.protos import declare_tensor, fill_attribute, write_tensor
from opcert.attributes import Attributes
from opcert.element_types import ElementType
from opcert.errors import UserError
from opcert.names import OperatorName
from opcert.tensors import Tensor

Form = Literal["inputs", "initializers", "dynamic"]
FORMS: tuple[Form, ...] = ("inputs", "initializers", "dynamic")
"""How a case's inputs reach a runtime: with each run; all but the first as constants of the model; with each
run, of unknown extents."""

Inputs = Sequence[tuple[str, Tensor | None]]

_DOMAINS_OF_OURS = ("org.openvino", "org.tensorflow")
"""Those of documents that name none."""
_OPSET_BESIDE_OTHERS = 13
_OLDEST_IR = 3
LEAST_IR = 4
"""Initializers need no graph input since this IR version."""

_IR_OF_TYPES = {
    "float8e4m3fn": 9,
    "float8e4m3fnuz": 9,
    "float8e5m2": 9,
    "float8e5m2fnuz": 9,
    "int4": 10,
    "uint4": 10,
    "float4e2m1": 11,
    "float8e8m0": 12,
    "int2": 13,
    "uint2": 13,
}


@dataclass(frozen=True)
class OutputType:
    """What a model declares of an output: its element type and its rank; extents are left open."""

    element_type: ElementType
    rank: int


def has_onnx_form(operator: OperatorName) -> bool:
    """Whether the operator can stand in an ONNX model: domains of ours belong to no ONNX runtime."""
    return operator.domain not in _DOMAINS_OF_OURS


def output_types(case: Case, valid_case: Case | None = None) -> tuple[OutputType, ...]:
    """What a case's model declares of its outputs.

    A case without an expectation takes it from the valid case that it was made from, so that its model
    differs in nothing but what makes it invalid.
    """
    for source in (case, valid_case):
        if source is not None and source.expectations:
            outputs = source.expectations[0].outputs
            return tuple(OutputType(each.expected.element_type, len(each.expected.shape)) for each in outputs)
    first = next((tensor for _, tensor in case.inputs if tensor is not None), None)
    rank = 0 if first is None else len(first.shape)
    return tuple(OutputType(case.element_type, rank) for _ in case.output_names)


def build_model(case: Case, form: Form = "inputs", valid_case: Case | None = None) -> bytes:
    """The ONNX ModelProto of a case in a form; raises UserError where the operator is none of ONNX models."""
    if case.model is not None:
        return bring_into_form(case.model, case.inputs, form)
    declared = output_types(case, valid_case)
    return build_node_model(case.operator, case.attributes, case.inputs, case.output_names, declared, form)


def bring_into_form(raw: bytes, inputs: Inputs, form: Form) -> bytes:
    """A serialized ModelProto that takes `inputs` by name, in a form; `raw` itself where that is `inputs`."""
    if form == "inputs":
        return raw
    model = ModelProto.FromString(raw)
    graph = model.graph
    if form == "initializers":
        constant = dict(named_inputs(inputs)[1:])
        kept = [each for each in graph.input if each.name not in constant]
        del graph.input[:]
        graph.input.extend(kept)
        graph.initializer.extend(write_tensor(tensor, name) for name, tensor in constant.items())
        model.ir_version = max(model.ir_version, LEAST_IR)
    else:
        del graph.value_info[:]
        given = {name for name, _ in named_inputs(inputs)}
        for each in graph.input:
            for axis, dimension in enumerate(each.type.tensor_type.shape.dim if each.name in given else ()):
                dimension.dim_param = f"{each.name}_{axis}"
        for each in graph.output:
            for dimension in each.type.tensor_type.shape.dim:
                dimension.Clear()
    return bytes(model.SerializeToString(deterministic=True))


def build_node_model(
    operator: OperatorName,
    attributes: Attributes,
    inputs: Inputs,
    output_names: Sequence[str],
    outputs: Sequence[OutputType],
    form: Form = "inputs",
) -> bytes:
    """The ONNX ModelProto of one node, of the oldest opset and IR version that hold it."""
    if not has_onnx_form(operator):
        raise UserError("not an operator of ONNX models", got=str(operator))
    model = ModelProto(producer_name="opcert")
    model.opset_import.extend(_opsets(operator))
    graph = model.graph
    graph.name = operator.short
    _add_node(graph, operator, attributes, inputs, output_names)
    given = named_inputs(inputs)
    for position, (name, tensor) in enumerate(given):
        if is_constant(position, form):
            graph.initializer.append(write_tensor(tensor, name))
        else:
            open_extents = [f"{name}_{axis}" for axis in range(len(tensor.shape))]
            extents = open_extents if form == "dynamic" else tensor.shape
            declare_tensor(graph.input.add(), name, tensor.element_type, extents)
    _declare_outputs(graph, output_names, outputs)
    types = {each.element_type.name for _, each in given} | {each.element_type.name for each in outputs}
    oldest = LEAST_IR if graph.initializer else _OLDEST_IR
    model.ir_version = least_ir_version(model.opset_import, types, oldest)
    return bytes(model.SerializeToString(deterministic=True))


def least_ir_version(
    opsets: Iterable[OperatorSetIdProto], types: Iterable[str], oldest: int = LEAST_IR
) -> int:
    """The oldest IR version, from `oldest` on, that holds the operator sets and element types named."""
    of_opsets = find_min_ir_version_for(list(opsets), ignore_unknown=True)
    return max(of_opsets, oldest, *(_IR_OF_TYPES.get(each, 0) for each in types))


def named_inputs(inputs: Inputs) -> list[tuple[str, Tensor]]:
    """The inputs that are there, by names that are different from each other."""
    return [
        (each, tensor)
        for each, (_, tensor) in zip(input_names(inputs), inputs, strict=True)
        if tensor is not None
    ]


def input_names(inputs: Inputs) -> list[str]:
    """A name for every input, in order; the tensors of a variadic one are told apart by their position."""
    names = [name for name, _ in inputs]
    return [name if names.count(name) == 1 else f"{name}_{position}" for position, name in enumerate(names)]


def is_constant(position: int, form: Form) -> bool:
    """Whether the input at a position, counted over those that are there, is part of the model."""
    return form == "initializers" and position > 0


def _opsets(operator: OperatorName) -> list[OperatorSetIdProto]:
    if operator.domain == "ai.onnx":
        return [OperatorSetIdProto(domain="", version=operator.since_version)]
    return [
        OperatorSetIdProto(domain="", version=_OPSET_BESIDE_OTHERS),
        OperatorSetIdProto(domain=operator.domain, version=operator.since_version),
    ]


def _add_node(
    graph: GraphProto,
    operator: OperatorName,
    attributes: Attributes,
    inputs: Inputs,
    output_names: Sequence[str],
) -> None:
    names = [
        name if tensor is not None else ""
        for name, (_, tensor) in zip(input_names(inputs), inputs, strict=True)
    ]
    while names and not names[-1]:
        names.pop()
    node = graph.node.add()
    node.op_type = operator.name
    if operator.domain != "ai.onnx":
        node.domain = operator.domain
    node.input.extend(names)
    node.output.extend(output_names)
    for name, each in sorted(attributes.items()):
        fill_attribute(node.attribute.add(), name, each)


def _declare_outputs(graph: GraphProto, names: Sequence[str], outputs: Sequence[OutputType]) -> None:
    # The node may have more outputs than anybody expects something of, or fewer.
    for position, name in enumerate(names):
        if not name:
            continue
        found = outputs[min(position, len(outputs) - 1)]
        declare_tensor(graph.output.add(), name, found.element_type, [None] * found.rank)

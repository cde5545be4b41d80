"""A case as a runtime of ONNX models takes it: a model of one node, or its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from onnx import GraphProto, ModelProto, OperatorSetIdProto

from conformance.models.input_names import Inputs, input_names, named_inputs, slot_names
from conformance.models.ir_versions import LEAST_IR, least_ir_version
from conformance.models.packing_nodes import NO_ENDS, Ends, native_parts, pack_model
from conformance.models.turned_inputs import turn_first_input
from conformance.suite.cases import Case
from conformance.suite.properties import HasShape, HasType
from conformance.suite.protos import declare_tensor, fill_attribute, read_tensor, write_tensor
from opcert.vocabulary.attributes import Attributes
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import BESIDE_ONNX, OperatorName
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import ValueType

Form = Literal["inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads"]
FORMS: tuple[Form, ...] = ("inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads")
"""How a case's inputs reach a runtime: with each run; all but the first as constants of the model; with each
run, of unknown extents; the first through a Transpose node, which may leave it not contiguous. Of the last
three a model runs more than once: on other extents in between; twice, with an eye on the memory of inputs and
outputs; with each number of threads."""
CARRIED: tuple[Form, ...] = FORMS[:4]
"""Those of which each has a model of its own."""

_DOMAINS_OF_OURS = ("org.openvino", "org.tensorflow")
"""Those of documents that name none."""
_OPSET_BESIDE_OTHERS = 13
_OLDEST_IR = 3


@dataclass(frozen=True)
class OutputType:
    """What a model declares of an output: element type and rank (None: any); extents are left open.

    `whole` is the type of one that is no tensor.
    """

    element_type: ElementType
    rank: int | None
    whole: ValueType | None = None


def carried_in(form: Form, preferred: Form = "inputs") -> Form:
    """The form that a form's model has, where that is another one; `preferred` is the runtime's own."""
    if form == "again":
        return "dynamic"
    return form if form in CARRIED else preferred


def has_onnx_form(operator: OperatorName) -> bool:
    """Whether the operator can stand in an ONNX model: domains of ours belong to no ONNX runtime."""
    return operator.domain not in _DOMAINS_OF_OURS


def output_types(case: Case, valid_case: Case | None = None) -> tuple[OutputType, ...]:
    """What a case's model declares of its wanted outputs.

    A case without an expectation takes it from the valid case that it was made from, so that its model
    differs in nothing but what makes it invalid. What is said of an output that is no tensor means nothing.
    """
    for source in (case, valid_case):
        if source is not None and source.expectations and not source.output_types:
            outputs = source.expectations[0].outputs
            return tuple(
                OutputType(output.expected.element_type, len(output.expected.shape)) for output in outputs
            )
    first = next((tensor for _, tensor in case.inputs if tensor is not None), None)
    rank = 0 if first is None else len(first.shape)
    types = {
        has_type.output: has_type.element_type
        for has_type in case.properties
        if isinstance(has_type, HasType)
    }
    ranks = {
        has_shape.output: len(has_shape.shape)
        for has_shape in case.properties
        if isinstance(has_shape, HasShape)
    }
    for expectation in case.expectations:
        types |= {output.name: output.expected.element_type for output in expectation.outputs}
        ranks |= {output.name: len(output.expected.shape) for output in expectation.outputs}
    return tuple(
        OutputType(types.get(name, case.element_type), ranks.get(name, rank)) for name in case.wanted
    )


def build_model(
    case: Case,
    form: Form = "inputs",
    valid_case: Case | None = None,
    declared: Sequence[OutputType] | None = None,
    ends: Ends = NO_ENDS,
) -> bytes:
    """The ONNX ModelProto of a case in a form; raises UserError where the operator is none of ONNX models.

    `declared` are the types of the wanted outputs, where they are known otherwise than by an expectation.
    Of what `ends` does not name nodes make tensors, and make it of tensors.
    """
    form = carried_in(form)
    if case.model is not None:
        return bring_into_form(case.model, case.inputs, form)
    if form == "strided":
        plain = build_model(case, "inputs", valid_case, declared, ends)
        in_values = native_parts(case.slots, ends)
        tensors = [given for place, given in enumerate(case.inputs) if place not in in_values]
        return bring_into_form(plain, tensors, form)
    declared = output_types(case, valid_case) if declared is None else declared
    if not case.slots and not case.output_types:
        return bytes(node_model(case, declared, form).SerializeToString(deterministic=True))
    model = node_model(case, declared, ends=ends)
    names = input_names(case.inputs)
    outputs = [value_info for value_info in model.graph.node[0].output if value_info]
    pack_model(model, case, names, slot_names(case.inputs, case.slots), outputs, ends)
    _raise_ir_version(model, case)
    raw = bytes(model.SerializeToString(deterministic=True))
    in_values = native_parts(case.slots, ends)
    tensors = [
        each
        for place, each in enumerate(zip(names, (tensor for _, tensor in case.inputs), strict=True))
        if place not in in_values
    ]
    return bring_into_form(raw, tensors, form)


def join_models(models: Sequence[bytes]) -> bytes:
    """Serialized ModelProtos of one node each, all of one operator version, as one with independent nodes.

    Inputs and outputs stand in the order of the models; `c<n>_` is put before the names of the n-th, from 0.
    """
    joined = ModelProto.FromString(models[0])
    for field in ("node", "input", "output"):
        joined.graph.ClearField(field)
    for number, raw in enumerate(models):
        model = ModelProto.FromString(raw)
        graph = model.graph
        for node in graph.node:
            for names in (node.input, node.output):
                names[:] = [f"c{number}_{name}" if name else "" for name in names]
        for declared in (*graph.input, *graph.output):
            declared.name = f"c{number}_{declared.name}"
        joined.graph.node.extend(graph.node)
        joined.graph.input.extend(graph.input)
        joined.graph.output.extend(graph.output)
        joined.ir_version = max(joined.ir_version, model.ir_version)
    return bytes(joined.SerializeToString(deterministic=True))


def bring_into_form(raw: bytes, inputs: Inputs, form: Form) -> bytes:
    """A serialized ModelProto that takes `inputs` by name, in a form; `raw` itself where that is `inputs`."""
    if form == "inputs":
        return raw
    model = ModelProto.FromString(raw)
    graph = model.graph
    if form == "initializers":
        hold_as_constants(model, dict(named_inputs(inputs)[1:]))
    elif form == "strided":
        if not turn_first_input(model, inputs):
            return raw
    else:
        del graph.value_info[:]
        given = {name for name, _ in named_inputs(inputs)}
        for value_info in graph.input:
            for axis, dimension in enumerate(
                value_info.type.tensor_type.shape.dim if value_info.name in given else ()
            ):
                dimension.dim_param = f"{value_info.name}_{axis}"
        for value_info in graph.output:
            for dimension in value_info.type.tensor_type.shape.dim:
                dimension.Clear()
    return bytes(model.SerializeToString(deterministic=True))


def hold_as_constants(model: ModelProto, constants: Mapping[str, Tensor]) -> None:
    """Make initializers of a model's inputs, by their names."""
    graph = model.graph
    kept = [value_info for value_info in graph.input if value_info.name not in constants]
    del graph.input[:]
    graph.input.extend(kept)
    graph.initializer.extend(write_tensor(tensor, name) for name, tensor in constants.items())
    model.ir_version = max(model.ir_version, LEAST_IR)


def constants_fed(case: Case, parameters: Sequence[str]) -> Case:
    """The call of a case whose model holds some of its node's inputs, with all of them as inputs.

    `parameters` are those of the operator, in order. The case itself where its model is another.
    """
    if case.model is None or case.slots:
        return case
    graph = ModelProto.FromString(case.model).graph
    held = {initializer.name: read_tensor(initializer) for initializer in graph.initializer}
    values: dict[str, Tensor | None] = {**dict(case.inputs), **held, "": None}
    if len(graph.node) != 1 or not held or len(graph.node[0].input) > len(parameters):
        return case
    inputs = []
    for parameter, name in zip(parameters, graph.node[0].input, strict=False):
        if name not in ("", parameter) or name not in values:
            return case
        inputs.append((parameter, values[name]))
    return replace(case, model=None, inputs=tuple(inputs))


def node_model(
    case: Case, outputs: Sequence[OutputType], form: Form = "inputs", ends: Ends = NO_ENDS
) -> ModelProto:
    """The ONNX ModelProto of a case's node, of the oldest opset and IR version that hold it.

    `outputs` are of those that are wanted. Values of slots that are no tensors are left as they are.
    """
    operator, inputs, slots = case.operator, case.inputs, case.slots
    if not has_onnx_form(operator):
        raise UserError("not an operator of ONNX models", got=str(operator))
    model = ModelProto(producer_name="opcert")
    model.opset_import.extend(_opsets(operator))
    graph = model.graph
    graph.name = operator.short
    taken = {*input_names(inputs), *slot_names(inputs, slots)}
    given_back = [f"{name}_" if name and name in taken else name for name in case.output_names]
    names = list(slot_names(inputs, slots))
    while names and not names[-1]:
        names.pop()
    add_node(graph, operator, case.attributes, names, given_back)
    given = named_inputs(inputs)
    in_values = {input_names(inputs)[place] for place in native_parts(slots, ends)}
    for position, (name, tensor) in enumerate(given):
        if name in in_values:
            continue
        if is_constant(position, form):
            graph.initializer.append(write_tensor(tensor, name))
        else:
            open_extents = [f"{name}_{axis}" for axis in range(len(tensor.shape))]
            extents = open_extents if form == "dynamic" else tensor.shape
            declare_tensor(graph.input.add(), name, tensor.element_type, extents)
    _declare_outputs(graph, given_back, outputs)
    types = {tensor.element_type.name for _, tensor in given} | {
        output.element_type.name for output in outputs
    }
    graphs = any(attribute.kind.startswith("graph") for attribute in case.attributes.values())
    oldest = LEAST_IR if graph.initializer or graphs else _OLDEST_IR
    model.ir_version = least_ir_version(model.opset_import, types, oldest)
    return model


def _raise_ir_version(model: ModelProto, case: Case) -> None:
    """Let the version hold the constants and operators that were put around the node."""
    types = {named_input.element_type.name for _, named_input in named_inputs(case.inputs)}
    types |= {output.expected.element_type.name for one in case.expectations for output in one.outputs}
    model.ir_version = max(model.ir_version, least_ir_version(model.opset_import, types))


def is_constant(position: int, form: Form) -> bool:
    """Whether the input at a position, counted over those that are there, is part of the model."""
    return form == "initializers" and position > 0


def constant_places(case: Case, form: Form, ends: Ends = NO_ENDS) -> frozenset[int]:
    """The places of the inputs that are part of the model: all but the first, and the parts of values."""
    in_values = native_parts(case.slots, ends)
    there = [
        place for place, (_, each) in enumerate(case.inputs) if each is not None and place not in in_values
    ]
    return frozenset(there[1:] if form == "initializers" else ())


def _opsets(operator: OperatorName) -> list[OperatorSetIdProto]:
    if operator == BESIDE_ONNX:
        return [OperatorSetIdProto(domain="", version=_OPSET_BESIDE_OTHERS)]
    if operator.domain == "ai.onnx":
        return [OperatorSetIdProto(domain="", version=operator.since_version)]
    return [
        OperatorSetIdProto(domain="", version=_OPSET_BESIDE_OTHERS),
        OperatorSetIdProto(domain=operator.domain, version=operator.since_version),
    ]


def add_node(
    graph: GraphProto,
    operator: OperatorName,
    attributes: Attributes,
    input_names: Sequence[str],
    output_names: Sequence[str],
) -> None:
    """Put a node behind those of a graph."""
    node = graph.node.add()
    node.op_type = operator.name
    if operator.domain != "ai.onnx":
        node.domain = operator.domain
    node.input.extend(input_names)
    node.output.extend(output_names)
    for name, attribute in sorted(attributes.items()):
        fill_attribute(node.attribute.add(), name, attribute)


def _declare_outputs(graph: GraphProto, names: Sequence[str], outputs: Sequence[OutputType]) -> None:
    # The node may have more outputs than anybody expects something of, or fewer.
    for position, name in enumerate(name for name in names if name):
        found = outputs[min(position, len(outputs) - 1)]
        declared = graph.output.add()
        declare_tensor(declared, name, found.element_type, [None] * (found.rank or 0))
        if found.rank is None:
            declared.type.tensor_type.ClearField("shape")

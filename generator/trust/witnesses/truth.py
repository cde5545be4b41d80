"""What ONNX itself says of a call before any reference exists: its checker, and strict shape inference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import onnx
from onnx import ModelProto, ValueInfoProto

from conformance.models.case_models import OutputType, build_model
from conformance.models.input_names import named_inputs
from conformance.models.ir_versions import LEAST_IR
from conformance.models.packing_nodes import is_packing
from conformance.suite.protos import write_tensor
from conformance.suite.type_protos import read_type, write_type
from generator.asking.bare_cases import bare_case
from generator.asking.calls import Call
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.value_types import SequenceType, TensorType, element_type_in
from specs.model.spec import Spec

_UNTYPED = "Field 'shape' of 'type' is required but missing"


@dataclass(frozen=True)
class WitnessRefusal:
    """A witness refuses the call; `message` is what it says, on one line."""

    witness: str
    message: str


@dataclass(frozen=True)
class Inferred:
    """Strict inference accepts the call: the model with the types of its outputs, as far as they are told."""

    model: ModelProto
    outputs: tuple[OutputType, ...]


def ask_inference(spec: Spec, call: Call) -> Inferred | WitnessRefusal:
    """Strict shape inference with data propagation; inputs are constants, so that it sees their values."""
    model = _constant_model(spec, call)
    try:
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:  # noqa: BLE001 - the witness may raise anything
        return WitnessRefusal("inference", _one_line(error))
    return Inferred(inferred, tuple(_output_types(inferred)))


def ask_checker(inferred: Inferred) -> WitnessRefusal | None:
    """ONNX's checker on an inferred model; None where it accepts it."""
    try:
        onnx.checker.check_model(inferred.model)
    except Exception as error:  # noqa: BLE001 - as above
        text = _one_line(error)
        # An output whose rank nobody can tell before it runs has no shape.
        return None if _UNTYPED in text else WitnessRefusal("checker", text)
    return None


def _constant_model(spec: Spec, call: Call) -> ModelProto:
    """The call as a model of one node, whose inputs are initializers and whose outputs are of no type."""
    case = replace(bare_case(spec, call), output_types={})
    model = ModelProto()
    model.ParseFromString(build_model(case))
    given = named_inputs(call.inputs)
    for name, tensor in given:
        model.graph.initializer.append(write_tensor(tensor, name))
    taken = [each for each in model.graph.input if not each.type.HasField("tensor_type")]
    del model.graph.input[:]
    model.graph.input.extend([*taken, *_unpacked(model)])
    model.ir_version = max(model.ir_version, LEAST_IR)
    for output in model.graph.output:
        output.ClearField("type")
    return model


def _unpacked(model: ModelProto) -> Iterator[ValueInfoProto]:
    """Sequences of types that no node makes, as inputs of the model in the place of their nodes."""
    types = {each.name: each.data_type for each in model.graph.initializer}
    packing = [each for each in model.graph.node if is_packing(each)]
    made = {name: _carried_types(name) for name in ("SequenceConstruct", "SequenceEmpty")}
    for node in packing:
        if node.op_type in made:
            code = types[node.input[0]] if node.input else node.attribute[0].i
            element_type = BY_CODE[code]
            if f"seq(tensor({element_type}))" not in made[node.op_type]:
                kind = write_type(SequenceType(TensorType(element_type)))
                yield ValueInfoProto(name=node.output[0], type=kind)
                model.graph.node.remove(node)


@cache
def _carried_types(operator: str) -> frozenset[str]:
    """The types of sequences that an operator makes."""
    schema = onnx.defs.get_schema(operator)
    output = schema.outputs[0].type_str
    return frozenset(
        text
        for each in schema.type_constraints
        if each.type_param_str == output
        for text in each.allowed_type_strs
    )


def _output_types(model: ModelProto) -> list[OutputType]:
    found = []
    for each in model.graph.output:
        if each.type.WhichOneof("value") not in (None, "tensor_type"):
            whole = read_type(each.type)
            found.append(OutputType(element_type_in(whole), None, whole))
            continue
        kind = each.type.tensor_type
        element_type = BY_CODE.get(kind.elem_type, ELEMENT_TYPES["float"])
        found.append(OutputType(element_type, len(kind.shape.dim) if kind.HasField("shape") else None))
    return found


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]

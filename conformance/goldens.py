"""A case as bytes: one ONNX GraphProto that holds the node, its inputs, and what must come out.

The node carries the operator and its attributes; initializers carry the tensors, named `input/<i>`,
`expected/<e>/<o>`, `allowed/<e>/<o>` and `alternatives/<e>/<o>/{index,count,value}` (e: expectation,
o: output), and `model` (its bytes) where the case carries one; the doc_string is canonical JSON of the
rest. Tensors are written from raw bytes by this module alone, so that no library's conversion stands
between a golden and its bits.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from conformance.canonical import canonical_json
from conformance.carried_models import check_carried
from conformance.cases import Alternative, Case, Expectation, ExpectedOutput
from opcert.attributes import Attribute, AttributeKind, Attributes
from opcert.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from opcert.errors import UserError
from opcert.names import CaseId
from opcert.tensors import Tensor

_UINT8 = ELEMENT_TYPES["uint8"]
_INT64 = ELEMENT_TYPES["int64"]
_FLOAT = ELEMENT_TYPES["float"]
_DOUBLE = ELEMENT_TYPES["double"]
_ATTRIBUTE_TYPES: dict[AttributeKind, int] = {
    "int": AttributeProto.INT,
    "float": AttributeProto.FLOAT,
    "string": AttributeProto.STRING,
    "ints": AttributeProto.INTS,
    "floats": AttributeProto.FLOATS,
    "strings": AttributeProto.STRINGS,
}
_KINDS = {code: kind for kind, code in _ATTRIBUTE_TYPES.items()}


def write_tensor(tensor: Tensor, name: str) -> TensorProto:
    """A TensorProto of any element type: raw little-endian bytes (4-bit integers packed) or strings."""
    proto = TensorProto(name=name, data_type=tensor.element_type.code, dims=tensor.shape)
    if tensor.element_type.kind == "string":
        proto.string_data.extend(tensor.array.reshape(-1).tolist())
    elif tensor.element_type.bits == 4:
        proto.raw_data = _pack_nibbles(tensor.array)
    else:
        proto.raw_data = tensor.to_bytes()
    return proto


def read_tensor(proto: TensorProto) -> Tensor:
    """The inverse of `write_tensor`; raises UserError where type, shape and bytes do not fit each other."""
    element_type = BY_CODE.get(proto.data_type)
    if element_type is None:
        raise UserError("tensor of an unknown element type", got=str(proto.data_type))
    shape = tuple(proto.dims)
    count = math.prod(shape)
    if element_type.kind == "string":
        if len(proto.string_data) != count:
            raise UserError("string tensor of the wrong length", got=str(len(proto.string_data)))
        found = np.empty(count, dtype=np.object_)
        found[:] = list(proto.string_data)
        return Tensor(element_type, found.reshape(shape))
    if element_type.bits == 4:
        return Tensor(element_type, _unpack_nibbles(element_type, proto.raw_data, count).reshape(shape))
    return Tensor.from_bytes(element_type, shape, proto.raw_data)


def _pack_nibbles(array: NDArray[Any]) -> bytes:
    flat = array.reshape(-1).view(np.uint8) & 0x0F
    if flat.size % 2:
        flat = np.append(flat, np.uint8(0))
    return bytes((flat[0::2] | (flat[1::2] << 4)).astype(np.uint8))


def _unpack_nibbles(element_type: ElementType, raw: bytes, count: int) -> NDArray[Any]:
    if len(raw) != (count + 1) // 2:
        raise UserError("4-bit tensor data of the wrong length", got=f"{len(raw)} bytes")
    packed = np.frombuffer(raw, np.uint8)
    flat = np.empty(2 * packed.size, dtype=np.uint8)
    flat[0::2] = packed & 0x0F
    flat[1::2] = packed >> 4
    if element_type.kind == "signed":
        return ((flat ^ 8).astype(np.int8) - np.int8(8))[:count]
    return flat[:count]


def write_attribute(name: str, attribute: Attribute) -> AttributeProto:
    """An AttributeProto of an attribute; its type is set even where a list is empty."""
    proto = AttributeProto(name=name, type=_ATTRIBUTE_TYPES[attribute.kind])  # type: ignore[arg-type] # int enum
    value: Any = attribute.value
    match attribute.kind:
        case "int":
            proto.i = value
        case "float":
            proto.f = value
        case "string":
            proto.s = value.encode("utf-8", "surrogateescape")
        case "ints":
            proto.ints.extend(value)
        case "floats":
            proto.floats.extend(value)
        case "strings":
            proto.strings.extend(each.encode("utf-8", "surrogateescape") for each in value)
    return proto


def read_attribute(proto: AttributeProto) -> Attribute:
    kind = _KINDS.get(proto.type)
    if kind is None:
        raise UserError("attribute of an unknown kind", got=f"{proto.name}: {proto.type}")
    value: Any
    match kind:
        case "int":
            value = proto.i
        case "float":
            value = proto.f
        case "string":
            value = proto.s.decode("utf-8", "surrogateescape")
        case "ints":
            value = tuple(proto.ints)
        case "floats":
            value = tuple(proto.floats)
        case "strings":
            value = tuple(each.decode("utf-8", "surrogateescape") for each in proto.strings)
    return Attribute(kind, value)


def write_node(case: Case) -> NodeProto:
    """The case's node in its operator's domain; omitted inputs have an empty name."""
    names = [name if tensor is not None else "" for name, tensor in case.inputs]
    node = NodeProto(
        op_type=case.operator.name, domain=case.operator.domain, input=names, output=case.output_names
    )
    node.attribute.extend(write_attribute(name, each) for name, each in sorted(case.attributes.items()))
    return node


def write_golden(case: Case) -> tuple[bytes, str]:
    """The case's bytes, and the SHA-256 digest of what it expects (demand, outputs, readings)."""
    graph = GraphProto(name=str(case.id))
    graph.node.append(write_node(case))
    for position, (_, tensor) in enumerate(case.inputs):
        if tensor is not None:
            graph.initializer.append(write_tensor(tensor, f"input/{position}"))
    if case.model is not None:
        graph.initializer.append(write_tensor(Tensor(_UINT8, np.frombuffer(case.model, np.uint8)), "model"))
    demanded = {
        "demand": case.demand,
        "constraint": case.constraint,
        "valid_case": case.valid_case,
        "expectations": [
            {
                "outputs": [output.name for output in each.outputs],
                "readings": each.readings,
                "behaviours": each.behaviours,
            }
            for each in case.expectations
        ],
    }
    digest = hashlib.sha256(canonical_json(demanded))
    for number, expectation in enumerate(case.expectations):
        for position, output in enumerate(expectation.outputs):
            for proto in _write_expected(output, f"{number}/{position}"):
                digest.update(proto.SerializeToString(deterministic=True))
                graph.initializer.append(proto)
    rest = {
        **demanded,
        "element_type": case.element_type.name,
        "inputs": [name for name, _ in case.inputs],
        "levels": case.levels,
        "rule": case.rule,
        "sources": case.sources,
    }
    graph.doc_string = canonical_json(rest).decode("utf-8")
    return graph.SerializeToString(deterministic=True), digest.hexdigest()


def _write_expected(output: ExpectedOutput, place: str) -> list[TensorProto]:
    protos = [write_tensor(output.expected, f"expected/{place}")]
    if output.allowed is not None:
        protos.append(write_tensor(_compact(output.allowed), f"allowed/{place}"))
    if output.alternatives:
        index = np.array([each.index for each in output.alternatives], dtype=np.int64)
        count = np.array([len(each.values) for each in output.alternatives], dtype=np.int64)
        element_type = output.expected.element_type
        flat = [value for each in output.alternatives for value in each.values]
        values = np.empty(len(flat), dtype=element_type.storage)
        values[:] = flat
        protos += [
            write_tensor(Tensor(_INT64, index), f"alternatives/{place}/index"),
            write_tensor(Tensor(_INT64, count), f"alternatives/{place}/count"),
            write_tensor(Tensor(element_type, values), f"alternatives/{place}/value"),
        ]
    return protos


def _compact(allowed: NDArray[np.float64]) -> Tensor:
    """One element where all are equal; float32 where that loses nothing."""
    flat = allowed.reshape(-1)
    if flat.size and bool((flat == flat[0]).all()):
        flat = flat[:1]
    with np.errstate(over="ignore", under="ignore"):
        short = flat.astype(np.float32)
    if bool((short.astype(np.float64) == flat).all()):
        return Tensor(_FLOAT, short)
    return Tensor(_DOUBLE, flat)


def read_golden(raw: bytes) -> Case:
    """The case that `write_golden` wrote; raises UserError where the bytes are something else."""
    graph = GraphProto()
    try:
        graph.ParseFromString(raw)
        rest = json.loads(graph.doc_string)
        node = graph.node[0]
        tensors = {each.name: read_tensor(each) for each in graph.initializer}
        return _assemble(CaseId.parse(graph.name), node, rest, tensors)
    except (DecodeError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise UserError("not a golden case", got=f"{type(error).__name__}: {error}") from error


def _assemble(
    case_id: CaseId, node: NodeProto, rest: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> Case:
    attributes: Attributes = {each.name: read_attribute(each) for each in node.attribute}
    return Case(
        id=case_id,
        element_type=ELEMENT_TYPES[rest["element_type"]],
        attributes=attributes,
        inputs=tuple((name, tensors.get(f"input/{i}")) for i, name in enumerate(rest["inputs"])),
        output_names=tuple(node.output),
        demand=rest["demand"],
        expectations=tuple(
            Expectation(
                tuple(
                    _read_expected(name, f"{number}/{position}", tensors)
                    for position, name in enumerate(each["outputs"])
                ),
                {key: tuple(options) for key, options in each["readings"].items()},
                {key: tuple(options) for key, options in each["behaviours"].items()},
            )
            for number, each in enumerate(rest["expectations"])
        ),
        constraint=rest["constraint"],
        valid_case=rest["valid_case"],
        levels=rest["levels"],
        rule=rest["rule"],
        sources=tuple((document, line) for document, line in rest["sources"]),
        model=check_carried(tensors["model"].array.tobytes()) if "model" in tensors else None,
    )


def _read_expected(name: str, place: str, tensors: Mapping[str, Tensor]) -> ExpectedOutput:
    expected = tensors[f"expected/{place}"]
    stored = tensors.get(f"allowed/{place}")
    allowed = None
    if stored is not None:
        flat = stored.array.astype(np.float64)
        full = np.full(expected.shape, flat[0]) if flat.size == 1 else flat.reshape(expected.shape)
        full.setflags(write=False)
        allowed = full
    alternatives: tuple[Alternative, ...] = ()
    if f"alternatives/{place}/index" in tensors:
        index = tensors[f"alternatives/{place}/index"].array.tolist()
        ends = np.cumsum(tensors[f"alternatives/{place}/count"].array).tolist()
        values = tensors[f"alternatives/{place}/value"].array
        begins = [0, *ends[:-1]]
        alternatives = tuple(
            Alternative(each, tuple(values[begin:end]))
            for each, begin, end in zip(index, begins, ends, strict=True)
        )
    return ExpectedOutput(name, expected, allowed, alternatives)

"""What calls say beside numbers, texts and single tensors, as JSON: other attributes, slots, outputs."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from onnx import GraphProto

from conformance.suite.cases import describe_slots
from conformance.suite.protos import read_graph
from generator.asking.calls import Call
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.slots import Given, Slot, Slots, check_slots, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import parse_value_type

ReadTensor = Callable[[Mapping[str, Any]], Tensor]


def describe_form(call: Call) -> dict[str, Any]:
    """The keys `slots` and `outputs` of a call, where it needs them: a name may be there twice."""
    names = [name for name, _ in call.inputs]
    said: dict[str, Any] = {}
    if call.slots or len(set(names)) < len(names):
        said["slots"] = describe_slots(slots_of(call.inputs, call.slots))
    if call.outputs is not None:
        said["outputs"] = list(call.outputs)
    return said


def read_slots(said: Any, inputs: Given) -> Slots:
    """The slots of a file; none where each input is one tensor. Raises UserError where they are none."""
    try:
        found = tuple(_slot(*each) for each in said)
    except (TypeError, ValueError) as error:
        expected = "[name, parts, type, empty] for each input of the node"
        raise UserError("not the slots of a call", got=ascii(said)[:200], expected=expected) from error
    check_slots(inputs, found)
    return () if found == slots_of(inputs, ()) else found


def _slot(name: Any, parts: Any, kind: Any, empty: Any) -> Slot:
    if not isinstance(name, str) or not isinstance(parts, list) or type(empty) is not bool:
        raise TypeError("a slot")
    if not all(type(each) is int for each in parts):
        raise TypeError("a part of a slot")
    return Slot(name, tuple(parts), None if kind is None else parse_value_type(kind), empty)


def read_outputs_asked(said: Any) -> tuple[str, ...]:
    """The names of outputs, empty where one is not wanted; UserError where they are none."""
    names = said if isinstance(said, list) and all(isinstance(each, str) for each in said) else []
    given = [each for each in names if each]
    if not given or len(set(given)) < len(given):
        raise UserError("not the outputs that a call asks for", got=ascii(said)[:200], expected="names")
    return tuple(names)


def read_item(kind: str, said: Any, tensor: ReadTensor) -> Any:
    """An item of an attribute: a tensor, a graph, what else there is as it is; UserError if it is none."""
    if kind.startswith("tensor"):
        return tensor(said)
    if kind.startswith("graph"):
        return _read_graph(said)
    return said


def _read_graph(said: Any) -> Graph:
    proto = GraphProto()
    try:
        proto.ParseFromString(base64.b64decode(said["graph"], validate=True))
    except (KeyError, TypeError, ValueError, binascii.Error, DecodeError) as error:
        raise UserError("not a graph", got=ascii(said)[:80], expected="base64 of a GraphProto") from error
    return read_graph(proto)


def describe_items(value: Any, tensor: Callable[[Tensor], Any], plain: Callable[[Any], Any]) -> Any:
    """An attribute's value as a file holds it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [describe_items(each, tensor, plain) for each in value]
    if isinstance(value, Tensor):
        return tensor(value)
    if isinstance(value, Graph):
        return {"graph": base64.b64encode(value.raw).decode("ascii")}
    return plain(value) if isinstance(value, int | float | str) else str(value)

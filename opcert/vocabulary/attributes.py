"""Attributes of an operator call: values that remember their kind."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import (
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
    parse_value_type,
)

AttributeKind = Literal[
    "int", "float", "string", "tensor", "graph", "type",
    "ints", "floats", "strings", "tensors", "graphs", "types",
]  # fmt: skip


@dataclass(frozen=True)
class Graph:
    """A graph as an attribute: the bytes of an ONNX GraphProto, which whoever reads them has checked.

    `inputs` and `outputs` are the types of what it takes and gives, None where the graph does not say one or
    nobody has read it. Of a graph that is about to be evaluated `opset` is that of ONNX's operators around it
    (0: that of the node's version), `around` holds the values by whose names it may call them, and `depth`
    says how many graphs it stands in.
    """

    raw: bytes
    inputs: tuple[ValueType | None, ...] | None = field(default=None, compare=False)
    outputs: tuple[ValueType | None, ...] | None = field(default=None, compare=False)
    opset: int = field(default=0, compare=False)
    around: Mapping[str, Any] = field(default_factory=dict, compare=False)
    depth: int = field(default=0, compare=False)

    def __repr__(self) -> str:
        return f"Graph({len(self.raw)} bytes)"


Single = int | float | str | Tensor | Graph | ValueType
AttributeValue = (
    Single
    | tuple[int, ...]
    | tuple[float, ...]
    | tuple[str, ...]
    | tuple[Tensor, ...]
    | tuple[Graph, ...]
    | tuple[ValueType, ...]
)
SINGLE_KINDS: tuple[AttributeKind, ...] = ("int", "float", "string", "tensor", "graph", "type")
LIST_KINDS: tuple[AttributeKind, ...] = ("ints", "floats", "strings", "tensors", "graphs", "types")
KINDS = (*SINGLE_KINDS, *LIST_KINDS)
PLAIN_KINDS: tuple[AttributeKind, ...] = ("int", "float", "string", "ints", "floats", "strings")
"""Those of numbers and texts."""
SPARSE = (
    "sparse tensors are not carried: no runtime under test takes them, and their values can be said densely"
)


@dataclass(frozen=True)
class Attribute:
    """One attribute's value and kind; an empty list would not tell its kind by itself."""

    kind: AttributeKind
    value: AttributeValue

    @property
    def numbers(self) -> tuple[int | float, ...]:
        """The numbers of a list; of a single number this one, and none of anything else."""
        listed = self.value if isinstance(self.value, tuple) else (self.value,)
        return tuple(each for each in listed if isinstance(each, int | float))


Attributes = Mapping[str, Attribute]


def attribute(kind: str, value: object) -> Attribute:
    """An attribute of a value as YAML or JSON holds it, or as it is; UserError where it is not of the kind.

    Floating-point attributes are float32, as in ONNX: other values are rounded here, once. A type may be its
    text; a graph the bytes of its message.
    """
    if kind in ("sparse_tensor", "sparse_tensors"):
        raise UserError("an attribute of a kind that no case carries", got=kind, expected=SPARSE)
    if kind in SINGLE_KINDS:
        return Attribute(kind, _single(kind, value))
    if kind in LIST_KINDS and isinstance(value, list | tuple):
        return Attribute(kind, tuple(_single(kind[:-1], each) for each in value))
    raise _misfit(kind, value)


def describe_value(value: AttributeValue) -> Any:
    """A value in what JSON has: tensors with their bytes in base64, graphs likewise, types as texts."""
    if isinstance(value, tuple):
        return [describe_value(each) for each in value]
    if isinstance(value, Tensor):
        data = base64.b64encode(value.to_bytes()).decode("ascii")
        return {"element_type": value.element_type.name, "shape": list(value.shape), "data": data}
    if isinstance(value, Graph):
        return {"graph": base64.b64encode(value.raw).decode("ascii")}
    if isinstance(value, TensorType | SequenceType | OptionalType | MapType):
        return str(value)
    return value


_WIDE = 1 << 63


def _single(kind: str, value: object) -> Any:
    match kind:
        case "float" if isinstance(value, int | float) and not isinstance(value, bool):
            return float(np.float32(value))
        case "int" if isinstance(value, int) and not isinstance(value, bool) and -_WIDE <= value < _WIDE:
            return value
        case "string" if isinstance(value, str):
            return value
        case "tensor" if isinstance(value, Tensor):
            return value
        case "graph" if isinstance(value, Graph | bytes):
            return value if isinstance(value, Graph) else Graph(value)
        case "type" if isinstance(value, str):
            return parse_value_type(value)
        case "type" if isinstance(value, TensorType | SequenceType | OptionalType | MapType):
            return value
    raise _misfit(kind, value)


def _misfit(kind: str, value: object) -> UserError:
    expected = kind if kind in KINDS else f"one of {', '.join(KINDS)}"
    # Python writes out no number of thousands of digits.
    is_long = isinstance(value, int) and value.bit_length() > 1_000
    got = "a number of thousands of bits" if is_long else repr(value)[:200]
    return UserError("value does not fit its attribute's kind", got=got, expected=expected)

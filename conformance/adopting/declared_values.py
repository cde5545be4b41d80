"""What a graph declares of its inputs and outputs: tensors, sequences of tensors, and optionals of either."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onnx import ModelProto, TypeProto, ValueInfoProto

from conformance.adopting.foreign_tensors import element_type_of_code
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.value_types import OptionalType, SequenceType, TensorType, ValueType


@dataclass(frozen=True)
class DeclaredValue:
    """A graph's input or output: a tensor, a sequence of tensors, or an optional that may hold one of them.

    `element_type` is of the tensor, or of every tensor in the sequence.
    """

    name: str
    element_type: ElementType
    is_sequence: bool = False
    is_optional: bool = False

    @property
    def type(self) -> ValueType:
        """The type, without a shape."""
        held: ValueType = TensorType(self.element_type)
        if self.is_sequence:
            held = SequenceType(held)
        return OptionalType(held) if self.is_optional else held

    @property
    def is_tensor(self) -> bool:
        return not (self.is_sequence or self.is_optional)


def declared_inputs(model: ModelProto) -> tuple[DeclaredValue, ...]:
    """The graph's inputs, in order.

    Raises UserError where one is declared as anything else (a map, a sequence of sequences, a sparse tensor),
    or of an element type that opcert lacks.
    """
    return tuple(_read_declarations("input", model.graph.input))


def declared_outputs(model: ModelProto) -> tuple[DeclaredValue, ...]:
    """The graph's outputs, in order; raises UserError as `declared_inputs` does."""
    return tuple(_read_declarations("output", model.graph.output))


def _read_declarations(side: str, declared: Iterable[ValueInfoProto]) -> Iterable[DeclaredValue]:
    for each in declared:
        held, layers = each.type, []
        # An optional may hold a sequence, and that tensors: nothing else of depth is carried.
        for kind in ("optional_type", "sequence_type"):
            if held.WhichOneof("value") == kind:
                held = getattr(held, kind).elem_type
                layers.append(kind)
        if held.WhichOneof("value") != "tensor_type":
            raise UserError(
                f"an {side} is declared as {_name_type(each.type)}, "
                "and tensors, sequences of tensors and optionals of these are what is carried"
            )
        yield DeclaredValue(
            each.name,
            element_type_of_code(held.tensor_type.elem_type),
            is_sequence="sequence_type" in layers,
            is_optional="optional_type" in layers,
        )


def _name_type(declared: TypeProto) -> str:
    """A type in words, no deeper than is needed to tell it from what is carried."""
    words = []
    for _ in range(3):
        kind = declared.WhichOneof("value")
        words.append((kind or "nothing").removesuffix("_type").replace("_", " "))
        if kind not in ("optional_type", "sequence_type"):
            break
        declared = getattr(declared, kind).elem_type
    return " of ".join(words)

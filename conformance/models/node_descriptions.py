"""A case for runtimes that take no models: its node in words, its values as they are written there."""

from __future__ import annotations

import math
from typing import Any

from conformance.models.case_models import Form, constant_places
from conformance.models.input_names import input_names, slot_names
from conformance.models.packing_nodes import NO_ENDS, Ends, is_carried, is_taken_apart
from conformance.suite.canonical import number_name
from conformance.suite.cases import Case
from opcert.vocabulary.attributes import Attribute, Graph
from opcert.vocabulary.slots import Slot, Slots
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import ValueType, words_of


def describe_values(case: Case, how: str, ends: Ends = NO_ENDS) -> list[dict[str, Any]]:
    """The `values` of a `run` request: each with its name at the node, and its parts by their names."""
    slots = native_slots(case, how, ends)
    names = input_names(case.inputs) if slots else ()
    return [
        {
            "name": value,
            "type": str(slot.type),
            "parts": [names[part] for part in slot.parts],
            **({"empty": True} if slot.empty else {}),
        }
        for slot, value in slots
    ]


def native_slots(case: Case, how: str, ends: Ends = NO_ENDS) -> list[tuple[Slot, str]]:
    """The inputs that the worker itself has to make of tensors, each with its name at the node."""
    names = slot_names(case.inputs, case.slots) if case.slots else ()
    return [
        (slot, name)
        for slot, name in zip(case.slots, names, strict=False)
        if slot.type is not None and _is_native(case, slot.type, how, ends)
    ]


def needed_values(case: Case, how: str, ends: Ends = NO_ENDS) -> set[str]:
    """The words of `values` in a worker's handshake that it must have said to be given a case."""
    types = [slot.type for slot, _ in native_slots(case, how, ends)]
    types += [kind for kind in case.output_types.values() if _is_native(case, kind, how, ends)]
    return {word for each in types if each is not None for word in words_of(each)}


def beyond_nodes(case: Case, how: str, ends: Ends = NO_ENDS) -> ValueType | None:
    """The first type of a value that nodes have to carry and none takes; None where there is none."""
    types = [*(slot.type for slot in case.slots), *case.output_types.values()]
    carried = (kind for kind in types if kind is not None and not _is_native(case, kind, how, ends))
    return next((kind for kind in carried if not is_taken_apart(kind)), None)


def returned_types(case: Case, how: str, ends: Ends = NO_ENDS) -> tuple[ValueType | None, ...] | None:
    """Of each wanted output its type where the worker itself has to give the value; None for a tensor.

    None where nodes give the tensors of another output, so that nobody knows which output is which.
    """
    types = tuple(case.output_types.get(name) for name in case.wanted)
    native = {_is_native(case, kind, how, ends) for kind in types if kind is not None}
    if len(native) > 1:
        return None
    return types if True in native else ()


def _is_native(case: Case, kind: ValueType, how: str, ends: Ends) -> bool:
    return how != "onnx" or not is_carried(case.operator, kind, ends)


def describe_node(
    case: Case, form: Form, how: str = "node", ends: Ends = NO_ENDS
) -> tuple[dict[str, Any], list[bytes]]:
    """The node as a `load` request of the worker protocol describes it, and the blobs of its constants.

    Where the worker gets a model beside it (`how` is `onnx`), the inputs are those of the model.
    Blobs are numbered from 0; the caller moves the numbers where it sends others before them.
    """
    description = _Description(case, form, ends)
    operator = {
        "domain": case.operator.domain,
        "name": case.operator.name,
        "since_version": case.operator.since_version,
    }
    header: dict[str, Any] = {
        "operator": operator,
        "attributes": {name: description.attribute(each) for name, each in sorted(case.attributes.items())},
        "inputs": description.inputs(() if how == "onnx" else case.slots),
        "outputs": list(case.output_names),
    }
    if case.output_types:
        header["output_types"] = {
            name: str(output_type) for name, output_type in sorted(case.output_types.items())
        }
    return header, description.blobs


class _Description:
    """Describes parts of one case, and collects their blobs: of inputs first, of attributes behind them."""

    def __init__(self, case: Case, form: Form, ends: Ends) -> None:
        self.blobs: list[bytes] = []
        self._inputs = case.inputs
        self._names = input_names(case.inputs)
        self._open = form == "dynamic"
        self._constant: dict[int, int] = {}
        for place in constant_places(case, form, ends):
            tensor = case.inputs[place][1]
            assert tensor is not None
            self._constant[place] = self._blob(tensor.to_bytes())

    def inputs(self, slots: Slots) -> list[dict[str, Any] | None]:
        """The inputs of the node in order, None for one that is left out."""
        if slots:
            return [self.slot(each) for each in slots]
        return [
            None if tensor is None else self._tensor(place) for place, (_, tensor) in enumerate(self._inputs)
        ]

    def slot(self, slot: Slot) -> dict[str, Any] | None:
        """An input of the node; one made of several tensors, or of none, has these as its parts."""
        if slot.type is None:
            return self._tensor(slot.parts[0]) if slot.parts else None
        parts = [self._tensor(part) for part in slot.parts]
        said: dict[str, Any] = {"name": slot.name, "type": str(slot.type), "parts": parts}
        return {**said, "empty": True} if slot.empty else said

    def attribute(self, attribute: Attribute) -> dict[str, Any]:
        value: Any = attribute.value
        if isinstance(value, tuple):
            return {"kind": attribute.kind, "value": [self._plain(each) for each in value]}
        return {"kind": attribute.kind, "value": self._plain(value)}

    def _tensor(self, place: int) -> dict[str, Any]:
        tensor = self._inputs[place][1]
        assert tensor is not None
        shape: list[int | None] = [None] * len(tensor.shape) if self._open else list(tensor.shape)
        name, kind = self._names[place], tensor.element_type.name
        entry: dict[str, Any] = {"name": name, "element_type": kind, "shape": shape}
        if place in self._constant:
            entry.update(constant=True, blob=self._constant[place])
        return entry

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            said = {"element_type": value.element_type.name, "shape": list(value.shape)}
            return {**said, "blob": self._blob(value.to_bytes())}
        if isinstance(value, Graph):
            return {"blob": self._blob(value.raw)}
        if isinstance(value, float):
            return value if math.isfinite(value) else number_name(value)
        return value if isinstance(value, int | str) else str(value)

    def _blob(self, raw: bytes) -> int:
        self.blobs.append(raw)
        return len(self.blobs) - 1


def moved_blobs(said: Any, by: int) -> Any:
    """A description whose blobs are counted from another place."""
    if isinstance(said, dict):
        moved = {name: moved_blobs(each, by) for name, each in said.items()}
        return {**moved, "blob": said["blob"] + by} if type(said.get("blob")) is int else moved
    return [moved_blobs(each, by) for each in said] if isinstance(said, list) else said

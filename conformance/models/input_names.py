"""The names that the inputs of a case, and of its node, have in a model and on the wire."""

from __future__ import annotations

from collections.abc import Sequence

from opcert.vocabulary.slots import Slots
from opcert.vocabulary.tensors import Tensor

Inputs = Sequence[tuple[str, Tensor | None]]


def named_inputs(inputs: Inputs) -> list[tuple[str, Tensor]]:
    """The inputs that are there, by names that are different from each other."""
    return [
        (input_name, tensor)
        for input_name, (_, tensor) in zip(input_names(inputs), inputs, strict=True)
        if tensor is not None
    ]


def input_names(inputs: Inputs) -> list[str]:
    """A name for every input, in order; the tensors of a variadic one are told apart by their position."""
    names = [name for name, _ in inputs]
    if len(set(names)) == len(names):
        return names
    return [name if names.count(name) == 1 else f"{name}_{position}" for position, name in enumerate(names)]


def slot_names(inputs: Inputs, slots: Slots) -> list[str]:
    """The name of the value that the node takes for each of its inputs; empty where one is omitted."""
    names = input_names(inputs)
    if not slots:
        return ["" if tensor is None else name for name, (_, tensor) in zip(names, inputs, strict=True)]
    found: list[str] = []
    for slot in slots:
        if slot.type is None:
            found.append(names[slot.parts[0]] if slot.parts else "")
            continue
        name = slot.name
        while name in names or name in found:
            name += "_"
        found.append(name)
    return found

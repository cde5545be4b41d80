"""Which outputs of an operator a node asks for that names them as its graph does."""

from __future__ import annotations

from collections.abc import Sequence

from specs.model.spec import Spec


def asked_outputs(spec: Spec, names: Sequence[str]) -> tuple[str, ...] | None:
    """The operator's own names for a node's outputs, empty where one is not wanted; None where it wants all.

    Of a variadic output each tensor has a number behind the name.
    """
    last = spec.outputs[-1]
    found = tuple(_name(spec, place) if name else "" for place, name in enumerate(names))
    every = tuple(each.name for each in spec.outputs)
    return None if found == every and last.option != "variadic" else found


def _name(spec: Spec, place: int) -> str:
    """What a call calls the output at a place."""
    last = spec.outputs[-1]
    if last.option == "variadic" and place >= len(spec.outputs) - 1:
        return f"{last.name}_{place - len(spec.outputs) + 1}"
    return spec.outputs[place].name

"""What a graph takes, where it is an attribute."""

from __future__ import annotations

from opcert.vocabulary.attributes import Graph
from specs.language.functions.value_type import type_text


def body_inputs(body: Graph) -> list[str]:
    """The types of its inputs without shapes, empty where it says none; ValueError for what is no graph."""
    if not isinstance(body, Graph) or body.inputs is None:
        raise ValueError("no graph that was read")
    return ["" if each is None else type_text(each) for each in body.inputs]

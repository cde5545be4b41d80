"""Serialized messages of strangers: how much structure, how deep; what needs no walk is found out rightly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from onnx import AttributeProto, GraphProto, TensorProto, TypeProto

from conformance.suite import proto_bounds
from conformance.suite.proto_bounds import MOST_STRUCTURE, check_bounds, may_nest, parse_graph

_TOO_DEEP = 40
"""Three messages each: the graph, its node, and the attribute."""


def _of_graphs(depth: int) -> GraphProto:
    graph = GraphProto(name="inmost")
    for _ in range(depth):
        outer = GraphProto()
        outer.node.add().attribute.add().g.CopyFrom(graph)
        graph = outer
    return graph


def _of_types(depth: int) -> TypeProto:
    kind = TypeProto()
    inner = kind
    for _ in range(depth):
        inner = inner.sequence_type.elem_type
    inner.tensor_type.elem_type = TensorProto.FLOAT
    return kind


def _add_attribute(graph: GraphProto) -> AttributeProto:
    attribute: AttributeProto = graph.node.add().attribute.add()
    return attribute


NESTING: dict[str, Callable[[GraphProto], Any]] = {
    "graph": lambda graph: _add_attribute(graph).g.CopyFrom(GraphProto()),
    "graphs": lambda graph: _add_attribute(graph).graphs.add(),
    "type": lambda graph: _add_attribute(graph).tp.CopyFrom(_of_types(2)),
    "types": lambda graph: _add_attribute(graph).type_protos.add(),
    "input": lambda graph: graph.input.add(name="x"),
    "output": lambda graph: graph.output.add(name="x"),
    "value": lambda graph: graph.value_info.add(name="x"),
    "second_attribute": lambda graph: (
        graph.node.add().attribute.add(i=1),
        _add_attribute(graph).graphs.add(),
    ),
}


@pytest.mark.parametrize("name", NESTING)
def test_whatever_can_be_nested_is_seen(name: str) -> None:
    graph = GraphProto(name="g")
    _add_attribute(graph).t.dims.append(3)
    graph.initializer.add(name="x")
    assert not may_nest(graph)
    NESTING[name](graph)
    assert may_nest(graph)


def test_every_way_back_into_a_message_of_the_same_kind_is_one_that_is_looked_for() -> None:
    """ONNX's own descriptors say where a message can be part of one of its kind."""
    found: set[str] = set()
    seen: set[str] = set()

    def reaches(descriptor: Any, wanted: str, passed: frozenset[str] = frozenset()) -> bool:
        if descriptor.full_name in passed:
            return False
        inner = [field.message_type for field in descriptor.fields if field.message_type is not None]
        passed |= {descriptor.full_name}
        return any(each.full_name == wanted or reaches(each, wanted, passed) for each in inner)

    def look(descriptor: Any) -> None:
        if descriptor.full_name in seen:
            return
        seen.add(descriptor.full_name)
        for field in descriptor.fields:
            inner = field.message_type
            if inner is not None:
                if reaches(inner, inner.full_name):
                    found.add(f"{descriptor.name}.{field.name}")
                look(inner)

    look(GraphProto.DESCRIPTOR)
    on_the_way = {"GraphProto.node", "NodeProto.attribute"}
    of_values = {"ValueInfoProto.type", *(each for each in found if each.startswith("TypeProto."))}
    # What stands in `input`, `output` and `value_info` alone is seen with these.
    inside_types = {"Sequence.elem_type", "Optional.elem_type", "Map.value_type"}
    asked = {f"AttributeProto.{each}" for each in ("g", "graphs", "tp", "type_protos")}
    assert found - on_the_way - of_values - inside_types == asked
    values = {
        field.name
        for field in GraphProto.DESCRIPTOR.fields
        if field.message_type is not None and field.message_type.name == "ValueInfoProto"
    }
    assert values == {"input", "output", "value_info"}


def test_a_graph_that_is_nested_too_deeply_is_refused() -> None:
    parse_graph(_of_graphs(5).SerializeToString())
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        check_bounds(_of_graphs(_TOO_DEEP // 2 + 2).SerializeToString(), GraphProto)
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        parse_graph(_of_graphs(_TOO_DEEP // 2 + 2).SerializeToString())


def test_a_type_that_is_nested_too_deeply_is_refused() -> None:
    graph = GraphProto()
    _add_attribute(graph).tp.CopyFrom(_of_types(_TOO_DEEP))
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        parse_graph(graph.SerializeToString())


@pytest.mark.slow
def test_a_long_graph_is_looked_through_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing makes it nest; it is the number of its nodes that would fill memory."""
    node = b"\x0a\x00"
    raw = node * (MOST_STRUCTURE // len(node) + 1)

    class NeverParsed:
        DESCRIPTOR = GraphProto.DESCRIPTOR

    monkeypatch.setattr(proto_bounds, "GraphProto", NeverParsed)
    with pytest.raises(ValueError, match=f"more than {MOST_STRUCTURE} bytes"):
        parse_graph(raw)


def test_raw_data_is_no_structure() -> None:
    graph = GraphProto(name="large")
    graph.initializer.add(name="x", raw_data=bytes(MOST_STRUCTURE + 1))
    assert parse_graph(graph.SerializeToString()) == graph


def test_no_short_message_has_more_structure_than_is_allowed() -> None:
    raw = _of_graphs(5).SerializeToString()
    walk = proto_bounds._Walk(raw)
    walk.message(0, len(raw), GraphProto.DESCRIPTOR, 0)
    assert walk._seen <= len(raw)

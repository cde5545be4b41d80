"""Which nodes of a model stand beside each other: producer and consumer, and rows that runtimes fuse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from conformance.checked_models.model_calls import ModelFacts, ModelNode

_ROWS = frozenset(
    {
        ("Conv", "BatchNormalization", "Relu"), ("Conv", "BatchNormalization", "Clip"),
        ("ConvTranspose", "BatchNormalization", "Relu"), ("Conv", "Mul", "Add"), ("Pad", "Conv", "Relu"),
        ("Conv", "Add", "Relu"), ("MatMul", "Add", "Relu"), ("MatMul", "Add", "Add"),
        ("MatMul", "Add", "Reshape"), ("MatMul", "Add", "Gelu"), ("MatMul", "Div", "Add"),
        ("MatMul", "Mul", "Add"), ("Add", "Add", "LayerNormalization"), ("Cast", "Cast", "Cast"),
        ("Reshape", "Transpose", "Reshape"), ("Reshape", "Transpose", "MatMul"),
        ("Transpose", "MatMul", "Transpose"), ("Transpose", "Reshape", "MatMul"),
        ("Transpose", "Conv", "Transpose"),
        ("Unsqueeze", "Cast", "Sub"), ("Cast", "Sub", "Mul"), ("Shape", "Gather", "Unsqueeze"),
        ("Slice", "Slice", "Concat"), ("Gemm", "BatchNormalization", "Relu"), ("Flatten", "Gemm", "Relu"),
    }
)  # fmt: skip
"""Three operators in a row that runtimes are known to make one of."""
_MOST_PARTS = 4


@dataclass(frozen=True, eq=False)
class NodeGroup:
    """Some nodes of one graph in the model's order, each but the last giving something to a later one."""

    nodes: tuple[ModelNode, ...]
    calls: tuple[int, ...]

    @property
    def path(self) -> str:
        """The names of the operators in order."""
        return " > ".join(each.op_type for each in self.nodes)

    @property
    def wiring(self) -> tuple[object, ...]:
        """What tells the group from others of the same calls: which value goes where."""
        made = {
            value.name: (at, place)
            for at, node in enumerate(self.nodes)
            for place, value in enumerate(node.outputs)
            if value is not None
        }
        names = [[None if each is None else each.name for each in node.inputs] for node in self.nodes]
        first: dict[str, int] = {}
        for name in (name for each in names for name in each if name is not None and name not in made):
            first.setdefault(name, len(first))
        where: dict[str, object] = {**first, **made}
        return tuple(tuple(None if name is None else where[name] for name in each) for each in names)


def groups_of_model(facts: ModelFacts) -> Iterator[NodeGroup]:
    """Each distinct group of a model, in the order of its last node; of the same calls, wired alike, one."""
    calls = {node.place: number for number, call in enumerate(facts.calls) for node in call.nodes}
    makers = _makers(facts.nodes)
    places = {each.place: at for at, each in enumerate(facts.nodes)}
    seen: set[object] = set()
    for consumer in facts.nodes:
        for members in _ending_at(consumer, makers):
            ordered = tuple(sorted(members, key=lambda each: places[each.place]))
            group = NodeGroup(ordered, tuple(calls.get(each.place, -1) for each in ordered))
            key = (group.calls, group.wiring)
            if key not in seen:
                seen.add(key)
                yield group


def _makers(nodes: Iterable[ModelNode]) -> Mapping[tuple[str, str], ModelNode]:
    """The node that makes a value, by its graph and name."""
    return {
        (graph_of(node), value.name): node for node in nodes for value in node.outputs if value is not None
    }


def graph_of(node: ModelNode) -> str:
    """The place of the graph that a node stands in; empty for the model's own."""
    return node.place.rpartition("/")[0]


def _made_for(node: ModelNode, makers: Mapping[tuple[str, str], ModelNode]) -> list[ModelNode]:
    """The nodes of the same graph that make what a node takes, each once; constants are no nodes here."""
    found: dict[str, ModelNode] = {}
    for each in node.inputs:
        if each is not None and not each.is_constant:
            maker = makers.get((graph_of(node), each.name))
            if maker is not None:
                found[maker.place] = maker
    return list(found.values())


def _ending_at(
    consumer: ModelNode, makers: Mapping[tuple[str, str], ModelNode]
) -> Iterator[tuple[ModelNode, ...]]:
    before = _made_for(consumer, makers)
    for producer in before:
        yield producer, consumer
    if consumer.op_type == "QuantizeLinear":
        for middle in before:
            around = [each for each in _made_for(middle, makers) if each.op_type == "DequantizeLinear"]
            if around:
                yield *around, middle, consumer
    for middle in before:
        for first in _made_for(middle, makers):
            if (first.op_type, middle.op_type, consumer.op_type) in _ROWS:
                yield first, middle, consumer
    if consumer.op_type == "Concat" and 1 < len(before) <= _MOST_PARTS:
        parts = [each for each in before if each.op_type in ("Slice", "Split")]
        if len(parts) == len(before):
            yield *parts, consumer

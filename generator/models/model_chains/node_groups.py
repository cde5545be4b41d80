"""Which nodes of a model stand beside each other, and their chains in the user's cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from conformance.checked_models.model_calls import Extent, ModelCall, ModelFacts, ModelNode
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.goldens import read_golden, write_golden
from generator.models.check.call_cases import key_of_call
from generator.models.check.model_cases import PartCache
from opcert.vocabulary.names import OperatorName

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
        return " > ".join(node.op_type for node in self.nodes)

    @property
    def operators(self) -> list[OperatorName | None]:
        """The operator version of each node."""
        return [node.operator for node in self.nodes]

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
    makers, quantised = _makers(facts.nodes), _quantised(facts.nodes)
    places = {node.place: at for at, node in enumerate(facts.nodes)}
    seen: set[object] = set()
    for consumer in facts.nodes:
        for members in _ending_at(consumer, makers, quantised):
            ordered = tuple(sorted(members, key=lambda member: places[member.place]))
            group = NodeGroup(ordered, tuple(calls.get(node.place, -1) for node in ordered))
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
    for value in node.inputs:
        if value is not None and not value.is_constant:
            maker = makers.get((graph_of(node), value.name))
            if maker is not None:
                found[maker.place] = maker
    return list(found.values())


def _dequantised(nodes: Iterable[ModelNode]) -> list[ModelNode]:
    return [node for node in nodes if node.op_type == "DequantizeLinear"]


def _quantised(nodes: Iterable[ModelNode]) -> frozenset[tuple[str, str]]:
    """The values that a node quantises, by graph and name."""
    return frozenset(
        (graph_of(node), value.name)
        for node in nodes
        if node.op_type == "QuantizeLinear"
        for value in node.inputs[:1]
        if value is not None
    )


def _ending_at(
    consumer: ModelNode,
    makers: Mapping[tuple[str, str], ModelNode],
    quantised: frozenset[tuple[str, str]],
) -> Iterator[tuple[ModelNode, ...]]:
    """Groups whose last node is this one.

    Optimisers make one node of all DequantizeLinear before a node, the node, and a QuantizeLinear behind it:
    what they make of fewer of these says nothing of the model.
    """
    before = _made_for(consumer, makers)
    around = _dequantised(before)
    for producer in before:
        if producer not in around:
            yield producer, consumer
    if around and not any(
        value is not None and (graph_of(consumer), value.name) in quantised for value in consumer.outputs
    ):
        yield *around, consumer
    if consumer.op_type == "QuantizeLinear":
        for middle in before:
            if around := _dequantised(_made_for(middle, makers)):
                yield *around, middle, consumer
    for middle in before:
        for first in _made_for(middle, makers):
            if (first.op_type, middle.op_type, consumer.op_type) in _ROWS:
                yield first, middle, consumer
    if consumer.op_type == "Concat" and 1 < len(before) <= _MOST_PARTS:
        parts = [node for node in before if node.op_type in ("Slice", "Split")]
        if len(parts) == len(before):
            yield *parts, consumer


@dataclass(frozen=True)
class KeptChain:
    """The golden of a chain's case, or why it has none."""

    golden: bytes | None
    why: str

    @classmethod
    def of(cls, case: Case | None, why: str) -> KeptChain:
        return cls(None if case is None else write_golden(case)[0], why)

    def case(self) -> tuple[Case | None, str]:
        return None if self.golden is None else read_golden(self.golden), self.why


def kept_chains() -> PartCache[KeptChain]:
    """The chains of the user's cache, of the code and the references of now."""
    return PartCache("chains", KeptChain)


def key_of_group(group: NodeGroup, opsets: Mapping[str, int]) -> str:
    """What a group says as a digest: equal for equal ones, whatever a model names its values and extents."""
    names: dict[str, str] = {}

    def extent(each: Extent) -> Extent:
        return names.setdefault(each, f"n{len(names)}") if isinstance(each, str) else each

    # Names of extents are told apart over all nodes: those of each call are so within it alone.
    extents = [
        [
            None if one is None or one.shape is None else [extent(length) for length in one.shape]
            for one in values
        ]
        for node in group.nodes
        for values in (node.inputs, node.outputs)
    ]
    calls = [key_of_call(ModelCall(node, (node,))) for node in group.nodes]
    wanted = [[output is not None for output in node.outputs] for node in group.nodes]
    said = [calls, extents, wanted, group.wiring, opsets.get("ai.onnx", opsets.get("", 0))]
    return sha256(canonical_json(said))

"""A model's own functions in place of the calls of them, each node knowing its place in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line

MOST_NODES = 50_000
"""Nodes that functions may become; calls beyond them are left as they are."""
MOST_BYTES = 64 << 20
"""Bytes that these nodes may have, with the names and places that they get; in memory they are many more."""
MOST_PLACES = 64 << 20
"""Bytes of the places of all nodes together."""
_DEEPEST = 24
_DEEPEST_GRAPHS = 30
"""Graphs within each other, with those of functions: protobuf reads no more than 100 messages deep."""
_NAMES = 3

Key = tuple[str, str, str]


@dataclass(eq=False)
class Inlined:
    """What became of a model whose nodes now have their places as their `doc_string`.

    `opsets` holds, for the place of a node out of a function, the versions that the function imports. `left`
    says of calls that were left, by place, why.
    """

    opsets: dict[str, Mapping[str, int]] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def imported(opsets: Iterable[object]) -> dict[str, int]:
    """Versions by domain, `ai.onnx` for the one without a name."""
    return {long_domain(opset.domain): opset.version for opset in opsets}  # type: ignore[attr-defined]


def long_domain(domain: str) -> str:
    return domain or "ai.onnx"


def inline_functions(model: ModelProto) -> Inlined:
    """Put the nodes of functions in place of their calls, in place, and note where every node stands.

    Raises UserError where the places of the nodes are more text than is read.
    """
    functions: dict[Key, FunctionProto] = {}
    for function in model.functions:
        functions.setdefault(_key_of_function(function), function)
    work = _Inlining(functions)
    called = {_key_of_call(node) for node in _every(model.graph.node)}
    called |= {_key_of_call(node) for function in functions.values() for node in _every(function.node)}
    work.graph(model.graph, "", None, ())
    unused = sorted(_named(key) for key in functions.keys() - called)
    if unused:
        names = ", ".join(one_line(each, 60) for each in unused[:_NAMES])
        more = f" and {len(unused) - _NAMES} more" if len(unused) > _NAMES else ""
        work.found.notes.append(f"functions that nobody calls are passed over: {names}{more}")
    if work.found.left:
        place, why = next(iter(work.found.left.items()))
        count = len(work.found.left)
        told = f"{count} calls of functions are not looked into: {one_line(place, 200)} ({why})"
        work.found.notes.append(told)
    del model.functions[:]
    return work.found


class _Inlining:
    def __init__(self, functions: Mapping[Key, FunctionProto]) -> None:
        self._functions = functions
        self._opsets = {key: imported(function.opset_import) for key, function in functions.items()}
        self._sizes = {key: _Size.of(function) for key, function in functions.items()}
        self._nodes = self._bytes = self._places = self._depth = 0
        self.found = Inlined()

    def graph(
        self, graph: GraphProto, before: str, opsets: Mapping[str, int] | None, within: tuple[Key, ...]
    ) -> None:
        if not self._functions:
            for index, node in enumerate(graph.node):
                self._note(node, f"{before}{index}", opsets, within)
            return
        taken: list[NodeProto] = []
        self._depth += 1
        for index, node in enumerate(graph.node):
            self._take(node, f"{before}{index}", opsets, within, taken)
        self._depth -= 1
        kept = [NodeProto.FromString(node.SerializeToString()) for node in taken]
        del graph.node[:]
        graph.node.extend(kept)

    def _note(
        self, node: NodeProto, place: str, opsets: Mapping[str, int] | None, within: tuple[Key, ...]
    ) -> None:
        node.doc_string = place
        self._places += len(place)
        if self._places > MOST_PLACES:
            raise UserError(
                "the places of the model's nodes are more text than is read",
                got=f"more than {MOST_PLACES:,} characters",
                remedy="Shorten the names of functions, of their domains and of attributes that hold graphs.",
            )
        if opsets is not None:
            self.found.opsets[place] = opsets
        for attribute in node.attribute:
            for name, inner in graphs_of(attribute):
                self.graph(inner, f"{place}/{name}/", opsets, within)

    def _take(
        self,
        node: NodeProto,
        place: str,
        opsets: Mapping[str, int] | None,
        within: tuple[Key, ...],
        taken: list[NodeProto],
    ) -> None:
        key = _key_of_call(node)
        function = self._functions.get(key)
        if function is None:
            self._note(node, place, opsets, within)
            taken.append(node)
            return
        start = f"{place}/{_named(key)}/"
        why = self._why_left(key, within, node, start)
        if why is not None:
            self.found.left[place] = why
            self._note(node, place, opsets, within)
            taken.append(node)
            return
        binding = _binding(function, node, start)
        for index, each in enumerate(function.node):
            inner = NodeProto()
            inner.CopyFrom(each)
            binding.bind(inner)
            self._take(inner, f"{start}{index}", self._opsets[key], (*within, key), taken)

    def _why_left(self, key: Key, within: tuple[Key, ...], call: NodeProto, start: str) -> str | None:
        if key in within:
            return "a function that calls itself"
        if len(within) >= _DEEPEST:
            return f"functions within each other more than {_DEEPEST} deep"
        size = self._sizes[key]
        if self._depth + size.depth > _DEEPEST_GRAPHS:
            return f"graphs within each other more than {_DEEPEST_GRAPHS} deep"
        if self._nodes + size.nodes > MOST_NODES:
            return f"functions that become more than {MOST_NODES:,} nodes"
        became = size.bytes_in_call(self._functions[key], call, start)
        if self._bytes + became > MOST_BYTES:
            return f"functions whose nodes and names become more than {MOST_BYTES:,} bytes"
        self._nodes, self._bytes = self._nodes + size.nodes, self._bytes + became
        return None


@dataclass(frozen=True, eq=False)
class _Size:
    """What a function has: bytes, nodes, graphs within each other, and how often each name and attribute."""

    bytes: int
    nodes: int
    depth: int
    names: Mapping[str, int]
    attributes: Mapping[str, int]

    @staticmethod
    def of(function: FunctionProto) -> _Size:
        names: Counter[str] = Counter()
        attributes: Counter[str] = Counter()
        nodes = 0
        for node in _every(function.node):
            nodes += 1
            names.update(node.input)
            names.update(node.output)
            for attribute in node.attribute:
                if attribute.ref_attr_name:
                    attributes[attribute.ref_attr_name] += 1
                for _, graph in graphs_of(attribute):
                    values = (*graph.input, *graph.output, *graph.value_info, *graph.initializer)
                    names.update(value.name for value in values)
                    names.update(sparse.values.name for sparse in graph.sparse_initializer)
        del names[""]
        return _Size(function.ByteSize(), nodes, _depth_of(function.node), names, attributes)

    def bytes_in_call(self, function: FunctionProto, call: NodeProto, start: str) -> int:
        """What one call adds, told before it is made: its nodes, with their places and names."""
        found = self.bytes + sum(self.names.values()) * len(start) + self.nodes * (len(start) + 8)
        for taken, given in ((function.input, call.input), (function.output, call.output)):
            for name, actual in zip(taken, given, strict=False):
                found += self.names.get(name, 0) * len(actual)
        given_attributes = {
            attribute.name: attribute for attribute in (*function.attribute_proto, *call.attribute)
        }
        for attribute_name, times in self.attributes.items():
            value = given_attributes.get(attribute_name)
            found += 0 if value is None else times * value.ByteSize()
        return found


def _depth_of(nodes: Iterable[NodeProto]) -> int:
    inner = (graph for node in nodes for attribute in node.attribute for _, graph in graphs_of(attribute))
    return max((1 + _depth_of(graph.node) for graph in inner), default=0)


@dataclass(frozen=True, eq=False)
class Binding:
    """What the names and attributes of a function are in one call of it.

    `start` stands before names that are not among them; with None these stay as they are.
    """

    names: Mapping[str, str]
    attributes: Mapping[str, AttributeProto]
    start: str | None

    def bind(self, node: NodeProto) -> None:
        """Give a node, and the graphs in it, these names and attributes, in place."""
        for names in (node.input, node.output):
            names[:] = [self._name(name) for name in names]
        kept: list[AttributeProto] = []
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                given = self.attributes.get(attribute.ref_attr_name)
                if given is not None:
                    kept.append(AttributeProto.FromString(given.SerializeToString()))
                    kept[-1].name = attribute.name
                continue
            for _, graph in graphs_of(attribute):
                self._bind_graph(graph)
            kept.append(AttributeProto.FromString(attribute.SerializeToString()))
        del node.attribute[:]
        node.attribute.extend(kept)

    def _bind_graph(self, graph: GraphProto) -> None:
        for value_info in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            value_info.name = self._name(value_info.name)
        for sparse in graph.sparse_initializer:
            sparse.values.name = self._name(sparse.values.name)
        for node in graph.node:
            self.bind(node)

    def _name(self, name: str) -> str:
        return self.names.get(name, f"{self.start or ''}{name}") if name else ""


def _binding(function: FunctionProto, call: NodeProto, start: str) -> Binding:
    names: dict[str, str] = {}
    for taken, given in ((function.input, call.input), (function.output, call.output)):
        for position, name in enumerate(taken):
            actual = given[position] if position < len(given) else ""
            # An output that nobody wants is computed all the same; an input that is left out is left out.
            names.setdefault(name, actual or ("" if taken is function.input else f"{start}{name}"))
    attributes = {each.name: each for each in function.attribute_proto}
    attributes.update({attribute.name: attribute for attribute in call.attribute})
    return Binding(names, attributes, start)


def graphs_of(attribute: AttributeProto) -> Sequence[tuple[str, GraphProto]]:
    """The graphs of an attribute, each with what names it in a place: `body`, or `bodies[1]` of several."""
    if attribute.HasField("g"):
        return ((attribute.name, attribute.g),)
    return tuple((f"{attribute.name}[{at}]", each) for at, each in enumerate(attribute.graphs))


def _every(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for _, graph in graphs_of(attribute):
                yield from _every(graph.node)


def _key_of_call(node: NodeProto) -> Key:
    return (long_domain(node.domain), node.op_type, node.overload)


def _key_of_function(function: FunctionProto) -> Key:
    return (long_domain(function.domain), function.name, function.overload)


def _named(key: Key) -> str:
    domain, name, overload = key
    return f"{domain}::{name}:{overload}" if overload else f"{domain}::{name}"

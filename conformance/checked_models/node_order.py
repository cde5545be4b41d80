"""The nodes of a graph in an order in which each finds what it takes, and branches in place of their If."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from onnx import GraphProto, ModelProto, NodeProto

from conformance.checked_models.inlining import Binding, graphs_of
from opcert.vocabulary.harmless import one_line

_NAMES = 3


@dataclass(eq=False)
class Disorder:
    """What is wrong with the names of a model: `place: name`, in the order of the file."""

    dangling: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    cyclic: list[str] = field(default_factory=list)
    unsorted: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        """Each kind of mistake in a sentence."""
        kinds = (
            (self.dangling, "Inputs of nodes that come from nowhere"),
            (self.twice, "Names that are given to several values, of which the first is taken"),
            (self.cyclic, "Nodes that wait for each other in a circle, or for one that does"),
            (self.unsorted, "Nodes before one that they need, which are taken in an order that works"),
        )
        return [f"{what} ({len(found)}): {_some(found)}" for found, what in kinds if found]


def sort_nodes(graph: GraphProto, disorder: Disorder) -> None:
    """Put the nodes of a graph, and of those within it, in order, in place; each has its place by now."""
    _sort(graph, (), disorder)


def taken_names(node: NodeProto) -> set[str]:
    """What a node takes, and what the graphs in its attributes take from around them."""
    graphs = (graph for attribute in node.attribute for _, graph in graphs_of(attribute))
    return set(node.input).union(*map(captured_names, graphs)) - {""}


def captured_names(graph: GraphProto) -> set[str]:
    """The names that a graph takes from around it."""
    taken = {value.name for value in graph.output}.union(*map(taken_names, graph.node))
    return taken - own_names(graph) - {""}


def own_names(graph: GraphProto) -> set[str]:
    """The names of the inputs, initializers and nodes' outputs of a graph."""
    return _given_names(graph).union(*(node.output for node in graph.node))


def _given_names(graph: GraphProto) -> set[str]:
    found = {value.name for value in (*graph.input, *graph.initializer)}
    return found | {sparse.values.name for sparse in graph.sparse_initializer}


def _sort(graph: GraphProto, around: tuple[set[str], ...], disorder: Disorder) -> None:
    given = _given_names(graph)
    nodes = list(graph.node)
    makers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.output:
            if name and (name in makers or name in given):
                disorder.twice.append(f"{node.doc_string}: {_named(name)}")
            elif name:
                makers[name] = index
    needs: list[set[int]] = []
    for node in nodes:
        needed: set[int] = set()
        for name in sorted(taken_names(node), key=str):
            if name in makers:
                needed.add(makers[name])
            elif name not in given and not any(name in each for each in around):
                disorder.dangling.append(f"{node.doc_string}: {_named(name)}")
        needs.append(needed)
    if any(max(needed, default=-1) >= index for index, needed in enumerate(needs)):
        order = _order(nodes, needs, disorder)
        kept = [NodeProto.FromString(nodes[index].SerializeToString()) for index in order]
        del graph.node[:]
        graph.node.extend(kept)
    scopes = (*around, given | makers.keys())
    for node in graph.node:
        for attribute in node.attribute:
            for _, inner in graphs_of(attribute):
                _sort(inner, scopes, disorder)


def _order(nodes: list[NodeProto], needs: list[set[int]], disorder: Disorder) -> list[int]:
    """An order that works, as near to the given one as can be; what stands in a circle comes last."""
    waiting = [len(need) for need in needs]
    users: list[list[int]] = [[] for _ in nodes]
    for index, needed in enumerate(needs):
        for each in needed:
            users[each].append(index)
    ready = [index for index, number in enumerate(waiting) if not number]
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for user in users[index]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, user)
    left = sorted(set(range(len(nodes))) - set(order))
    disorder.cyclic.extend(nodes[index].doc_string for index in left)
    circle = set(left)
    disorder.unsorted.extend(
        nodes[index].doc_string
        for index in order
        if any(need >= index and need not in circle for need in needs[index])
    )
    return order + left


def _named(name: str) -> str:
    return repr(one_line(str(name), 60))


def _some(found: Iterable[str]) -> str:
    every = list(found)
    more = f" and {len(every) - _NAMES} more" if len(every) > _NAMES else ""
    return f"{', '.join(map(one_line, every[:_NAMES]))}{more}"


_BRANCHES = {True: "then_branch", False: "else_branch"}


def branching_nodes(model: ModelProto) -> dict[str, str]:
    """The places of If nodes of the model's own graph, and the names of their conditions."""
    return {
        node.doc_string: node.input[0]
        for node in model.graph.node
        if node.op_type == "If" and node.domain in ("", "ai.onnx") and len(node.input) == 1
    }


def take_branches(model: ModelProto, taken: Mapping[str, bool]) -> ModelProto:
    """A model that computes the same where the conditions of If nodes, by place, are these.

    Nodes keep their places; what only passes a value on has none.
    """
    found = ModelProto()
    found.CopyFrom(model)
    del found.graph.node[:]
    for node in model.graph.node:
        branch = _branch(node, taken[node.doc_string]) if node.doc_string in taken else None
        if branch is None:
            found.graph.node.add().CopyFrom(node)
            continue
        start = f"{node.doc_string}/{_BRANCHES[taken[node.doc_string]]}/"
        _splice(found.graph, node, branch, start)
    return found


def _branch(node: NodeProto, condition: bool) -> GraphProto | None:
    wanted = _BRANCHES[condition]
    return next(
        (attribute.g for attribute in node.attribute if attribute.name == wanted and attribute.HasField("g")),
        None,
    )


def _splice(graph: GraphProto, node: NodeProto, branch: GraphProto, start: str) -> None:
    own = own_names(branch) - {""}
    names = {each: f"{start}{each}" for each in own}
    made = {name for each in branch.node for name in each.output}
    passed: list[tuple[str, str]] = []
    for inner, outer in zip(branch.output, node.output, strict=False):
        if not outer:
            continue
        if inner.name in made and names[inner.name] == f"{start}{inner.name}":
            names[inner.name] = outer
        else:
            passed.append((inner.name, outer))
    renaming = Binding(names, {}, None)
    for initializer in branch.initializer:
        graph.initializer.add().CopyFrom(initializer)
        graph.initializer[-1].name = names[initializer.name]
    for sparse in branch.sparse_initializer:
        graph.sparse_initializer.add().CopyFrom(sparse)
        graph.sparse_initializer[-1].values.name = names[sparse.values.name]
    for each_node in branch.node:
        copied = graph.node.add()
        copied.CopyFrom(each_node)
        renaming.bind(copied)
    for name, outer in passed:
        graph.node.add(op_type="Identity", input=[names.get(name, name)], output=[outer])

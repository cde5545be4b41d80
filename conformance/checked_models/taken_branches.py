"""The branch that an If took in place of it: its nodes are the model's own then, and can be seen."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import GraphProto, ModelProto, NodeProto

from conformance.checked_models.inlining import Binding
from conformance.checked_models.node_order import own_names

_BRANCHES = {True: "then_branch", False: "else_branch"}


def branching_nodes(model: ModelProto) -> dict[str, str]:
    """The places of If nodes of the model's own graph, and the names of their conditions."""
    return {
        each.doc_string: each.input[0]
        for each in model.graph.node
        if each.op_type == "If" and each.domain in ("", "ai.onnx") and len(each.input) == 1
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
    return next((each.g for each in node.attribute if each.name == wanted and each.HasField("g")), None)


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
    for each in branch.initializer:
        graph.initializer.add().CopyFrom(each)
        graph.initializer[-1].name = names[each.name]
    for sparse in branch.sparse_initializer:
        graph.sparse_initializer.add().CopyFrom(sparse)
        graph.sparse_initializer[-1].values.name = names[sparse.values.name]
    for each_node in branch.node:
        copied = graph.node.add()
        copied.CopyFrom(each_node)
        renaming.bind(copied)
    for name, outer in passed:
        graph.node.add(op_type="Identity", input=[names.get(name, name)], output=[outer])

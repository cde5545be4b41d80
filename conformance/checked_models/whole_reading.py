"""A model with its weights, as it is run: functions inlined, nodes in order, nothing left in other files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from conformance.checked_models.inlining import imported, inline_functions
from conformance.checked_models.model_calls import ModelFacts, ModelNode, with_opset
from conformance.checked_models.model_nodes import read_attributes, read_open_graphs
from conformance.checked_models.node_order import Disorder, sort_nodes
from conformance.checked_models.outside_data import LostData, locate, read_piece, tensors_of
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.regular_files import read_regular

MOST_BYTES = (2 << 30) - (1 << 20)
"""What one message of a model can hold, which is what a runtime is given."""


_TENSOR = ("tensor_type", None)


@dataclass(frozen=True, eq=False)
class WholeModel:
    """The message of a model; `nodes` are those of its own graph, each with what was read of it.

    `as_it_is` is the message as its file has it; None where that gives values that are no tensors.
    """

    proto: ModelProto
    facts: ModelFacts
    as_it_is: bytes | None = None

    @cached_property
    def nodes(self) -> tuple[tuple[NodeProto, ModelNode], ...]:
        by_place = {node.place: node for node in self.facts.nodes}
        graph = self.proto.graph
        known = ((node, by_place[node.doc_string]) for node in graph.node if node.doc_string in by_place)
        opsets = self.facts.opsets
        return tuple(
            (node, _completed(node, facts, opsets) if facts.unread else facts) for node, facts in known
        )

    @cached_property
    def initializers(self) -> dict[str, TensorProto]:
        return {initializer.name: initializer for initializer in self.proto.graph.initializer}


def read_as_it_is(facts: ModelFacts, path: Path, lost: list[str] | None = None) -> bytes:
    """The message of a model's file, byte for byte but for data in other files, which are put into it.

    Why data cannot be had from the model's folder goes into `lost`, where there is such a list, and they
    stay out. Raises UserError where the model cannot be read, is another one than `facts` are of by now, is
    more than one message holds, keeps data outside its folder, or lost some without that list.
    """
    where = Place(str(path))
    try:
        raw = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise unreadable("the model with its weights", path, error) from error
    if hashlib.sha256(raw).hexdigest() != facts.sha256:
        raise UserError("the model has changed since it was read", where=where)
    model = ModelProto()
    try:
        model.ParseFromString(raw)
    except DecodeError as error:
        raise UserError("this is no ONNX model", got=str(error)[:200], where=where) from error
    outside = [tensor for tensor in tensors_of(model) if tensor.data_location == TensorProto.EXTERNAL]
    left = MOST_BYTES - len(raw)
    for tensor in outside:
        try:
            piece = locate(tensor, path.parent)
            data = b"" if piece.length > left else read_piece(piece)
        except LostData as error:
            if lost is None:
                raise
            lost.append(str(error))
            _keep_within(tensor)
            continue
        left -= piece.length
        if left < 0:
            raise UserError(
                "the model with its weights is more than one message holds",
                expected=f"at most {MOST_BYTES:,} bytes",
                where=where,
            )
        tensor.raw_data = data
        del tensor.external_data[:]
        tensor.data_location = TensorProto.DEFAULT
    return bytes(model.SerializeToString()) if outside else raw


def _keep_within(tensor: TensorProto) -> None:
    """Let a tensor name a file without a folder, so that no runtime looks for it anywhere else."""
    for entry in tensor.external_data:
        if entry.key == "location":
            entry.value = Path(entry.value).name.replace("..", "_")


def read_whole(facts: ModelFacts, path: Path) -> WholeModel:
    """The model of a file that `facts` were read from.

    Raises UserError where it cannot be read, is another one by now, is more than one message holds, keeps
    data outside its folder, or cannot be written without its functions.
    """
    where = Place(str(path))
    raw = read_as_it_is(facts, path)
    model = ModelProto.FromString(raw)
    del model.training_info[:]
    own = imported(model.opset_import)
    inlined = inline_functions(model)
    others = {
        domain
        for opsets in inlined.opsets.values()
        for domain, version in opsets.items()
        if own.get(domain, version) != version
    }
    if inlined.left or others:
        raise UserError(
            "the model's functions cannot be written in place of their calls",
            got=next(
                iter(inlined.left.values()), f"they import other versions of {', '.join(sorted(others))}"
            ),
            where=where,
        )
    for opsets in inlined.opsets.values():
        for domain, version in opsets.items():
            if domain not in own:
                model.opset_import.add(domain="" if domain == "ai.onnx" else domain, version=version)
                own[domain] = version
    sort_nodes(model.graph, Disorder())
    before = len(model.graph.output)
    _keep_tensors(model.graph)
    return WholeModel(model, facts, raw if before == len(model.graph.output) else None)


def _keep_tensors(graph: GraphProto) -> None:
    """Leave out the outputs that are no tensors; where all are, the first value of a node is the output."""
    kept = [output for output in graph.output if output.type.WhichOneof("value") in _TENSOR]
    del graph.output[:]
    graph.output.extend(kept)
    first = next((name for node in graph.node for name in node.output if name), None)
    if not kept and first is not None:
        graph.output.add(name=first)


def _completed(node: NodeProto, facts: ModelNode, opsets: Mapping[str, int]) -> ModelNode:
    """A node with the attributes that were too large to be read without weights."""
    attributes, unread = read_attributes(node)
    graphs, _ = read_open_graphs(node)
    return with_opset(replace(facts, attributes=attributes, unread=unread, open_graphs=graphs), opsets)

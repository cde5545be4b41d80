"""The types of a model's values: what it declares, and what onnx infers in a process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from onnx import GraphProto, ModelProto, TypeProto

from conformance.checked_models.inlining import graphs_of
from conformance.checked_models.outside_data import has_data
from conformance.processes.scratch_folders import scratch_folder
from conformance.runtimes.scripts import run_script
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.regular_files import read_regular

SECONDS = 60.0
_MEMORY = 2 << 30
_MOST_RESULT = 512 << 20
_SCRIPT = Path(__file__).with_name("infer_types_script.py")

Types = Mapping[str, TypeProto]


def infer_types(model: ModelProto, seconds: float = SECONDS) -> tuple[list[Types], list[str]]:
    """The types of the values of each graph, in the order of `graphs_in`, and in sentences what went wrong.

    Where inference does not end well within `seconds` they are those that the model declares; with 0 seconds
    it is not tried.
    """
    if seconds <= 0:
        return list(map(_declared, graphs_in(model.graph))), []
    prepared = ModelProto()
    prepared.CopyFrom(model)
    for graph in graphs_in(prepared.graph):
        _hide_missing_data(graph)
    inferred, notes = _run(prepared, seconds)
    declared = list(map(_declared, graphs_in(model.graph)))
    if inferred is None:
        return declared, notes
    found = list(map(_declared, graphs_in(inferred.graph)))
    if len(found) != len(declared):
        return declared, [*notes, "shape inference gave back another model"]
    return [{**old, **new} for old, new in zip(declared, found, strict=True)], notes


def graphs_in(graph: GraphProto) -> Iterator[GraphProto]:
    """A graph, and every one in attributes of its nodes, each before those within it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for _, inner in graphs_of(attribute):
                yield from graphs_in(inner)


def _run(model: ModelProto, seconds: float) -> tuple[ModelProto | None, list[str]]:
    problem = "shape inference did not end well, so that only types that the model declares are known"
    with scratch_folder("shapes") as folder:
        source, result = folder / "model.onnx", folder / "work" / "result.onnx"
        source.write_bytes(model.SerializeToString(deterministic=True))
        words = [str(source), str(result), str(_MEMORY), str(seconds / 3)]
        try:
            run_script(sys.executable, _SCRIPT, words, folder, seconds=seconds, problem=problem, remedy="")
            raw = read_regular(result, _MOST_RESULT)
            told: Any = json.loads(read_regular(result.with_name("problems.json"), 1 << 20))
            inferred = ModelProto.FromString(raw)
        except RuntimeUnavailable as error:
            return None, [f"{problem}: {one_line(error.got or '')}"]
        except (OSError, ValueError, DecodeError, RecursionError) as error:
            return None, [f"{problem}: {one_line(str(error))}"]
    reasons = [one_line(str(each)) for each in told["problems"]]
    return inferred, [f"of {len(reasons)} graphs no shapes were inferred: {reasons[0]}"] if reasons else []


def _hide_missing_data(graph: GraphProto) -> None:
    """Make an initializer without its data a value of a known type: no constant that inference looks into."""
    kept = [initializer for initializer in graph.initializer if has_data(initializer)]
    declared = {value_info.name for value_info in graph.input}
    for initializer in graph.initializer:
        if not has_data(initializer) and initializer.name not in declared:
            value = graph.value_info.add(name=initializer.name)
            value.type.tensor_type.elem_type = initializer.data_type
            value.type.tensor_type.shape.SetInParent()
            for extent in initializer.dims:
                value.type.tensor_type.shape.dim.add(dim_value=extent)
    if len(kept) != len(graph.initializer):
        del graph.initializer[:]
        graph.initializer.extend(kept)
    for sparse in graph.sparse_initializer:
        value = graph.value_info.add(name=sparse.values.name)
        value.type.sparse_tensor_type.elem_type = sparse.values.data_type
    del graph.sparse_initializer[:]


def _declared(graph: GraphProto) -> Types:
    values = (*graph.value_info, *graph.output, *graph.input)
    return {value.name: value.type for value in values if value.type.WhichOneof("value") is not None}

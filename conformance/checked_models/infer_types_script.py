"""Infers the types of all values of a model, in a process of its own: onnx does that in C++, on any input.

    python infer_types_script.py MODEL RESULT BYTES SECONDS

MODEL holds a serialized ModelProto of modest size. RESULT becomes the same one with `value_info` in every
graph, those in attributes as well. BYTES is the most memory that may be used; after SECONDS no further graph
is looked at. It needs onnx alone.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, shape_inference

_MOST_REASON = 300


class Inference:
    """Infers graph by graph, from the outermost on: what a graph takes from around it has a type by then.

    `problems` says, for a graph of which nothing could be inferred, why.
    """

    def __init__(self, model: ModelProto, seconds: float) -> None:
        self._versions = list(model.opset_import)
        self._ir_version = model.ir_version
        self._end = time.monotonic() + seconds
        self.problems: list[str] = []

    def infer(self, graph: GraphProto, around: Mapping[str, TypeProto | TensorProto]) -> None:
        """Put the types of its values into a graph, in place; `around` are types and constants of outside."""
        if time.monotonic() > self._end:
            self.problems.append("it took too long")
            return
        model = ModelProto(ir_version=self._ir_version, opset_import=self._versions)
        model.graph.CopyFrom(graph)
        captured = sorted(around)
        for name in captured:
            found = around[name]
            if isinstance(found, TensorProto):
                model.graph.initializer.add().CopyFrom(found)
                model.graph.initializer[-1].name = name
            else:
                model.graph.value_info.add(name=name).type.CopyFrom(found)
        inferred = self._inferred(model)
        if inferred is not None:
            own = [each for each in inferred.graph.value_info if each.name not in around]
            del graph.value_info[:]
            graph.value_info.extend(own)
            if len(inferred.graph.output) == len(graph.output):
                for mine, found in zip(graph.output, inferred.graph.output, strict=True):
                    mine.type.CopyFrom(found.type)
        self._infer_within(graph, around)

    def _inferred(self, model: ModelProto) -> ModelProto | None:
        reasons = []
        for propagate in (True, False):
            try:
                return shape_inference.infer_shapes(
                    model, check_type=False, strict_mode=False, data_prop=propagate
                )
            except Exception as error:  # noqa: BLE001 - whatever C++ code says of a stranger's model
                reasons.append(f"{type(error).__name__}: {error}"[:_MOST_REASON])
        self.problems.append(reasons[-1])
        return None

    def _infer_within(self, graph: GraphProto, around: Mapping[str, TypeProto | TensorProto]) -> None:
        if not any(_graphs(node) for node in graph.node):
            return
        known: dict[str, TypeProto | TensorProto] = dict(around)
        for value in (*graph.value_info, *graph.output, *graph.input):
            known[value.name] = value.type
        known.update((initializer.name, initializer) for initializer in graph.initializer)
        for node in graph.node:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
                known[node.output[0]] = node.attribute[0].t
        for node in graph.node:
            for inner in _graphs(node):
                _declare_inputs(node, inner, known)
                taken = {name: known[name] for name in _captured(inner) if name in known}
                self.infer(inner, taken)


def _graphs(node: NodeProto) -> list[GraphProto]:
    return [
        graph
        for attribute in node.attribute
        for graph in ((attribute.g,) if attribute.HasField("g") else tuple(attribute.graphs))
    ]


def _declare_inputs(node: NodeProto, body: GraphProto, known: Mapping[str, TypeProto | TensorProto]) -> None:
    """Give what a body takes the element types that its node says, where the body does not say them."""
    if node.op_type == "Loop":
        given = ["", *node.input[1:]]
        whole = {0: TensorProto.INT64, 1: TensorProto.BOOL}
    elif node.op_type == "Scan":
        given, whole = list(node.input), {}
    else:
        return
    for position, value_info in enumerate(body.input):
        if value_info.type.WhichOneof("value") is not None:
            continue
        if position in whole:
            value_info.type.tensor_type.elem_type = whole[position]
            value_info.type.tensor_type.shape.SetInParent()
            continue
        found = known.get(given[position]) if position < len(given) else None
        if isinstance(found, TensorProto):
            value_info.type.tensor_type.elem_type = found.data_type
        elif found is not None and found.WhichOneof("value") == "tensor_type":
            # Its shape may change from one run of the body to the next.
            value_info.type.tensor_type.elem_type = found.tensor_type.elem_type
        elif found is not None:
            value_info.type.CopyFrom(found)


def _captured(graph: GraphProto) -> set[str]:
    own = {value_info.name for value_info in (*graph.input, *graph.initializer)}
    taken = {value_info.name for value_info in graph.output}
    for node in graph.node:
        own.update(node.output)
        taken.update(node.input)
        for inner in _graphs(node):
            taken |= _captured(inner)
    return taken - own - {""}


def _all_graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for inner in _graphs(node):
            yield from _all_graphs(inner)


def _import_every_domain(model: ModelProto) -> None:
    # Inference of the whole model ends at a node whose domain is not imported.
    domains = {node.domain for graph in _all_graphs(model.graph) for node in graph.node}
    known = {opset.domain for opset in model.opset_import}
    if "ai.onnx" in known and "" not in known:
        version = next(opset.version for opset in model.opset_import if opset.domain == "ai.onnx")
        model.opset_import.add(domain="", version=version)
    for domain in sorted(domains - {opset.domain for opset in model.opset_import}):
        model.opset_import.add(domain=domain, version=1)


def main() -> None:
    """Writes RESULT, and beside it `problems.json`."""
    source, result, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    model = ModelProto.FromString(source.read_bytes())
    _import_every_domain(model)
    inference = Inference(model, float(sys.argv[4]))
    inference.infer(model.graph, {})
    result.write_bytes(model.SerializeToString(deterministic=True))
    problems = {"onnx": onnx.__version__, "problems": inference.problems}
    result.with_name("problems.json").write_text(json.dumps(problems), encoding="utf-8")


if __name__ == "__main__":
    main()

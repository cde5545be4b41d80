"""The types of a model's values: what it declares, and what onnx infers in a process of its own.

ONNX infers nothing of ONNX Runtime's operators, nor of what stands behind them. So where it infers, an
operator of ONNX stands in for each whose results have the same types: for QLinearAdd an Add.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto
from onnx.helper import make_attribute, make_node

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
        _put_stand_ins(graph)
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


# The first output has the type and shape of the first input.
_AS_AN_INPUT = frozenset(
    (
        *("BiasGelu", "BiasSoftmax", "FastGelu", "Gelu", "GroupNorm", "Inverse", "MoE", "QMoE", "QuickGelu"),
        *("QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax", "RotaryEmbedding", "SkipGroupNorm"),
        *("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "Trilu", "LayerNormalization"),
    )
)
# The sum that goes on beside a normalization: which output it is.
_SUMS = {
    "EmbedLayerNormalization": 2,
    "SkipGroupNorm": 1,
    "SkipLayerNormalization": 3,
    "SkipSimplifiedLayerNormalization": 3,
}
# Operators with the same inputs among others, in these places, and the attributes that types hang on.
_AS_AN_OPERATOR = {
    "DynamicQuantizeMatMul": ("MatMul", (0, 1), ()),
    "EmbedLayerNormalization": ("Gather", (2, 0), ()),
    "QGemm": ("Gemm", (0, 3), ("transA", "transB")),
    "FusedConv": ("Conv", (0, 1), ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")),
    "FusedGemm": ("Gemm", (0, 1), ("transA", "transB")),
    "QLinearAdd": ("Add", (0, 3), ()),
    "QLinearGlobalAveragePool": ("GlobalAveragePool", (0,), ()),
    "QLinearMul": ("Mul", (0, 3), ()),
    "QLinearWhere": ("Where", (0, 1, 4), ()),
    "QLinearAveragePool": (
        "AveragePool",
        (0,),
        ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"),
    ),
}
_FLOATS = {"MatMulIntegerToFloat", "QAttention"}
"""Of bytes they make floats; so does QGemm where it has no scale of the output."""
_PLACE_OF_OUTPUT_SCALE = 7
_PRODUCTS = {"FusedMatMul", "TransposeMatMul", "MatMulIntegerToFloat"}
_BATCHES = ("transBatchA", "transBatchB")
_Shapes = Mapping[str, tuple[int, ...]]


def _put_stand_ins(graph: GraphProto) -> None:
    """Replace nodes of ONNX Runtime's operators, in place, by such as have results of the same types."""
    constants = {each.name: tuple(each.dims) for each in graph.initializer}
    nodes = []
    for number, node in enumerate(graph.node):
        made: list[NodeProto] = []
        beside = node.op_type in ("LayerNormalization", "SimplifiedLayerNormalization")
        if node.domain == "com.microsoft" or (beside and node.domain in ("", "ai.onnx")):
            with suppress(IndexError):  # of a node that lacks inputs nothing is known
                made = _stand_ins(node, f"opcert {number}", graph, constants)
        nodes += made or [node]
    del graph.node[:]
    graph.node.extend(nodes)


def _stand_ins(node: NodeProto, name: str, graph: GraphProto, constants: _Shapes) -> list[NodeProto]:
    """Nodes in place of one, or none where its types are not known; `name` is for values between them."""
    given, told = [*node.input], {each.name: each for each in node.attribute}
    in_steps = any(given[_PLACE_OF_OUTPUT_SCALE:][:1])
    as_floats = node.op_type in _FLOATS or (node.op_type == "QGemm" and not in_steps)
    first = f"{name} result" if as_floats else node.output[0]

    def standing_in(op_type: str, inputs: Sequence[str], attributes: Sequence[str] = ()) -> NodeProto:
        made = make_node(op_type, inputs, [first])
        made.attribute.extend(told[each] for each in attributes if each in told)
        return made

    found: list[NodeProto] = []
    if node.op_type in _AS_AN_INPUT or (node.op_type == "GroupQueryAttention" and given[1]):
        found = [standing_in("Identity", given[:1])]
    elif node.op_type == "SimplifiedLayerNormalization":
        found = [standing_in("Mul", given[1::-1])]
    elif node.op_type in _AS_AN_OPERATOR and not _number(told, "channels_last"):
        other, places, attributes = _AS_AN_OPERATOR[node.op_type]
        found = [standing_in(other, [given[place] for place in places], attributes)]
    elif node.op_type == "QLinearConcat":
        found = [standing_in("Concat", given[2::3], ["axis"])]
    elif node.op_type == "DynamicQuantizeLSTM":
        found = [standing_in("LSTM", given[:3], ["direction", "hidden_size"])]
        found[0].output.extend(node.output[1:])
    elif node.op_type == "MultiHeadAttention" and given[1] and given[2]:
        turned, scores = f"{name} keys", f"{name} scores"
        found = [
            make_node("Transpose", [given[1]], [turned], perm=[0, 2, 1]),
            make_node("MatMul", [given[0], turned], [scores]),
            standing_in("MatMul", [scores, given[2]]),
        ]
    elif node.op_type in _PRODUCTS and not any(_number(told, each) for each in _BATCHES):
        left, right = ("ji" if _number(told, "transA") else "ij"), ("kj" if _number(told, "transB") else "jk")
        found = [standing_in("Einsum", given[:2])]
        found[0].attribute.append(make_attribute("equation", f"...{left},...{right}->...ik"))
    elif (matrix := _matrix(node, told, constants)) is not None:
        value = graph.value_info.add(name=f"{name} weights")
        value.type.tensor_type.elem_type = TensorProto.FLOAT
        for extent in matrix:
            value.type.tensor_type.shape.dim.add(dim_value=extent)
        found = [standing_in("MatMul", [given[0], value.name])]
    if found and as_floats:
        found.append(make_node("Cast", [first], [node.output[0]], to=TensorProto.FLOAT))
    if found and len(node.output) > (place := _SUMS.get(node.op_type, len(node.output))):
        found.append(make_node("Identity", [node.output[0]], [node.output[place]]))
    return found


def _number(told: Mapping[str, AttributeProto], name: str) -> int:
    return int(told[name].i) if name in told else 0


def _matrix(
    node: NodeProto, told: Mapping[str, AttributeProto], constants: _Shapes
) -> tuple[int, int] | None:
    """The shape of what the first input is multiplied with, as types go; None where it is not known."""
    if node.op_type == "MatMulNBits":
        return _number(told, "K"), _number(told, "N")
    if node.op_type in ("Attention", "QAttention") and "qkv_hidden_sizes" not in told:
        rows, *columns = constants.get(node.input[1], (0,))
        return (rows, columns[0] // 3) if columns else None
    return None


def _declared(graph: GraphProto) -> Types:
    values = (*graph.value_info, *graph.output, *graph.input)
    return {value.name: value.type for value in values if value.type.WhichOneof("value") is not None}

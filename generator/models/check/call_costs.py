"""How long exact arithmetic takes for a call, estimated before it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from onnx import GraphProto

from generator.asking.calls import Call
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.tensors import Tensor
from specs.language.functions.equations import einsum_terms

_PRODUCT = 0.8e-6
_MOVED = 0.4e-6
_PLAIN = 3e-6
_FUNCTION = 60e-6
_UNKNOWN = 150e-6
"""Seconds: for a product that is summed, an element that is moved, one that is added or compared, one of a
function, and one of an operator of which nothing is known; each measured, and doubled."""

_MOST_RUNS = 100
"""A loop that its condition ends is estimated at so many runs at most."""
_BESIDE = 200
"""What an element of a state costs in a run, in products."""
_MOVING_NAMES = """
Reshape Transpose Concat Slice Split Squeeze Unsqueeze Flatten Identity Gather GatherElements
GatherND Expand Tile Pad Shape Size Constant ConstantOfShape DepthToSpace SpaceToDepth Cast Where
ScatterND ScatterElements Compress EyeLike Range NonZero Upsample
"""
_PLAIN_NAMES = """
Add Sub Mul Neg Abs Relu LeakyRelu PRelu Clip Min Max Sum Equal Less Greater LessOrEqual
GreaterOrEqual Not And Or Xor Sign Floor Ceil Round IsNaN IsInf MaxPool ArgMax ArgMin ReduceMax
ReduceMin GlobalMaxPool
"""
_FUNCTION_NAMES = """
Div Pow Sqrt Reciprocal Exp Log Sin Cos Tan Tanh Sigmoid Erf Gelu Softplus Softsign Mish Elu Selu
Celu HardSigmoid HardSwish Swish ThresholdedRelu Softmax LogSoftmax Mod BatchNormalization
LayerNormalization InstanceNormalization QuantizeLinear DequantizeLinear AveragePool
GlobalAveragePool ReduceMean ReduceSum ReduceL2 ReduceSumSquare Mean
"""
_SECONDS: Mapping[str, float] = {
    **dict.fromkeys(_FUNCTION_NAMES.split(), _FUNCTION),
    **dict.fromkeys(_PLAIN_NAMES.split(), _PLAIN),
    **dict.fromkeys(_MOVING_NAMES.split(), _MOVED),
}
"""For an element of an operator that sums no products."""


def estimated_seconds(name: str, call: Call, outputs: int) -> float:
    """About how long the reference takes for a call whose outputs have so many elements."""
    given = {parameter: tensor for parameter, tensor in call.inputs if tensor is not None}
    elements = outputs + sum(tensor.array.size for _, tensor in call.inputs if tensor is not None)
    products = _products(name, given, call, outputs)
    if products is None:
        return 0.01 + elements * _SECONDS.get(name, _UNKNOWN)
    return 0.01 + products * _PRODUCT + outputs * _PLAIN + elements * _MOVED


def _products(name: str, given: Mapping[str, Tensor], call: Call, outputs: int) -> int | None:
    """How many products are summed; None of operators of another kind."""
    try:
        match name:
            case "MatMul":
                return outputs * given["A"].shape[-1]
            case "MatMulInteger" | "QLinearMatMul":
                first = given.get("A") or given["a"]
                return outputs * first.shape[-1]
            case "Gemm":
                turned = call.attributes.get("transA")
                return outputs * given["A"].shape[0 if turned is not None and turned.value else 1]
            case "Conv" | "ConvInteger" | "QLinearConv":
                weights = given.get("W") or given["w"]
                return outputs * prod(weights.shape[1:])
            case "ConvTranspose":
                return given["X"].array.size * prod(given["W"].shape[1:])
            case "LSTM" | "GRU" | "RNN":
                steps = prod(given["X"].shape[:2])
                # A sum of so many products for each gate, and functions of what comes out.
                return steps * (given["W"].array.size + given["R"].array.size + 200 * given["W"].shape[1])
            case "Einsum":
                # Each product of all operands is an element on the way.
                lengths = _lengths_of_indices(call)
                return 0 if lengths is None else 4 * prod(lengths) * len(call.inputs)
            case "Loop" | "Scan":
                return _in_runs(given, call)
            case "SVMClassifier":
                # Each kernel is a function besides; what is open has it worked out several times.
                vectors = call.attributes["support_vectors"].numbers
                rows, width = given["X"].shape[0], given["X"].shape[-1]
                return int(rows * len(vectors) // max(width, 1) * (width + 400))
            case "Attention":
                return None
    except (KeyError, IndexError, ValueError):
        return None
    return None


def _in_runs(given: Mapping[str, Tensor], call: Call) -> int:
    """What a body multiplies in all runs: its constants with each row of a state, and some for functions."""
    body = call.attributes["body"].value
    assert isinstance(body, Graph)
    held = sum(prod(constant.dims) for constant in GraphProto.FromString(body.raw).initializer)
    states = [tensor for name, tensor in call.inputs if tensor is not None and name not in ("M", "cond")]
    count = sum(tensor.array.size for tensor in states)
    rows = max((tensor.shape[0] for tensor in states if tensor.shape), default=1)
    most = given.get("M")
    runs = rows if most is None else min(int(most.array.reshape(-1)[0]), _MOST_RUNS)
    return int(max(runs, 0) * (rows * held + _BESIDE * count))


def _lengths_of_indices(call: Call) -> list[int] | None:
    """The length of each index of an equation; None where it does not fit the inputs, which rules say."""
    equation = call.attributes["equation"].value
    shapes = [tensor.shape for _, tensor in call.inputs if tensor is not None]
    if not isinstance(equation, str):
        return None
    lengths: dict[str | int, int] = {}
    for term, shape in zip(einsum_terms(equation, len(shapes)), shapes, strict=False):
        before, dots, behind = term.partition("...")
        inside = len(shape) - len(before) - len(behind) if dots else 0
        for index, length in zip((*before, *range(-inside, 0), *behind), shape, strict=False):
            lengths[index] = max(lengths.get(index, 1), length)
    return list(lengths.values())

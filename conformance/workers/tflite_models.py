"""Models of TensorFlow Lite with one operator: TensorFlow's calls as the builtins that mean the same.

Which that is, and in which element types, is what the definition of TensorFlow Lite's operators says
(tfl_ops.td, and legalize_patterns.td of its converter). Types that a builtin takes as quantised numbers alone
are none of TensorFlow's, and so are left out. Everything that has no counterpart is Unsupported.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

if TYPE_CHECKING or __package__:
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import wire_arrays as wire
    import worker_protocol as protocol

Shape = Tuple[int, ...]

_BOTH = "int32 int64"
_COMPARISONS = ("EQUAL", "GREATER", "LESS_EQUAL")
_BROADCAST = {
    **dict.fromkeys((*_COMPARISONS, "FLOOR_MOD", "LOGICAL_OR"), 4),
    "MAXIMUM": 5,
    **dict.fromkeys(("ADD", "MUL", "DIV"), 6),
}
"""Up to which rank operands of unequal shapes may have."""
_COUNTS = {**dict.fromkeys((*_BROADCAST, "BATCH_MATMUL", "RIGHT_SHIFT"), 2), "RANGE": 3, "ONE_HOT": 4}
"""How many inputs there are, where that is not one and the parameters."""
_VERSIONS: Dict[str, Dict[str, int]] = {
    "ABS": {"int16": 4, "int32": 5},
    "ADD": {"int16": 5, "int64": 4},
    "BATCH_TO_SPACE_ND": {"int8": 2},
    "BROADCAST_TO": {"": 2, "int8": 3, "int16": 3},
    "DEPTH_TO_SPACE": {"int8": 2},
    "EQUAL": {"int16": 4, "string": 3},
    "FLOOR_MOD": {"int8": 2, "int16": 2},
    "GATHER_ND": {"bool": 5, "int16": 3, "string": 2},
    "MIRROR_PAD": {"int8": 2},
    "MUL": {"int16": 7, "uint32": 7, "complex64": 6, "int64": 5},
    "RANGE": {"int64": 2},
    "REVERSE_V2": {"bool": 2},
    "SIGN": {"int32": 2},
    "SQUEEZE": {"string": 2},
    "TILE": {"string": 2},
    "TRANSPOSE": {"bool": 3, "int8": 2},
}
"""From which version on a builtin takes a type of its first input, where that is not the first; "": all."""
_OF_RANKS = {"DIV": ((5, 2),), "MAXIMUM": ((5, 3),), "PAD": ((5, 4),), "TRANSPOSE": ((5, 4), (6, 6))}
"""From which version on a builtin takes so many axes; those that broadcast, where shapes are unequal."""
_MODES = {"REFLECT": 0, "SYMMETRIC": 1}


class Builtin(NamedTuple):
    """The builtin that a TensorFlow operator is.

    `types` are those of all inputs but the `parameters`, which name their own; empty: all. `fields` has for
    each field of the table of options the attribute that it is, and that one's default.
    """

    name: str
    types: str = ""
    parameters: Mapping[str, str] = {}
    options: str = ""
    fields: Mapping[str, Tuple[str, Any]] = {}


def _reduction(name: str, types: str) -> Builtin:
    return Builtin(name, types, {"axis": "int32"}, "ReducerOptions", {"keepDims": ("keep_dims", False)})


def _blocks(name: str, types: str) -> Builtin:
    return Builtin(name, types, {}, name.title().replace("_", "") + "Options", _BLOCK)


_BLOCK = {"blockSize": ("block_size", 0)}
_SUMS = "float float16 int16 int32 int64"
_WIDE = "float int32 int64"
_ADDED = Builtin("ADD", _SUMS, {}, "AddOptions")

BUILTINS: Dict[str, Builtin] = {
    "Abs": Builtin("ABS", "float int16 int32", {}, "AbsOptions"),
    "Add": _ADDED,
    "AddV2": _ADDED,
    "All": _reduction("REDUCE_ALL", "bool"),
    "Any": _reduction("REDUCE_ANY", "bool"),
    "BatchMatMulV2": Builtin(
        "BATCH_MATMUL",
        "float float16",
        {},
        "BatchMatMulOptions",
        {"adjX": ("adj_x", False), "adjY": ("adj_y", False)},
    ),
    "BatchToSpaceND": Builtin(
        "BATCH_TO_SPACE_ND",
        "float int8 uint8 int32 int64",
        {"block_shape": "int32", "crops": "int32"},
        "BatchToSpaceNDOptions",
    ),
    "BiasAdd": Builtin("ADD", "float", {}, "AddOptions"),
    "BroadcastTo": Builtin(
        "BROADCAST_TO",
        "float int8 uint8 int16 int32 uint32 int64 bool complex64",
        {"shape": _BOTH},
        "BroadcastToOptions",
    ),
    "Ceil": Builtin("CEIL", "float"),
    "Cumsum": Builtin(
        "CUMSUM",
        _WIDE,
        {"axis": "int32"},
        "CumsumOptions",
        {"exclusive": ("exclusive", False), "reverse": ("reverse", False)},
    ),
    "DepthToSpace": _blocks("DEPTH_TO_SPACE", "float int8 uint8 int32 int64"),
    "Elu": Builtin("ELU", "float"),
    "Equal": Builtin("EQUAL", "float uint8 int16 int32 int64 bool string", {}, "EqualOptions"),
    "Exp": Builtin("EXP", "float float16", {}, "ExpOptions"),
    "ExpandDims": Builtin("EXPAND_DIMS", "", {"axis": _BOTH}, "ExpandDimsOptions"),
    "FloorMod": Builtin("FLOOR_MOD", "float int8 int16 int32 int64", {}, "FloorModOptions"),
    "GatherNd": Builtin(
        "GATHER_ND",
        "float int8 uint8 int16 int32 int64 bool string",
        {"indices": "int16 int32 int64"},
        "GatherNdOptions",
    ),
    "Greater": Builtin("GREATER", _WIDE, {}, "GreaterOptions"),
    "LRN": Builtin(
        "LOCAL_RESPONSE_NORMALIZATION",
        "float",
        {},
        "LocalResponseNormalizationOptions",
        {
            "radius": ("depth_radius", 5),
            "bias": ("bias", 1.0),
            "alpha": ("alpha", 1.0),
            "beta": ("beta", 0.5),
        },
    ),
    "LeakyRelu": Builtin("LEAKY_RELU", "float", {}, "LeakyReluOptions", {"alpha": ("alpha", 0.2)}),
    "LessEqual": Builtin("LESS_EQUAL", _WIDE, {}, "LessEqualOptions"),
    "Log": Builtin("LOG", "float"),
    "LogSoftmax": Builtin("LOG_SOFTMAX", "float", {}, "LogSoftmaxOptions"),
    "LogicalNot": Builtin("LOGICAL_NOT", "bool", {}, "LogicalNotOptions"),
    "LogicalOr": Builtin("LOGICAL_OR", "bool", {}, "LogicalOrOptions"),
    "MatMul": Builtin(
        "BATCH_MATMUL",
        "float",
        {},
        "BatchMatMulOptions",
        {"adjX": ("transpose_a", False), "adjY": ("transpose_b", False)},
    ),
    "Maximum": Builtin("MAXIMUM", "float float16 int32 int64", {}, "MaximumMinimumOptions"),
    "Min": _reduction("REDUCE_MIN", _WIDE),
    "MirrorPad": Builtin(
        "MIRROR_PAD",
        "float int8 uint8 int32 int64",
        {"paddings": _BOTH},
        "MirrorPadOptions",
        {"mode": ("mode", "")},
    ),
    "Mul": Builtin("MUL", "float float16 int16 int32 uint32 int64 complex64", {}, "MulOptions"),
    "Neg": Builtin("NEG", _WIDE, {}, "NegOptions"),
    "OneHot": Builtin(
        "ONE_HOT",
        "float int8 uint8 int32 int64 bool",
        {"indices": _BOTH, "depth": "int32"},
        "OneHotOptions",
        {"axis": ("axis", -1)},
    ),
    "Pad": Builtin("PAD", "float int32 int64 bool", {"paddings": _BOTH}, "PadOptions"),
    "Prod": _reduction("REDUCE_PROD", _WIDE),
    "Range": Builtin("RANGE", _WIDE, {}, "RangeOptions"),
    "RealDiv": Builtin("DIV", "float float16", {}, "DivOptions"),
    "Relu": Builtin("RELU", "float"),
    "ReverseV2": Builtin(
        "REVERSE_V2", "float uint8 int16 int32 int64 bool", {"axis": "int32"}, "ReverseV2Options"
    ),
    "RightShift": Builtin("RIGHT_SHIFT", "int8 uint8 int16 uint16 int32 uint32", {}, "RightShiftOptions"),
    "Round": Builtin("ROUND", "float"),
    "Sigmoid": Builtin("LOGISTIC", "float"),
    "Sign": Builtin("SIGN", "float double int32", {}, "SignOptions"),
    "Sin": Builtin("SIN", "float float16"),
    "SpaceToDepth": _blocks("SPACE_TO_DEPTH", _WIDE),
    "Square": Builtin("SQUARE", "float", {}, "SquareOptions"),
    "Squeeze": Builtin("SQUEEZE", "", {}, "SqueezeOptions", {"squeezeDims": ("axis", [])}),
    "Sum": _reduction("SUM", "float float16 int32 int64"),
    "Tile": Builtin("TILE", "float uint8 int32 int64 bool string", {"multiples": _BOTH}, "TileOptions"),
    "Transpose": Builtin(
        "TRANSPOSE",
        "float float16 bfloat16 int8 uint8 int32 int64 bool",
        {"perm": "int32"},
        "TransposeOptions",
    ),
}
"""By TensorFlow's name. Identity, Snapshot and StopGradient are none: TensorFlow Lite has none such."""

_ALONE = {
    "data_format": "NHWC",
    "incompatible_shape_error": 1,
    "bad_indices_policy": "",
    **dict.fromkeys(("grad_x", "grad_y", "grad_a", "grad_b"), 0),
}
"""Attributes that no builtin has, and the value that each builtin goes by."""


class Operand(NamedTuple):
    """A tensor of the model; one that is given has `data`, and open extents are None."""

    name: str
    element_type: str
    shape: Tuple[Optional[int], ...]
    data: Optional[bytes] = None


class Model(NamedTuple):
    """A model of one builtin, whose inputs are `operands` in an `order`; `options` are by field.

    `parameters` says of each input which of the builtin's parameters it is; an empty text: none.
    """

    builtin: Builtin
    options: Dict[str, Any]
    operands: List[Operand]
    order: List[int]
    parameters: Sequence[str]
    output_type: str
    version: int

    @property
    def given(self) -> List[int]:
        """Places of the operands that are inputs of the model."""
        return [place for place, each in enumerate(self.operands) if each.data is None]


def plan(request: protocol.LoadRequest, widest: str = "int64") -> Model:
    """What a call is as a model; raises protocol.Unsupported where no builtin means the same.

    Axes and lengths are of the widest integer that the runtime reads them as.
    """
    builtin = BUILTINS.get(request.name)
    if builtin is None:
        raise protocol.Unsupported("TensorFlow Lite has no builtin operator that is %s" % request.name)
    operands: List[Operand] = []
    order: List[int] = []
    wanted = _COUNTS.get(builtin.name, 1 + len(builtin.parameters))
    if len(request.inputs) != wanted:
        raise protocol.Unsupported("%s has %d inputs, not %d" % (builtin.name, wanted, len(request.inputs)))
    for each in request.inputs:
        if each is None:
            raise protocol.Unsupported("%s has no input that may be left out" % builtin.name)
        name, element_type, shape = each
        if name not in [operand.name for operand in operands]:
            operands.append(Operand(name, element_type, shape, _buffer(request.constants.get(name))))
        order.append([operand.name for operand in operands].index(name))
    parameters = ("", *builtin.parameters, *[""] * len(order))[: len(order)]
    if builtin.name == "ONE_HOT":
        parameters = (*builtin.parameters, "", "")
    for place, at in enumerate(order):
        operands[at] = _checked(builtin, operands[at], parameters[place], widest)
    _check_ranks(request.name, builtin.name, [operands[at].shape for at in order])
    first = operands[order[2] if builtin.name == "ONE_HOT" else order[0]].element_type
    output = "bool" if builtin.name in _COMPARISONS else first
    options = _options(builtin, request.attributes)
    version = _version(builtin.name, [operands[at] for at in order])
    return Model(builtin, options, operands, order, parameters, output, version)


def _version(name: str, operands: Sequence[Operand]) -> int:
    """The first version of a builtin that has the types and ranks of a call."""
    ranks = [len(each.shape) for each in operands]
    one_shape = len({each.shape for each in operands}) == 1
    needed = [1, *(_VERSIONS.get(name, {}).get(each, 1) for each in ("", operands[0].element_type))]
    if name == "GATHER_ND" and operands[1].element_type == "int16":
        needed.append(4)
    if name == "BATCH_TO_SPACE_ND" and ranks[0] != 4:
        needed.append(3)
    if name not in _BROADCAST or not one_shape:
        needed += [version for rank, version in _OF_RANKS.get(name, ()) if max(ranks) >= rank]
    return max(needed)


def _checked(builtin: Builtin, operand: Operand, parameter: str, widest: str) -> Operand:
    """An operand in a type that the builtin takes: axes and lengths of 64 bits are of 32 bits there."""
    types = (builtin.parameters[parameter] if parameter else builtin.types).split()
    too_wide = parameter and operand.element_type == "int64" and widest != "int64"
    if not types or (operand.element_type in types and not too_wide):
        return operand
    if parameter and operand.element_type == "int64":
        data = None if operand.data is None else narrow(np.frombuffer(operand.data, "<i8")).tobytes()
        return operand._replace(element_type="int32", data=data)
    raise protocol.Unsupported(
        "TensorFlow Lite's %s takes %s as plain numbers: %s is %s"
        % (builtin.name, ", ".join(types), operand.name, operand.element_type)
    )


def narrow(wide: Any) -> Any:
    """Integers of 64 bits in 32, as TensorFlow Lite's converter casts axes and lengths."""
    found = wide.astype("<i4")
    if not (found == wide).all():
        raise protocol.Unsupported("axes and lengths of TensorFlow Lite have 32 bits")
    return found


def _check_ranks(operator: str, name: str, shapes: Sequence[Tuple[Optional[int], ...]]) -> None:
    """Where a builtin takes more shapes than the operator does, or fewer and does not look."""
    rank = max(map(len, shapes))
    if rank > _BROADCAST.get(name, rank) and (None in shapes[0] or len(set(shapes)) > 1):
        raise protocol.Unsupported("%s broadcasts up to rank %d, not %d" % (name, _BROADCAST[name], rank))
    if name == "BATCH_MATMUL" and not 2 <= min(map(len, shapes)) <= rank <= 5:
        raise protocol.Unsupported("BATCH_MATMUL takes ranks 2 to 5")
    if name == "BATCH_TO_SPACE_ND" and (rank not in (3, 4) or shapes[1] not in ((rank - 2,), (None,))):
        raise protocol.Unsupported("BATCH_TO_SPACE_ND takes rank 3 or 4, and a block in all axes but two")
    if operator == "MatMul" and [len(shape) for shape in shapes] != [2, 2]:
        raise protocol.Unsupported("BATCH_MATMUL takes batches, which MatMul has not")
    if operator == "BiasAdd":
        value, bias = shapes
        if len(value) < 2 or None in (*value[-1:], *bias) or bias != value[-1:]:
            raise protocol.Unsupported("ADD is BiasAdd where the bias is as long as the last dimension")


def _options(builtin: Builtin, attributes: Mapping[str, Any]) -> Dict[str, Any]:
    """The fields of the builtin's table of options."""
    known = {attribute for attribute, _ in builtin.fields.values()}
    for name, value in attributes.items():
        if name not in known and (name not in _ALONE or _ALONE[name] != value):
            raise protocol.Unsupported(
                "TensorFlow Lite's %s has no counterpart of %s=%s" % (builtin.name, name, value)
            )
    fields = {}
    for field, (name, default) in builtin.fields.items():
        value = attributes.get(name, default)
        if field == "mode" and value not in _MODES:
            raise protocol.Unsupported("TensorFlow Lite's %s has no mode %s" % (builtin.name, value))
        fields[field] = _MODES[value] if field == "mode" else type(default)(value)
    return fields


def _buffer(tensor: Optional[protocol.WireTensor]) -> Optional[bytes]:
    """The bytes of a constant as a model has them; strings behind a table of where each begins."""
    if tensor is None:
        return None
    if tensor.element_type != "string":
        return bytes(tensor.data)
    parts = wire.to_bytes(tensor).reshape(-1).tolist()
    ends = np.cumsum([0, *map(len, parts)]) + 4 * (len(parts) + 2)
    return struct.pack("<%di" % (len(parts) + 2), len(parts), *ends) + b"".join(parts)

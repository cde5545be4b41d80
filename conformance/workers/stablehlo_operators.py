"""Operators of ONNX as the operations of StableHLO that mean the same.

StableHLO's specification promises no accuracy of exponentials and the like, and leaves to implementations
what divisions of integers by 0, conversions that are not exact and shifts by too much come to. These are
Unsupported, as is what would take several operations.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Dict, Sequence

import numpy as np

if TYPE_CHECKING or __package__:
    from conformance.workers import stablehlo_modules as modules
    from conformance.workers import worker_protocol as protocol
    from conformance.workers.stablehlo_modules import FLOATS, SIGNED, UNSIGNED, SsaValue, Writer, WrittenCall
else:
    import stablehlo_modules as modules
    import worker_protocol as protocol
    from stablehlo_modules import FLOATS, SIGNED, UNSIGNED, SsaValue, Writer, WrittenCall

_CAST = {1: "float", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
         10: "float16", 11: "double", 12: "uint32", 13: "uint64", 16: "bfloat16"}  # fmt: skip


def _compared(direction: str) -> Writer:
    def write(call: WrittenCall) -> SsaValue:
        found = call.broadcast(call.operands(2))
        return _compare(call, direction, found)

    return write


def _compare(call: WrittenCall, direction: str, found: Sequence[SsaValue]) -> SsaValue:
    words = "comparison_direction = #stablehlo<comparison_direction %s>" % direction
    return call.module.put("compare", found, found[0]._replace(element_type="bool"), words)


def _is_nan(call: WrittenCall) -> SsaValue:
    (value,) = call.operands(1, types=tuple(FLOATS))
    return _compare(call, "NE", [value, value])


def _relu(call: WrittenCall) -> SsaValue:
    (value,) = call.operands(1)
    zero = call.module.spread(call.module.fix(value.element_type, 0), value.shape)
    return call.module.put("maximum", [value, zero], value)


def _reciprocal(call: WrittenCall) -> SsaValue:
    (value,) = call.operands(1, types=tuple(FLOATS))
    one = call.module.spread(call.module.fix(value.element_type, 1), value.shape)
    return call.module.put("divide", [one, value], value)


def _mod(call: WrittenCall) -> SsaValue:
    if call.attribute("fmod", 0) != 1:
        raise protocol.Unsupported("StableHLO's remainder has the sign of what is divided")
    return modules.several("remainder", tuple(FLOATS))(call)


def _clip(call: WrittenCall) -> SsaValue:
    if call.version < 11:
        raise protocol.Unsupported("bounds that are attributes have other defaults")
    value, least, most = call.first(), call.optional(1), call.optional(2)
    if any(each is not None and each.shape != () for each in (least, most)):
        raise protocol.Unsupported("StableHLO's clamp takes bounds of rank 0, or of the operand's shape")
    if least is not None and most is not None:
        return call.module.put("clamp", [least, value, most], value)
    bound = least if least is not None else most
    if bound is None:
        return call.module.reshape(value, value.shape)
    name = "maximum" if bound is least else "minimum"
    return call.module.put(name, [value, call.module.spread(bound, value.shape)], value)


def _where(call: WrittenCall) -> SsaValue:
    if len(call.inputs) != 3 or any(each is None for each in call.inputs):
        raise protocol.Unsupported("select has three inputs")
    found = call.module.spread_all([each for each in call.inputs if each is not None])
    return call.module.put("select", found, found[1])


def _cast(call: WrittenCall) -> SsaValue:
    value, wanted = call.first(), _CAST.get(call.attribute("to", 0), "")
    call.attribute("saturate", 1)
    call.attribute("round_mode", "up")
    if not (wanted and modules.is_exact(value.element_type, wanted)):
        raise protocol.Unsupported("StableHLO leaves open what %s is as %s" % (value.element_type, wanted))
    return call.module.put("convert", [value], value._replace(element_type=wanted))


def _product(call: WrittenCall) -> SsaValue:
    left, right = call.operands(2)
    if not (left.shape and right.shape):
        raise protocol.Unsupported("a product has no scalars")
    one = left if len(left.shape) > 1 else call.module.reshape(left, (1, *left.shape))
    two = right if len(right.shape) > 1 else call.module.reshape(right, (*right.shape, 1))
    try:
        batch = np.broadcast_shapes(one.shape[:-2], two.shape[:-2])
    except ValueError as error:
        raise protocol.Unsupported("StableHLO has no such call: %s" % error) from error
    one = call.module.spread(one, (*batch, *one.shape[-2:]))
    two = call.module.spread(two, (*batch, *two.shape[-2:]))
    axes, rank = list(range(len(batch))), len(batch)
    words = (
        "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, "
        "lhs_contracting_dimensions = [%d], rhs_contracting_dimensions = [%d]>" % (axes, axes, rank + 1, rank)
    )
    ends = ((one.shape[-2],), (two.shape[-1],))
    made = call.module.put(
        "dot_general", [one, two], left._replace(shape=(*batch, *ends[0], *ends[1])), words
    )
    rows = ends[0] if len(left.shape) > 1 else ()
    return call.module.reshape(made, (*batch, *rows, *(ends[1] if len(right.shape) > 1 else ())))


def _transposed(call: WrittenCall) -> SsaValue:
    value = call.first()
    order = [int(each) for each in call.attribute("perm", range(len(value.shape))[::-1])]
    if sorted(order) != list(range(len(value.shape))):
        raise protocol.Unsupported("%s is no order of %d axes" % (order, len(value.shape)))
    shape = tuple(value.shape[each] for each in order)
    words = "permutation = %s" % modules.listed(order)
    return call.module.put("transpose", [value], value._replace(shape=shape), words)


def _identity(call: WrittenCall) -> SsaValue:
    (value,) = call.operands(1)
    return call.module.reshape(value, value.shape)


def _reshaped(call: WrittenCall) -> SsaValue:
    value, wanted = call.first(), call.lengths("shape", 1)
    if not call.attribute("allowzero", 0):
        if any(each == 0 and place >= len(value.shape) for place, each in enumerate(wanted)):
            raise protocol.Unsupported("%s has no dimension to copy" % (value.shape,))
        wanted = [each or value.shape[place] for place, each in enumerate(wanted)]
    if wanted.count(-1) == 1:
        rest = -prod(wanted)
        if not rest or prod(value.shape) % rest:
            raise protocol.Unsupported("no length fits")
        wanted = [prod(value.shape) // rest if each == -1 else each for each in wanted]
    return call.module.reshape(value, wanted)


def _squeezed(call: WrittenCall) -> SsaValue:
    value, axes = call.first(), call.integers("axes", 1)
    rank = len(value.shape)
    gone = {place for place, each in enumerate(value.shape) if each == 1}
    if axes is not None:
        gone = {call.axis(each, rank) for each in axes}
    if any(value.shape[axis] != 1 for axis in gone):
        raise protocol.Unsupported("an axis to squeeze is longer than one: %s" % (value.shape,))
    return call.module.reshape(value, [each for place, each in enumerate(value.shape) if place not in gone])


def _unsqueezed(call: WrittenCall) -> SsaValue:
    value, axes = call.first(), call.lengths("axes", 1)
    rank = len(value.shape) + len(axes)
    new, old = {call.axis(each, rank) for each in axes}, iter(value.shape)
    if len(new) != len(axes):
        raise protocol.Unsupported("an axis is named twice: %s" % axes)
    return call.module.reshape(value, [1 if place in new else next(old) for place in range(rank)])


def _flattened(call: WrittenCall) -> SsaValue:
    value, axis = call.first(), int(call.attribute("axis", 1))
    rank = len(value.shape)
    at = rank if axis == rank else call.axis(axis, rank)
    return call.module.reshape(value, [prod(value.shape[:at]), prod(value.shape[at:])])


def _expanded(call: WrittenCall) -> SsaValue:
    value, wanted = call.first(), tuple(call.lengths("shape", 1))
    try:
        shape = np.broadcast_shapes(value.shape, wanted)
    except ValueError as error:
        raise protocol.Unsupported("StableHLO has no such call: %s" % error) from error
    return call.module.spread(call.module.reshape(value, value.shape), shape)


def _joined(call: WrittenCall) -> SsaValue:
    found = call.operands(1, len(call.inputs))
    axis = call.attribute("axis", 1 if call.version < 4 else None)
    if axis is None:
        raise protocol.Unsupported("there is no axis")
    axis = call.axis(int(axis), len(found[0].shape))
    others = [(*each.shape[:axis], *each.shape[axis + 1 :]) for each in found]
    if len(set(others)) != 1:
        raise protocol.Unsupported("no shapes that can be joined")
    long = sum(each.shape[axis] for each in found)
    shape = (*found[0].shape[:axis], long, *found[0].shape[axis + 1 :])
    words = "dimension = %d : i64" % axis
    return call.module.put("concatenate", found, found[0]._replace(shape=shape), words)


def _sliced(call: WrittenCall) -> SsaValue:
    value = call.first()
    starts, ends = call.lengths("starts", 1), call.lengths("ends", 2)
    axes = call.integers("axes", 3)
    steps = call.integers("steps", 4)
    steps = [1] * len(starts) if steps is None else steps
    rank = len(value.shape)
    named = [call.axis(each, rank) for each in (axes if axes is not None else range(len(starts)))]
    if (
        not len(starts) == len(ends) == len(named) == len(set(named)) == len(steps)
        or min(steps, default=1) < 1
    ):
        raise protocol.Unsupported("StableHLO's slice has a start, an end and a positive stride of each axis")
    low, high, strides = [0] * rank, list(value.shape), [1] * rank
    for axis, start, end, step in zip(named, starts, ends, steps):  # noqa: B905 - Python 3.9
        long = value.shape[axis]
        low[axis], high[axis], strides[axis] = slice(start, max(end, -long), min(step, max(long, 1))).indices(
            long
        )
        high[axis] = max(low[axis], high[axis])
    shape = tuple(-((first - last) // step) for first, last, step in zip(low, high, strides))  # noqa: B905
    words = "start_indices = %s, limit_indices = %s, strides = %s"
    return call.module.put(
        "slice",
        [value],
        value._replace(shape=shape),
        words % (modules.listed(low), modules.listed(high), modules.listed(strides)),
    )


def _padded(call: WrittenCall) -> SsaValue:
    value, rank = call.first(), len(call.first().shape)
    if call.version < 11 or call.attribute("mode", "constant") != "constant":
        raise protocol.Unsupported("StableHLO pads with a value")
    pads, axes = call.lengths("pads", 1), call.integers("axes", 3)
    named = [call.axis(each, rank) for each in axes] if axes is not None else list(range(rank))
    if len(pads) != 2 * len(named) or len(set(named)) != len(named):
        raise protocol.Unsupported("there are no two pads of each axis")
    low, high = [0] * rank, [0] * rank
    for place, axis in enumerate(named):
        low[axis], high[axis] = pads[place], pads[place + len(named)]
    shape = tuple(map(sum, zip(low, value.shape, high)))  # noqa: B905 - Python 3.9
    filling = call.optional(2) or call.module.fix(value.element_type, 0)
    if min(shape, default=0) < 0 or filling.shape != ():
        raise protocol.Unsupported("StableHLO pads with a scalar, and takes away no more than there is")
    words = "edge_padding_low = %s, edge_padding_high = %s, interior_padding = %s"
    return call.module.put(
        "pad",
        [value, filling],
        value._replace(shape=shape),
        words % (modules.listed(low), modules.listed(high), modules.listed([0] * rank)),
    )


def _gathered(call: WrittenCall) -> SsaValue:
    value, indices = call.first(), call.fixed(1)
    rank = len(value.shape)
    axis = modules.axis_at(int(call.attribute("axis", 0)), rank)
    long = value.shape[axis]
    least = -long if call.version >= 11 else 0
    if indices is None or not ((indices >= least) & (indices < long)).all() or not long:
        raise protocol.Unsupported("StableHLO's gather brings an index into its range")
    given = call.module.fix("int64", indices % long)
    front = list(range(axis))
    offsets = [*front, *range(axis + indices.ndim, rank - 1 + indices.ndim)]
    shape = (*value.shape[:axis], *indices.shape, *value.shape[axis + 1 :])
    sizes = [1 if place == axis else each for place, each in enumerate(value.shape)]
    words = (
        "dimension_numbers = #stablehlo.gather<offset_dims = %s, collapsed_slice_dims = [%d], "
        "start_index_map = [%d], index_vector_dim = %d>, slice_sizes = %s"
        % (offsets, axis, axis, indices.ndim, modules.listed(sizes))
    )
    return call.module.put("gather", [value, given], value._replace(shape=shape), words)


def _convolved(call: WrittenCall) -> SsaValue:
    found = call.operands(2, 3, tuple(FLOATS))
    value, weights = found[:2]
    rank = len(value.shape) - 2
    if rank < 1 or len(weights.shape) != rank + 2:
        raise protocol.Unsupported("a convolution has batches, channels and images")
    strides, dilations = call.attribute("strides", [1] * rank), call.attribute("dilations", [1] * rank)
    pads, group = call.attribute("pads", [0] * 2 * rank), int(call.attribute("group", 1))
    kernel = list(call.attribute("kernel_shape", weights.shape[2:]))
    if call.attribute("auto_pad", "NOTSET") != "NOTSET" or kernel != list(weights.shape[2:]):
        raise protocol.Unsupported("StableHLO's convolution has pads in numbers, and no auto_pad")
    if [len(strides), len(dilations), len(pads)] != [rank, rank, 2 * rank] or min(*strides, *dilations) < 1:
        raise protocol.Unsupported("there is no stride, dilation and two pads of each axis")
    if (
        group < 1
        or value.shape[1] != group * weights.shape[1]
        or weights.shape[0] % group
        or 0 in weights.shape
    ):
        raise protocol.Unsupported("no channels that fit")
    extents = zip(value.shape[2:], kernel, strides, dilations, pads[:rank], pads[rank:])  # noqa: B905 - 3.9
    images = [(x + low + high - (k - 1) * d - 1) // s + 1 for x, k, s, d, low, high in extents]
    if min(images) < 0 or min(pads) < 0:
        raise protocol.Unsupported("no window fits")
    places = ", ".join(map(str, range(rank)))
    words = (
        "window_strides = %s, padding = %s, rhs_dilation = %s, feature_group_count = %d : i64, "
        "batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, %s]x[o, i, %s]->[b, f, %s]>"
        % (
            modules.listed(strides),
            modules.pairs(pads[:rank], pads[rank:]),
            modules.listed(dilations),
            group,
            places,
            places,
            places,
        )
    )
    shape = (value.shape[0], weights.shape[0], *images)
    made = call.module.put("convolution", [value, weights], value._replace(shape=shape), words)
    if len(found) == 2:
        return made
    bias = call.module.reshape(found[2], (weights.shape[0], *[1] * rank))
    return call.module.put("add", [made, call.module.spread(bias, shape)], made)


_REAL = (*FLOATS, *SIGNED)
_NUMBERS = (*_REAL, *UNSIGNED)
_INTEGERS = (*SIGNED, *UNSIGNED)
_MANY = 1 << 10

OPERATORS: Dict[str, Writer] = {
    **{name: modules.one(name.lower(), tuple(FLOATS)) for name in ("Ceil", "Floor", "Sqrt")},
    **{name: modules.several(name.lower(), ("bool",)) for name in ("And", "Or", "Xor")},
    **{"Bitwise" + name: modules.several(name.lower(), _INTEGERS) for name in ("And", "Or", "Xor")},
    "Abs": modules.one("abs", _REAL),
    "Add": modules.several("add", _NUMBERS),
    "BitwiseNot": modules.one("not", _INTEGERS),
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _joined,
    "Conv": _convolved,
    "Div": modules.several("divide", tuple(FLOATS)),
    "Equal": _compared("EQ"),
    "Expand": _expanded,
    "Flatten": _flattened,
    "Gather": _gathered,
    "Greater": _compared("GT"),
    "GreaterOrEqual": _compared("GE"),
    "Identity": _identity,
    "IsNaN": _is_nan,
    "Less": _compared("LT"),
    "LessOrEqual": _compared("LE"),
    "MatMul": _product,
    "Max": modules.several("maximum", _NUMBERS, 1, _MANY, since=8),
    "Min": modules.several("minimum", _NUMBERS, 1, _MANY, since=8),
    "Mod": _mod,
    "Mul": modules.several("multiply", _NUMBERS),
    "Neg": modules.one("negate", _REAL),
    "Not": modules.one("not", ("bool",)),
    "Pad": _padded,
    "Reciprocal": _reciprocal,
    "ReduceMax": modules.reduced("maximum", modules.end(1)),
    "ReduceMin": modules.reduced("minimum", modules.end(-1)),
    "ReduceProd": modules.reduced("multiply", lambda _: 1),
    "ReduceSum": modules.reduced("add", lambda _: 0),
    "Relu": _relu,
    "Reshape": _reshaped,
    "Round": modules.one("round_nearest_even", tuple(FLOATS)),
    "Sign": modules.one("sign", _REAL),
    "Slice": _sliced,
    "Squeeze": _squeezed,
    "Sub": modules.several("subtract", _NUMBERS),
    "Sum": modules.several("add", tuple(FLOATS), 1, _MANY, since=8),
    "Transpose": _transposed,
    "Unsqueeze": _unsqueezed,
    "Where": _where,
}
"""By ONNX's name what writes a call of it into a module."""

"""As much of jaxlib as its worker calls: modules of StableHLO, computed by numpy from their text alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

TYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "i1": "?"} | {
    f"{sign}i{bits}": f"{kind}{bits // 8}"
    for sign, kind in (("", "i"), ("u", "u"))
    for bits in (8, 16, 32, 64)
}
_LINE = re.compile(
    r'(%\w+) = "stablehlo\.(\w+)"\(([^)]*)\)(?: \(\{(.*)\}\))?(?: \{(.*)\})? : \(.*\) -> (tensor<\S+>)$'
)
_TWO: dict[str, Callable[..., Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "remainder": np.fmod,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
_ONE: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "negate": np.negative, "ceil": np.ceil, "floor": np.floor, "sqrt": np.sqrt,
    "sign": np.sign,
    "not": np.invert, "round_nearest_even": np.rint,
}  # fmt: skip
_COMPARED: dict[str, Callable[..., Any]] = {
    "EQ": np.equal, "NE": np.not_equal, "GT": np.greater, "GE": np.greater_equal, "LT": np.less,
    "LE": np.less_equal,
}  # fmt: skip


class CompileOptions:
    pass


class DeviceList(tuple):  # type: ignore[type-arg]
    pass


class Client:
    def compile_and_load(self, text: str, _devices: DeviceList, _options: CompileOptions) -> Program:
        return Program(text)


class Program:
    """A module of one function."""

    def __init__(self, text: str) -> None:
        head, *self._lines, last, _ = text.splitlines()
        self._names = re.findall(r"(%a\d+): tensor", head)
        self._result = last.split()[1]

    def execute(self, arguments: Sequence[Any]) -> list[Any]:
        values = dict(zip(self._names, arguments, strict=True))
        for line in self._lines:
            found = _LINE.match(line)
            assert found, line
            name, operation, operands, body, attributes, kind = found.groups()
            given = [values[each] for each in operands.split(", ") if each]
            *extents, element_type = kind[len("tensor<") : -1].split("x")
            made = np.asarray(
                _computed(operation, given, attributes or "", body or "", tuple(map(int, extents)))
            )
            assert made.shape == tuple(map(int, extents)), line
            values[name] = made.astype(TYPES[element_type])
        return [values[self._result]]


def _computed(operation: str, given: list[Any], words: str, body: str, shape: tuple[int, ...]) -> Any:
    if operation in _TWO or operation in _ONE or operation in ("compare", "select", "clamp"):
        assert len({each.shape for each in given}) == 1 or operation == "clamp"
    if operation in _TWO:
        return _TWO[operation](*given)
    if operation in _ONE:
        return _ONE[operation](*given)
    match operation:
        case "compare":
            return _COMPARED[_word(words, r"comparison_direction (\w+)>")](*given)
        case "select":
            return np.where(*given)
        case "clamp":
            return np.minimum(np.maximum(given[1], given[0]), given[2])
        case "convert":
            return given[0]
        case "reshape":
            return given[0].reshape(shape)
        case "transpose":
            return given[0].transpose(_numbers(words, "permutation"))
        case "broadcast_in_dim":
            axes, own = _numbers(words, "broadcast_dimensions"), [1] * len(shape)
            for axis, extent in zip(axes, given[0].shape, strict=True):
                own[axis] = extent
            return np.broadcast_to(given[0].reshape(own), shape)
        case "concatenate":
            return np.concatenate(given, int(_word(words, r"dimension = (\d+) : i64")))
        case "slice":
            ends = [_numbers(words, each) for each in ("start_indices", "limit_indices", "strides")]
            return given[0][tuple(slice(*each) for each in zip(*ends, strict=True))]
        case "pad":
            return _padded(
                given[0], given[1], _numbers(words, "edge_padding_low"), _numbers(words, "edge_padding_high")
            )
        case "reduce":
            by: Any = _TWO[_word(body, r'"stablehlo\.(\w+)"\(%x, %y\)')]
            return by.reduce(given[0], axis=tuple(_numbers(words, "dimensions")), initial=given[1])
        case "dot_general":
            return given[0] @ given[1]
        case "gather":
            return np.take(given[0], given[1], int(_word(words, r"collapsed_slice_dims = \[(\d+)\]")))
        case "convolution":
            return _convolved(given[0], given[1], words, shape)
    raise AssertionError(f"custom op 'stablehlo.{operation}' is unknown")


def _word(words: str, pattern: str) -> str:
    found = re.search(pattern, words)
    assert found, (words, pattern)
    return found[1]


def _numbers(words: str, name: str) -> list[int]:
    return [int(each) for each in re.findall(r"-?\d+", _word(words, rf"\b{name} = array<i64(:?[^>]*)>"))]


def _padded(array: Any, value: Any, low: Sequence[int], high: Sequence[int]) -> Any:
    cut = array[
        tuple(slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, array.shape, strict=True))
    ]
    return np.pad(
        cut, [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)], constant_values=value
    )


def _convolved(image: Any, weights: Any, words: str, shape: tuple[int, ...]) -> Any:
    strides, dilations = _numbers(words, "window_strides"), _numbers(words, "rhs_dilation")
    pads = [int(each) for each in re.findall(r"-?\d+", _word(words, r"padding = dense<\[(.*)\]> : "))]
    groups = int(_word(words, r"feature_group_count = (\d+)"))
    padded = _padded(image, 0, [0, 0, *pads[::2]], [0, 0, *pads[1::2]])
    found, many = np.zeros(shape), weights.shape[0] // groups
    for place in product(*map(range, shape)):
        batch, out, *at = place
        channels = range(out // many * weights.shape[1], (out // many + 1) * weights.shape[1])
        for inner, *window in product(*map(range, weights.shape[1:])):
            where = [a * s + w * d for a, s, w, d in zip(at, strides, window, dilations, strict=True)]
            found[place] += padded[(batch, channels[inner], *where)] * weights[(out, inner, *window)]
    return found

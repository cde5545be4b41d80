"""DequantizeLinear before an operator and QuantizeLinear behind it: scales, zero points and data of kernels.

Zero points are odd, and data go over the whole range of their type. With data `ties` every number between the
nodes is exact in float32 though scales are no powers of two (1.5, 0.75), and many results are halves: those
are asked for to the last bit. With data `real` scales are any numbers, and where a result may be a tie, both
of its sides are accepted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.models.chains.chains import Chain, Link, Weaver, integers, whole

_ZEROS: dict[str, tuple[int, ...]] = {"uint8": (131, 7, 90), "int8": (-7, 41, 3)}
_SCALES: dict[str, tuple[float, ...]] = {"ties": (1.5, 0.75, 1.25), "real": (0.0173, 0.0291, 0.0067)}
_WEIGHT_SCALE = {"ties": 0.75, "real": 0.0091}
OUT_ZERO = {"uint8": 97, "int8": 5}
_SPREAD = 74
"""The root of the mean square of an integer of 8 bits less a zero point in the middle."""
_STEPS = 45
"""How many steps of the result as much of a sum is."""


@dataclass(frozen=True)
class Quantiser:
    """Puts DequantizeLinear before and QuantizeLinear behind, in one type and with one class of data."""

    w: Weaver
    kind: str
    data: str
    spelled: dict[str, tuple[Link, ...]] = field(default_factory=dict)

    def given(self, key: str, *shape: int, place: int = 0, step: int = 1) -> str:
        """What is given with each run, dequantised; of ties, each `step` integers from the zero point on."""
        zero = _ZEROS[self.kind][place]
        step = step if self.data == "ties" else 1
        low, high = range_of(self.kind)
        numbers = whole(
            key, *shape, least=-((zero - low) // step), most=(high - zero) // step, dtype=np.int64
        )
        x = (numbers * step + zero).astype(self.kind)
        scale = np.array(_SCALES[self.data][place], np.float32)
        return self.w.node("DequantizeLinear", self.w.given(x), scale, np.array(zero, self.kind))

    def weights(self, *shape: int, axis: int | None = None, kind: str = "int8", zero: int = 0) -> str:
        """Constant weights, dequantised; along an axis each place of it has a scale of its own."""
        low, high = range_of(kind)
        if self.data == "ties":
            least, most = -((zero - low) // 64), (high - zero) // 64
            numbers = whole("w", *shape, least=least, most=most, dtype=np.int64) * 64 + zero
        else:
            numbers = whole("w", *shape, least=low, most=high, dtype=np.int64)
        w = self.w
        values = w.constant(numbers.astype(kind))
        if axis is None:
            scale = np.array(_WEIGHT_SCALE[self.data], np.float32)
            return w.node("DequantizeLinear", values, scale, np.array(zero, kind))
        count = shape[axis]
        zeros = np.full(count, zero, kind)
        return w.node("DequantizeLinear", values, self.scales(count), zeros, axis=axis)

    def scales(self, count: int) -> NDArray[np.float32]:
        """One scale for each channel."""
        if self.data == "ties":
            return np.resize(np.array([0.75, 1.25, 0.5, 1.5, 0.875], np.float32), count)
        return (np.float32(0.0031) + np.arange(count) * 7 % 11 * np.float32(0.0013)).astype(np.float32)

    def bias(self, count: int, terms: int) -> str:
        """A constant bias of int32 in the scale of the products, dequantised."""
        scale = np.float32(_SCALES[self.data][0] * _WEIGHT_SCALE[self.data])
        return self.w.node(
            "DequantizeLinear", self._sums(count, terms), np.array(scale), np.array(0, np.int32)
        )

    def bias_of_channels(self, count: int, terms: int) -> str:
        """The same with a scale for each channel, as tools that quantise write it: along the only axis."""
        w, numbers = self.w, self._sums(count, terms)
        scales = (np.float32(_SCALES[self.data][0]) * self.scales(count)).astype(np.float32)
        zeros = np.zeros(count, np.int32)
        written = w.node("DequantizeLinear", numbers, scales, zeros, axis=0)
        # Declarations know scales along an axis of tensors of two axes and more alone.
        column = w.link("DequantizeLinear", numbers.reshape(count, 1), scales, zeros, axis=0)
        column = replace(column, outputs=("column",))
        flat = replace(w.link("Reshape", "column", integers(count)), outputs=(written,))
        self.spelled[written] = (column, flat)
        return written

    def _sums(self, count: int, terms: int) -> NDArray[np.int32]:
        most, step = _SPREAD * _SPREAD * math.isqrt(terms), 512 if self.data == "ties" else 1
        return whole("b", count, least=-most // step, most=most // step, dtype=np.int32) * np.int32(step)

    def end(self, word: str, why: str) -> Chain:
        """The chain, with what its nodes say in short."""
        several = (self.spelled.get(link.outputs[0], (link,)) for link in self.w.links)
        short = [link for links in several for link in links] if self.spelled else []
        opset = str(self.w.opset)
        return self.w.end(word, why, spelled=short, type=self.kind, data=self.data, opset=opset)

    def out(self, value: str, ties: float, real: float, *, zero: int | None = None) -> str:
        """The result, quantised with the scale of its class of data."""
        scale = np.array(ties if self.data == "ties" else real, np.float32)
        point = np.array(OUT_ZERO[self.kind] if zero is None else zero, self.kind)
        return self.w.node("QuantizeLinear", value, scale, point)

    def summed(self, value: str, terms: int, *, other: float | None = None) -> str:
        """A sum of so many products, quantised so that it fills its range."""
        factor = _WEIGHT_SCALE[self.data] if other is None else other
        size = _SCALES[self.data][0] * factor * _SPREAD * _SPREAD * math.sqrt(terms) / _STEPS
        part, power = math.frexp(size)
        nearest = math.ldexp(1.0, power if part * part >= 0.5 else power - 1)
        return self.out(value, nearest, size)

    def second_scale(self) -> float:
        """The scale of the second of what is given."""
        return _SCALES[self.data][1]


def range_of(kind: str | type[np.integer[Any]]) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    info = np.iinfo(kind)
    return int(info.min), int(info.max)

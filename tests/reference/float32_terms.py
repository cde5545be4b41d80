"""Orders in which float32 is added up; and what an output element is the sum of, found by plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Case
from tests.reference.windows_by_loops import Sliding

Array = NDArray[Any]
Row = NDArray[np.float32]
Computed = Callable[[Row, Row], np.float32]


def fused(a: Any, b: Any, added: Any) -> np.float32:
    """a * b + added, rounded once: the product is exact in float64."""
    return np.float32(np.float64(a) * np.float64(b) + np.float64(added))


def from_the_first(a: Row, b: Row) -> np.float32:
    found = np.float32(0)
    for left, right in zip(a, b, strict=True):
        found = np.float32(found + np.float32(left * right))
    return found


def pairwise(a: Row, b: Row) -> np.float32:
    terms = list(a * b)
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [np.float32(x + y) for x, y in zip(terms[::2], terms[1::2], strict=False)] + odd
    return np.float32(terms[0])


def in_fused_blocks(a: Row, b: Row) -> np.float32:
    lanes = [np.float32(0)] * 8
    for place, (left, right) in enumerate(zip(a, b, strict=True)):
        lanes[place % 8] = fused(left, right, lanes[place % 8])
    return pairwise(np.array(lanes, np.float32), np.ones(8, np.float32))


ORDERS: tuple[Computed, ...] = (from_the_first, pairwise, in_fused_blocks)


def multiplied(a: Row, order: Computed) -> np.float32:
    """The product, from the first element on, by halves, or in eight lanes."""
    if order is from_the_first:
        return np.float32(np.multiply.accumulate(a)[-1])
    lanes = (
        [a[place::8] for place in range(min(8, len(a)))] if order is in_fused_blocks else [a[::2], a[1::2]]
    )
    each_lane = [np.multiply.accumulate(lane)[-1] for lane in lanes if len(lane)]
    return np.float32(np.multiply.accumulate(each_lane)[-1])


_ONE = np.float32(1)


@dataclass(frozen=True, eq=False)
class Values:
    """A case's inputs and attributes; an input that is left out is None."""

    inputs: Sequence[tuple[str, Array | None]]
    attributes: Mapping[str, Any]
    output: tuple[int, ...]

    @classmethod
    def of(cls, case: Case) -> Values:
        inputs = [(name, None if each is None else each.array) for name, each in case.inputs]
        attributes = {name: each.value for name, each in case.attributes.items()}
        return cls(inputs, attributes, case.expectations[0].outputs[0].expected.shape)

    def __getitem__(self, name: str) -> Array | None:
        return dict(self.inputs).get(name)

    def given(self, name: str) -> Array:
        found = self[name]
        assert found is not None
        return found

    def attribute(self, name: str, default: Any) -> Any:
        return self.attributes.get(name, default)

    def changed(self, change: Callable[[Array], Array]) -> Values:
        """The same with its floats changed."""
        inputs = [
            (name, change(array) if array is not None and array.dtype == np.float32 else array)
            for name, array in self.inputs
        ]
        return Values(inputs, self.attributes, self.output)


@dataclass(frozen=True)
class Terms:
    """One output element: factors whose products are summed, and how many elements are meant by a mean."""

    a: Row
    b: Row
    count: int = 1


def in_float32(numbers: Sequence[Any]) -> Array:
    return np.array(numbers, np.float32)


def _ones(row: Array) -> Row:
    return np.ones(len(row), np.float32)


def reduced(values: Values) -> Iterator[Terms]:
    """The elements that each output is made of, with ones beside them."""
    data = values.given("data")
    axes = values.attribute("axes", None) if values["axes"] is None else values.given("axes").tolist()
    if not axes:
        axes = [] if values.attribute("noop_with_empty_axes", 0) else range(data.ndim)
    gone = sorted({axis % data.ndim for axis in axes})
    kept = [axis for axis in range(data.ndim) if axis not in gone]
    rows = np.transpose(data, [*kept, *gone])
    count = math.prod(data.shape[axis] for axis in gone)
    for row in rows.reshape(math.prod(data.shape[axis] for axis in kept), count):
        yield Terms(row, _ones(row), count)


def squares(values: Values) -> Iterator[Terms]:
    for terms in reduced(values):
        yield Terms(terms.a, terms.a, terms.count)


def magnitudes(values: Values) -> Iterator[Terms]:
    for terms in reduced(values):
        yield Terms(np.abs(terms.a), terms.b, terms.count)


def running(values: Values) -> Iterator[Terms]:
    """The elements up to each place along an axis."""
    data, axis = values.given("x"), int(values.given("axis").reshape(-1)[0])
    exclusive, backwards = values.attribute("exclusive", 0), values.attribute("reverse", 0)
    moved = np.moveaxis(data, axis, -1)
    found = np.empty(moved.shape, dtype=object)
    for index in np.ndindex(moved.shape):
        row, place = moved[index[:-1]], index[-1]
        taken = row[place + bool(exclusive) :] if backwards else row[: place + 1 - bool(exclusive)]
        found[index] = Terms(taken, _ones(taken))
    yield from np.moveaxis(found, -1, axis).reshape(-1)


def matrix_products(values: Values) -> Iterator[Terms]:
    """Rows of the first operand beside columns of the second, broadcast as numpy's matmul does."""
    a, b = values.given("A"), values.given("B")
    a, b = a[None, :] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(b, (*batch, *b.shape[-2:]))
    for index in np.ndindex((*batch, a.shape[-2], b.shape[-1])):
        yield Terms(a[(*index[:-2], index[-2])], b[(*index[:-2], slice(None), index[-1])])


def general_products(values: Values) -> Iterator[Terms]:
    a, b = values.given("A"), values.given("B")
    a, b = a.T if values.attribute("transA", 0) else a, b.T if values.attribute("transB", 0) else b
    yield from (Terms(a[row], b[:, column]) for row, column in np.ndindex((a.shape[0], b.shape[1])))


def sliding(values: Values, kernel: Sequence[int], extents: Sequence[int]) -> Sliding:
    rank = len(kernel)
    return Sliding(
        tuple(extents),
        tuple(kernel),
        tuple(values.attribute("strides", [1] * rank)),
        tuple(values.attribute("dilations", [1] * rank)),
        tuple(values.attribute("pads", [0] * (2 * rank))),
        _text(values.attribute("auto_pad", "NOTSET")),
        values.attribute("ceil_mode", 0),
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def convolved(values: Values) -> Iterator[Terms]:
    x, w, bias = values.given("X"), values.given("W"), values["B"]
    window = sliding(values, w.shape[2:], x.shape[2:])
    features, channels = w.shape[0] // values.attribute("group", 1), w.shape[1]
    for image, feature, *output in np.ndindex(values.output):
        at = feature // features * channels
        places = [(offset, place) for offset, place, inside, _ in window.window(tuple(output)) if inside]
        a = [x[(image, at + each, *place)] for _, place in places for each in range(channels)]
        b = [w[(feature, each, *offset)] for offset, _ in places for each in range(channels)]
        if bias is not None:
            a, b = [*a, bias[feature]], [*b, _ONE]
        yield Terms(in_float32(a), in_float32(b))


def convolved_back(values: Values) -> Iterator[Terms]:
    """Of a transposed convolution, what every element of the input adds to each element of the output."""
    x, w, bias = values.given("X"), values.given("W"), values["B"]
    window = sliding(values, w.shape[2:], x.shape[2:])
    group = values.attribute("group", 1)
    channels, features = x.shape[1] // group, w.shape[1]
    begins = [_begin(values, window, axis) for axis in range(len(window.kernel))]
    for image, feature, *output in np.ndindex(values.output):
        at = feature // features * channels
        found: list[tuple[Any, Any]] = []
        for offset in np.ndindex(window.kernel):
            moved = [
                here + begin - each * dilation
                for here, begin, each, dilation in zip(output, begins, offset, window.dilations, strict=True)
            ]
            steps = [divmod(each, stride) for each, stride in zip(moved, window.strides, strict=True)]
            place = tuple(step for step, _ in steps)
            if any(rest for _, rest in steps) or not all(
                0 <= each < extent for each, extent in zip(place, window.extents, strict=True)
            ):
                continue
            found += [
                (x[(image, at + each, *place)], w[(at + each, feature % features, *offset)])
                for each in range(channels)
            ]
        if bias is not None:
            found.append((bias[feature], _ONE))
        yield Terms(in_float32([a for a, _ in found]), in_float32([b for _, b in found]))


def _begin(values: Values, window: Sliding, axis: int) -> int:
    """What is cut off before the first element along an axis."""
    if values.attribute("output_shape", None) is None and not window.auto_pad.startswith("SAME"):
        return 0 if window.auto_pad == "VALID" else window.pads[axis]
    more = int(values.attribute("output_padding", [0] * len(window.kernel))[axis])
    reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1
    whole = window.strides[axis] * (window.extents[axis] - 1) + more + reach - values.output[axis + 2]
    return whole // 2 if window.auto_pad == "SAME_UPPER" else whole - whole // 2


def pooled(values: Values) -> Iterator[Terms]:
    x = values.given("X")
    window = sliding(values, values.attribute("kernel_shape", ()), x.shape[2:])
    for image, channel, *output in np.ndindex(values.output):
        seen = list(window.window(tuple(output)))
        held = in_float32([x[(image, channel, *place)] for _, place, inside, _ in seen if inside])
        padded = values.attribute("count_include_pad", 0)
        count = sum(bool(whole if padded else inside) for *_, inside, whole in seen)
        yield Terms(held, _ones(held), count)


def pooled_whole(values: Values) -> Iterator[Terms]:
    x = values.given("X")
    for row in x.reshape(math.prod(x.shape[:2]), -1) if x.size else []:
        yield Terms(row, _ones(row), len(row))


def operands_of(values: Values) -> list[Array]:
    return [array for _, array in values.inputs if array is not None]


def added_up(values: Values) -> Iterator[Terms]:
    """The operands of a sum of any number of tensors, element by element."""
    operands = np.broadcast_arrays(*operands_of(values))
    for row in np.stack([operand.reshape(-1) for operand in operands], axis=-1):
        yield Terms(row, _ones(row), len(row))

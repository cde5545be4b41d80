"""MaxPool, GlobalMaxPool and MaxUnpool: the greatest elements of windows, and where they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from operator import itemgetter
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.orders import NanInMaxMin, NanReading, below, greater_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Mask, rounded_up
from reference.readings.choices import AsReading, Choice, OutputCount
from reference.registry import reference_operator
from reference.shared.extremes import beside_nan, greatest, hangs_on_order, in_order
from reference.shared.movement import blank, read_integers
from reference.shared.windows import Ints, Windows, slide

ColumnMajor = Annotated[Choice[Literal["plane", "tensor"]], AsReading]


@dataclass(frozen=True, eq=False)
class _Elements:
    """Places of windows: their numbers, and where they are `inside`. Padding is no element."""

    numbers: Numbers
    inside: Mask

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]]) -> _Elements:
        return _Elements(self.numbers.arranged(arrange), arrange(self.inside))

    def or_greater(self, other: _Elements, nan: Choice[NanInMaxMin]) -> _Elements:
        """These, or the others where they are greater, or where these are padding."""
        greater = greater_of(self.numbers, other.numbers, nan)
        found = greater.where(self.inside & other.inside, other.numbers.where(other.inside, self.numbers))
        return _Elements(found, self.inside | other.inside)


@reference_operator("ai.onnx::MaxPool")
def max_pool(
    X: Numbers,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints = None,
    kernel_shape: tuple[int, ...],
    pads: Ints = None,
    storage_order: int = 0,
    strides: Ints = None,
    outputs: Annotated[int, OutputCount],
    nan_in_max_min: NanReading,
    column_major: ColumnMajor,
) -> tuple[Numbers | Answer, ...]:
    """The greatest element of each window and its place in X, any of equals. Source: MaxPool, Summary."""
    windows = slide(
        X.shape[2:], kernel_shape, strides=strides, pads=pads, dilations=dilations,
        auto_pad=auto_pad, ceil_mode=ceil_mode,
    )  # fmt: skip
    taken = windows.gather(X)
    nans = np.asarray((np.isnan(taken.sign) & windows.inside).any(axis=-1))
    greatest_of_row = in_order(
        _Elements(taken, windows.inside),
        taken.shape[-1],
        lambda left, right: left.or_greater(right, nan_in_max_min),
        one_by_one=hangs_on_order(nans, nan_in_max_min),
    )
    found = greatest_of_row.numbers.arranged(itemgetter((..., 0)))
    shape = (*X.shape[:2], *windows.lengths)
    output = beside_nan(found, nans, nan_in_max_min).reshape(shape)
    if outputs == 1:
        return (output,)
    tied = _may_be(taken, found) & windows.inside
    numbered = _numbered(X.shape, storage_order, column_major)
    return output, _places(numbered, windows, tied, shape)


@reference_operator("com.microsoft::NhwcMaxPool")
def max_pool_of_channels_last(
    x: Numbers,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints = None,
    kernel_shape: tuple[int, ...],
    pads: Ints = None,
    strides: Ints = None,
) -> Numbers:
    """MaxPool of integers whose channels lie last; the page has no sentence. Source: NhwcMaxPool."""
    found, *_ = max_pool(
        x.arranged(lambda each: np.moveaxis(each, -1, 1)),
        auto_pad=auto_pad, ceil_mode=ceil_mode, dilations=dilations, kernel_shape=kernel_shape, pads=pads,
        strides=strides, outputs=1, nan_in_max_min=Choice("propagates"), column_major=Choice("plane"),
    )  # fmt: skip
    assert isinstance(found, Numbers), "the first output"
    return found.arranged(lambda each: np.moveaxis(each, 1, -1))


@reference_operator("ai.onnx::GlobalMaxPool")
def global_max_pool(X: Numbers, *, nan_in_max_min: NanReading) -> Numbers:
    """The greatest of all elements of a channel. Source: GlobalMaxPool, Summary."""
    return greatest(X, tuple(range(2, X.ndim)), nan_in_max_min, keepdims=True)


@reference_operator("ai.onnx::MaxUnpool")
def max_unpool(
    X: Tensor,
    I: Tensor,  # noqa: E741 (the document's name)
    output_shape: tuple[int, ...] | None = None,
    *,
    kernel_shape: tuple[int, ...],
    pads: Ints = None,
    strides: Ints = None,
) -> Tensor:
    """Zeros with the elements of X at their indices. Source: MaxUnpool, Summary, I and output_shape."""
    rank = len(X.shape) - 2
    pads, strides = pads or (0,) * 2 * rank, strides or (1,) * rank
    shape = output_shape or (
        *X.shape[:2],
        *(
            (X.shape[at + 2] - 1) * strides[at] + kernel_shape[at] - pads[at] - pads[at + rank]
            for at in range(rank)
        ),
    )
    output = blank(X.element_type, (prod(shape),))
    output[list(read_integers(I))] = X.array.reshape(-1)
    return Tensor(X.element_type, output.reshape(shape))


def _may_be(taken: Numbers, found: Numbers) -> Mask:
    """Which elements of windows may be the greatest one: equal ones, and any beside NaN."""
    most = found.reshape((*found.shape, 1)).broadcast(taken.shape)
    apart = np.abs((most.value - taken.value).floats())
    close = taken.finite & most.finite & (apart <= rounded_up(most.error + taken.error))
    equal = ~below(taken, most) & ~below(most, taken)
    return np.asarray(close | equal | np.isnan(taken.sign).any(axis=-1, keepdims=True))


def _numbered(shape: tuple[int, ...], storage_order: int, column_major: ColumnMajor) -> NDArray[np.int64]:
    """The index of each element: the last axis runs fastest, or the first one of the plane or of all."""
    if not storage_order:
        return np.arange(prod(shape)).reshape(shape)
    if shape[0] * shape[1] > 1 and column_major.ask() == "tensor":
        return np.arange(prod(shape)).reshape(shape, order="F")
    plane = np.arange(prod(shape[2:])).reshape(shape[2:], order="F")
    first = np.arange(shape[0] * shape[1]).reshape((*shape[:2], *(1,) * (len(shape) - 2)))
    return np.asarray(first * prod(shape[2:]) + plane, dtype=np.int64)


def _places(numbered: NDArray[np.int64], windows: Windows, tied: Mask, shape: tuple[int, ...]) -> Answer:
    """The index of the first element that may be the greatest of its window, and those of the others."""
    rows = tied.reshape(-1, tied.shape[-1])
    planes = numbered.reshape(-1, prod(numbered.shape[2:]))
    every, count = np.arange(len(rows)), max(len(windows.places), 1)
    plane, window = every // count, every % count
    indices = planes[plane, windows.places[window, rows.argmax(axis=1)]].astype(np.int64)
    further: dict[int, tuple[Any, ...]] = {}
    for at in np.flatnonzero(np.count_nonzero(rows, axis=1) > 1).tolist():
        further[at] = tuple(planes[plane[at], windows.places[window[at], rows[at]]].tolist())
    return Answer(Tensor(ELEMENT_TYPES["int64"], indices.reshape(shape)), None, further or None)

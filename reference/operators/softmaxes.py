"""Softmax and LogSoftmax: exponentials along an axis, divided by their sum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.functions.functions import function_of
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.working import Mask
from reference.readings.choices import AsReading, Choice, OutputCount
from reference.registry import reference_operator
from reference.shared.extremes import greatest
from reference.sums.summation import mean_of, total, total_of_products


@dataclass(frozen=True, eq=False)
class Lanes:
    """What programs compute on the way, of the elements of lanes along the last axis."""

    given: Numbers

    @cached_property
    def apart(self) -> Numbers:
        """Each element less the greatest of its lane."""
        return self.given - self._greatest

    @cached_property
    def shares(self) -> Numbers:
        """The exponentials of that, divided by their sum."""
        return self._powers / self.summed

    @cached_property
    def summed(self) -> Numbers:
        return total(self._powers, -1, keepdims=True)

    @cached_property
    def shares_as_written(self) -> Numbers:
        """The exponentials of the elements themselves, divided by their sum; 1 where there is but one."""
        found = self._powers_as_written / total(self._powers_as_written, -1, keepdims=True)
        return self.shares if self.given.shape[-1] == 1 else found

    @cached_property
    def open(self) -> Mask:
        """Lanes of which the greatest element is infinite: no text says what comes of them."""
        return self._along(np.isinf(self._greatest.sign))

    @cached_property
    def wild(self) -> Mask:
        """Lanes of which the formula as it is written overflows, or loses digits below the normal numbers.

        So does the reciprocal of a large sum.
        """
        summed, least = total(self._powers_as_written, -1, keepdims=True), self.given.working.least_normal
        over = np.isinf(summed.sign) | summed.lost | (summed.value.floats() > 1 / least / 2)
        over &= np.isfinite(self.summed.sign)
        tiny = self.given.finite & (self._powers_as_written.value.floats() < 2 * least)
        return self._along(over) | (self._along(tiny) & (self._greatest.sign < 0))

    @cached_property
    def _greatest(self) -> Numbers:
        return greatest(self.given, -1, Choice("propagates"), keepdims=True)

    @cached_property
    def _powers(self) -> Numbers:
        return function_of("exp", self.apart)

    @cached_property
    def _powers_as_written(self) -> Numbers:
        return function_of("exp", self.given)

    def _along(self, mask: Mask) -> Mask:
        return np.asarray(np.broadcast_to(mask.any(axis=-1, keepdims=True), self.given.shape))


@reference_operator("ai.onnx::Softmax", segments=(13,))
def softmax(input: Numbers, *, axis: int | None = None, version: int) -> Numbers:
    """Exp(input) / ReduceSum(Exp(input), axis). Before 13 of a matrix, split at the axis, 1 by default.

    The greatest element of a lane may be subtracted first, and the sum as a logarithm at the end. It has to
    be where the exponentials overflow or underflow: an example prints the shares of 10000 and what follows.
    Source: Softmax, Summary, axis, Examples (softmax_axis).
    """
    if not prod(input.shape):
        return input
    lanes = Lanes(_lanes_of(input, axis, version))
    found = whichever(
        lanes.shares, lambda: function_of("exp", lanes.apart - function_of("log", lanes.summed))
    )
    found = whichever(found, lambda: lanes.shares_as_written).where(~lanes.wild, found)
    return _restored(opened(found, lanes.open) if lanes.open.any() else found, input, axis, version)


@reference_operator("ai.onnx::LogSoftmax", segments=(13,))
def logarithm_of_softmax(input: Numbers, *, axis: int | None = None, version: int) -> Numbers:
    """Log(Softmax(input, axis)): the element less the greatest one, less the logarithm of the sum.

    Programs may take the logarithm of a share that is a normal number; of one that underflows they may not,
    since the operator's function body subtracts the logarithm of the sum. Source: LogSoftmax, Summary, axis,
    Examples (logsoftmax_axis, which prints the result for 10000 and what follows it), function body.
    """
    if not prod(input.shape):
        return input
    lanes = Lanes(_lanes_of(input, axis, version))
    found = lanes.apart - function_of("log", lanes.summed)
    found = _beside_logarithms(found, lanes)
    return _restored(opened(found, lanes.open) if lanes.open.any() else found, input, axis, version)


def _beside_logarithms(found: Numbers, lanes: Lanes) -> Numbers:
    """Logarithms of shares, and what programs come to that take those of normal shares themselves."""
    small = lanes.shares.value.floats() < 2 * lanes.given.working.least_normal
    thin = np.asarray(lanes.given.finite & lanes.shares.finite & small)
    thick = whichever(found, lambda: function_of("log", lanes.shares)).where(~thin, found)
    tame = whichever(thick, lambda: function_of("log", lanes.shares_as_written))
    return tame.where(~(thin | lanes.wild), thick)


def _lanes_of(numbers: Numbers, axis: int | None, version: int) -> Numbers:
    """The lanes of a tensor along its last axis."""
    if version >= 13:
        at = -1 if axis is None else axis
        return numbers.arranged(lambda each: np.moveaxis(each, at, -1))
    at = (1 if axis is None else axis) % numbers.ndim
    return numbers.reshape((prod(numbers.shape[:at]), prod(numbers.shape[at:])))


def _restored(found: Numbers, numbers: Numbers, axis: int | None, version: int) -> Numbers:
    """Elements of lanes in the places that they were taken from."""
    if version < 13:
        return found.reshape(numbers.shape)
    at = -1 if axis is None else axis
    return found.arranged(lambda each: np.moveaxis(each, -1, at))


IgnoredInMean = Annotated[Choice[Literal["left_out", "counted"]], AsReading]


@reference_operator("ai.onnx::NegativeLogLikelihoodLoss")
def negative_log_likelihood(
    input: Numbers,
    target: Tensor,
    weight: Numbers | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
    ignored_in_mean: IgnoredInMean,
) -> Numbers:
    """-input[n][c][d] * weight[c] with c = target[n][d], 0 where that is ignored; summed up or averaged.

    Source: NegativeLogLikelihoodLoss, Summary, ignore_index, reduction.
    """
    labels = target.array.astype(np.intp)
    ignored = np.zeros(labels.shape, dtype=np.bool_) if ignore_index is None else labels == ignore_index
    classes = np.where((labels >= 0) & (labels < input.shape[1]), labels, 0)
    told = -_at_labels(input, classes).where(~ignored, 0)
    ones = Numbers.exact(np.ones(labels.shape, dtype=object), input.working)
    weights = ones if weight is None else weight.gather(classes)
    if reduction == "none":
        return told if weight is None else (told * weights).where(~ignored, 0)
    applied = weights.where(~ignored, 0)
    flat, shares = (each.reshape((labels.size,)) for each in (told, applied))
    summed = total(flat, 0) if weight is None else total_of_products(flat, shares, 0)
    if reduction == "sum":
        return summed
    if ignored.any() and ignored_in_mean.ask() == "counted":
        shares = weights.reshape((labels.size,))
    if weight is None:
        return mean_of(summed, int(np.count_nonzero(shares.value.signs())))
    return summed / total(shares, 0)


@reference_operator("ai.onnx::SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(
    scores: Numbers,
    labels: Tensor,
    weights: Numbers | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
    outputs: Annotated[int, OutputCount],
    ignored_in_mean: IgnoredInMean,
) -> tuple[Numbers, ...]:
    """The same loss of Log(Softmax(scores)) along the axis of classes, and that.

    Source: SoftmaxCrossEntropyLoss, Summary, ignore_index, reduction, log_prob.
    """
    told = logarithm_of_softmax(scores, axis=1, version=13)
    loss = negative_log_likelihood(
        told, labels, weights, ignore_index=ignore_index, reduction=reduction, ignored_in_mean=ignored_in_mean
    )
    return (loss, told)[:outputs]


def _at_labels(numbers: Numbers, classes: NDArray[np.intp]) -> Numbers:
    """The element of its class for each place beside the axis of classes."""
    flat = np.arange(prod(numbers.shape)).reshape(numbers.shape)
    places = np.take_along_axis(flat, np.expand_dims(classes, 1), axis=1)
    return numbers.gather(np.squeeze(places, axis=1))

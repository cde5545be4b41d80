"""NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: what is told of the class that a label names."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.numbers.number_arrays import Numbers
from reference.operators.softmaxes import logarithm_of_softmax
from reference.readings.choices import AsReading, Choice, OutputCount
from reference.registry import reference_operator
from reference.sums.summation import mean_of, total, total_of_products

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

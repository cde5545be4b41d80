"""SVMRegressor: what support vectors add up to, each by its kernel with the features."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.functions.functions import function_of
from reference.numbers.number_arrays import Numbers
from reference.operators.score_transforms import Probit, SoftmaxZero, transformed
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.single_precision import SINGLE, constants, in_single_precision
from reference.sums.summation import sum_of_products

OfOneClass = Annotated[Choice[Literal["side", "score"]], AsReading]
_POWER_ULPS = 2


def kernels(rows: Numbers, vectors: tuple[float, ...], kernel: str, params: tuple[float, ...]) -> Numbers:
    """For each row of features and each support vector the kernel of both.

    LINEAR: x v; POLY: (gamma x v + coef0) ** degree; RBF: exp(-gamma |x - v|^2);
    SIGMOID: tanh(gamma x v + coef0).
    """
    count, width = rows.shape
    each = constants(vectors, rows).reshape((1, len(vectors) // width, width))
    rows = rows.reshape((count, 1, width))
    if kernel == "LINEAR":
        return sum_of_products(rows, each)
    gamma, coef0 = (constants((param,), rows) for param in params[:2])
    if kernel == "RBF":
        apart = rows - each
        return function_of("exp", -(sum_of_products(apart, apart) * gamma))
    inner = sum_of_products(rows, each) * gamma + coef0
    if kernel == "SIGMOID":
        return function_of("tanh", inner)
    power = inner
    for _ in range(int(params[2]) - 1):
        power = power * inner
    return power if params[2] == 1 else power.rounded(1, exact=False, ulps=_POWER_ULPS)


@reference_operator("ai.onnx.ml::SVMRegressor")
def support_vector_regression(
    X: Numbers,
    *,
    coefficients: tuple[float, ...] = (),
    kernel_params: tuple[float, ...] = (),
    kernel_type: str = "LINEAR",
    n_supports: int = 0,
    one_class: int = 0,
    post_transform: str = "NONE",
    rho: tuple[float, ...] = (),
    support_vectors: tuple[float, ...] = (),
    of_one_class: OfOneClass,
    softmax_zero: SoftmaxZero,
    probit: Probit,
) -> Answer | Numbers:
    """The sum of the kernels, each with its coefficient, and rho; of one class its sign, as 1 or -1.

    Source: SVMRegressor, Summary, one_class.
    """
    rows = in_single_precision(X)
    found = kernels(rows, support_vectors, kernel_type, kernel_params)
    weights, added = constants(coefficients, rows), constants(rho, rows)
    scores = sum_of_products(found, weights.reshape((1, n_supports)), plus=added).reshape((-1, 1))
    if one_class and of_one_class.ask() == "side":
        return _sides(scores)
    return answer_of(transformed(scores, post_transform, softmax_zero, probit), Choice("wrap"), SINGLE)


def _sides(scores: Numbers) -> Answer:
    """1 where a score is above zero and -1 elsewhere; either where programs may differ about that."""
    value = scores.value.spread(scores.shape).floats()
    with np.errstate(invalid="ignore"):
        sure = (np.abs(value) > scores.error) | ((value == 0) & (scores.error == 0))
    sure &= scores.finite & ~scores.lost
    side = np.where(value > 0, 1, -1).astype(np.float32)
    others = {int(place): (np.float32(1), np.float32(-1)) for place in np.flatnonzero(~sure)}
    return Answer(Tensor(SINGLE, side), None, others or None)

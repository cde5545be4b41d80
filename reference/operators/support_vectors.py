"""SVMRegressor and SVMClassifier: what support vectors add up to, each by its kernel with the features."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.functions.functions import function_of
from reference.functions.powers import power_ulps
from reference.numbers.enclosures import Ball, nearest_value
from reference.numbers.number_arrays import Numbers
from reference.operators.inverses import inverted
from reference.operators.score_transforms import (
    Probit,
    SoftmaxZero,
    Ties,
    any_share,
    labelled,
    top_labels,
    transformed,
)
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
    ulps = power_ulps(power.working, _POWER_ULPS)
    return power if params[2] == 1 else power.rounded(1, exact=False, ulps=ulps)


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


TwoScores = Annotated[Choice[Literal["of_second", "of_first"]], AsReading]
LabelBy = Annotated[Choice[Literal["votes", "shares"]], AsReading]
_LEAST_SHARE = Fraction(1, 10**7)
_FAR_OFF = 40.0
_BITS = 53
_SMALLEST_SHARE = 1e-6
_STOP = 0.005
"""Programs of libsvm's kind go on until no share is off by more than this, over the number of classes."""
_MOST_STEPS = 100
_AGAIN = 2
"""A step takes a pair's share no more than so many times as far away as it is off."""


@reference_operator("ai.onnx.ml::SVMClassifier")
def support_vector_classification(
    X: Numbers,
    *,
    classlabels_ints: tuple[int, ...] | None = None,
    classlabels_strings: tuple[str, ...] | None = None,
    coefficients: tuple[float, ...] = (),
    kernel_params: tuple[float, ...] = (),
    kernel_type: str = "LINEAR",
    post_transform: str = "NONE",
    prob_a: tuple[float, ...] | None = None,
    prob_b: tuple[float, ...] | None = None,
    rho: tuple[float, ...] = (),
    support_vectors: tuple[float, ...] = (),
    vectors_per_class: tuple[int, ...] = (),
    two_scores: TwoScores,
    label_by: LabelBy,
    softmax_zero: SoftmaxZero,
    probit: Probit,
    ties: Ties,
) -> tuple[Answer, Numbers]:
    """The class that most pairs vote for, and the scores of pairs, or what they make shares of.

    Source: SVMClassifier, Summary, Outputs, prob_a, prob_b; the formula is that of libsvm.
    """
    rows, classes = in_single_precision(X), len(vectors_per_class)
    found = kernels(rows, support_vectors, kernel_type, kernel_params)
    total = sum(vectors_per_class)
    owner = np.repeat(np.arange(classes), vectors_per_class)
    pairs = list(combinations(range(classes), 2))
    line = np.array([[two - 1 if of == one else one for of in owner] for one, two in pairs])
    theirs = np.array([[of in pair for of in owner] for pair in pairs])
    chosen = constants(coefficients, rows).gather(line * total + np.arange(total)).where(theirs, 0)
    added = constants(rho, rows).reshape((1, len(pairs)))
    scores = sum_of_products(
        found.reshape((-1, 1, total)), chosen.reshape((1, len(pairs), total)), plus=added
    )
    labels: Sequence[int] | Sequence[str] = classlabels_strings or classlabels_ints or ()
    if prob_a is None or prob_b is None:
        second = np.array([[False, True]])
        if classes > 2:
            raw = scores
        elif two_scores.ask() == "of_second":
            raw = scores.where(second, -scores)
        else:
            raw = (-scores).where(second, scores)
        return _by_votes(scores, pairs, labels, ties), transformed(raw, post_transform, softmax_zero, probit)
    shares = _coupled(scores, pairs, classes, prob_a, prob_b)
    final = transformed(shares, post_transform, softmax_zero, probit)
    if post_transform == "SOFTMAX_ZERO":
        # Whether a program holds so small a share as zero hangs on when it stops.
        nearly = shares.value.spread(shares.shape).floats() - shares.error <= _SMALLEST_SHARE
        final = any_share(final, np.asarray(nearly.any(axis=-1, keepdims=True)))
    if label_by.ask() == "shares":
        return top_labels(shares, shares, labels, Choice("scores"), ties), final
    return _by_votes(scores, pairs, labels, ties), final


def _by_votes(
    scores: Numbers,
    pairs: Sequence[tuple[int, int]],
    labels: Sequence[int] | Sequence[str],
    ties: Choice[str],
) -> Answer:
    """The label of the class with most votes: a score above zero is one for the first of its pair."""
    value = scores.value.spread(scores.shape).floats()
    with np.errstate(invalid="ignore"):
        sure = (np.abs(value) > scores.error) & scores.finite & ~scores.lost
    found = []
    for row in range(scores.shape[0]):
        sides = [(0 if value[row, at] > 0 else 1,) if sure[row, at] else (1, 0) for at in range(len(pairs))]
        tops = []
        for sided in product(*sides):
            votes = np.bincount(
                [pair[side] for pair, side in zip(pairs, sided, strict=True)], minlength=len(labels)
            )
            first = np.flatnonzero(votes == votes.max()).tolist()
            tops.append(first[0 if len(first) == 1 or ties.ask() == "first" else -1])
        found.append(list(dict.fromkeys(tops)))
    return labelled(found, labels)


def _coupled(
    scores: Numbers,
    pairs: Sequence[tuple[int, int]],
    classes: int,
    slopes: Sequence[float],
    shifts: Sequence[float],
) -> Numbers:
    """Shares of the classes out of those of each pair: the least squares of Wu, Lin and Weng's second method.

    With r of a pair 1 / (1 + exp(A s + B)), those that sum to 1 and make the sum over pairs of
    (r_ji p_i - r_ij p_j)^2 least. Programs go on until a residual is small: what that leaves open is allowed.
    """
    scores.working.needs_full_functions("coupled shares are")
    value = scores.value.spread(scores.shape).floats()
    a, b = (np.array(given, np.float32).astype(np.float64) for given in (slopes, shifts))
    unit = 8 * scores.working.unit
    with np.errstate(over="ignore", invalid="ignore"):
        moved = a * value + b
        off = np.abs(a) * scores.error + unit * (1 + np.abs(a * value) + np.abs(b))
    middle, error = np.empty((len(value), classes), dtype=object), np.empty((len(value), classes))
    for row in range(len(value)):
        share, doubt = [[Fraction(0)] * classes for _ in range(classes)], unit
        for (one, two), place, apart in zip(pairs, moved[row].tolist(), off[row].tolist(), strict=True):
            share[one][two] = first = _share_of_first(place)
            share[two][one] = 1 - first
            # The slope is a fourth at most, and a share grows to e^d of itself: that is below 1 + d + d^2.
            grown = float(min(first, 1 - first)) * (1 + apart) if apart < 1 else math.inf
            doubt = max(doubt, apart * min(0.25, grown) + unit)
        middle[row], error[row] = _least_squares(share, doubt)
    return replace(Numbers.exact(middle, scores.working), error=error)


def _share_of_first(place: float) -> Fraction:
    """1 / (1 + exp(place)) to the nearest double, no nearer to 0 or 1 than programs let it be."""
    if not abs(place) < _FAR_OFF:
        return _LEAST_SHARE if place > 0 else 1 - _LEAST_SHARE
    found = nearest_value(_falling, Fraction(place), _BITS) if place else Fraction(1, 2)
    return min(max(found, _LEAST_SHARE), 1 - _LEAST_SHARE)


def _falling(number: Ball) -> Ball:
    return 1 / (1 + number.exp())


def _least_squares(share: Sequence[Sequence[Fraction]], off: float) -> tuple[list[Fraction], list[float]]:
    """The shares, and by how much those of a program may be off that goes step by step and stops early."""
    count = len(share)
    system = [[-share[other][one] * share[one][other] for other in range(count)] for one in range(count)]
    for one in range(count):
        system[one][one] = sum((share[other][one] * share[other][one] for other in range(count)), Fraction(0))
    rows = [*([*row, Fraction(1)] for row in system), [*[Fraction(1)] * count, Fraction(0)]]
    found = inverted(rows)
    assert found is not None
    inverse = found.inverse[:count]
    shares = [row[count] for row in inverse]
    residual = 4 * count * off
    # The shares of two are those of their pair, which are no farther off than these.
    weights = [float(sum(map(abs, row[:count]))) if count > 2 else off / residual for row in inverse]
    stops = list(_stops([[float(each) for each in row] for row in system], residual))
    error = [
        _AGAIN * residual * weight + max(abs(stop[one] - float(shares[one])) for stop in stops)
        for one, weight in enumerate(weights)
    ]
    return shares, error


def _stops(system: Sequence[Sequence[float]], residual: float) -> Iterator[list[float]]:
    """What is held after each step at which programs may stop: of libsvm, in its order or the other one.

    From as many equal shares on each is corrected in turn, until none has a greater residual than the stop.
    """
    count = len(system)
    for order in (range(count), range(count - 1, -1, -1)):
        held = [1 / count] * count
        for _ in range(_MOST_STEPS):
            gradient = [_product(row, held) for row in system]
            middle = _product(held, gradient)
            worst = max(abs(each - middle) for each in gradient)
            if worst < _STOP / count + residual:
                yield held
            if worst < residual / _MOST_STEPS:
                break
            for one in order:
                gradient = [_product(row, held) for row in system]
                further = (_product(held, gradient) - gradient[one]) / system[one][one]
                held = [(each + further * (place == one)) / (1 + further) for place, each in enumerate(held)]
        yield held


def _product(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(one * other for one, other in zip(left, right, strict=True))

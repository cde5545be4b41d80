"""Post transforms of scores, and the labels of the greatest ones: of linear models, trees and SVMs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import tensor
from reference.answers import Answer, OutsideDomain
from reference.functions.functions import function_of
from reference.functions.stable_formulas import logistic, whichever
from reference.numbers.enclosures import nearest_value
from reference.numbers.number_arrays import Numbers, settled
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.working import Mask, rounded_up
from reference.operators.softmaxes import softmax
from reference.readings.choices import AsReading, Choice
from reference.shared.extremes import greatest
from reference.shared.single_precision import in_single_precision
from reference.sums.summation import total

SoftmaxZero = Annotated[Choice[Literal["zeros_stay", "softmax"]], AsReading]
Probit = Annotated[Choice[Literal["approximation", "quantile"]], AsReading]
LabelOf = Annotated[Choice[Literal["scores", "transformed"]], AsReading]
Ties = Annotated[Choice[Literal["first", "last"]], AsReading]
OneScore = Annotated[Choice[Literal["complement", "opposite", "first_alone"]], AsReading]
_WINITZKI = Fraction(147, 1000)
_PROBIT_ULPS = 64
_BELOW_ONE = 1 - math.ldexp(1.0, -52)
_BELOW_ZERO = -math.ldexp(1.0, -24)
"""From there to 0 twice a share less 1, by which the formula begins, may be -1 in float, as of 0 itself."""
_BEHIND = 128
"""Scores that are so far behind the greatest one have no share that is above zero in float."""
_ROUNDINGS = 4
"""So many a share is charged where one score is all that counts, or nothing is known but that it is one."""


def transformed(scores: Numbers, transform: str, softmax_zero: Choice[str], probit: Choice[str]) -> Numbers:
    """Scores, a row for each example, as `post_transform` says. Source: post_transform."""
    if transform == "NONE":
        return scores
    # No text says in which precision: of doubles programs transform floats as well.
    single = in_single_precision(scores)
    if transform == "LOGISTIC":
        found = _either_logistic(single)
    elif transform == "SOFTMAX":
        found = _held_to_shares(softmax(single, axis=-1, version=13), single)
    elif transform == "SOFTMAX_ZERO":
        found = _softmax_of_others(single, softmax_zero)
    else:
        found = _probit(single, probit)
    if transform.startswith("SOFTMAX"):
        found = any_share(found, np.asarray(single.lost.any(axis=-1, keepdims=True)))
    return found if single is scores else replace(found, working=scores.working)


def scores_of_two(score: Numbers, transform: str, reading: str) -> tuple[Numbers, Numbers]:
    """The scores of two classes of which there is one: before the transform NONE or LOGISTIC, and behind it.

    The score is that of the second class, and the first has what is left of one, or the opposite, both of
    which a logistic function makes the same of; or it is that of the first one alone.
    """
    second = np.array([[False, True]])
    if reading == "first_alone":
        raw = score.where(~second, 0)
        return raw, _either_logistic(raw) if transform == "LOGISTIC" else raw
    opposite = score.where(second, -score)
    raw = opposite if reading == "opposite" else score.where(second, score.lift(1) - score)
    return raw, _either_logistic(opposite) if transform == "LOGISTIC" else raw


def _either_logistic(scores: Numbers) -> Numbers:
    """1 / (1 + exp(-x)), or 1 less that of the other sign, as programs do that never overflow."""
    found = logistic(scores)
    other = scores.lift(1) - logistic(abs(scores))
    return any_share(whichever(found, lambda: other.where(scores.sign < 0, found)), scores.lost)


def any_share(found: Numbers, doubtful: Mask) -> Numbers:
    """Anything from 0 to 1, or NaN, in place of shares of scores that a program may hold as infinities."""
    if not doubtful.any():
        return found
    found.working.needs_full_functions("shares of scores beyond the format are")
    half = replace(found.held(Fraction(1, 2)).broadcast(found.shape), lost=np.ones(found.shape, np.bool_))
    half = replace(half, error=np.full(found.shape, 0.5 + _ROUNDINGS * found.working.unit))
    return half.where(np.broadcast_to(doubtful, found.shape), found)


def _softmax_of_others(scores: Numbers, reading: Choice[str]) -> Numbers:
    """The softmax in which scores of zero stay zero, and no text says what a row of zeros is."""
    zero = scores.finite & (scores.value.signs() == 0) & (scores.error == 0)
    # A score that no program need hold as zero, and one may, stays zero in that one.
    perhaps = np.asarray((scores.may_be_zero() & ~zero).any(axis=-1, keepdims=True))
    if not zero.any() or reading.ask() == "softmax":
        return any_share(_held_to_shares(softmax(scores, axis=-1, version=13), scores), perhaps)
    apart = scores - greatest(scores, -1, Choice("propagates"), keepdims=True)
    powers = function_of("exp", apart).where(~zero, 0)
    none = zero.all(axis=-1, keepdims=True)
    found = powers / total(powers, -1, keepdims=True).where(~none, 1)
    found = any_share(_held_to_shares(found, scores, ~zero), perhaps)
    return opened(found, np.broadcast_to(none, scores.shape)) if none.any() else found


def _held_to_shares(found: Numbers, scores: Numbers, counted: Mask | None = None) -> Numbers:
    """Shares of scores that are far from exact: between 0 and 1, and 1 where one score is far ahead.

    `counted` are the scores that are shared out, all where it is None.
    """
    wild = ~(found.error <= 1) & scores.finite.all(axis=-1, keepdims=True)
    if not wild.any():
        return found
    found.working.needs_full_functions("shares of scores far from exact are")
    counted = np.ones(scores.shape, np.bool_) if counted is None else counted
    value = scores.value.spread(scores.shape).floats()
    with np.errstate(invalid="ignore"):  # beyond all bounds nothing is known: NaN, which nothing is behind
        low, high = (np.where(counted, value + side * scores.error, -np.inf) for side in (-1, 1))
    gone = np.max(low, axis=-1, keepdims=True) - _BEHIND >= high
    first = ~gone & (np.count_nonzero(~gone, axis=-1, keepdims=True) == 1)
    halves = np.where(first, 2, np.where(gone, 0, 1)).astype(object)
    rounded = _ROUNDINGS * found.working.unit
    none = np.where(counted, scores.shape[-1] * found.working.least, 0.0)
    error = np.where(first, rounded, np.where(gone, none, 0.5 + rounded))
    inner = replace(Numbers.exact(halves * Fraction(1, 2), found.working), error=error)
    return inner.where(wild, found)


def _probit(scores: Numbers, reading: Choice[str]) -> Numbers:
    """The quantile of the normal distribution, by Winitzki's formula where programs approximate it.

    No text says what there is of what is not above 0 and below 1. By either way that is NaN beyond these, and
    an infinity at them, or 0, which ONNX's own evaluator gives there.
    """
    value = scores.value.floats()
    low, high = value - scores.error, value + scores.error
    known = scores.finite & ~scores.lost
    inside = known & (low > 0) & (high < _BELOW_ONE)
    tame = scores.where(inside, Fraction(1, 2))
    found = _between_ends(tame, _winitzki if reading.ask() == "approximation" else _quantile)
    if inside.all():
        return found
    beyond = ~scores.lost & (~scores.finite | (high < _BELOW_ZERO) | (low > 1))
    ends = known & (scores.error == 0) & ((value == 0) | (value == 1))
    special = np.where(beyond, np.nan, np.where(ends, np.where(value > 0, np.inf, -np.inf), 0.0))
    found = settled(found.working, found.value, found.error, special, found.sign, found.lost)
    return opened(found, ~(inside | beyond | ends)).or_also(0, ends)


def _between_ends(shares: Numbers, quantile: Callable[[Numbers], Numbers]) -> Numbers:
    """A function that rises all over, of shares that are not exact: between what it is at their ends."""
    exact = replace(shares, error=np.zeros(shares.shape))
    found = quantile(exact)
    if not shares.error.any():
        return found
    middle, error = found.value.floats(), found.error
    beside = [exact + Numbers.exact(Rationals.of(side * shares.error), shares.working) for side in (-1, 1)]
    # The formula errs most beside one half.
    half = np.abs(shares.value.floats() - 0.5) <= shares.error
    for end in (*beside, exact.where(~half, Fraction(1, 2))):
        other = quantile(replace(end, error=np.zeros(shares.shape)))
        error = np.maximum(error, rounded_up(np.abs(other.value.floats() - middle) + other.error))
    return replace(found, error=error, lost=found.lost | shares.lost)


def _winitzki(shares: Numbers) -> Numbers:
    """sqrt(2) times the inverse error function of 2 p - 1, by the formula with a = 0.147."""
    apart = shares * 2 - 1
    size = (shares.lift(1) - apart) * (shares.lift(1) + apart)
    log = function_of("log", size)
    pi = Fraction(3141592653589793, 10**15)
    first = shares.held(2 / (pi * _WINITZKI)) + log * Fraction(1, 2)
    second = log * (1 / _WINITZKI)
    inner = (first * first - second).sqrt() - first
    root = replace(abs(inner), lost=inner.lost).sqrt() * Fraction(141421356, 10**8)
    half = apart.value.signs() == 0
    found = root.where(~half, 0)
    # Beside one half two numbers of nearly one size are subtracted: the root may be that of their error.
    slack = np.sqrt(inner.error) * 1.5
    found = replace(found, error=np.where(half, slack, found.error), lost=found.lost & ~half)
    return found.where(apart.sign >= 0, -found)


def _quantile(shares: Numbers) -> Numbers:
    """The quantile itself."""
    shares.working.needs_full_functions("quantiles are")
    apart = (shares * 2 - 1).value
    root = nearest_value(lambda two: two.sqrt(), Fraction(2), 320)
    values = [
        root * nearest_value(lambda each: each.erfinv(), share, 320) if share else Fraction(0)
        for share in apart.spread(shares.shape).fractions()
    ]
    exact = Numbers.exact(np.array([*values, None], dtype=object)[:-1].reshape(shares.shape), shares.working)
    return exact.rounded(1, exact=False, ulps=_PROBIT_ULPS)


def top_labels(
    scores: Numbers,
    final: Numbers,
    labels: Sequence[int] | Sequence[str],
    label_of: Choice[str],
    ties: Choice[str],
) -> Answer:
    """Of each row the label of its greatest score: of equal ones the first, or as it is read the last.

    Where the transform brings scores into another order, or what programs hold of them may be equal, it is a
    reading whether labels are those of scores before it or behind.
    """
    if not labels or scores.shape[1] != len(labels):
        raise OutsideDomain("no text says what the label of a score without one is")
    before, behind = _near_greatest(scores), _near_greatest(final)
    found = []
    for row, (raw, changed) in enumerate(zip(before, behind, strict=True)):
        places = changed if raw != changed and label_of.ask() == "transformed" else raw
        if len(places) > 1 and _are_equal(scores, row, places):
            places = [places[0 if ties.ask() == "first" else -1]]
        found.append(places)
    return labelled(found, labels)


def labelled(found: Sequence[Sequence[int]], labels: Sequence[int] | Sequence[str]) -> Answer:
    """Of each row the label of the first of some places, and those of the others as good as it."""
    chosen = [labels[places[0]] for places in found]
    others = {
        row: tuple(_stored(labels[place]) for place in places)
        for row, places in enumerate(found)
        if len(places) > 1
    }
    if isinstance(labels[0], str):
        array = np.array([*chosen, None], dtype=object)[:-1]
        return Answer(tensor(array, "string"), None, others or None)
    return Answer(tensor(np.array(chosen, np.int64), "int64"), None, others or None)


def _stored(label: int | str) -> int | bytes:
    return label.encode() if isinstance(label, str) else label


def _near_greatest(scores: Numbers) -> list[list[int]]:
    """Of each row the places of the numbers of which a program may hold the greatest."""
    value, error = scores.value.spread(scores.shape).floats(), scores.error
    with np.errstate(invalid="ignore"):
        near = value + error >= np.max(value - error, axis=-1, keepdims=True)
    open_rows = (~scores.finite | scores.lost).any(axis=-1, keepdims=True)
    return [np.flatnonzero(row).tolist() for row in near | open_rows]


def _are_equal(scores: Numbers, row: int, places: Sequence[int]) -> bool:
    """Whether scores are equal, and every program holds them as they are."""
    width = scores.shape[1]
    value = scores.value.spread(scores.shape)
    exact = not scores.error[row, places].any() and bool(scores.finite[row].all())
    return exact and len({value.fraction(row * width + place) for place in places}) == 1

"""Updates that are put into a tensor at flat places, or reduced with what is there, in any order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import itemgetter, mul
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.answers.orders import greater_of, lesser_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Working
from reference.readings.choices import AsReading, Choice
from reference.shared.movement import NegativeZeros, Subnormals, moved
from reference.sums.summation import total

Accumulation = Annotated[Choice[Literal["float32", "input"]], AsReading]
Overflow = Annotated[Choice[Literal["wrap", "saturate"]], AsReading]


@dataclass(frozen=True)
class ScatterReadings:
    """What no document says of elements that are moved, and of numbers that are reduced."""

    subnormals: Subnormals
    negative_zeros: NegativeZeros
    accumulation_type: Accumulation
    integer_overflow: Overflow


def scattered(
    data: Tensor, places: NDArray[np.intp], updates: Tensor, reduction: str, readings: ScatterReadings
) -> Answer:
    """`data` with each update at its flat place, or what the reduction makes of all that belong there."""
    if reduction == "none":
        array = data.array.copy()
        array.reshape(-1)[places.reshape(-1)] = updates.array.reshape(-1)
        return moved(Tensor(data.element_type, array), readings.subnormals, readings.negative_zeros)
    with np.errstate(over="ignore", invalid="ignore"):
        return _reduced(data, places, updates, reduction, readings)


def _reduced(
    data: Tensor, places: NDArray[np.intp], updates: Tensor, reduction: str, readings: ScatterReadings
) -> Answer:
    working = Working(data.element_type, readings.subnormals, readings.accumulation_type)
    every = Tensor(data.element_type, np.concatenate([data.array.reshape(-1), updates.array.reshape(-1)]))
    sources, inside = _by_place(data.array.size, places.reshape(-1))
    if working.is_narrow and sources.shape[1] > 1:
        # A sum that is exact in float32 may need roundings in a narrower type.
        readings.accumulation_type.ask()
    terms = Numbers.of(every, working).gather(sources)
    columns = [terms.arranged(itemgetter((slice(None), at))) for at in range(sources.shape[1])]
    if reduction == "add":
        found = total(terms.where(inside, 0), -1)
        found = columns[0].where(np.count_nonzero(inside, axis=-1) == 1, found)
    elif reduction == "mul":
        found = _product(terms.where(inside, 1), inside)
    else:
        # The element itself stands where there is no update.
        choose = greater_of if reduction == "max" else lesser_of
        found = reduce(lambda left, right: choose(left, right, Choice("propagates")), columns)
        answer = answer_of(found.reshape(data.shape), readings.integer_overflow)
        return _with_any_beside_nan(answer, terms, every.array[sources])
    return answer_of(found.reshape(data.shape), readings.integer_overflow)


def _with_any_beside_nan(answer: Answer, terms: Numbers, elements: NDArray[Any]) -> Answer:
    """With each number that NaN is among: no document orders it, nor says in which order they come."""
    further = dict(answer.alternatives or {})
    for row in np.flatnonzero(np.isnan(terms.sign).any(axis=-1)).tolist():
        further[row] = tuple(each.item() for each in elements[row])
    return replace(answer, alternatives=further or None)


def _by_place(count: int, places: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where each element and its updates are in data followed by updates, and which of these are some."""
    listed: list[list[int]] = [[place] for place in range(count)]
    for at, place in enumerate(places.tolist()):
        listed[place].append(count + at)
    width = max(map(len, listed), default=1)
    sources = np.array([each + each[:1] * (width - len(each)) for each in listed], dtype=np.intp)
    inside = np.array([[at < len(each) for at in range(width)] for each in listed], dtype=np.bool_)
    return sources.reshape(count, width), inside.reshape(count, width)


def _product(terms: Numbers, inside: NDArray[np.bool_]) -> Numbers:
    """The products of rows in any order.

    The worst is to multiply all that are below 1 first, whose product underflows most, and those above 1
    apart from them, whose product is beyond all numbers first.
    """
    below = np.abs(terms.value.floats()) < 1
    parts: list[Numbers] = []
    for chosen in (below, ~below):
        kept = terms.where(chosen & inside, 1)
        columns = [kept.arranged(itemgetter((slice(None), at))) for at in range(kept.shape[1])]
        parts.append(reduce(mul, columns))
    return parts[0] * parts[1]

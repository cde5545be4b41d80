"""How axes, padding, windows, equations, scales and zero points are misread: the changes of their kinds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import (
    CallValues,
    KindChange,
    KindSubject,
    Misreading,
    ResultChange,
    ValueChange,
    misread_as,
)
from generator.calls.variables.resizing_borders import COORDINATES, CROP

Rank = Callable[[CallValues, int], int]
"""The rank that axes count in, of a call and of how many axes there are."""
Order = Callable[[list[int], int], list[int]]


def axes_changes(name: str, rank: Rank) -> Iterator[KindChange]:
    """The changes of an attribute or input that lists axes: what belongs to them stays in its order."""
    for word, text, order in _ORDERS_OF_AXES:
        yield ValueChange(f"{name} {word}", text.format(name), _axes_ordered_by(name, rank, order))


def _axes_ordered_by(name: str, rank: Rank, order: Order) -> Callable[[CallValues], Bindings]:
    def change(given: CallValues) -> Bindings:
        axes = [int(each) for each in given.numbers(name).reshape(-1)]
        count = rank(given, len(axes))
        return {name: order(axes, count) if count else axes}

    return change


_ORDERS_OF_AXES: tuple[tuple[str, str, Order], ...] = (
    ("sorted", "{} in ascending order", lambda axes, _: sorted(axes)),
    (
        "sorted from the front",
        "{} counted from the front, then in ascending order",
        lambda axes, rank: sorted(axis % rank for axis in axes),
    ),
    ("first", "{} replaced by the first ones", lambda axes, _: list(range(len(axes)))),
    ("last", "{} replaced by the last ones", lambda axes, rank: list(range(rank - len(axes), rank))),
    ("modulo", "{} taken modulo the rank", lambda axes, rank: [axis % rank for axis in axes]),
    ("absolute", "{} without their signs", lambda axes, _: [abs(axis) for axis in axes]),
)
"""Ways to misunderstand a list of axes of a tensor with that rank."""


def padding_changes(of: str) -> Iterator[KindChange]:
    """The changes of `pads` of an input, beside which `mode` is an attribute."""
    yield from order_changes()
    yield from misread_as("pads", *_SIGNS)
    for name, text, modes, positions in _REFLECTIONS:
        yield ResultChange(f"mode {name}", text, of, _gathered_from(of, modes, positions))


def order_changes() -> Iterator[KindChange]:
    """The changes of `pads` that stay as they are, and are taken for other ends or axes."""
    yield from misread_as("pads", *_ORDERS)


def _of_pairs(order: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """A change of pads as begins and ends [2, axes]."""
    return lambda pads: order(pads.reshape(2, -1)).reshape(pads.shape)


_ORDERS: tuple[Misreading, ...] = (
    ("exchanged", "the pads of begin and end exchanged", _of_pairs(lambda pairs: pairs[::-1])),
    ("axes reversed", "the pads of the axes in reverse order", _of_pairs(lambda pairs: pairs[:, ::-1])),
    ("pairs", "the pads read as pairs of begin and end", _of_pairs(lambda pairs: pairs.reshape(-1, 2).T)),
    ("begin for both", "the begins for both ends", _of_pairs(lambda pairs: pairs[[0, 0]])),
    ("end for both", "the ends for both ends", _of_pairs(lambda pairs: pairs[[1, 1]])),
)
_SIGNS: tuple[Misreading, ...] = (
    ("no removal", "negative pads ignored", lambda pads: np.maximum(pads, 0)),
    ("absolute", "negative pads without their signs", np.abs),
    ("no addition", "positive pads ignored", lambda pads: np.minimum(pads, 0)),
)


Positions = Callable[[int, int, int], NDArray[np.int64]]
"""Of an extent and what is added at both ends: where each element of the output comes from."""


def _kept(extent: int, begin: int, end: int) -> tuple[int, int]:
    """The first element that is kept and the number of them; ValueError where none is."""
    first, count = max(0, -begin), extent - max(0, -begin) - max(0, -end)
    if count <= 0:
        raise ValueError("nothing is kept")
    return first, count


def _symmetric(extent: int, begin: int, end: int) -> NDArray[np.int64]:
    first, count = _kept(extent, begin, end)
    places = np.arange(-max(begin, 0), count + max(end, 0)) % (2 * count)
    return first + np.where(places < count, places, 2 * count - 1 - places)


def _wrapped(extent: int, begin: int, end: int) -> NDArray[np.int64]:
    first, count = _kept(extent, begin, end)
    return first + np.arange(-max(begin, 0), count + max(end, 0)) % count


_REFLECTIONS: tuple[tuple[str, str, tuple[str, ...], Positions], ...] = (
    ("symmetric", "a reflection that repeats the outermost element", ("reflect",), _symmetric),
    ("wrap", "the tensor repeated", ("reflect", "edge"), _wrapped),
)
"""What padding that mirrors or repeats is taken for, and in which modes."""


def _gathered_from(
    of: str, modes: Sequence[str], positions: Positions
) -> Callable[[CallValues], NDArray[Any]]:
    """Each axis gathered from other positions, in the modes that are named."""

    def compute(given: CallValues) -> NDArray[Any]:
        data, amounts = given.numbers(of), [int(each) for each in given.numbers("pads").reshape(-1)]
        if str(given.numbers("mode")) not in modes or given.has("axes"):
            raise ValueError("another mode, or axes that are named")
        begins, ends = amounts[: data.ndim], amounts[data.ndim :]
        sources = [positions(*each) for each in zip(data.shape, begins, ends, strict=True)]
        return data[np.ix_(*sources)] if sources else data

    return compute


def window_changes(names: Collection[str]) -> Iterator[KindChange]:
    """The changes of a window that has some of strides, dilations and pads.

    That strides, pads or dilations are ignored is a change of every optional list of an attribute.
    """
    if "pads" in names:
        yield from order_changes()
    if "strides" in names:
        yield from misread_as("strides", ("first", "the first of {} for all axes", _first_alone))
    if "strides" in names and "dilations" in names:
        yield ValueChange("strides as dilations", "strides and dilations exchanged", _exchanged)


def _exchanged(given: CallValues) -> Bindings:
    return {"strides": given.numbers("dilations"), "dilations": given.numbers("strides")}


def equation_changes(name: str) -> Iterator[KindChange]:
    """The changes of an equation of einsum."""
    for word, text, change in _EQUATIONS:
        yield ValueChange(f"{name} {word}", text, partial(_equation_changed, name, change))


def _equation_changed(name: str, change: Callable[[str], str], given: CallValues) -> Bindings:
    return {name: change(str(given.numbers(name)).replace(" ", ""))}


def _implicit(equation: str) -> str:
    return equation.partition("->")[0]


def _as_they_appear(equation: str) -> str:
    if "->" in equation:
        raise ValueError("the output is written")
    counts = Counter(each for each in equation if each.isalpha())
    once = "".join(each for each, count in counts.items() if count == 1)
    return f"{equation}->{'...' * ('...' in equation)}{once}"


def _ellipsis_last(equation: str) -> str:
    terms, arrow, output = equation.partition("->")
    before, dots, behind = output.partition("...")
    if not arrow or not dots:
        raise ValueError("no ellipsis in an output that is written")
    return f"{terms}->{before}{behind}..."


def _turned_round(equation: str) -> str:
    terms, arrow, output = equation.partition("->")
    if not arrow or "." in output:
        raise ValueError("no letters of an output alone")
    return f"{terms}->{output[::-1]}"


_EQUATIONS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("output ignored", "the output's term ignored", _implicit),
    ("order of appearance", "the letters of an unwritten output as they appear", _as_they_appear),
    ("ellipsis last", "the axes of ... behind those with letters in the output", _ellipsis_last),
    ("output turned round", "the letters of the output in reverse order", _turned_round),
)


AS_ZERO: Misreading = ("as zero", "{} taken as zero", np.zeros_like)
Array = NDArray[Any]


def _first_alone(array: Array) -> Array:
    return np.full_like(array, array.reshape(-1)[0])


def _turned(array: Array) -> Array:
    return array.reshape(-1)[::-1].reshape(array.shape)


def step_changes(tensors: Sequence[str], several: Sequence[str]) -> Iterator[KindChange]:
    """The changes of zero points of tensors that are multiplied, and of scales of those that have several."""
    for name in tensors:
        yield from misread_as(f"{name}_zero_point", AS_ZERO)
    for name in several:
        yield from _of_several(f"{name}_scale", partial(_both, f"{name}_scale", f"{name}_zero_point"))


def scale_changes(subject: KindSubject, of: str, scale: str, zero_point: str) -> Iterator[KindChange]:
    """The changes of a quantised input's scales, as far as the version has what they are about."""
    yield from misread_as(zero_point, AS_ZERO)
    if subject.has("axis"):
        yield from _of_several(scale, partial(_given_ones, scale, zero_point))
    if subject.has("axis") and subject.has("block_size"):
        text = f"{scale} in turn instead of for whole blocks"
        yield ValueChange("blocks in turn", text, partial(_in_turn, of, scale, zero_point))


def _of_several(
    scale: str, changed: Callable[[Callable[[Array], Array], CallValues], Bindings]
) -> Iterator[KindChange]:
    yield ValueChange(f"{scale} first alone", f"the first of {scale} for all", partial(changed, _first_alone))
    yield ValueChange(f"{scale} reversed", f"{scale} from the last to the first", partial(changed, _turned))


def _both(scale: str, zero_point: str, change: Callable[[Array], Array], given: CallValues) -> Bindings:
    """Scales and zero points changed; ValueError where one is for all."""
    arrays = {name: given.numbers(name) for name in (scale, zero_point)}
    if any(array.size < 2 for array in arrays.values()):
        raise ValueError("one for all")
    return {name: change(array) for name, array in arrays.items()}


def _given_ones(scale: str, zero_point: str, change: Callable[[Array], Array], given: CallValues) -> Bindings:
    """Those of scales and zero points changed that the call gives; ValueError where one is empty."""
    arrays = {name: given.numbers(name) for name in (scale, zero_point) if given.has(name)}
    if not all(array.size for array in arrays.values()):
        raise ValueError("nothing to change")
    return {name: change(array) for name, array in arrays.items()}


def _in_turn(of: str, scale: str, zero_point: str, given: CallValues) -> Bindings:
    shape, axis = given.shape(of), int(given.numbers("axis"))
    if int(given.numbers("block_size")) < 1 or len(given.shape(scale)) != len(shape):
        raise ValueError("no blocks")

    def spread(array: Array) -> Array:
        turns = np.arange(shape[axis]) % array.shape[axis]
        return np.asarray(np.take(array, turns, axis=axis))

    return {**_given_ones(scale, zero_point, spread, given), "block_size": 1}


Rule = Callable[[Fraction], int]
_NEAREST = "nearest_mode"
_DOWNSAMPLING = "ceil_downsampling"
_MOST = 1 << 12
"""Longer axes are not computed to explain something."""


def resizing_changes(subject: KindSubject) -> Iterator[KindChange]:
    """The changes of the first input's resize, as far as the version has what they are about."""
    of = subject.spec.inputs[0].name
    if subject.has("axes"):
        yield from axes_changes("axes", lambda given, _: len(given.shape(of)))
    if subject.has(_NEAREST):
        # What version 10 leaves open, and later ones do not list: runtimes keep one rule for all.
        yield ValueChange(
            f"attribute {_NEAREST}={_DOWNSAMPLING}",
            _DOWNSAMPLING,
            lambda _: {_NEAREST: _DOWNSAMPLING},
            subject=_NEAREST,
            breaks=(f"{_NEAREST}_value",),
        )
    if subject.has("roi"):
        for word, text, order in _REGIONS:
            yield ValueChange(f"roi {word}", text, _region_by(order))
    if subject.has("sizes"):
        nothing = None if subject.may_be_omitted("scales") else ()
        for word, text, rule, region in _LENGTHS:
            yield ValueChange(f"length {word}", text, _length_by(of, nothing, rule, region))


def _region_by(order: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[CallValues], Bindings]:
    def change(given: CallValues) -> Bindings:
        roi = given.numbers("roi")
        if roi.size == 0:
            raise ValueError("no region")
        return {"roi": order(roi.reshape(2, -1)).reshape(roi.shape)}

    return change


_REGIONS: tuple[tuple[str, str, Callable[[NDArray[Any]], NDArray[Any]]], ...] = (
    ("whole", "roi ignored (the whole tensor)", lambda pairs: np.zeros_like(pairs) + np.array([[0], [1]])),
    ("pairs", "roi read as pairs of start and end", lambda pairs: pairs.reshape(-1, 2).T),
    ("exchanged", "the starts and ends of roi exchanged", lambda pairs: pairs[::-1]),
)
"""Of the region as starts and ends [2, axes]."""


def _to_nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


_LENGTHS: tuple[tuple[str, str, Rule, bool], ...] = (
    ("floor", "an output length that leaves roi out", math.floor, False),
    ("ceil", "an output length rounded up", math.ceil, True),
    ("round", "an output length rounded to nearest", _to_nearest, True),
    ("ceil whole", "an output length rounded up that leaves roi out", math.ceil, False),
    ("round whole", "an output length rounded to nearest that leaves roi out", _to_nearest, False),
)
"""The rules that make a length of its exact value, with the region of a call that has one, or without."""


def _length_by(of: str, nothing: object, rule: Rule, region: bool) -> Callable[[CallValues], Bindings]:
    """`sizes` in place of `scales`, as a rule makes them; without the region, for calls that have one."""

    def change(given: CallValues) -> Bindings:
        shape = given.shape(of)
        scales = given.numbers("scales").astype(np.float64)
        axes = (
            [int(number) for number in given.numbers("axes")]
            if given.has("axes")
            else list(range(len(shape)))
        )
        if scales.size == 0 or scales.shape != (len(axes),) or given.has("sizes"):
            raise ValueError("not a scale for each axis alone")
        cropped = _cropped(given, len(axes))
        if not region and cropped is None:
            raise ValueError("no region that could be left out")
        spans = cropped if region and cropped is not None else [1.0] * len(axes)
        factors = scales.tolist()
        if not all(map(math.isfinite, [*factors, *spans])):
            raise ValueError("no finite lengths")
        lengths = [
            rule(shape[axis] * Fraction(span) * Fraction(factor))
            for axis, span, factor in zip(axes, spans, factors, strict=True)
        ]
        if not all(0 <= length <= _MOST for length in lengths):
            raise ValueError("no lengths, or longer ones than are computed")
        return {"scales": nothing, "sizes": lengths}

    return change


def _cropped(given: CallValues, count: int) -> Sequence[float] | None:
    """The part of each axis that the call's region has; None where it has none."""
    if not given.has(COORDINATES) or str(given.numbers(COORDINATES)) != CROP or not given.has("roi"):
        return None
    roi = given.numbers("roi").astype(np.float64)
    return (roi[count:] - roi[:count]).tolist() if roi.shape == (2 * count,) else None

"""How axes, padding, windows, scales and zero points are misread: the changes of kinds that have them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import CallValues, KindChange, KindSubject, ResultChange, ValueChange

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
    for word, text, order in _SIGNS:
        yield ValueChange(f"pads {word}", text, _ordered_by(order))
    for name, text, modes, positions in _REFLECTIONS:
        yield ResultChange(f"mode {name}", text, of, _gathered_from(of, modes, positions))


def order_changes() -> Iterator[KindChange]:
    """The changes of `pads` that stay as they are, and are taken for other ends or axes."""
    for word, text, order in _ORDERS:
        yield ValueChange(f"pads {word}", text, _ordered_by(order))


def _ordered_by(order: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[CallValues], Bindings]:
    def change(given: CallValues) -> Bindings:
        pads = given.numbers("pads")
        return {"pads": order(pads.reshape(2, -1)).reshape(pads.shape)}

    return change


_ORDERS: tuple[tuple[str, str, Callable[[NDArray[Any]], NDArray[Any]]], ...] = (
    ("exchanged", "the pads of begin and end exchanged", lambda pairs: pairs[::-1]),
    ("axes reversed", "the pads of the axes in reverse order", lambda pairs: pairs[:, ::-1]),
    ("pairs", "the pads read as pairs of begin and end", lambda pairs: pairs.reshape(-1, 2).T),
    ("begin for both", "the begins for both ends", lambda pairs: pairs[[0, 0]]),
    ("end for both", "the ends for both ends", lambda pairs: pairs[[1, 1]]),
)
_SIGNS: tuple[tuple[str, str, Callable[[NDArray[Any]], NDArray[Any]]], ...] = (
    ("no removal", "negative pads ignored", lambda pairs: np.maximum(pairs, 0)),
    ("absolute", "negative pads without their signs", np.abs),
    ("no addition", "positive pads ignored", lambda pairs: np.minimum(pairs, 0)),
)
"""Of the pads as begins and ends [2, axes]."""


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
    """The changes of a window that has some of strides, dilations and pads."""
    if "pads" in names:
        yield from order_changes()
    if "strides" in names:
        yield ValueChange("strides first", "the first of strides for all axes", _first_stride)
    if "strides" in names and "dilations" in names:
        yield ValueChange("strides as dilations", "strides and dilations exchanged", _exchanged)


def _first_stride(given: CallValues) -> Bindings:
    strides = given.numbers("strides")
    return {"strides": np.full_like(strides, strides[0])}


def _exchanged(given: CallValues) -> Bindings:
    return {"strides": given.numbers("dilations"), "dilations": given.numbers("strides")}


Reading = Callable[[CallValues], Bindings]


def step_changes(tensors: Sequence[str], several: Sequence[str]) -> Iterator[KindChange]:
    """The changes of zero points of tensors, and of scales of those that may have several."""
    for name in tensors:
        yield ValueChange(f"{name}_zero_point as zero", f"{name}_zero_point taken as zero", _without(name))
    for name in several:
        yield ValueChange(f"{name}_scale first alone", f"the first of {name}_scale for all", _first(name))
        yield ValueChange(
            f"{name}_scale reversed", f"{name}_scale from the last to the first", _reversed(name)
        )


def _without(name: str) -> Reading:
    def changed(given: CallValues) -> Bindings:
        return {f"{name}_zero_point": np.zeros_like(given.numbers(f"{name}_zero_point"))}

    return changed


def _first(name: str) -> Reading:
    def changed(given: CallValues) -> Bindings:
        return {each: np.full_like(array, array.reshape(-1)[0]) for each, array in _both(name, given)}

    return changed


def _reversed(name: str) -> Reading:
    def changed(given: CallValues) -> Bindings:
        return {each: array.reshape(-1)[::-1].reshape(array.shape) for each, array in _both(name, given)}

    return changed


def _both(name: str, given: CallValues) -> Iterator[tuple[str, NDArray[Any]]]:
    for part in ("scale", "zero_point"):
        array = given.numbers(f"{name}_{part}")
        if array.size < 2:
            raise ValueError("one for all")
        yield f"{name}_{part}", array


Change = Callable[[NDArray[np.generic]], NDArray[np.generic]]


def scale_changes(subject: KindSubject, of: str, scale: str, zero_point: str) -> Iterator[KindChange]:
    """The changes of a quantised input's scales, as far as the version has what they are about."""

    def without_zero_point(given: CallValues) -> Bindings:
        return {zero_point: np.zeros_like(_given(given, zero_point))}

    yield ValueChange(f"{zero_point} as zero", f"{zero_point} taken as zero", without_zero_point)
    if not subject.has("axis"):
        return

    def first_alone(given: CallValues) -> Bindings:
        return _each(given, (scale, zero_point), lambda array: np.full_like(array, array.reshape(-1)[0]))

    def reversed_scales(given: CallValues) -> Bindings:
        return _each(given, (scale, zero_point), lambda array: array.reshape(-1)[::-1].reshape(array.shape))

    yield ValueChange(f"{scale} first alone", f"the first of {scale} for all", first_alone)
    yield ValueChange(f"{scale} reversed", f"{scale} from the last to the first", reversed_scales)
    if not subject.has("block_size"):
        return

    def in_turn(given: CallValues) -> Bindings:
        shape, axis = given.shape(of), int(given.numbers("axis"))
        size = int(given.numbers("block_size"))
        if size < 1 or len(given.shape(scale)) != len(shape):
            raise ValueError("no blocks")

        def spread(array: NDArray[np.generic]) -> NDArray[np.generic]:
            turns = np.arange(shape[axis]) % array.shape[axis]
            return np.asarray(np.take(array, turns, axis=axis))

        return {**_each(given, (scale, zero_point), spread), "block_size": 1}

    yield ValueChange("blocks in turn", f"{scale} in turn instead of for whole blocks", in_turn)


def _given(given: CallValues, name: str) -> NDArray[np.generic]:
    if not given.has(name):
        raise ValueError(f"{name} is left out")
    found: NDArray[np.generic] = given.numbers(name)
    if not found.size:
        raise ValueError(f"{name} is empty")
    return found


def _each(given: CallValues, names: tuple[str, ...], change: Change) -> Bindings:
    return {name: change(_given(given, name)) for name in names if given.has(name)}

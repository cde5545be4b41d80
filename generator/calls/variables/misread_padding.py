"""How padding is misread: its amounts in another order or sign, another reflection of what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import CallValues, KindChange, ResultChange, ValueChange


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

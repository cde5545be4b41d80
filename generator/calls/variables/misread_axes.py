"""How a list of axes is misread: in another order, counted otherwise, or as others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import CallValues, KindChange, ValueChange

Rank = Callable[[CallValues, int], int]
"""The rank that axes count in, of a call and of how many axes there are."""
Order = Callable[[list[int], int], list[int]]


def axes_changes(name: str, rank: Rank) -> Iterator[KindChange]:
    """The changes of an attribute or input that lists axes: what belongs to them stays in its order."""
    for word, text, order in _ORDERS:
        yield ValueChange(f"{name} {word}", text.format(name), _ordered_by(name, rank, order))


def _ordered_by(name: str, rank: Rank, order: Order) -> Callable[[CallValues], Bindings]:
    def change(given: CallValues) -> Bindings:
        axes = [int(each) for each in given.numbers(name).reshape(-1)]
        count = rank(given, len(axes))
        return {name: order(axes, count) if count else axes}

    return change


_ORDERS: tuple[tuple[str, str, Order], ...] = (
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

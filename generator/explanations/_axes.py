"""Ways to misunderstand a list of axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from generator.calls import Call
from generator.changes.change import Change, Changed
from opcert.vocabulary.attributes import Attribute
from specs.model import Spec

Order = Callable[[tuple[int, ...], int], list[int]]

_ORDERS: tuple[tuple[str, str, Order], ...] = (
    ("sorted", "axes in ascending order", lambda axes, _: sorted(axes)),
    (
        "sorted from the front",
        "axes counted from the front, then in ascending order",
        lambda axes, rank: sorted(axis % rank for axis in axes),
    ),
    ("first", "axes replaced by the first ones", lambda axes, _: list(range(len(axes)))),
    ("last", "axes replaced by the last ones", lambda axes, rank: list(range(rank - len(axes), rank))),
    ("modulo", "axes taken modulo the rank", lambda axes, rank: [axis % rank for axis in axes]),
    (
        "absolute",
        "axes without their signs",
        lambda axes, _: [abs(axis) for axis in axes],
    ),
)


def axes_changes() -> Iterator[Change]:
    """The entries that belong to `axes` stay in their order, while the axes are taken in another one."""
    for word, text, order in _ORDERS:
        yield _reorder(word, text, order)


def _reorder(word: str, text: str, order: Order) -> Change:
    def apply(_spec: Spec, call: Call) -> Changed | None:
        given, first = call.attributes.get("axes"), call.inputs[0][1]
        if given is None or first is None or not isinstance(given.value, tuple) or not first.shape:
            return None
        axes = tuple(int(each) for each in given.numbers)
        made = tuple(order(axes, len(first.shape)))
        return None if made == axes else Changed(call.with_attribute("axes", Attribute("ints", made)))

    return Change(f"axes {word}", text, apply)

"""Ways to misunderstand a list of axes."""

from __future__ import annotations

from collections.abc import Iterator

from generator.calls import Call
from generator.changes.change import Change, Changed
from generator.kinds.axes import ORDERS, Order
from opcert.vocabulary.attributes import Attribute
from specs.model import Spec


def axes_changes() -> Iterator[Change]:
    """The entries that belong to `axes` stay in their order, while the axes are taken in another one."""
    for word, text, order in ORDERS:
        yield _reorder(word, text.format("axes"), order)


def _reorder(word: str, text: str, order: Order) -> Change:
    def apply(_spec: Spec, call: Call) -> Changed | None:
        given, first = call.attributes.get("axes"), call.inputs[0][1]
        if given is None or first is None or not isinstance(given.value, tuple) or not first.shape:
            return None
        axes = tuple(int(each) for each in given.numbers)
        made = tuple(order(list(axes), len(first.shape)))
        return None if made == axes else Changed(call.with_attribute("axes", Attribute("ints", made)))

    return Change(f"axes {word}", text, apply)

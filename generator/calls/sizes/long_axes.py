"""Axes that are scanned, sorted, gathered or summed over, and orders of axes, at lengths around blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from generator.calls.kinds.axes import Axes
from generator.calls.kinds.axis import Axis
from generator.calls.kinds.permutation import Permutation
from generator.calls.sizes.plan import SizePlan, by, extents
from generator.calls.sizes.roles import Roles, sizes_of
from generator.calls.solver.partial import Bindings
from generator.calls.space.space import CallSpace
from generator.calls.variables.kind import Kind

_SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((5, 33), 1),
    ((64, 3), 0),
    ((2, 65, 3), 1),
    ((3, 129), 1),
    ((1000, 2), 0),
)
"""Shapes, and which of their axes the operator goes along: the last, the first, one between others."""
_GATHERED = (17,)
"""The shape of a list of places beside them."""
_SEVERAL: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (((4, 17, 5), (0, 2)), ((17, 33), (0, 1)))
_ORDERS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((33, 65), (1, 0)),
    ((2, 48, 33), (0, 2, 1)),
    ((40, 3, 33), (2, 1, 0)),
    ((2, 33, 5, 32), (0, 2, 1, 3)),
    ((1, 17, 64, 2), (0, 3, 1, 2)),
    ((2, 3, 2, 2, 1, 3, 2, 2), (7, 0, 5, 2, 1, 3, 6, 4)),
)
"""Shapes and orders: two long axes exchanged, one of them no multiple of a block; blocks moved as wholes."""


def axis_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Each shape with the operator going along one of its axes; of a list of axes along several."""
    kind = roles.axis
    if kind is None or not roles.packs or not _goes_along(kind):
        return
    pack = roles.packs[0]
    sizes = sizes_of(space)
    told = sizes.lengths.get(pack, ())
    for place, (shape, axis) in enumerate(_SHAPES):
        lengths = list(shape)
        if told:
            lengths[axis] = told[place % len(told)]
        listed = isinstance(kind, Axes)
        plan = _plan(f"scanned_{lengths[axis]}_of", pack, lengths, kind, [axis] if listed else axis, roles)
        yield replace(plan, asked=pack if told else None)
    for shape, axes in _SEVERAL if isinstance(kind, Axes) else ():
        yield _plan("scanned_of", pack, shape, kind, list(axes))


def _goes_along(kind: Kind) -> bool:
    """Whether the axes are of an input, and any of them: not those of length one, or of a result."""
    if isinstance(kind, Axes):
        return not kind.says(kind.unit) and not kind.says(kind.adds)
    return isinstance(kind, Axis) and kind.extra is None


def _plan(
    word: str, pack: str, shape: Sequence[int], kind: Kind, value: object, roles: Roles | None = None
) -> SizePlan:
    fixed: dict[str, Bindings] = extents({pack: list(shape)})
    for other in roles.packs[1:] if roles is not None else ():
        fixed |= extents({other: _GATHERED})
    return SizePlan(f"{word}_{by(shape)}", fixed | {f"kind:{kind.name}": {kind.name: value}})


def order_plans(roles: Roles) -> Iterator[SizePlan]:
    """Orders of long axes."""
    kind = roles.order
    if isinstance(kind, Permutation) and roles.packs:
        for shape, order in _ORDERS:
            word = f"order_{''.join(map(str, order))}_of"
            yield _plan(word, roles.packs[0], shape, kind, list(order))

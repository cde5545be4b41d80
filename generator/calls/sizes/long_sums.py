"""Products whose sums run over long axes, beside tiles of the result and batches of several lengths."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from generator.calls.sizes.plan import SizePlan, by, extents
from generator.calls.sizes.roles import Roles, in_float, sizes_of
from generator.calls.solver.partial import OMITTED
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import Level

_TABLE: tuple[tuple[int, tuple[int, int], tuple[int, ...]], ...] = (
    (8, (64, 64), ()),
    (16, (16, 48), ()),
    (17, (33, 65), ()),
    (31, (5, 17), (17,)),
    (64, (1, 33), (3,)),
    (65, (16, 48), ()),
    (255, (65, 1), ()),
    (256, (5, 17), (3,)),
    (257, (33, 17), ()),
    (1000, (1, 5), (2,)),
    (1025, (5, 3), (1,)),
)
"""The length of the axis that is summed over, two sides of the result, and the lengths of a batch."""
_BESIDE = (3, 17, 5, 9)
"""Lengths of other axes that are summed over."""
_BROADCAST: tuple[Level, ...] = ("same", "first", "last", "fewer_axes")
_ALONE: tuple[int, tuple[int, int]] = (65, (33, 2))
"""Length and sides where one mechanism is on: one step beyond blocks on either side."""
_NO_MECHANISMS = (DATA, "extents", "rank_", "type_", "form_", "output_")
_MOST_TERMS = 150_000
_MOST_OF_STEPS = 20_000
"""Terms where they are summed anew step by step, in functions that are worked out to many digits."""


def product_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Each length for an axis that is summed over; where there are several such axes, in turn."""
    told = sizes_of(space)
    for place, (length, sides, batch) in enumerate(_TABLE):
        name = roles.inner[place % len(roles.inner)]
        if name not in told.lengths:
            yield from _fitting(space, roles, name, length, sides, batch, place)
    for name in roles.inner:
        for place, length in enumerate(told.lengths.get(name, ())):
            _, sides, batch = _TABLE[(2 * place + 3) % len(_TABLE)]
            yield from _fitting(space, roles, name, length, sides, batch, place, asked=name)


def lone_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Of functions that sum more than once: each level of each mechanism at one size, all others left out."""
    if len(roles.inner) < 2:
        return
    name, (length, sides) = roles.inner[-1], _ALONE
    length = max(sizes_of(space).lengths.get(name, (length,)))
    base = _plan(roles, name, length, sides, (1,) if roles.outer else (3,), 0, None)
    rare = space.spec.declared.rare if space.spec.declared is not None else {}
    for factor, levels in space.factors.items():
        if not factor.startswith(_NO_MECHANISMS):
            own = extents(dict.fromkeys(_of_one_input(space, factor), length))
            for level in levels:
                if level not in (OMITTED, 0, *rare.get(factor, ())):
                    asked = {**in_float(space), factor: level}
                    word = f"alone_{factor}_{level}_{base.word}"
                    yield SizePlan(word, {**base.fixed, **own}, asked, alone=True)


def _of_one_input(space: CallSpace, name: str) -> set[str]:
    """The extents that an input has and no other."""
    names = {given: shape.names for given, shape in space.spec.shapes.items()}
    others = frozenset[str]().union(*(found for given, found in names.items() if given != name))
    return {extent for extent in space.spec.extents if extent in names.get(name, ()) and extent not in others}


def _fitting(
    space: CallSpace,
    roles: Roles,
    name: str,
    length: int,
    sides: tuple[int, int],
    batch: tuple[int, ...],
    place: int,
    asked: str | None = None,
) -> Iterator[SizePlan]:
    """The plan, with shorter sides and batches where it would come to too many products."""
    recurrent = space.spec.declared is not None and len(roles.inner) > 1
    most = _MOST_OF_STEPS if recurrent else _MOST_TERMS
    for pair, several in ((sides, batch), ((5, 3), batch), ((3, 2), (2,) if batch else ())):
        plan = _plan(roles, name, length, pair, several, place, asked)
        lengths = [each for found in plan.fixed.values() for each in found.values()]
        if prod(prod(each) if isinstance(each, list) else int(each) for each in lengths) <= most:
            yield plan
            return


def _plan(
    roles: Roles,
    name: str,
    length: int,
    sides: tuple[int, ...],
    batch: tuple[int, ...],
    place: int,
    asked: str | None,
) -> SizePlan:
    fixed: dict[str, int | list[int]] = {name: length}
    for at, other in enumerate(each for each in roles.inner if each != name):
        fixed[other] = _BESIDE[(place + at) % len(_BESIDE)]
    word = f"inner_{length}" if len(roles.inner) == 1 else f"inner_{name}_{length}"
    outer = roles.outer[-2:]
    if outer:
        own = sides[-len(outer) :]
        fixed |= dict(zip(outer, own, strict=True))
        word += f"_outer_{by(own)}"
    levels: dict[str, Level] = {}
    packs = [pack for pack in roles.packs if pack in roles.broadcast]
    if packs:
        fixed[packs[0]] = list(batch)
        levels = {f"rank_{packs[0]}": len(batch), "broadcast": "same"}
        if prod(batch) > 1:
            levels["broadcast"] = _BROADCAST[place % len(_BROADCAST)]
    fixed |= {pack: [2] for pack in roles.packs if pack not in roles.broadcast}
    if not packs and roles.batch and batch:
        fixed[roles.batch[0]] = prod(batch)
    if batch and (packs or roles.batch):
        word += f"_batch_{by(batch)}"
    return SizePlan(word, extents(fixed), levels, asked, along=name)

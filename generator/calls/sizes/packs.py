"""Tensors of many axes, and of long ones, where an operator goes along none of them in particular."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from generator.calls.sizes.plan import RANKS, SizePlan, by, extents
from generator.calls.sizes.roles import Roles, sizes_of
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import Level

_OF_RANK: Mapping[int, tuple[int, ...]] = {
    1: (5,),
    2: (3, 5),
    3: (3, 2, 4),
    4: (2, 3, 2, 4),
    5: (2, 3, 4, 2, 3),
    6: (3, 2, 2, 1, 2, 3),
    8: (2, 1, 3, 1, 2, 1, 1, 3),
}
"""Extents of packs of so many axes: few elements in all."""
_BROADCAST: tuple[Level, ...] = ("mutual", "fewer_axes", "last", "first")
_LONG: tuple[tuple[tuple[int, ...], Level], ...] = (
    ((17, 33), "last"),
    ((33, 17), "first"),
    ((3, 5, 65), "fewer_axes"),
    ((33, 5, 17), "mutual"),
)
"""Shapes that several inputs come to, and how they differ on the way."""
_MOVED = ((33, 65), (3, 40, 17))
_NONFINITE = "nonfinite"
_SPECIALS = (6, 37)
"""Rows of two vectors of 16 elements and a rest."""
_CHANNELS = ((17, (5, 13)), (33, (65,)), (5, (257,)), (4, (16, 17)), (64, (1, 3)))
"""Channels, and the extents behind them."""
_SIDES = ((17, 9), (5, 33))
_OTHERS = 2
"""The length of extents beside them."""


def pack_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Every rank that the text leaves, broadcasting over it; long axes, channels and sides."""
    yield from _ranks(space, roles)
    if roles.window is not None or roles.inner:
        return
    if roles.packs and _NONFINITE in space.factors.get(DATA, ()) and not _beside(space, roles.packs[0]):
        levels = _in_float(space)
        levels |= {"broadcast": "same"} if roles.packs[0] in roles.broadcast else {}
        word = f"specials_in_{by(_SPECIALS)}"
        yield SizePlan(word, extents({roles.packs[0]: _SPECIALS}), levels, specials=True)
    if roles.packs and roles.packs[0] in roles.broadcast:
        for shape, how in _LONG:
            word = f"extents_{by(shape)}_{how}"
            yield SizePlan(word, extents({roles.packs[0]: shape}), {"broadcast": how})
    elif roles.packs and (roles.channels or roles.outer):
        channels = (roles.channels or roles.outer)[-1]
        for length, shape in _CHANNELS:
            word = f"channels_{length}_extents_{by(shape)}"
            beside = dict.fromkeys((*roles.outer, *roles.batch), _OTHERS)
            yield SizePlan(word, extents({**beside, channels: length, roles.packs[0]: shape}))
    elif roles.packs and roles.axis is None and roles.order is None and not _is_elementwise(space):
        for shape in _MOVED:
            yield SizePlan(f"extents_{by(shape)}", extents({roles.packs[0]: shape}))
    elif not roles.packs and roles.outer:
        sides = roles.outer[-2:]
        for shape in _SIDES:
            word = f"outer_{by(shape[: len(sides)])}"
            beside = dict.fromkeys(roles.outer, _OTHERS)
            yield SizePlan(word, extents({**beside, **dict(zip(sides, shape, strict=False))}))


def _ranks(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Tensors of five, six and eight axes in all, of the first pack; of others of five."""
    told = sizes_of(space)
    packs = (
        [] if roles.window is not None else [each for each in roles.packs if f"rank_{each}" in space.factors]
    )
    for at, pack in enumerate(packs):
        beside = _beside(space, pack)
        for place, rank in enumerate(RANKS if at == 0 else RANKS[:1]):
            shape = _OF_RANK.get(rank - beside)
            if shape is None or (told.rank is not None and rank > told.rank):
                continue
            levels = _in_float(space)
            if pack in roles.broadcast:
                levels["broadcast"] = _BROADCAST[place]
            word = f"rank_{rank}" if at == 0 else f"rank_{rank}_of_{pack}"
            yield SizePlan(word, extents({pack: shape}), levels)


def _in_float(space: CallSpace) -> dict[str, Level]:
    """Float for each type variable that may be it: what a type alone makes wrong, other cases tell."""
    return {each: "float" for each in space.types if "float" in space.factors[each]}


def _beside(space: CallSpace, pack: str) -> int:
    """How many axes there are beside a pack, in the shape that has the most."""
    found = [
        sum(pack not in part.starred for part in parts)
        for shape in space.spec.shapes.values()
        for _, parts in shape.alternatives
        if any(pack in part.starred for part in parts)
    ]
    return max(found, default=0)


def _is_elementwise(space: CallSpace) -> bool:
    """Whether what comes out has the shape of what goes in, element by element."""
    texts = {each.text for each in space.spec.results.values()}
    return texts == {"*S"} and not space.covered & {each.name for each in space.spec.inputs}

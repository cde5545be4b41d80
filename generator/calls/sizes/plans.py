"""The plans of an operator version, by what its extents are to a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from generator.calls.sizes.kernel_plans import lone_plans, narrow_plans, product_plans, window_plans
from generator.calls.sizes.plan import COUNTS, RANKS, SizePlan, by, extents
from generator.calls.sizes.roles import Roles, in_float, sizes_of
from generator.calls.sizes.sized_calls import types_in_turn
from generator.calls.solver.partial import Bindings
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import Kind, Level

_OF_RANK: Mapping[int, tuple[int, ...]] = {
    1: (5,),
    2: (3, 5),
    3: (3, 2, 4),
    4: (2, 3, 2, 4),
    5: (2, 3, 4, 2, 3),
    6: (3, 2, 2, 1, 2, 3),
    7: (2, 3, 1, 2, 2, 1, 3),
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
        levels = in_float(space)
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
        [] if roles.window is not None else [pack for pack in roles.packs if f"rank_{pack}" in space.factors]
    )
    for at, pack in enumerate(packs):
        beside = _beside(space, pack)
        for place, rank in enumerate(RANKS if at == 0 else RANKS[:1]):
            shape = _OF_RANK.get(rank - beside)
            if shape is None or (told.rank is not None and rank > told.rank):
                continue
            levels = in_float(space)
            if pack in roles.broadcast:
                levels["broadcast"] = _BROADCAST[place]
            word = f"rank_{rank}" if at == 0 else f"rank_{rank}_of_{pack}"
            yield SizePlan(word, extents({pack: shape}), levels)


def _beside(space: CallSpace, pack: str) -> int:
    """How many axes there are beside a pack, at most, in the first input that has it."""
    for shape in space.spec.shapes.values():
        found = [
            sum(pack not in part.starred for part in parts)
            for _, parts in shape.alternatives
            if any(pack in part.starred for part in parts)
        ]
        if found:
            return max(found)
    return 0


def _is_elementwise(space: CallSpace) -> bool:
    """Whether what comes out has the shape of what goes in, element by element."""
    texts = {result.text for result in space.spec.results.values()}
    return texts == {"*S"} and not space.covered & {parameter.name for parameter in space.spec.inputs}


_SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((5, 33), 1),
    ((64, 3), 0),
    ((2, 65, 3), 1),
    ((3, 129), 1),
    ((1000, 2), 0),
)
"""Shapes, and which of their axes the operator goes along: the last, the first, one between others."""
_BETWEEN: tuple[tuple[tuple[int, ...], int], ...] = (
    ((33, 5, 2), 0),
    ((3, 64, 2), 1),
    ((65, 2, 3), 0),
    ((2, 129, 3), -2),
)
"""The first axis and one between others of three, one of them counted from the back."""
_TALL: tuple[tuple[tuple[int, ...], int], ...] = (
    ((2, 3, 4, 2, 5), 4),
    ((3, 2, 4, 1, 2, 3), 2),
    ((2, 1, 3, 2, 1, 2, 1, 3), 5),
)
"""An axis behind and between those of a tensor of many."""
_GATHERED = (17,)
"""The shape of a list of places beside them."""
_FOLDED = 4
"""What has more axes, kernels bring to so many."""
_SHORT = 5
"""Axes of no more elements are asked for by their place alone."""
_SEVERAL: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (((4, 17, 5), (0, 2)), ((17, 33), (0, 1)))
_ORDERS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((33, 65), (1, 0)),
    ((2, 48, 33), (0, 2, 1)),
    ((40, 3, 33), (2, 1, 0)),
    ((2, 33, 5, 32), (0, 2, 1, 3)),
    ((1, 17, 64, 2), (0, 3, 1, 2)),
    ((2, 3, 2, 2, 1, 3, 2, 2), (7, 0, 5, 2, 1, 3, 6, 4)),
    ((1, 33, 1, 5), (1, 0, 3, 2)),
    ((5, 1, 1, 17), (2, 0, 3, 1)),
)
"""Shapes and orders: two long axes exchanged, one of them no multiple of a block; blocks and ones moved."""


def axis_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Each shape with the operator going along one of its axes; of a list of axes along several."""
    kind = roles.axis
    if kind is None or not roles.packs or not kind.any_of_input:
        return
    pack = roles.packs[0]
    sizes = sizes_of(space)
    told = sizes.lengths.get(pack, ())
    for place, (shape, axis) in enumerate(_SHAPES):
        lengths = list(shape)
        if told:
            lengths[axis] = told[place % len(told)]
        value = [axis] if kind.several else axis
        plan = _plan(f"scanned_{lengths[axis]}_of", pack, lengths, kind, value, roles)
        yield replace(plan, asked=pack if told else None)
    for shape, axes in _SEVERAL if kind.several else ():
        yield _plan("scanned_of", pack, shape, kind, list(axes))


def _further_axis_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """First axes and those between others, of three and of many axes, in float."""
    kind = roles.axis
    if kind is None or not roles.packs or not kind.any_of_input:
        return
    pack, told = roles.packs[0], sizes_of(space)
    for shape, axis in _TALL if pack in told.lengths else (*_BETWEEN, *_TALL):
        length = shape[axis]
        if told.rank is not None and len(shape) > told.rank:
            continue
        value = [axis] if kind.several else axis
        word = f"scanned_{length}_of" if length > _SHORT else f"rank_{len(shape)}_along_{axis}_of"
        plan = _plan(word, pack, shape, kind, value, roles)
        yield replace(plan, levels={**in_float(space), **(_shorter(space) if len(shape) > _FOLDED else {})})


def _shorter(space: CallSpace) -> dict[str, Level]:
    """Fewer elements along each axis for inputs that may have fewer: axes folded into one differ then."""
    return {
        name: "shorter"
        for name, levels in space.factors.items()
        if name.startswith("form_") and "shorter" in levels
    }


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
    if kind is not None and roles.packs:
        for shape, order in _ORDERS:
            word = f"order_{''.join(map(str, order))}_of"
            yield _plan(word, roles.packs[0], shape, kind, list(order))


_JOINED: tuple[tuple[int, int, tuple[int, ...]], ...] = ((5, 1, (3, 17)), (9, 0, (5, 33)), (17, 1, (2, 3, 5)))
"""How many tensors, the axis along which they are joined, and the shape of the first."""
_EQUATIONS: tuple[tuple[str, str, tuple[tuple[int, ...], ...]], ...] = (
    ("inner_257_outer_5x17", "ij,jk->ik", ((5, 257), (257, 17))),
    ("inner_64_outer_33x65_turned", "ji,kj->ik", ((64, 33), (65, 64))),
    ("inner_1025", "i,i->", ((1025,), (1025,))),
    ("inner_65_batch_17", "bij,bkj->bik", ((17, 3, 65), (17, 5, 65))),
    ("inner_17x16_outer_5x33", "aij,jib->ab", ((5, 17, 16), (16, 17, 33))),
    ("order_of_33x65", "ij->ji", ((33, 65),)),
    ("summed_33_turned", "ijk->ki", ((5, 33, 17),)),
    ("three_with_one_alone", "ij,jk,l->il", ((5, 33), (33, 2), (17,))),
    ("rank_5", "abcde,ebx->axcd", ((2, 3, 2, 3, 4), (4, 3, 5))),
)
"""Equations with operands that are long, turned, and summed over several axes."""


def join_plans(space: CallSpace) -> Iterator[SizePlan]:
    """So many tensors for each variadic input; equations of einsum."""
    for kind in space.kinds:
        if (along := kind.joined_along) is not None:
            for count, axis, shape in _JOINED:
                shapes = [_longer(shape, axis, place % 3) for place in range(count)]
                bindings = {f"shapes:{kind.name}": shapes, along.text: axis}
                yield SizePlan(f"tensors_{count}_of_{by(shape)}", {f"kind:{kind.name}": bindings})
            for rank in (5, 8):
                shapes = [(*(2, 1, 3, 2, 2, 1, 2)[: rank - 1], length) for length in (3, 1, 2)]
                bindings = {f"shapes:{kind.name}": shapes, along.text: rank - 1}
                yield SizePlan(f"rank_{rank}", {f"kind:{kind.name}": bindings})
        if (equations := kind.summed_by) is not None:
            for word, equation, operands in _EQUATIONS:
                bindings = {equations.text: equation, f"shapes:{kind.name}": list(operands)}
                yield SizePlan(word, {f"kind:{kind.name}": bindings})
    for parameter in space.spec.inputs:
        counted = f"{parameter.name}_count"
        if parameter.option == "variadic" and counted in space.factors:
            if any(f"shapes:{parameter.name}" in kind.binds for kind in space.kinds):
                continue
            for count in COUNTS:
                yield SizePlan(f"tensors_{count}", {}, {counted: count})


def _longer(shape: tuple[int, ...], axis: int, more: int) -> tuple[int, ...]:
    """The shape, with an axis that is longer."""
    return tuple(extent + more * (at == axis) for at, extent in enumerate(shape))


def plans_of(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Every plan, or as many as the declaration says, spread over all; some of them no call has.

    Long axes, windows, orders and joined tensors that come in another type for their place come in float too.
    """
    told = sizes_of(space)
    of_packs = list(pack_plans(space, roles))
    plans = [*_long_plans(space, roles), *of_packs, *join_plans(space)]
    if told.cases is None:
        plans += [*_again_in_float(space, roles, plans, of_packs), *_further_plans(space, roles)]
    most = len(plans) if told.cases is None else min(told.cases, len(plans))
    given = {f"kind:{name}": {name: value} for name, value in told.given.items()}
    for place in range(most):
        plan = plans[place * len(plans) // most]
        yield replace(plan, fixed={**given, **plan.fixed})


def _again_in_float(
    space: CallSpace, roles: Roles, plans: Sequence[SizePlan], but: Sequence[SizePlan]
) -> Iterator[SizePlan]:
    """The plans that their places have in another type, but for some."""
    floats = in_float(space)
    for place, plan in enumerate(plans):
        asked = {**types_in_turn(space, roles, place), **plan.levels}
        if plan not in but and any(asked.get(name, "float") != "float" for name in floats):
            yield replace(plan, word=f"{plan.word}_in_float", levels={**plan.levels, **floats})


def _further_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    if roles.window is not None:
        yield from narrow_plans(space, roles)
    elif roles.inner:
        yield from lone_plans(space, roles)
    if roles.axis is not None and roles.window is None:
        yield from _further_axis_plans(space, roles)


def _long_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    if roles.window is not None:
        yield from window_plans(space, roles)
    elif roles.inner:
        yield from product_plans(space, roles)
    if roles.axis is not None and roles.window is None:
        yield from axis_plans(space, roles)
    if roles.order is not None:
        yield from order_plans(roles)

"""Plans of products whose sums run over long axes, and of windows over channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from generator.calls.kinds.transposed_window import TransposedWindow
from generator.calls.kinds.window import Window
from generator.calls.sizes.plan import SizePlan, by, extents
from generator.calls.sizes.roles import Roles, in_float, sizes_of
from generator.calls.solver.partial import OMITTED, Bindings
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import Level

_LONG_SUMS: tuple[tuple[int, tuple[int, int], tuple[int, ...]], ...] = (
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
    for place, (length, sides, batch) in enumerate(_LONG_SUMS):
        name = roles.inner[place % len(roles.inner)]
        if name not in told.lengths:
            yield from _fitting(space, roles, name, length, sides, batch, place)
    for name in roles.inner:
        for place, length in enumerate(told.lengths.get(name, ())):
            _, sides, batch = _LONG_SUMS[(2 * place + 3) % len(_LONG_SUMS)]
            yield from _fitting(space, roles, name, length, sides, batch, place, asked=name)


def lone_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Of functions that sum more than once: each level of each mechanism at one size, all others left out."""
    if len(roles.inner) < 2:
        return
    name, (length, sides) = roles.inner[-1], _ALONE
    length = max(sizes_of(space).lengths.get(name, (length,)))
    base = _product_plan(roles, name, length, sides, (1,) if roles.outer else (3,), 0, None)
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
        plan = _product_plan(roles, name, length, pair, several, place, asked)
        lengths = [each for found in plan.fixed.values() for each in found.values()]
        if prod(prod(each) if isinstance(each, list) else int(each) for each in lengths) <= most:
            yield plan
            return


def _product_plan(
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


_GROUP = "group"


@dataclass(frozen=True)
class _Sized:
    """Extents, kernel, and what else a window has; channels that come in and go out, in so many groups."""

    extents: Sequence[int]
    kernel: Sequence[int]
    channels: tuple[int, int] = (3, 4)
    groups: int = 1
    batch: int = 1
    strides: Sequence[int] | None = None
    dilations: Sequence[int] | None = None
    pads: Sequence[int] | None = None


_TABLE = (
    _Sized((5, 7), (1, 1), (17, 33)),
    _Sized((9, 8), (3, 3), (33, 17), pads=(1, 1, 1, 1)),
    _Sized((6, 7), (3, 3), (16, 32)),
    _Sized((7, 5), (3, 3), (8, 8), 4, batch=3),
    _Sized((6, 6), (3, 3), (17, 17), 17, pads=(1, 1, 1, 1)),
    _Sized((9, 9), (5, 5), (5, 15), 5, strides=(2, 2), pads=(2, 2, 2, 2)),
    _Sized((13, 11), (5, 5), (3, 16)),
    _Sized((8, 9), (3, 3), (4, 5), batch=3, dilations=(2, 2)),
    _Sized((65,), (3,), (33, 3)),
    _Sized((4, 5, 6), (2, 3, 3), (4, 8), batch=2),
    _Sized((5, 4), (3, 3), (1, 8), pads=(3, 3, 3, 3)),
    _Sized((5, 5), (1, 1), (32, 32), 2, batch=17),
    _Sized((33, 17), (3, 3), (1, 1), strides=(1, 1)),
)
"""Sizes at which convolutions change their way: tiles of channels, transforms of 3x3, depthwise loops."""
_NARROW = (
    _Sized((6, 7), (3, 3), (5, 10), 5),
    _Sized((7, 5), (3, 3), (8, 16), 8, strides=(2, 2), pads=(1, 1, 1, 1)),
    _Sized((9, 4), (5, 1), (5, 5), 5),
    _Sized((4, 9), (1, 5), (4, 4), 4, pads=(0, 2, 0, 2)),
    _Sized((17, 3), (3, 1), (3, 3), 3, batch=2),
    _Sized((3, 33), (1, 3), (4, 9)),
    _Sized((33, 3), (5, 1), (3, 8), pads=(2, 0, 2, 0)),
    _Sized((2, 1), (3, 3), (4, 4), 4, pads=(1, 1, 1, 1)),
    _Sized((1, 2), (3, 3), (5, 8), pads=(1, 1, 1, 1)),
    _Sized((3, 2, 3, 4), (2, 1, 2, 2), (3, 4)),
    _Sized((2, 1, 3, 2, 1, 3), (2, 1, 2, 1, 1, 2), (2, 3)),
)
"""Windows of one row or column, several filters a channel, images smaller than the window, many axes."""


_OF_MODELS = (
    _Sized((32, 48), (16, 16), (3, 8), strides=(16, 16)),
    _Sized((23, 21), (11, 11), (3, 4), strides=(4, 4), pads=(2, 2, 2, 2)),
    _Sized((65,), (31,), (17, 17), 17, pads=(15, 15)),
    _Sized((48,), (128,), (4, 4), 2, pads=(64, 64)),
    _Sized((35,), (10,), (1, 8), strides=(5,)),
    _Sized((19,), (4,), (32, 32), 32, pads=(3, 0)),
    _Sized((9, 8), (7, 7), (16, 16), 16, pads=(3, 3, 3, 3)),
)
"""Windows of models: patches, first layers, speech along one axis with long and with causal windows."""
_SPREAD_OF_MODELS = (
    _Sized((5, 4), (4, 4), (33, 4), strides=(2, 2), pads=(1, 1, 1, 1)),
    _Sized((6, 5), (2, 2), (17, 8), strides=(2, 2)),
    _Sized((9,), (16,), (18, 5), strides=(8,), pads=(4, 4)),
    _Sized((7, 6), (4, 4), (32, 32), 32, strides=(2, 2), pads=(1, 1, 1, 1)),
)
"""Of windows that are spread: generators of pictures and of sound, decoders, depthwise upsampling."""


def window_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Windows over channels, or over each channel for itself where none are summed over."""
    yield from _plans(space, roles, _TABLE)


def narrow_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Windows of which one side is short, and those of models, in float."""
    spread = roles.window is not None and isinstance(roles.window, TransposedWindow)
    for plan in _plans(space, roles, (*_NARROW, *(_SPREAD_OF_MODELS if spread else _OF_MODELS))):
        yield replace(plan, levels=in_float(space))


def _plans(space: CallSpace, roles: Roles, table: Sequence[_Sized]) -> Iterator[SizePlan]:
    for sized in table:
        plan = _plan(space, roles, sized)
        if plan is not None:
            yield plan


def _plan(space: CallSpace, roles: Roles, sized: _Sized) -> SizePlan | None:
    window = roles.window
    if window is None:
        return None
    kinds = {kind.name for kind in space.kinds}
    into, out = sized.channels
    grouped = _GROUP in kinds
    if sized.groups > 1 and not grouped:
        return None
    fixed: dict[str, Bindings] = {f"kind:{window.name}": _window(window, sized)}
    packs = [each for each in window.over.names if each in roles.packs]
    if len(packs) != 1:
        return None
    fixed[packs[0]] = {packs[0]: list(sized.extents)}
    channels = roles.inner[0] if roles.inner else _channel(roles)
    if channels is None:
        return None
    fixed[channels] = {channels: into}
    features = _features(space, roles, channels)
    if features is not None:
        name, per_group = features
        fixed[name] = {name: out // sized.groups if per_group else out}
    batch = next((each for each in (*roles.outer, *roles.batch) if each not in fixed), None)
    if batch is not None:
        fixed[batch] = {batch: sized.batch}
    if grouped:
        fixed[f"kind:{_GROUP}"] = {_GROUP: sized.groups}
    return SizePlan(_word(sized, features is not None), fixed)


def _channel(roles: Roles) -> str | None:
    """The channels of a pool: the last extent before those that the window goes over."""
    return roles.outer[-1] if roles.outer else None


def _features(space: CallSpace, roles: Roles, channels: str) -> tuple[str, bool] | None:
    """The extent of the filters that come out, and whether it counts those of one group."""
    kernel = roles.window.kernel.text if roles.window is not None else ""
    for shape in space.spec.shapes.values():
        for _, parts in shape.alternatives:
            if any(kernel in part.starred for part in parts):
                first = [part.names for part in parts[:2]]
                others = [name for names in first for name in names if name not in (channels, _GROUP)]
                if others:
                    return others[0], channels in first[0]
    return None


def _window(window: Window | TransposedWindow, sized: _Sized) -> Bindings:
    values: Mapping[str, object] = {
        "kernel_shape": list(sized.kernel),
        "strides": _listed(sized.strides),
        "dilations": _listed(sized.dilations),
        "pads": _listed(sized.pads),
    }
    own = {name: value for name, value in values.items() if name in window.covers}
    return {window.kernel.text: list(sized.kernel), **own}


def _listed(values: Sequence[int] | None) -> list[int] | None:
    return None if values is None else list(values)


def _word(sized: _Sized, has_features: bool) -> str:
    into, out = sized.channels
    word = f"channels_{into}_to_{out}" if has_features else f"channels_{into}"
    if sized.groups > 1:
        word += "_depthwise" if sized.groups == into else f"_in_{sized.groups}_groups"
    word += f"_kernel_{by(sized.kernel)}"
    for name, given in (("strides", sized.strides), ("dilations", sized.dilations)):
        if given is not None and prod(given) > 1:
            word += f"_{name}_{by(given)}"
    if sized.pads is not None:
        word += "_pads_over" if max(sized.pads) >= max(sized.kernel) else "_padded"
    return f"{word}_batch_{sized.batch}" if sized.batch > 1 else word

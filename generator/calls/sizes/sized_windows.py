"""Windows over channels: pointwise, small with stride one, wide, dilated, in groups, padded far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from generator.calls.kinds.transposed_window import TransposedWindow
from generator.calls.kinds.window import Window
from generator.calls.sizes.plan import SizePlan, by
from generator.calls.sizes.roles import Roles, in_float
from generator.calls.solver.partial import Bindings
from generator.calls.space.space import CallSpace

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


def window_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Windows over channels, or over each channel for itself where none are summed over."""
    yield from _plans(space, roles, _TABLE)


def narrow_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Windows of which one side is short, in float."""
    for plan in _plans(space, roles, _NARROW):
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

"""The plans of an operator version, by what its extents are to a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generator.calls.sizes.joins import join_plans
from generator.calls.sizes.long_axes import axis_plans, order_plans
from generator.calls.sizes.long_sums import product_plans
from generator.calls.sizes.packs import pack_plans
from generator.calls.sizes.plan import SizePlan
from generator.calls.sizes.roles import Roles, sizes_of
from generator.calls.sizes.sized_windows import window_plans
from generator.calls.space.space import CallSpace


def plans_of(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    """Every plan, or as many as the declaration says, spread over all; some of them no call has."""
    told = sizes_of(space)
    plans = list(_all_plans(space, roles))
    most = len(plans) if told.cases is None else min(told.cases, len(plans))
    given = {f"kind:{name}": {name: value} for name, value in told.given.items()}
    for place in range(most):
        plan = plans[place * len(plans) // most]
        yield replace(plan, fixed={**given, **plan.fixed})


def _all_plans(space: CallSpace, roles: Roles) -> Iterator[SizePlan]:
    if roles.window is not None:
        yield from window_plans(space, roles)
    elif roles.inner:
        yield from product_plans(space, roles)
    if roles.axis is not None and roles.window is None:
        yield from axis_plans(space, roles)
    if roles.order is not None:
        yield from order_plans(roles)
    yield from pack_plans(space, roles)
    yield from join_plans(space)

"""Cases at the sizes at which kernels have blocks, tiles, packed operands, and what is left over of each.

A case in which another element may be taken for one along the long axis is drawn anew, and so is one of which
nearly anything is accepted: that is tried when it is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from conformance.judging.judge import judge
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.computed import as_run
from generator.calls.sizes.plan import SizePlan
from generator.calls.sizes.plans import plans_of
from generator.calls.sizes.roles import roles_of
from generator.calls.sizes.sized_calls import Sized, sized_calls
from generator.making.cases.meaning import says_something
from generator.making.cases.telling import answer_of
from generator.making.operators.workshop import Workshop, word_of
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength

_MOST_MADE = 40_000
_LONG = 8
"""Along shorter axes nothing is tried: other cases have these."""


def add_kernel_sizes(workshop: Workshop) -> None:
    """A case for each plan of the operator that some call has; raises UserError where one must have it."""
    levels = workshop.levels
    roles = roles_of(levels.space)
    plans = ((word_of(plan.word), place, plan) for place, plan in enumerate(plans_of(levels.space, roles)))
    for word, place, plan in workshop.lacking("boundary", plans):
        draw = workshop.draw("kernel sizes", word)
        calls = sized_calls(levels.space, roles, workshop.reference.readings, plan, place, draw)
        if not _keep_first_sharp(workshop, word, calls) and plan.asked is not None:
            raise _asked_in_vain(workshop, plan)


def _keep_first_sharp(workshop: Workshop, word: str, calls: Iterator[Sized]) -> bool:
    """Keep the case of the first call in which every element shows; whether there is any call at all."""
    found = False
    for sized in calls:
        found = True
        call = sized.call
        if workshop.violations(call) or workshop.has(call):
            continue
        with suppress(UnstableLength):
            case = workshop.make_valid("boundary", word, call)
            if (
                _is_small(case)
                and says_something(case)
                and all(_is_noticed(workshop, case, changed) for changed in _planted(case, sized))
            ):
                workshop.keep(call, case)
                break
    return found


def _is_small(case: Case) -> bool:
    """Whether what comes out is no more than a suite should hold."""
    made = (each.expected.array.size for found in case.expectations for each in found.outputs)
    return sum(made) <= _MOST_MADE


def _planted(case: Case, sized: Sized) -> Iterator[Call]:
    """The call as a kernel sees it that takes another element for one along a long axis."""
    if not case.expectations or _is_exact(case):
        return
    given = dict(sized.call.inputs)
    for name, axis in sized.along:
        tensor = given.get(name)
        if tensor is None or tensor.shape[axis] <= _LONG:
            continue
        length = tensor.shape[axis]
        for place in dict.fromkeys((0, length // 2, length - 1)):
            changed = _without(tensor, axis, place)
            yield sized.call.with_input(name, changed)


def _without(given: Tensor, axis: int, place: int) -> Tensor:
    """The tensor whose elements at a place of an axis are those of the place before, or behind the first."""
    array = np.array(given.array)
    lanes = np.moveaxis(array, axis, 0)
    lanes[place] = lanes[place - 1 if place else 1]
    return Tensor(given.element_type, array)


def _is_exact(case: Case) -> bool:
    """Whether nothing but one value is accepted of each element, so that any other is noticed."""
    if len(case.expectations) > 1:
        return False
    outputs = case.expectations[0].outputs
    return all(
        (each.allowed is None or not np.any(each.allowed)) and not each.alternatives for each in outputs
    )


def _is_noticed(workshop: Workshop, case: Case, changed: Call) -> bool:
    response = None if workshop.violations(changed) else answer_of(workshop, changed)
    return response is None or judge(case, as_run(case, response)).verdict in DIFFERENT


def _asked_in_vain(workshop: Workshop, plan: SizePlan) -> UserError:
    declared = workshop.spec.declared
    where = declared.places.get(f"sizes.{plan.asked}") if declared is not None else None
    bindings = plan.fixed.get(plan.asked or "", {})
    return UserError(
        f"a size that no call of {workshop.spec.operator} has",
        got=", ".join(f"{name}: {length}" for name, length in bindings.items()),
        expected="lengths that the rules of the operator allow",
        where=where,
        remedy="Take the length out of `sizes`, or mend the rule that forbids it.",
    )

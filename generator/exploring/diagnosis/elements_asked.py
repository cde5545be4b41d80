"""Asked of a failing call: is it wrong because of NaN and infinities, or of what narrow types do not hold?"""

from __future__ import annotations

import numpy as np

from generator.asking.calls import Call
from generator.exploring.diagnosis.laboratory import Laboratory
from generator.exploring.diagnosis.one_factor import with_plain_elements
from generator.exploring.shrinking.judged_calls import CallFailure
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.reductions import converted
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor


def needs_special(
    laboratory: Laboratory, space: CallValidity, case: str, call: Call, failure: CallFailure
) -> bool | None:
    """Whether a call is wrong because of NaN or an infinity: right with plain elements; raises Exhausted.

    None where it is right with those for another reason, or where nothing can be said.
    """
    plain = with_plain_elements(call)
    if plain is None:
        return False
    found, own = (laboratory.outcome(space, case, 0, each) for each in (plain, call))
    if found.passes:
        return True if failure.special and found.cures(own) else None
    return False if found.like(failure) else None


def loses_elements(
    laboratory: Laboratory, space: CallValidity, case: str, call: Call, failure: CallFailure
) -> bool | None:
    """Whether a call is right with elements that every type holds, and so loses some; raises Exhausted.

    False where it is wrong with those, too, and so computes wrongly; None where nothing can be said.
    """
    plain = with_plain_type(space, call)
    if plain is None:
        return None
    found = laboratory.outcome(space, case, 0, plain)
    if found.passes:
        return True if found.cures(laboratory.outcome(space, case, 0, call)) else None
    return False if found.failure is not None and found.failure.alike(failure) else None


def with_plain_type(space: CallValidity, call: Call) -> Call | None:
    """The call with 0, 1, 2, ... in the inputs of the first one's type; None where that has no numbers."""
    if not call.inputs or call.inputs[0][1] is None or call.slots:
        return None
    changed, start = call, 0
    for name in space.same_type(space.spec.inputs[0]):
        given = dict(call.inputs).get(name)
        if given is None or given.array.size == 0:
            continue
        kind = given.element_type
        if not (kind.is_float or kind.is_integer or kind.kind == "complex"):
            return None
        numbers = np.arange(start, start + given.array.size, dtype=np.float64) % 100
        plain = Tensor(ELEMENT_TYPES["double"], numbers.reshape(given.shape))
        changed, start = changed.with_input(name, converted(plain, kind)), start + given.array.size
    return changed

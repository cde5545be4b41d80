"""Cases that break one constraint, alone, where the document calls that an error."""

from __future__ import annotations

from generator.making.operators.workshop import Workshop
from opcert.vocabulary.errors import InternalError


def make_cases(workshop: Workshop) -> None:
    """Break each constraint with `else: error`; InternalError for an id that the spec does not have."""
    constraints = {each.id: each for each in workshop.spec.constraints}
    for name, valid, call in workshop.lacking("invalid", workshop.broken_calls):
        if name not in constraints:
            raise InternalError(f"{workshop.spec.operator} has no constraint {name} to break")
        if constraints[name].otherwise == "error":
            workshop.add_broken("invalid", constraints[name], valid, call)

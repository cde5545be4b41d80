"""Cases that break one constraint, alone: an error where the document says so, else a call to survive."""

from __future__ import annotations

from generator.making.operators.workshop import Workshop
from opcert.vocabulary.errors import InternalError


def make_invalid(workshop: Workshop) -> None:
    """Break each constraint with `else: error`; InternalError for an id that the spec does not have."""
    _break(workshop, "invalid")


def make_survival(workshop: Workshop) -> None:
    """Break each constraint of which no document says what then happens."""
    _break(workshop, "survival")


def _break(workshop: Workshop, family: str) -> None:
    constraints = {constraint.id: constraint for constraint in workshop.spec.constraints}
    for name, valid, call in workshop.lacking(family, workshop.broken_calls):
        if name not in constraints:
            raise InternalError(f"{workshop.spec.operator} has no constraint {name} to break")
        if (constraints[name].otherwise == "error") is (family == "invalid"):
            workshop.add_broken(family, constraints[name], valid, call)

"""The constraints of its spec that a call breaks."""

from __future__ import annotations

from collections.abc import Sequence

from generator.asking.calls import Call
from specs.model import domain
from specs.model.domain import Violation, check_constraints
from specs.model.spec import Constraint, Refusable, Spec


def find_violations(
    spec: Spec, call: Call, constraints: Sequence[Constraint] | None = None
) -> list[Violation]:
    """The constraints that a call breaks, in the spec's order; EvaluationError where none decides.

    With `constraints`, these alone are looked at.
    """
    return check_constraints(spec, call.attributes, call.inputs, call.outputs, call.slots, constraints)


def find_refusable(spec: Spec, call: Call) -> Refusable | None:
    """What leaves it open whether a valid call may be refused; None where nothing does."""
    return domain.find_refusable(spec, call.attributes, call.inputs, call.outputs, call.slots)

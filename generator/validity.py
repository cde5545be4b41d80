"""The constraints of its spec that a call breaks."""

from __future__ import annotations

from generator.calls import Call
from specs.domain import Violation, check_constraints
from specs.model import Spec


def find_violations(spec: Spec, call: Call) -> list[Violation]:
    """The constraints that a call breaks, in the spec's order; EvaluationError where none decides."""
    return check_constraints(spec, call.attributes, call.inputs, call.outputs, call.slots)

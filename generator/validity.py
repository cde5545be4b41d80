"""The constraints of its spec that a call breaks."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from generator.calls import Call
from specs.domain import Violation, check_constraints
from specs.model import Constraint, Spec

_KNOWN: WeakKeyDictionary[Call, tuple[Spec, list[Violation]]] = WeakKeyDictionary()
"""What was found of a call, which is asked by whoever makes it, keeps it, and computes its answer."""


def find_violations(
    spec: Spec, call: Call, constraints: Sequence[Constraint] | None = None
) -> list[Violation]:
    """The constraints that a call breaks, in the spec's order; EvaluationError where none decides.

    With `constraints`, these alone are looked at.
    """
    if constraints is not None:
        return check_constraints(spec, call.attributes, call.inputs, call.outputs, call.slots, constraints)
    known = _KNOWN.get(call)
    if known is None or not _says_the_same(known[0], spec):
        known = (spec, check_constraints(spec, call.attributes, call.inputs, call.outputs, call.slots))
        _KNOWN[call] = known
    return list(known[1])


def _says_the_same(one: Spec, other: Spec) -> bool:
    """Whether two specs differ in nothing that a constraint may ask about: one is a copy with more added."""
    return one is other or (
        one.constraints is other.constraints
        and one.let is other.let
        and one.declared is other.declared
        and one.attributes is other.attributes
        and one.inputs is other.inputs
        and one.outputs is other.outputs
    )

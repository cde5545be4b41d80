"""The rules of an operator that documents state, without those of what suites draw alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from generator.calls.space.space import CallSpace
from specs.language.shape_expressions import parse_shape
from specs.model.declared import Declared
from specs.model.spec import Constraint, Spec


def stated_rules(space: CallSpace, spec: Spec | None = None) -> Spec:
    """The spec of a space, or one with more rules, without those that only drawing has.

    Cases are drawn within more bounds than documents set. A count that stands in a shape may be
    any number, though a declaration lists a few; and a whole number may be greater than an end that is a
    plain number, unless the document has that end.
    """
    drawn, spec = _drawn(space), spec or space.spec
    rules = [drawn.get(constraint.id, constraint) for constraint in spec.constraints]
    return replace(spec, constraints=tuple(rule for rule in rules if rule is not None))


def _drawn(space: CallSpace) -> Mapping[str, Constraint | None]:
    """The rules that say more than documents, by their ids; what is left of each."""
    shapes = (space.spec.declared or Declared()).shapes.values()
    counts = frozenset[str]().union(*(parse_shape(shape).names for shape in shapes))
    several = {each.name for each in space.spec.inputs if each.homogeneous is False}
    # Values of several types have shapes of their own, though those that are drawn for a suite share one.
    found: dict[str, Constraint | None] = {
        rule.id: None for rule in space.spec.constraints if rule.shape_of in several
    }
    for kind in space.kinds:
        if kind.is_listed and kind.name in counts:
            found |= dict.fromkeys(rule.id for rule in kind.rules())
        if (endless := kind.without_end) is not None:
            attribute = space.spec.attributes.get(kind.name)
            if attribute is None or attribute.at_most is None:
                found |= dict.fromkeys(rule.id for rule in kind.rules())
                found |= {rule.id: rule for rule in endless.rules()}
    return found

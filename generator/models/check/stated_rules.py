"""A spec with the rules that its documents state, without bounds that a declaration sets to what is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from generator.calls.kinds.enumeration import Enumeration
from generator.calls.kinds.integer import Integer
from generator.calls.space.space import CallSpace
from specs.language.shape_expressions import parse_shape
from specs.model.declared import Declared
from specs.model.spec import Constraint, Spec


def stated_rules(space: CallSpace) -> Spec:
    """The spec of a space, with fewer rules: cases are drawn within more bounds than documents set.

    A count that stands in a shape may be any number, though a declaration lists a few; and a whole number
    may be greater than an end that is a plain number, unless the document has that end.
    """
    drawn = _drawn(space)
    rules = [drawn.get(each.id, each) for each in space.spec.constraints]
    return replace(space.spec, constraints=tuple(each for each in rules if each is not None))


def _drawn(space: CallSpace) -> Mapping[str, Constraint | None]:
    """The rules that say more than documents, by their ids; what is left of each."""
    shapes = (space.spec.declared or Declared()).shapes.values()
    counts = frozenset[str]().union(*(parse_shape(each).names for each in shapes))
    found: dict[str, Constraint | None] = {}
    for kind in space.kinds:
        if isinstance(kind, Enumeration) and kind.listed and kind.name in counts:
            found |= dict.fromkeys(each.id for each in kind.rules())
        if isinstance(kind, Integer) and kind.high is not None and not kind.high.names:
            attribute = space.spec.attributes.get(kind.name)
            if attribute is None or attribute.at_most is None:
                found |= dict.fromkeys(each.id for each in kind.rules())
                found |= {each.id: each for each in replace(kind, high=None).rules()}
    return found

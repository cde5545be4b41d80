"""The derived declaration of an operator version: everything that its facts alone say of its calls."""

from __future__ import annotations

from specs.derived.entries import KEYS, Collected, Derived
from specs.derived.kinds import KindReader
from specs.derived.rules import add_rules
from specs.derived.shapes import ShapeReader
from specs.derived.stated_extents import StatedExtents
from specs.model.spec import Spec


def derive(spec: Spec) -> Derived:
    """What the imported facts of a version come to, as entries of a spec.yaml, each with its lines.

    What people declared of it is not looked at.
    """
    found = Collected()
    extents = StatedExtents(spec)
    ShapeReader(spec, extents, found).read()
    KindReader(spec, extents, found).read()
    add_rules(spec, found)
    return Derived(
        spec.operator,
        {each.key: each.file for each in spec.documents},
        tuple(sorted(found.entries, key=lambda each: KEYS.index(each.path[0]))),
        tuple(found.missing),
        tuple(found.contradictions),
    )

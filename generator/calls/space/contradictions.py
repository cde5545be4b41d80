"""Declarations whose rules no call keeps: which of the rules it is."""

from __future__ import annotations

from generator.calls.data.draws import Draw
from generator.calls.solver.solving import CallSearch, Found
from generator.calls.space.space import CallSpace
from opcert.vocabulary.errors import UserError
from specs.files.declarations import FILE_NAME
from specs.model.declared import Declared


def no_call_keeps_the_rules(space: CallSpace) -> UserError:
    """What to say of such a declaration: it names the rules without any one of which there are calls."""
    written = [each for each in space.spec.constraints if each.origin.how != "derived"]
    guilty = [each.id for each in written if _has_calls_without(space, each.id)]
    places = (space.spec.declared or Declared()).places
    where = places.get(f"constraint {guilty[0]}") if guilty else None
    return UserError(
        f"no call of {space.spec.operator} keeps all the rules of its declaration",
        got=", ".join(guilty) if guilty else "kinds and shapes, or several rules together",
        where=where or places.get(FILE_NAME),
        remedy="Narrow the rule with `when`, or leave it out: without it there are calls."
        if guilty
        else "Leave out kinds, shapes and constraints until `opcert try` makes calls again.",
    )


def _has_calls_without(space: CallSpace, rule: str) -> bool:
    others = [each for each in space.spec.constraints if each.id != rule]
    search = CallSearch(space.spec, space.variables, others)
    return isinstance(search.solve({}, Draw(f"{space.spec.operator}/without {rule}")), Found)

"""Cases whose behaviour no document defines: nothing is demanded but that the runtime survives."""

from __future__ import annotations

from generator.making.operators.workshop import Workshop


def make_cases(workshop: Workshop) -> None:
    constraints = {each.id: each for each in workshop.spec.constraints}
    for name, valid, call in workshop.lacking("survival", workshop.broken_calls):
        if name in constraints and constraints[name].otherwise != "error":
            workshop.add_broken("survival", constraints[name], valid, call)

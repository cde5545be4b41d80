"""Names that a declaration says of factors: they must be names of what the space has."""

from __future__ import annotations

from collections.abc import Mapping

from generator.calls.variables.kind import Level
from opcert.vocabulary.errors import UserError
from specs.files.declarations import FILE_NAME
from specs.language.expressions import parse
from specs.model.declared import Declared
from specs.model.spec import Spec
from specs.model.structures import type_variable


def check_names(spec: Spec, declared: Declared, factors: Mapping[str, tuple[Level, ...]]) -> None:
    """That `paired`, `focus`, exclusions and interactions name what there is; raises UserError."""
    places = declared.places
    of_inputs = {type_variable(spec, each) for each in spec.inputs}
    for name in declared.paired:
        if name not in spec.type_constraints or name not in of_inputs:
            listed = ", ".join(each for each in spec.type_constraints if each in of_inputs)
            raise UserError(
                "no such type variable of an input",
                got=f"paired: {name}",
                expected=listed or "none: leave `paired` out",
                where=places.get(f"paired.{name}"),
            )
    where = places.get(FILE_NAME)
    for exclusion in spec.exclusions:
        for name in sorted(parse(exclusion.when).names - factors.keys()):
            listed = ", ".join(factors)
            got = f"{name} in {exclusion.when}"
            raise UserError("no such factor", got=got, expected=listed, where=where)
    for name in (each for interaction in spec.interactions for each in interaction.factors):
        if name not in factors:
            listed = ", ".join(factors)
            raise UserError("no such factor", got=f"interactions: {name}", expected=listed, where=where)
    for name, level in declared.focus.items():
        if level not in factors.get(name, ()):
            listed = ", ".join(map(str, factors.get(name, tuple(factors))))
            got = f"focus: {{{name}: {level}}}"
            at = places.get(f"focus.{name}")
            problem = "no such level of a factor" if name in factors else "no such factor"
            raise UserError(problem, got=got, expected=listed, where=at)

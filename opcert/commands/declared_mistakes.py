"""Mistakes in declarations of a user's folders that a spec alone does not show: kinds, names, circles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from generator.asking.named_operators import calls_are_declared
from generator.calls.declared.modelled import declaration_ships
from generator.calls.space.space import open_space
from opcert.vocabulary.errors import SeveralErrors, UserError, raise_together
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import find_declaration
from specs.files.library import load_spec


def check_declarations(operators: Iterable[OperatorName], folders: Sequence[Path]) -> None:
    """Raise the mistakes in the declarations that folders hold, all together; those that ship are tested."""
    errors: list[UserError] = []
    for operator in operators:
        if find_declaration(operator, folders) is None or declaration_ships(operator, folders):
            continue
        spec = load_spec(operator, folders)
        try:
            if calls_are_declared(spec):
                open_space(spec)
        except SeveralErrors as several:
            errors += several.errors
        except UserError as error:
            errors.append(error)
    # One declaration speaks of several versions, each of which has the mistake.
    raise_together(list({str(error): error for error in errors}.values()))

"""Operators with a declaration of their calls, by the names that people give them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from conformance.models.case_models import has_onnx_form
from generator.calls.declared.searched import Searched, read_searched
from generator.calls.rows.cores import ForbiddenCombination
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import find_declaration
from specs.files.spec_folders import OWN_FOLDER, SEARCHED, list_operators


def modelled_operators(folders: Sequence[Path] = ()) -> list[OperatorName]:
    """The versions whose calls a declaration makes and that stand in ONNX models, in order."""
    every = (*folders, OWN_FOLDER)
    listed = [*list_operators(folders), *(list_operators() if folders else ())]
    return sorted({each for each in listed if has_onnx_form(each) and find_declaration(each, every)})


def choose_modelled(text: str, folders: Sequence[Path] = (), *, every: bool = False) -> list[OperatorName]:
    """The version that a name means (`Concat`: the newest, `Concat-13`), or with `every` all of a bare name.

    Raises UserError, with near names, where no declaration speaks of it.
    """
    known = modelled_operators(folders)
    found = [each for each in known if text in (str(each), each.path, each.short)]
    if found:
        return found
    named = [each for each in known if text in (each.name, each.unversioned)]
    if named:
        domains = {each.domain for each in named}
        if len(domains) > 1:
            raise UserError("a name of several operators", got=text, expected=" or ".join(sorted(domains)))
        return named if every else [max(named, key=lambda each: each.since_version)]
    near = get_close_matches(text, {name: None for each in known for name in (each.name, each.short)}, 3, 0.5)
    raise UserError(
        "no operator with a declaration of its calls",
        got=repr(text),
        expected=f"perhaps {' or '.join(near)}" if near else "a name such as Concat or Concat-13",
        remedy="Write specs/<domain>/<Name>/spec.yaml; docs/architecture.md says how.",
    )


def kept_cores_of(operator: OperatorName, folders: Sequence[Path] = ()) -> tuple[ForbiddenCombination, ...]:
    """The combinations of levels that the operator's room keeps as those that no call has."""
    return searched_of(operator, folders).cores


def searched_of(operator: OperatorName, folders: Sequence[Path] = ()) -> Searched:
    """What the operator's room keeps of searches for its calls."""
    path = room_file(operator, SEARCHED, folders)
    return Searched() if path is None else read_searched(path, operator.since_version)


def declaration_ships(operator: OperatorName, folders: Sequence[Path] = ()) -> bool:
    """Whether calls are made of the declaration that ships, the cores of which are kept with it."""
    found = find_declaration(operator, (*folders, OWN_FOLDER))
    return found is not None and found.is_relative_to(OWN_FOLDER)


def room_file(operator: OperatorName, name: str, folders: Sequence[Path] = ()) -> Path | None:
    """A file of the room in which the operator's declaration stands, whether it is there or not."""
    declaration = find_declaration(operator, (*folders, OWN_FOLDER))
    return None if declaration is None else declaration.with_name(name)

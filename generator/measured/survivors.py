"""Why mutants survive that no case is made against: `survivors.yaml` in an operator's room.

Such a file is a list of entries: a `mutant` (its id, or the beginning of several), and `why`. An operator
that does not ship has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, RootModel

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER, room_of

FILE_NAME = "survivors.yaml"


class Reason(Entry):
    """Why a mutant is left, or all whose ids begin alike."""

    mutant: str = Field(min_length=1)
    why: str = Field(min_length=1)


class _File(RootModel[tuple[Reason, ...]]):
    pass


def read_reasons(operator: OperatorName) -> tuple[Reason, ...]:
    """What an operator's room says of survivors; UserError or SeveralErrors where the file is damaged."""
    path = room_of(operator, OWN_FOLDER) / FILE_NAME
    if not path.is_file():
        return ()
    (document, *more) = load_file(path)
    if more:
        raise UserError("not one YAML document", got=f"{1 + len(more)} documents", where=Place(str(path)))
    return tuple(validate(_File, document).root)


def reason_of(survivor: Mapping[str, Any], reasons: Sequence[Reason]) -> str | None:
    """Why a survivor is left; None where nobody has said."""
    return next((each.why for each in reasons if str(survivor["mutant"]).startswith(each.mutant)), None)

"""What runtimes did with an operator version's cases when they were last asked, one file beside its spec.

Made by `benchmarks.operators --keep`; `generator.trust` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.spec_folders import OWN_FOLDER, room_of

FORMAT = "opcert-agreement/1"
REMEDY = "Ask again with `python -m benchmarks.operators --keep`."


@dataclass(frozen=True)
class Asked:
    """A runtime: how many cases failed on it, and how many of these have an entry in disagreements.yaml."""

    version: str
    failing: int
    explained: int


@dataclass(frozen=True)
class Agreed:
    """The digest of the cases that were run, and what each runtime made of them, by its name."""

    operator: str
    cases: str
    runtimes: Mapping[str, Asked]

    @property
    def explained(self) -> bool:
        """Whether every failing case has an entry."""
        return all(each.failing == each.explained for each in self.runtimes.values())


def agreed_path(operator: OperatorName, folder: Path = OWN_FOLDER) -> Path:
    """The file of an operator version: `<domain>/<Name>/agreement-<version>.json`."""
    return room_of(operator, folder) / f"agreement-{operator.since_version}.json"


def read_agreed(operator: OperatorName, folder: Path = OWN_FOLDER) -> Agreed | None:
    """What is kept of an operator version; None where nothing is. UserError where the file is damaged."""
    path = agreed_path(operator, folder)
    if not path.is_file():
        return None
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw.pop("format") != FORMAT:
            raise ValueError("not of this format")
        runtimes = {name: Asked(**each) for name, each in raw.pop("runtimes").items()}
        return Agreed(**raw, runtimes=runtimes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        place = Place(str(path))
        raise UserError(
            "agreement cannot be read", got=str(error), expected=FORMAT, where=place, remedy=REMEDY
        ) from error


def write_agreed(agreed: Agreed, folder: Path = OWN_FOLDER) -> Path:
    """Write an operator version's file; returns its path."""
    path = agreed_path(OperatorName.parse(agreed.operator), folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, **asdict(agreed)}, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
    return path

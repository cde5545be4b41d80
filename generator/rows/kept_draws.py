"""Which draw became the case of each covering row: kept, so that nobody need try the others again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.suite.canonical import canonical_json, sha256
from generator.rows.dealt_rows import DealtRows
from generator.rows.feasibility import Row
from generator.witnessed.measured_files import measured_json, read_measured_file, write_measured_file

FORMAT = "opcert-draws/1"
FILE_NAME = "draws.json"
NO_CASE = "-"
"""In the place of a draw: the row has no case of its own, or another row stands in for it."""
REMEDY = "Remove the file: without it `opcert generate`, and whatever needs a suite, searches for draws."
_DIGITS = 16


@dataclass(frozen=True)
class Instead:
    """A row that stands in for another, whose types it has, and the draw that became its case."""

    place: int
    row: Row
    draw: int


@dataclass(frozen=True)
class KeptDraws:
    """What a search for the clearest cases of rows came to.

    `rows` is a digest of the rows as they were dealt; it holds for no others. `draws` are the numbers of
    the draws of these rows, in order, None where one has no case; `instead` are the rows that replace some.
    """

    rows: str
    draws: tuple[int | None, ...]
    instead: tuple[Instead, ...] = ()

    def entry(self) -> dict[str, Any]:
        """As a file has it."""
        found: dict[str, Any] = {
            "rows": self.rows,
            "draws": " ".join(NO_CASE if each is None else str(each) for each in self.draws),
        }
        if self.instead:
            found["instead"] = [
                f"{each.place} {'.'.join(map(str, each.row))} {each.draw}" for each in self.instead
            ]
        return found

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> KeptDraws:
        """From what a file has; raises ValueError, KeyError or AttributeError where that is no such thing."""
        draws = tuple(None if each == NO_CASE else int(each) for each in entry["draws"].split())
        parts = [each.split() for each in entry.get("instead", [])]
        instead = tuple(
            Instead(int(place), tuple(map(int, row.split("."))), int(draw)) for place, row, draw in parts
        )
        return cls(str(entry["rows"]), draws, instead)


def digest_of_rows(array: DealtRows, beside: Sequence[Mapping[str, str]]) -> str:
    """A digest of the rows for which cases are to be found, and of the levels that they are made of."""
    levels = [[name, [str(each) for each in every]] for name, every in array.model.levels.items()]
    rows = [*(array.texts(row) for row in array.types), *map(dict, beside)]
    return sha256(canonical_json([levels, rows]))[:_DIGITS]


def read_draws(path: Path) -> dict[int, KeptDraws]:
    """What a file keeps, by version; nothing where there is no file. Raises UserError for a damaged one."""
    found = read_measured_file(path, FORMAT, _versions_of, "the draws of covering rows", REMEDY)
    return {} if found is None else found


def write_draws(path: Path, by_version: Mapping[int, KeptDraws]) -> None:
    """Write the draws of an operator's versions; no file where there are none."""
    if not by_version:
        path.unlink(missing_ok=True)
        return
    versions = {str(version): each.entry() for version, each in by_version.items()}
    write_measured_file(path, measured_json(FORMAT, {"versions": versions}))


def _versions_of(raw: Mapping[str, Any]) -> dict[int, KeptDraws]:
    return {int(version): KeptDraws.of(entry) for version, entry in raw["versions"].items()}

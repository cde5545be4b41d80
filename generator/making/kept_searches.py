"""What searches for the calls of operators came to, kept in `specs/searches.json`: none is made again.

They are kept of the operators of the default suite, each under the digest of the files of its spec, and all
under the digest of the code that searches. Where either is another now, what is kept counts for nothing: the
search is made. `opcert generate --update` keeps it anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from conformance.suite.canonical import canonical_json, sha256
from generator.borders.breach_attempts import Stage
from generator.borders.breaches import BreachPlace
from generator.borders.known_breaches import Places
from generator.making.source_files import digest_of
from generator.making.sources import SEARCHES_FILE, SourceReader
from generator.rows.row_search import FoundRows
from generator.witnessed.measured_files import read_measured_file, write_measured_file
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import FileState, file_state

FORMAT = "opcert-searches/1"
_REMEDY = "Write it with `opcert generate --update`."
_CODE = (
    "generator.borders.known_breaches",
    "generator.rows.dealt_rows",
    "generator.rows.row_search",
    "generator.spaces.declared_kinds",
    "generator.spaces.declared_levels",
)
"""The modules that search, and for which others look: what they import counts."""
_DIGITS = 12
_NONE = "-"
"""In the place of numbers, where there are none."""


@dataclass(frozen=True)
class FoundCalls:
    """What searches came to for an operator version: the digest of its spec's files, rows, breaches."""

    spec: str
    rows: FoundRows
    breaches: Places

    def entry(self) -> str:
        """As a file has it, in one line."""
        rows = (_numbers(self.rows.attempts), _numbers(self.rows.without_call))
        return "; ".join((self.spec, *rows, *map(_places, self.breaches)))

    @classmethod
    def of(cls, entry: str) -> FoundCalls:
        """From what a file has; raises ValueError or AttributeError where that is no such thing."""
        spec, attempts, without_call, *breaches = entry.split("; ")
        rows = FoundRows(_numbers_in(attempts), _numbers_in(without_call))
        return cls(spec, rows, tuple(map(_places_in, breaches)))


@dataclass(frozen=True)
class KeptSearches:
    """The digest of the code that searched, and what it found, by operator version."""

    code: str
    found: Mapping[str, FoundCalls]


def read_searches(path: Path = SEARCHES_FILE) -> KeptSearches | None:
    """What a file keeps; None where there is none. Raises UserError for a damaged one."""
    return read_measured_file(path, FORMAT, _searches_of, "what searches found", _REMEDY)


def write_searches(searches: KeptSearches, path: Path = SEARCHES_FILE) -> None:
    """Write the file, a line for each operator version."""
    entries = {name: each.entry() for name, each in sorted(searches.found.items())}
    content = {"code": searches.code, "format": FORMAT, "found": entries}
    write_measured_file(path, json.dumps(content, indent=0, sort_keys=True) + "\n")


def found_calls(operator: OperatorName) -> FoundCalls | None:
    """What searches found for an operator that ships; None where its spec or the code was another then."""
    kept = _kept(SEARCHES_FILE, file_state(SEARCHES_FILE))
    found = None if kept is None else kept.found.get(str(operator))
    if kept is None or found is None or kept.code != _code() or found.spec != digest_of_spec(operator):
        return None
    return found


def digest_of_code() -> str:
    """The digest of all code that decides what searches find."""
    return digest_of(SourceReader().imported_files(_CODE))


def digest_of_spec(operator: OperatorName) -> str:
    """The digest of what decides it in a spec: all but draws, which are numbers of calls, and kept calls."""
    files = SourceReader().spec_digests(operator)
    return sha256(canonical_json({name: each for name, each in files.items() if not name.endswith(".json")}))[
        :_DIGITS
    ]


@lru_cache(maxsize=1)
def _kept(path: Path, _: FileState | None) -> KeptSearches | None:
    """The file, read again where it changed."""
    return read_searches(path)


@cache
def _code() -> str:
    """The digest of the code that is loaded, or nearly so: the first time that it is asked for."""
    return digest_of_code()


def _searches_of(raw: Mapping[str, Any]) -> KeptSearches:
    found = {name: FoundCalls.of(entry) for name, entry in raw["found"].items()}
    return KeptSearches(str(raw["code"]), found)


def _numbers(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers)) or _NONE


def _numbers_in(text: str) -> tuple[int, ...]:
    return () if text == _NONE else tuple(map(int, text.split()))


def _places(places: Sequence[BreachPlace]) -> str:
    """The places of one rule's breaches, which are all of one stage."""
    if not places:
        return _NONE
    return " ".join((str(int(places[0].stage)), *(f"{each.turn}.{each.change}" for each in places)))


def _places_in(text: str) -> tuple[BreachPlace, ...]:
    if text == _NONE:
        return ()
    stage, *places = text.split()
    numbers = (each.split(".") for each in places)
    return tuple(BreachPlace(Stage(int(stage)), int(turn), int(change)) for turn, change in numbers)

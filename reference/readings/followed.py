"""What runtimes make of open readings, as last measured over the default suite: `followed.yaml` of a room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER, room_of

FILE_NAME = "followed.yaml"


class FollowedReadings(Entry):
    """One runtime: by operator version and reading, in how many cases its answers fit one option alone."""

    runtime: str = Field(min_length=1)
    version: str = Field(min_length=1)
    followed: dict[str, dict[str, dict[str, int]]]


class _File(Entry):
    measured: tuple[FollowedReadings, ...]


@dataclass(frozen=True)
class Follower:
    """A runtime that follows an option in `cases` of the `telling` cases that tell options apart."""

    runtime: str
    version: str
    cases: int
    telling: int

    def __str__(self) -> str:
        cases = "the only case that tells" if self.telling == 1 else f"all {self.telling} cases that tell"
        if self.cases < self.telling:
            cases = f"{self.cases} of {self.telling} cases that tell"
        return f"{self.runtime} {self.version} in {cases}"


def load_followed(operator: OperatorName) -> tuple[FollowedReadings, ...]:
    """What was measured of each runtime with an operator that ships, in all its versions; of most nothing."""
    path = room_of(operator, OWN_FOLDER) / FILE_NAME
    return read_followed(path) if path.is_file() else ()


def load_all_followed() -> tuple[FollowedReadings, ...]:
    """What was measured of each runtime with every operator that ships."""
    found: dict[tuple[str, str], FollowedReadings] = {}
    for path in sorted(OWN_FOLDER.glob(f"*/*/{FILE_NAME}")):
        for each in read_followed(path):
            known = found.get((each.runtime, each.version))
            told = {**(known.followed if known is not None else {}), **each.followed}
            found[each.runtime, each.version] = each.model_copy(update={"followed": told})
    return tuple(found.values())


def read_followed(path: Path) -> tuple[FollowedReadings, ...]:
    """What a file says of each runtime; raises SeveralErrors with everything that is wrong in it."""
    documents = load_file(path, path.name)
    if len(documents) != 1:
        raise UserError("not one YAML document", got=f"{len(documents)} documents in {path.name}")
    return validate(_File, documents[0]).measured


def followers(
    measured: tuple[FollowedReadings, ...], operator: OperatorName, reading: str
) -> Mapping[str, tuple[Follower, ...]]:
    """The runtimes that follow each option of a reading; an option that none follows is left out."""
    found: dict[str, tuple[Follower, ...]] = {}
    for option, follower in _followers(measured, operator, reading):
        found[option] = (*found.get(option, ()), follower)
    return found


def _followers(
    measured: tuple[FollowedReadings, ...], operator: OperatorName, reading: str
) -> Iterator[tuple[str, Follower]]:
    for each in measured:
        told = each.followed.get(str(operator), {}).get(reading, {})
        for option, cases in told.items():
            yield option, Follower(each.runtime, each.version, cases, sum(told.values()))

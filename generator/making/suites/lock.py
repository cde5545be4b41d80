"""The lock, `specs/suite.lock`: digests of the suites that have a name, and of every operator version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName
from opcert.vocabulary.whole_files import write_text
from specs.files.spec_folders import OWN_FOLDER

FORMAT = "opcert-lock/4"
LOCK_FILE = OWN_FOLDER / "suite.lock"
_REMEDY = "Write it with `opcert generate --update`."


@dataclass(frozen=True)
class LockedVersion:
    """The line of an operator version: the digest of its part of a suite, and how many cases that has.

    `trust` is what these are worth (`generator.making.suites.measured_cases`), no part of what they are.
    """

    digest: str
    cases: int
    trust: str = field(default="", compare=False)


@dataclass(frozen=True)
class Lock:
    """A line for each operator version, what is known of each, and suites of them.

    `digest` and `options` are of the default suite, whose operators the options name; without that word they
    are all versions. `suites` are the digests of the others that have a name.
    """

    digest: str
    options: Mapping[str, Any]
    versions: Mapping[str, LockedVersion]
    suites: Mapping[str, str] = field(default_factory=dict)

    @property
    def default(self) -> Lock:
        """The lock of the default suite alone."""
        return self.of_versions(self.options.get("operators", self.versions))

    def of_versions(self, names: Iterable[str]) -> Lock:
        """The lock of some operator versions alone, of those that it has."""
        chosen = {name: self.versions[name] for name in names if name in self.versions}
        return replace(self, versions=chosen)

    def name_of(self, digest: str) -> str | None:
        """The name of the suite with a digest; None where no suite that has a name has it."""
        named = {self.digest: DEFAULT_SUITE, **{suite: name for name, suite in self.suites.items()}}
        return named.get(digest)

    def trusted_as(self, trust: Mapping[str, str]) -> Lock:
        """The same lock, with some versions' cases trusted otherwise."""
        changed = {name: replace(self.versions[name], trust=each) for name, each in trust.items()}
        return replace(self, versions={**self.versions, **changed})

    @property
    def cases(self) -> int:
        """The number of cases of all its operator versions."""
        return sum(version.cases for version in self.versions.values())


def read_lock(path: Path | None = None) -> Lock:
    """A lock, the committed one where none is named; raises UserError where it is missing or damaged."""
    try:
        raw = json.loads((path or LOCK_FILE).read_text(encoding="utf-8"))
        if raw.pop("format") != FORMAT:
            raise ValueError("not of this format")
        versions = {name: LockedVersion(**each) for name, each in raw.pop("operators").items()}
        for name in versions:
            OperatorName.parse(name)
        return Lock(**raw, versions=versions)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, UserError) as error:
        raise UserError(
            "the lock of the default suite cannot be read",
            got=str(error),
            expected=FORMAT,
            where=Place(str(path or LOCK_FILE)),
            remedy=_REMEDY,
        ) from error


def known_sizes() -> dict[str, int]:
    """The number of cases of each operator in the committed lock: how long one takes to make goes with it."""
    try:
        return {name: version.cases for name, version in read_lock().versions.items()}
    except UserError:
        return {}


def write_lock(lock: Lock, path: Path = LOCK_FILE) -> None:
    """Write a lock: what is said of the whole suite, and a line for each operator version."""
    lines = [
        f"  {json.dumps(name)}: {json.dumps(asdict(version), sort_keys=True)}"
        for name, version in sorted(lock.versions.items())
    ]
    operators = "{\n" + ",\n".join(lines) + "\n }" if lines else "{}"
    options = json.dumps(dict(lock.options), indent=1, sort_keys=True).replace("\n", "\n ")
    suites = json.dumps(dict(lock.suites), indent=1).replace("\n", "\n ")
    rows = [
        f'"digest": {json.dumps(lock.digest)}',
        f'"format": {json.dumps(FORMAT)}',
        f'"operators": {operators}',
        f'"options": {options}',
        f'"suites": {suites}',
    ]
    write_text(path, "{\n " + ",\n ".join(rows) + "\n}\n")

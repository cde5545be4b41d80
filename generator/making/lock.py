"""The lock of the suites that have a name: digests of suites and parts, and of what they are made from.

`specs/suite.lock` has a line for each such suite and for each operator version that has a reference. What is
known of a version beside its digest lies in a file of its operator (`generator.making.lock_files`); it is
read where it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from generator.making.lock_files import (
    OperatorLock,
    file_of,
    read_code,
    read_version,
    write_code,
    write_versions,
)
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName
from opcert.vocabulary.whole_files import write_text
from specs.spec_folders import OWN_FOLDER

FORMAT = "opcert-lock/4"
LOCK_FILE = OWN_FOLDER / "suite.lock"
_REMEDY = "Write it with `opcert generate --update`."


@dataclass(frozen=True)
class LockedVersion:
    """The line of an operator version: the digest of its part of a suite, and how many cases that has.

    `trust` is what these are worth (`generator.witnessed.trust`); it is no part of what they are.
    """

    digest: str
    cases: int
    trust: str = field(default="", compare=False)


@dataclass(frozen=True)
class Lock:
    """A line for each operator version, what is known of each, and suites of them.

    `digest` and `options` are of the default suite, whose operators the options name; without that word they
    are all versions. `suites` are the digests of the others that have a name, `code` those of the files of
    code that parts were made with.
    """

    digest: str
    options: Mapping[str, Any]
    versions: Mapping[str, LockedVersion]
    operators: Mapping[str, OperatorLock]
    suites: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        digest: str,
        options: Mapping[str, Any],
        operators: Mapping[str, OperatorLock],
        trust: Mapping[str, str] | None = None,
    ) -> Lock:
        """The lock of a suite of which all is known."""
        told = trust or {}
        lines = {
            name: LockedVersion(each.digest, len(each.cases), told.get(name, ""))
            for name, each in operators.items()
        }
        return cls(digest, options, lines, operators)

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
        named = {self.digest: DEFAULT_SUITE, **{each: name for name, each in self.suites.items()}}
        return named.get(digest)

    def trusted_as(self, trust: Mapping[str, str]) -> Lock:
        """The same lock, with some versions' cases trusted otherwise."""
        changed = {name: replace(self.versions[name], trust=each) for name, each in trust.items()}
        return replace(self, versions={**self.versions, **changed})

    @property
    def cases(self) -> int:
        """The number of cases of all its operator versions."""
        return sum(each.cases for each in self.versions.values())


class _LockFiles(Mapping[str, OperatorLock]):
    """The files of operator versions; each is read when it is asked for."""

    def __init__(self, path: Path, versions: Mapping[str, LockedVersion]) -> None:
        self._path = path
        self._versions = versions

    def __getitem__(self, name: str) -> OperatorLock:
        """Raises UserError where the file is missing, damaged, or of another suite than the lock's line."""
        line = self._versions[name]
        try:
            found = read_version(self._path, name)
            if found.digest != line.digest or len(found.cases) != line.cases:
                raise ValueError(f"it is of {found.digest[:16]}, and {self._path.name} of {line.digest[:16]}")
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            path = file_of(self._path, name)
            raise _unreadable(f"the lock of {name} cannot be read", str(error), path) from error
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._versions

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)


class _CodeFile(Mapping[str, str]):
    """The digests of files of code beside a lock, read when one is asked for; UserError where damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _known(self) -> Mapping[str, str]:
        try:
            return read_code(self._path)
        except (OSError, ValueError, TypeError) as error:
            raise _unreadable("what suites were made with cannot be read", str(error), self._path) from error

    def __getitem__(self, name: str) -> str:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def read_lock(path: Path = LOCK_FILE) -> Lock:
    """The committed lock; raises UserError where it is missing or damaged."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw.pop("format") != FORMAT:
            raise ValueError("not of this format")
        versions = {name: LockedVersion(**each) for name, each in raw.pop("operators").items()}
        for name in versions:
            OperatorName.parse(name)
        files = _LockFiles(path, versions)
        return Lock(**raw, versions=versions, operators=files, code=_CodeFile(path))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, UserError) as error:
        raise _unreadable("the lock of the default suite cannot be read", str(error), path) from error


def write_lock(lock: Lock, path: Path = LOCK_FILE) -> None:
    """Write a lock, a line for each operator version, and the files beside it."""
    write_versions(path, lock.operators)
    write_code(path, lock.code)
    write_lines(lock, path)


def write_lines(lock: Lock, path: Path = LOCK_FILE) -> None:
    """Write the lock's own file alone: what is said of the whole suite, and a line for each version."""
    lines = [
        f"  {json.dumps(name)}: {json.dumps(asdict(each), sort_keys=True)}"
        for name, each in sorted(lock.versions.items())
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
    _write(path, "{\n " + ",\n ".join(rows) + "\n}")


def _write(path: Path, text: str) -> None:
    write_text(path, text + "\n")


def _unreadable(problem: str, got: str, path: Path) -> UserError:
    return UserError(problem, got=got, expected=FORMAT, where=Place(str(path)), remedy=_REMEDY)

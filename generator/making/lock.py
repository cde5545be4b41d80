"""The lock of the suites that have a name: digests of suites and parts, and of what they are made from.

`specs/suite.lock` has a line for each such suite and for each operator version that has a reference. What is
known of a version beside its digest lies in a file of its own, `specs/locks/<domain>/<Name>-<version>.json`;
it is read where it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName
from specs.spec_folders import OWN_FOLDER

FORMAT = "opcert-lock/3"
LOCK_FILE = OWN_FOLDER / "suite.lock"
_FILES = "locks"
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
class OperatorLock:
    """One operator version: digests of its part, spec files, reference, other code, facts, and each case.

    `ambiguity` counts elements, and those with several accepted results, as the facts do.
    """

    digest: str
    specs: Mapping[str, str]
    reference: str
    generator: str
    facts: str
    cases: Mapping[str, str]
    ambiguity: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Lock:
    """A line for each operator version, what is known of each, and suites of them.

    `digest` and `options` are of the default suite, whose operators the options name; without that word they
    are all versions. `suites` are the digests of the others that have a name.
    """

    digest: str
    options: Mapping[str, Any]
    versions: Mapping[str, LockedVersion]
    operators: Mapping[str, OperatorLock]
    suites: Mapping[str, str] = field(default_factory=dict)

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
        path = _file_of(self._path, name)
        try:
            found = _read_file(path)
            if found.digest != line.digest or len(found.cases) != line.cases:
                raise ValueError(f"it is of {found.digest[:16]}, and {self._path.name} of {line.digest[:16]}")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise _unreadable(f"the lock of {name} cannot be read", str(error), path) from error
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._versions

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)


def read_lock(path: Path = LOCK_FILE) -> Lock:
    """The committed lock; raises UserError where it is missing or damaged."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw.pop("format") != FORMAT:
            raise ValueError("not of this format")
        versions = {name: LockedVersion(**each) for name, each in raw.pop("operators").items()}
        for name in versions:
            OperatorName.parse(name)
        return Lock(**raw, versions=versions, operators=_LockFiles(path, versions))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, UserError) as error:
        raise _unreadable("the lock of the default suite cannot be read", str(error), path) from error


def write_lock(lock: Lock, path: Path = LOCK_FILE) -> None:
    """Write a lock, a line for each operator version, and the files of all; those of others go.

    A file has a line for each case, so that a diff shows the cases that changed. That of a part which is as
    it was stays, with what the part was made from then.
    """
    wanted = {_file_of(path, name): each for name, each in lock.operators.items()}
    for file, each in wanted.items():
        if _is_of(file, each):
            continue
        plain = {
            "digest": each.digest,
            "specs": dict(each.specs),
            "reference": each.reference,
            "generator": each.generator,
            "facts": each.facts,
            "ambiguity": dict(each.ambiguity),
            "cases": dict(each.cases),
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, json.dumps(plain, indent=1, sort_keys=True))
    for file in path.parent.glob(f"{_FILES}/*/*.json"):
        if file not in wanted:
            file.unlink()
            with suppress(OSError):  # others are in the same folder
                file.parent.rmdir()
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


def _read_file(path: Path) -> OperatorLock:
    return OperatorLock(**json.loads(path.read_text(encoding="utf-8")))


def _is_of(file: Path, lock: OperatorLock) -> bool:
    try:
        found = _read_file(file)
    except (OSError, ValueError, TypeError):
        return False
    return (found.digest, found.cases) == (lock.digest, lock.cases)


def _file_of(path: Path, name: str) -> Path:
    operator = OperatorName.parse(name)
    return path.parent / _FILES / operator.domain / f"{operator.short}.json"


def _write(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _unreadable(problem: str, got: str, path: Path) -> UserError:
    return UserError(problem, got=got, expected=FORMAT, where=Place(str(path)), remedy=_REMEDY)

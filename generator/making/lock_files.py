"""The files beside the lock, `specs/locks/<domain>/<Name>.json`: what is known of an operator's versions.

A file has a line for each case, sorted by name: a diff shows the cases that changed, and names that versions
share stand beside each other, which makes the files a third smaller where they are packed. A wheel has them
all in one packed file (`hatch_build.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.packed_files import read_packed
from opcert.vocabulary.whole_files import write_text

_FOLDER = "locks"
PACKED = "locks.json.xz"


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


def file_of(lock: Path, name: str) -> Path:
    """The file of an operator version beside a lock, shared with the operator's other versions."""
    operator = OperatorName.parse(name)
    return lock.parent / _FOLDER / operator.domain / f"{operator.name}.json"


def read_version(lock: Path, name: str) -> OperatorLock:
    """What is known of an operator version.

    Raises OSError, ValueError, KeyError or TypeError where nothing is.
    """
    operator, file = OperatorName.parse(name), file_of(lock, name)
    packed = lock.with_name(PACKED)
    if packed.is_file() and not file.is_file():
        raw = read_packed(packed, f"{operator.domain}/{operator.name}")
    else:
        raw = json.loads(file.read_text(encoding="utf-8"))
    return _version_in(raw, str(operator.since_version))


def write_versions(lock: Path, versions: Mapping[str, OperatorLock]) -> None:
    """Write the files of all operator versions; those of others go.

    What is said of a version whose part is as it was stays, with what the part was made from then.
    """
    files: dict[Path, dict[str, OperatorLock]] = {}
    for name, each in versions.items():
        version = str(OperatorName.parse(name).since_version)
        files.setdefault(file_of(lock, name), {})[version] = each
    for file, wanted in files.items():
        known = dict(_known_in(file))
        same = {version for version, each in wanted.items() if _is_as(each, known.get(version))}
        if same != wanted.keys() or known.keys() != same:
            kept = {version: known[version] if version in same else each for version, each in wanted.items()}
            write_text(file, _text_of(kept))
    _remove_others(lock, files)


def _version_in(raw: Mapping[str, Any], version: str) -> OperatorLock:
    cases = {name: told[version] for name, told in raw["cases"].items() if version in told}
    return OperatorLock(**raw["versions"][version], cases=cases)


def _known_in(file: Path) -> Iterator[tuple[str, OperatorLock]]:
    """The versions that a file knows; none of one that nobody can read."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        raw = json.loads(file.read_text(encoding="utf-8"))
        yield from [(version, _version_in(raw, version)) for version in raw["versions"]]


def _is_as(new: OperatorLock, old: OperatorLock | None) -> bool:
    return old is not None and (old.digest, old.cases) == (new.digest, new.cases)


def _text_of(versions: Mapping[str, OperatorLock]) -> str:
    cases: dict[str, dict[str, str]] = {}
    about: dict[str, dict[str, Any]] = {}
    for version, each in sorted(versions.items(), key=lambda item: int(item[0])):
        about[version] = {
            "ambiguity": dict(each.ambiguity),
            "digest": each.digest,
            "facts": each.facts,
            "generator": each.generator,
            "reference": each.reference,
            "specs": dict(each.specs),
        }
        for name, digest in each.cases.items():
            cases.setdefault(name, {})[version] = digest
    head = json.dumps(about, indent=1).replace("\n", "\n ")
    lines = [f"  {json.dumps(name)}: {json.dumps(told)}" for name, told in sorted(cases.items())]
    rows = "{\n" + ",\n".join(lines) + "\n }" if lines else "{}"
    return f'{{\n "cases": {rows},\n "versions": {head}\n}}\n'


def _remove_others(lock: Path, wanted: Iterable[Path]) -> None:
    kept = set(wanted)
    for file in lock.parent.glob(f"{_FOLDER}/*/*.json"):
        if file not in kept:
            file.unlink()
            with suppress(OSError):  # others are in the same folder
                file.parent.rmdir()

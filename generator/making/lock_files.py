"""The files beside the lock, in `specs/locks/`: what is known of operator versions, and the code of then.

`<domain>/<Name>.json` is of an operator's versions, `code.json` has the digest of every file of code that
parts were made with. An operator's file has a line for each case, sorted by name: a diff shows the cases that
changed, and names that versions share stand beside each other, which makes the files a third smaller where
they are packed. A wheel has them all in one packed file (`hatch_build.py`), and no `code.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.packed_files import read_packed
from opcert.vocabulary.whole_files import write_text

_FOLDER = "locks"
PACKED = "locks.json.xz"
_CODE = "code.json"


@dataclass(frozen=True)
class OperatorLock:
    """One operator version: digests of its part, spec files, facts, and each case.

    `ambiguity` counts elements, and those with several accepted results, as the facts do. `code` are the
    files of code that were imported to make the part; of a lock that was read nobody knows them.
    """

    digest: str
    specs: Mapping[str, str]
    facts: str
    cases: Mapping[str, str]
    ambiguity: Mapping[str, int] = field(default_factory=dict)
    code: Sequence[str] = field(default=(), compare=False)


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
    """Write the files of all operator versions, with what they are made from now; those of others go."""
    files: dict[Path, dict[str, OperatorLock]] = {}
    for name, each in versions.items():
        version = str(OperatorName.parse(name).since_version)
        files.setdefault(file_of(lock, name), {})[version] = each
    for file, wanted in files.items():
        write_text(file, _text_of(wanted))
    _remove_others(lock, files)


def read_code(lock: Path) -> Mapping[str, str]:
    """The digests of the files of code that parts were made with; none where the file is not there.

    Raises OSError, ValueError or TypeError where it is damaged.
    """
    path = lock.parent / _FOLDER / _CODE
    raw = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if not isinstance(raw, dict) or not all(isinstance(each, str) for each in raw.values()):
        raise TypeError(f"{path.name} holds no digests of files")
    return raw


def write_code(lock: Path, code: Mapping[str, str]) -> None:
    """Write them, a line for each file."""
    write_text(lock.parent / _FOLDER / _CODE, json.dumps(dict(code), indent=0, sort_keys=True) + "\n")


def _version_in(raw: Mapping[str, Any], version: str) -> OperatorLock:
    cases = {name: told[version] for name, told in raw["cases"].items() if version in told}
    told = raw["versions"][version]
    return OperatorLock(told["digest"], told["specs"], told["facts"], cases, told["ambiguity"])


def _text_of(versions: Mapping[str, OperatorLock]) -> str:
    cases: dict[str, dict[str, str]] = {}
    about: dict[str, dict[str, Any]] = {}
    for version, each in sorted(versions.items(), key=lambda item: int(item[0])):
        about[version] = {
            "ambiguity": dict(each.ambiguity),
            "digest": each.digest,
            "facts": each.facts,
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

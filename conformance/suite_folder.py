"""Writing a suite into an empty folder: golden files in suite order, and the manifest that describes them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from conformance.canonical import canonical_json
from conformance.cases import Case
from conformance.goldens import write_golden
from conformance.manifests import FORMAT, MANIFEST, manifest_digest
from opcert.errors import InternalError
from opcert.names import FAMILIES, CaseId


@dataclass(frozen=True)
class _Spooled:
    """Where a case's bytes lie in the spool while a suite is written."""

    id: CaseId
    offset: int
    entry: dict[str, Any]


def suite_order(case_id: CaseId) -> tuple[Any, int, str]:
    """The key that puts cases into suite order: operator, family, id."""
    return case_id.operator, FAMILIES.index(case_id.family), str(case_id)


def write_folder(
    folder: Path, cases: Iterable[Case], facts: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    """Write all files; returns the suite's digest. Raises InternalError on two cases of one id."""
    with tempfile.TemporaryFile(dir=folder.parent) as spool:
        spooled = sorted(_spool(cases, spool), key=lambda each: suite_order(each.id))
        for before, after in pairwise(spooled):
            if before.id == after.id:
                raise InternalError("two cases have one id", got=str(after.id))
        goldens = _write_goldens(folder, spooled, spool)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "options": options,
        "facts": facts,
        "goldens": goldens,
        "cases": [each.entry for each in spooled],
    }
    digest = manifest_digest(manifest)
    written = canonical_json({**manifest, "digest": digest})
    (folder / MANIFEST).write_bytes(written + b"\n")
    return digest


def _spool(cases: Iterable[Case], spool: IO[bytes]) -> Iterator[_Spooled]:
    for case in cases:
        raw, expectation = write_golden(case)
        entry = {
            "id": str(case.id),
            "length": len(raw),
            "expectation": expectation,
            "family": case.family,
            "element_type": case.element_type.name,
            "demand": case.demand,
        }
        offset = spool.tell()
        spool.write(raw)
        yield _Spooled(case.id, offset, entry)


def _write_goldens(folder: Path, spooled: list[_Spooled], spool: IO[bytes]) -> dict[str, Any]:
    """Write one file per operator in suite order; fills in each entry's file and offset."""
    goldens: dict[str, Any] = {}
    begin = 0
    while begin < len(spooled):
        operator = spooled[begin].id.operator
        name = f"goldens/{operator.path}.pb"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        digest, offset = hashlib.sha256(), 0
        with (folder / name).open("wb") as file:
            while begin < len(spooled) and spooled[begin].id.operator == operator:
                each = spooled[begin]
                spool.seek(each.offset)
                raw = spool.read(each.entry["length"])
                each.entry.update(file=name, offset=offset)
                file.write(raw)
                digest.update(raw)
                offset += len(raw)
                begin += 1
        goldens[name] = {"sha256": digest.hexdigest(), "bytes": offset}
    return goldens

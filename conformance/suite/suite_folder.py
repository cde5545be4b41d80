"""Writing a suite into an empty folder: golden files in suite order, and the manifest that describes them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from conformance.suite.canonical import canonical_json
from conformance.suite.cases import Case
from conformance.suite.goldens import write_golden
from conformance.suite.manifests import FORMAT, MANIFEST, manifest_digest
from conformance.suite.suite_parts import SuitePart, entry_of, golden_file, suite_order
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import CaseId


@dataclass(frozen=True)
class _Spooled:
    """Where a case's bytes lie in the spool while a suite is written."""

    id: CaseId
    offset: int
    entry: dict[str, Any]


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
    return _write_manifest(folder, goldens, [each.entry for each in spooled], facts, options)


def write_folder_of_parts(
    folder: Path, parts: Sequence[SuitePart], facts: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    """Write all files of a suite of parts, one for each operator; returns the suite's digest."""
    goldens: dict[str, Any] = {}
    ordered = sorted((each for each in parts if each.entries), key=lambda each: each.operator)
    for each in ordered:
        (folder / each.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / each.file).write_bytes(each.golden)
        goldens[each.file] = {"sha256": hashlib.sha256(each.golden).hexdigest(), "bytes": len(each.golden)}
    entries = [entry for each in ordered for entry in each.entries]
    return _write_manifest(folder, goldens, entries, facts, options)


def _write_manifest(
    folder: Path,
    goldens: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
) -> str:
    """Write the manifest; returns the suite's digest."""
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "options": options,
        "facts": facts,
        "goldens": goldens,
        "cases": entries,
    }
    digest = manifest_digest(manifest)
    written = canonical_json({**manifest, "digest": digest})
    (folder / MANIFEST).write_bytes(written + b"\n")
    return digest


def _spool(cases: Iterable[Case], spool: IO[bytes]) -> Iterator[_Spooled]:
    for case in cases:
        raw, expectation = write_golden(case)
        offset = spool.tell()
        spool.write(raw)
        yield _Spooled(case.id, offset, entry_of(case, raw, expectation))


def _write_goldens(folder: Path, spooled: list[_Spooled], spool: IO[bytes]) -> dict[str, Any]:
    """Write one file per operator in suite order; fills in each entry's file and offset."""
    goldens: dict[str, Any] = {}
    begin = 0
    while begin < len(spooled):
        operator = spooled[begin].id.operator
        name = golden_file(operator)
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

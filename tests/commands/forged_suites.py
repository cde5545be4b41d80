"""Suites made by hand whose manifest fits all their bytes: names in them may be anything."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.suite.canonical import canonical_json
from conformance.suite.cases import Case, call_digest
from conformance.suite.goldens import write_golden
from conformance.suite.manifests import FORMAT, MANIFEST, manifest_digest
from conformance.suite.suite_parts import entry_of
from opcert.vocabulary.names import OperatorName
from tests.conformance.samples import ECHO, make_case

DEEDS = ("echo", "zero", "raise")
PLAIN = "goldens/org.example/Echo-1.pb"


def forge_suite(folder: Path, operator: OperatorName = ECHO, file: str = PLAIN) -> tuple[Path, list[Case]]:
    """A suite of calls of an operator in one golden file, and its cases.

    The file is not there where the system does not take its name.
    """
    cases = sorted(
        (_called(deed, at, operator) for at, deed in enumerate(DEEDS)), key=lambda case: str(case.id)
    )
    golden, entries = b"", list[dict[str, Any]]()
    for case in cases:
        raw, expected = write_golden(case)
        entries.append({**entry_of(case, raw, expected), "file": file, "offset": len(golden)})
        golden += raw
    place = folder / "suite"
    place.mkdir(parents=True)
    with suppress(OSError, ValueError):
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_bytes(golden)
    manifest = {
        "format": FORMAT,
        "options": {},
        "facts": {"operators": {}},
        "goldens": {file: {"sha256": hashlib.sha256(golden).hexdigest(), "bytes": len(golden)}},
        "cases": entries,
    }
    stated = {**manifest, "digest": manifest_digest(manifest)}
    (place / MANIFEST).write_bytes(canonical_json(stated) + b"\n")
    return place, cases


def _called(deed: str, seed: int, operator: OperatorName) -> Case:
    plain = make_case(deed, seed=seed)
    digest = call_digest(operator, plain.attributes, plain.inputs)
    return replace(plain, id=replace(plain.id, operator=operator, digest=digest))

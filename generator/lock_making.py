"""The lock of a suite that was just generated from the files that are there now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.manifests import MANIFEST
from conformance.suite.suite_parts import golden_file, part_digest
from generator.adequacy.kept import expectations_in
from generator.lock import Lock, OperatorLock
from generator.sources import SourceReader
from opcert.vocabulary.names import OperatorName


def read_lock_of(suite: Path) -> Lock:
    """The lock of a suite in a folder, as `lock_of`."""
    manifest: dict[str, Any] = json.loads((suite / MANIFEST).read_text(encoding="utf-8"))
    return lock_of(manifest)


def lock_of(manifest: Mapping[str, Any]) -> Lock:
    """The lock of a suite, by its manifest; raises UserError where one of its operators has no spec."""
    reader = SourceReader()
    entries: dict[str, list[Mapping[str, Any]]] = {}
    for entry in manifest["cases"]:
        entries.setdefault(str(entry["file"]), []).append(entry)
    operators: dict[str, OperatorLock] = {}
    for text, facts in manifest["facts"]["operators"].items():
        operator = OperatorName.parse(text)
        file = golden_file(operator)
        golden = manifest["goldens"].get(file, {"sha256": sha256(b"")})["sha256"]
        sources = reader.sources_of(operator)
        operators[text] = OperatorLock(
            digest=part_digest(golden, entries.get(file, []), facts),
            specs=sources.specs,
            reference=sources.reference,
            generator=sources.generator,
            facts=sha256(canonical_json(facts)),
            cases=expectations_in(entries.get(file, [])),
            ambiguity=facts["ambiguity"],
        )
    return Lock.of(str(manifest["digest"]), manifest["options"], operators)

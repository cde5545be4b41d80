"""The locks of suites that are generated from the files that are there now."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.manifests import MANIFEST
from conformance.suite.suite_parts import golden_file, part_digest
from generator.adequacy.kept import expectations_in
from generator.making.cache import PROCESSES
from generator.making.lock import Lock
from generator.making.lock_files import OperatorLock
from generator.making.named_operators import referenced_operators
from generator.making.named_suites import operators_named, suite_names
from generator.making.sources import SourceReader
from generator.making.suite_making import Progress, write_generated
from generator.making.workshop import Options
from generator.witnessed.measured_cases import measured_cases
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName


def make_lock(progress: Progress) -> Lock:
    """The lock of every operator version that has a reference, and of every suite that has a name."""
    every = lock_of_now(referenced_operators(), progress)
    operators = {name: operators_named(name) or [] for name in suite_names()}
    digests = {}
    for name, each in operators.items():
        with scratch_folder("suite") as folder:
            digests[name] = _make(folder / "suite", each, lambda _: None)
    options = {**every.options, "operators": sorted(map(str, operators[DEFAULT_SUITE]))}
    return replace(every, digest=digests.pop(DEFAULT_SUITE), options=options, suites=digests)


def lock_of_now(operators: Sequence[OperatorName], progress: Progress) -> Lock:
    """The lock of the suite of some operators, made now; of parts that are kept, these."""
    with scratch_folder("suite") as folder:
        _make(folder / "suite", operators, progress)
        return read_lock_of(folder / "suite")


def _make(path: Path, operators: Sequence[OperatorName], progress: Progress) -> str:
    return write_generated(path, operators, Options(), (), PROCESSES, progress, keep=True)


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
        operators[text] = OperatorLock(
            digest=part_digest(golden, entries.get(file, []), facts),
            specs=reader.spec_digests(operator),
            facts=sha256(canonical_json(facts)),
            cases=expectations_in(entries.get(file, [])),
            ambiguity=facts["ambiguity"],
            code=tuple(reader.code_digests(operator)),
        )
    trust = {
        name: measured_cases(OperatorName.parse(name), each.cases).trust for name, each in operators.items()
    }
    made = Lock.of(str(manifest["digest"]), manifest["options"], operators, trust)
    return replace(made, code=reader.code_digests(*map(OperatorName.parse, operators)))

"""A suite of very many cases, made of a real one: its cases again and again under other names.

Every case of the source comes back in copies whose operator has another version or another name, with bytes
that are a whole golden of their own.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.suite.canonical import canonical_json
from conformance.suite.cases import Case
from conformance.suite.goldens import write_golden
from conformance.suite.manifests import FORMAT, MANIFEST
from conformance.suite.suite_parts import entry_of, golden_file, suite_order
from conformance.suite.suites import Suite
from opcert.vocabulary.names import CaseId, OperatorName

LARGEST_GOLDEN = 4096
"""Bytes: larger cases of the source are left out, so that a million of them fit a disk."""
CASES_OF_A_VERSION = 500
VERSIONS_OF_A_NAME = 8
_OPSETS_APART = 1000


@dataclass(frozen=True)
class MadeSuite:
    """A suite that was written: its place and digest, and its ids in suite order with the case of each."""

    path: Path
    digest: str
    copies: Sequence[tuple[CaseId, int]]
    sources: Sequence[Case]


@dataclass(frozen=True)
class _Source:
    """A case of the source as the pieces of its golden bytes before and behind its name, and its entry."""

    case: Case
    head: bytes
    tail: bytes
    entry: dict[str, Any]


def make_suite(source: Suite, folder: Path, cases: int) -> MadeSuite:
    """Write a suite of so many cases into an empty folder."""
    small = [each for each in source.case_ids if source.entry(each)["length"] <= LARGEST_GOLDEN]
    # A case that a chain or a valid case names has another name in its copies, and is none of these.
    taken = [_take(source.case(each)) for each in small]
    taken = [each for each in taken if each.case.valid_case is None and not each.case.model]
    by_operator = [
        (operator, list(own))
        for operator, own in itertools.groupby(enumerate(taken), lambda one: one[1].case.operator)
    ]
    wanted = sorted(itertools.islice(_copies(by_operator), cases), key=lambda each: suite_order(each[0]))
    digest = _write_suite(folder, wanted, taken, source.facts)
    return MadeSuite(folder, digest, wanted, [each.case for each in taken])


def _take(case: Case) -> _Source:
    golden, expectation = write_golden(case)
    name = _name_field(str(case.id))
    head, _, tail = golden.partition(name)
    return _Source(case, head, tail, entry_of(case, golden, expectation))


def _name_field(name: str) -> bytes:
    """The field 2 of a GraphProto, whose text is shorter than 128 bytes, or has a length of two bytes."""
    raw = name.encode()
    size = bytes([len(raw)]) if len(raw) < 128 else bytes([len(raw) & 127 | 128, len(raw) >> 7])
    return b"\x12" + size + raw


def _copies(
    by_operator: Sequence[tuple[OperatorName, list[tuple[int, _Source]]]],
) -> Iterator[tuple[CaseId, int]]:
    """Cases of one operator version after the other, each version with `CASES_OF_A_VERSION`."""
    for number in itertools.count():
        again, version = divmod(number, VERSIONS_OF_A_NAME)
        for operator, own in by_operator:
            named = OperatorName(
                operator.domain,
                f"{operator.name}{again}" if again else operator.name,
                operator.since_version + _OPSETS_APART * version,
            )
            for serial in range(CASES_OF_A_VERSION):
                turn, at = divmod(serial, len(own))
                place, each = own[at]
                digest = hashlib.sha256(f"{turn} {each.case.id.digest}".encode()).hexdigest()[:12]
                yield replace(each.case.id, operator=named, digest=digest), place


def _write_suite(
    folder: Path, wanted: Sequence[tuple[CaseId, int]], taken: Sequence[_Source], facts: Any
) -> str:
    """Write goldens and manifest piece by piece; returns the digest. Copies have their operator's facts."""
    goldens: dict[str, Any] = {}
    known = facts.get("operators", {})
    told: dict[str, Any] = {}
    text = folder / "cases"
    folder.mkdir(parents=True, exist_ok=True)
    with text.open("wb") as entries:
        for operator, own in itertools.groupby(wanted, lambda each: each[0].operator):
            name, offset, digest = golden_file(operator), 0, hashlib.sha256()
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("wb") as file:
                for case_id, place in own:
                    each = taken[place]
                    raw = each.head + _name_field(str(case_id)) + each.tail
                    entry = {**each.entry, "id": str(case_id), "length": len(raw), "file": name}
                    entries.write(
                        (b"," if entries.tell() else b"") + canonical_json({**entry, "offset": offset})
                    )
                    file.write(raw)
                    digest.update(raw)
                    offset += len(raw)
            goldens[name] = {"sha256": digest.hexdigest(), "bytes": offset}
            told[str(operator)] = known.get(str(each.case.operator), {})
    head = {"format": FORMAT, "options": {}, "facts": {"operators": told}, "goldens": goldens}
    rest = canonical_json(head)[1:]
    whole = hashlib.sha256(b'{"cases":[')
    with text.open("rb") as entries, (folder / MANIFEST).open("wb") as manifest:
        manifest.write(b'{"cases":[')
        while piece := entries.read(1 << 20):
            whole.update(piece)
            manifest.write(piece)
        whole.update(b"]," + rest)
        manifest.write(b'],"digest":"' + whole.hexdigest().encode() + b'",' + rest + b"\n")
    text.unlink()
    return whole.hexdigest()

"""A part of a suite: what it holds of one operator version. Suites are put together of parts.

As a file, a part is the SHA-256 of all that follows, a line of canonical JSON (operator, entries, facts) and
the bytes of its golden file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.goldens import read_golden, write_golden
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import FAMILIES, CaseId, OperatorName

FORMAT = "opcert-part/1"
_Written = tuple[CaseId, bytes, dict[str, Any]]
_DIGEST_DIGITS = 64


@dataclass(frozen=True, eq=False)
class SuitePart:
    """An operator version's golden file, its cases' entries of the manifest in suite order, and its facts."""

    operator: OperatorName
    golden: bytes
    entries: tuple[Mapping[str, Any], ...]
    facts: Mapping[str, Any]

    @property
    def file(self) -> str:
        """The place of the golden file in a suite."""
        return golden_file(self.operator)

    @property
    def digest(self) -> str:
        """The digest that covers every byte of the part."""
        return part_digest(hashlib.sha256(self.golden).hexdigest(), self.entries, self.facts)


def golden_file(operator: OperatorName) -> str:
    """The place of an operator version's golden file in a suite."""
    return f"goldens/{operator.path}.pb"


def part_digest(golden: str, entries: Iterable[Mapping[str, Any]], facts: Mapping[str, Any] | None) -> str:
    """The digest of a part: of its golden file's digest, its entries and its facts."""
    return sha256(canonical_json({"golden": golden, "cases": list(entries), "facts": facts}))


def suite_order(case_id: CaseId) -> tuple[Any, int, str]:
    """The key that puts cases into suite order: operator, family, id."""
    return case_id.operator, FAMILIES.index(case_id.family), str(case_id)


def entry_of(case: Case, golden: bytes, expectation: str) -> dict[str, Any]:
    """What a manifest says of a case, without its file and where it begins there."""
    return {
        "id": str(case.id),
        "length": len(golden),
        "expectation": expectation,
        "family": case.family,
        "element_type": case.element_type.name,
        "demand": case.demand,
    }


def make_part(operator: OperatorName, cases: Iterable[Case], facts: Mapping[str, Any]) -> SuitePart:
    """The part of an operator's cases; raises InternalError on two cases of one id."""
    return _put_together(operator, map(_written, cases), facts)


def make_parts(cases: Iterable[Case]) -> list[SuitePart]:
    """The parts of cases of several operators, in whatever order they come, without facts."""
    written: dict[OperatorName, list[_Written]] = {}
    for case in cases:
        written.setdefault(case.operator, []).append(_written(case))
    return [_put_together(operator, own, {}) for operator, own in written.items()]


def _written(case: Case) -> _Written:
    golden, expectation = write_golden(case)
    return case.id, golden, entry_of(case, golden, expectation)


def _put_together(operator: OperatorName, written: Iterable[_Written], facts: Mapping[str, Any]) -> SuitePart:
    ordered = sorted(written, key=lambda case: suite_order(case[0]))
    for (before, _, _), (after, _, _) in pairwise(ordered):
        if before == after:
            raise InternalError("two cases have one id", got=str(after))
    entries: list[dict[str, Any]] = []
    offset = 0
    for _, golden, entry in ordered:
        entries.append({**entry, "file": golden_file(operator), "offset": offset})
        offset += len(golden)
    # As a reader of the part has them: tuples are lists, and infinities texts.
    plain = json.loads(canonical_json(facts))
    return SuitePart(operator, b"".join(golden for _, golden, _ in ordered), tuple(entries), plain)


def cases_in(part: SuitePart, step: int = 1) -> Iterator[Case]:
    """Every so manyth case of a part, in suite order; raises UserError where one is damaged."""
    for entry in part.entries[::step]:
        yield read_golden(part.golden[entry["offset"] : entry["offset"] + entry["length"]])


def part_bytes(part: SuitePart) -> bytes:
    """A part as the bytes of a file."""
    head = {
        "format": FORMAT,
        "operator": str(part.operator),
        "entries": part.entries,
        "facts": part.facts,
    }
    rest = canonical_json(head) + b"\n" + part.golden
    return sha256(rest).encode("ascii") + b"\n" + rest


def read_part(raw: bytes) -> SuitePart:
    """The part in a file's bytes; raises ValueError, saying what is wrong, where it is damaged."""
    digest, rest = raw[:_DIGEST_DIGITS], raw[_DIGEST_DIGITS + 1 :]
    if sha256(rest).encode("ascii") != digest:
        raise ValueError(f"its {len(raw)} bytes do not have the digest that they begin with")
    line, _, golden = rest.partition(b"\n")
    head = json.loads(line)
    if head["format"] != FORMAT:
        raise ValueError(f"not of the format {FORMAT}")
    return SuitePart(OperatorName.parse(head["operator"]), golden, tuple(head["entries"]), head["facts"])

"""A suite of very many cases, made of a real one, and records of very many rows of it.

Every case of the source comes back in copies whose operator has another version or another name, with bytes
that are a whole golden of their own. Rows are what the judge says of made-up answers: three quarters are
right, the others unsupported, wrong in some elements, refused, or lost with their process.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Crashed, Refused, Response
from conformance.judging.verdicts import VERDICTS, Verdict
from conformance.recording.outputs import describe_output
from conformance.recording.records import FORMAT as RECORD
from conformance.recording.rows import Result, make_result
from conformance.suite.canonical import canonical_json
from conformance.suite.case_selection import Shard
from conformance.suite.cases import Case
from conformance.suite.goldens import write_golden
from conformance.suite.manifests import FORMAT, MANIFEST
from conformance.suite.suite_parts import entry_of, golden_file, suite_order
from conformance.suite.suites import Suite
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

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
    small = [case_id for case_id in source.case_ids if source.entry(case_id)["length"] <= LARGEST_GOLDEN]
    # A case that a chain or a valid case names has another name in its copies, and is none of these.
    taken = [_take(source.case(each)) for each in small]
    taken = [each for each in taken if each.case.valid_case is None and not each.case.model]
    by_operator = [
        (operator, list(own))
        for operator, own in itertools.groupby(enumerate(taken), lambda one: one[1].case.operator)
    ]
    wanted = sorted(itertools.islice(_copies(by_operator), cases), key=lambda copy: suite_order(copy[0]))
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


_UNSUPPORTED = (
    "NotImplemented: [ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for "
    "Resize(18) node with name ''"
)
_OUT_OF = 100
_PASSING, _UNSUPPORTED_UP_TO, _WRONG_UP_TO, _REFUSED_UP_TO = 77, 92, 97, 99
"""Of each hundred cases so many pass, then so many more are unsupported, wrong, refused, and lost."""
_CASE, _OPERATOR = "@case@", "@operator@"
_VERSION = "1.20.1"
_PLATFORM = {"machine": "x86_64", "processors": 2, "python": "3.11.7", "release": "6", "system": "Linux"}


class RowMaker:
    """Lines of rows of copies: each case and outcome is judged once, and copies have other names in it."""

    def __init__(self, made: MadeSuite, seed: int) -> None:
        self._made = made
        self._seed = seed
        self._judged: dict[tuple[int, str], tuple[Verdict, bytes]] = {}

    def line(self, position: int) -> tuple[Verdict, bytes]:
        """The verdict and the line of a case by its position in suite order."""
        case_id, place = self._made.copies[position]
        # A case does the same in all its copies in one version: a cause has more cases than one.
        drawn = hashlib.sha256(f"{self._seed} {case_id.operator} {place}".encode()).digest()
        kind = _kind(int.from_bytes(drawn[:4], "big") % _OUT_OF, self._made.sources[place])
        if (place, kind) not in self._judged:
            found = replace(_judged(self._made.sources[place], kind), case=_CASE, operator=_OPERATOR)
            self._judged[place, kind] = found.verdict, found.to_line()
        verdict, line = self._judged[place, kind]
        named = line.replace(_CASE.encode(), str(case_id).encode())
        named = named.replace(_OPERATOR.encode(), str(case_id.operator).encode())
        seconds = round(1e-4 + drawn[5] * 1e-5, 7)
        return verdict, named.replace(b'"seconds":0.0,', f'"seconds":{json.dumps(seconds)},'.encode())


def _kind(share: int, case: Case) -> str:
    if share < _PASSING or case.demand != "answer" or not case.expectations:
        return "right"
    if share < _UNSUPPORTED_UP_TO:
        return "unsupported"
    if share < _WRONG_UP_TO and _spoilt(case) is not None:
        return "wrong"
    return "refused" if share < _REFUSED_UP_TO else "lost"


def _judged(case: Case, kind: str) -> Result:
    response = _response(case, kind)
    judgement = judge(case, response)
    entries: tuple[Any, ...] = ()
    if isinstance(response, Answered):
        matched = judgement.matched or (None,) * len(response.outputs)
        entries = tuple(map(describe_output, response.outputs, matched))
    return make_result(case, "inputs", 0, response, judgement, entries)


def _response(case: Case, kind: str) -> Response:
    node = f"Non-zero status code returned while running {case.operator.name} node. Name:''"
    if kind == "unsupported":
        return Refused(
            "NotImplemented",
            _UNSUPPORTED.partition(": ")[2].replace("Resize(18)", case.operator.name),
            "load",
            _UNSUPPORTED,
        )
    if kind == "refused" or case.demand == "refuse":
        said = f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : {node} Status Message: {len(case.inputs)} inputs"
        return Refused("InvalidArgument", said, "run")
    if kind == "lost":
        return Crashed("the worker died of SIGSEGV", "SIGSEGV", stderr="Segmentation fault\n")
    if kind == "wrong":
        spoilt = _spoilt(case)
        assert spoilt is not None
        return Answered(spoilt, 0.0)
    expected = case.expectations[0].outputs if case.expectations else ()
    return Answered(tuple(output.expected for output in expected), 0.0)


def _spoilt(case: Case) -> tuple[Tensor, ...] | None:
    """The expected outputs with every second element of the first one wrong; None where it has no element."""
    first, *others = (output.expected for output in case.expectations[0].outputs)
    if first.array.size == 0 or first.array.dtype == object:
        return None
    array = first.array.copy()
    raw = array.reshape(-1).view(np.uint8).reshape(array.size, -1)
    raw[::2, -1] ^= 1
    return (Tensor(first.element_type, array), *others)


class _Record:
    """A record that is written line by line, its cases in suite order with one row each."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        self._file.write(canonical_json({"type": "header", "format": RECORD, **header}) + b"\n")
        self._digest = hashlib.sha256()
        self._counts: Counter[Verdict] = Counter()

    def append(self, verdict: Verdict, line: bytes) -> None:
        self._file.write(line)
        self._digest.update(line)
        self._counts[verdict] += 1

    def finish(self) -> None:
        counts = {verdict: self._counts[verdict] for verdict in VERDICTS}
        footer: dict[str, Any] = {"type": "footer", "counts": counts, "faults": []}
        footer |= {"finished": "2026-11-26T07:00:00Z", "rows": self._counts.total()}
        with self._file:
            self._file.write(canonical_json({**footer, "digest": self._digest.hexdigest()}) + b"\n")


def make_records(
    made: MadeSuite, path: Path, seed: int, shards: Sequence[Path] = (), version: str = _VERSION
) -> None:
    """Write the record of a run of a suite, and beside it those of its shards."""
    whole, rows = _Record(path, _header(made, version, None)), RowMaker(made, seed)
    count = len(shards)
    parts = [
        _Record(shard, _header(made, version, str(Shard(number, count))))
        for number, shard in enumerate(shards, 1)
    ]
    for position, (case_id, _) in enumerate(made.copies):
        verdict, line = rows.line(position)
        whole.append(verdict, line)
        for number, part in enumerate(parts, 1):
            if Shard(number, count).holds(str(case_id)):
                part.append(verdict, line)
    for record in (whole, *parts):
        record.finish()


def _header(made: MadeSuite, version: str, shard: str | None) -> dict[str, Any]:
    runtime = {"name": "onnxruntime", "version": version}
    domains = sorted({case_id.operator.domain for case_id, _ in made.copies})
    offer = {
        "protocol": 1,
        "runtime": runtime,
        "domains": dict.fromkeys(domains, "onnx"),
        "element_types": None,
    }
    offer |= {"forms": ["inputs"], "threads": [1], "values": ["map", "optional", "sequence"]}
    packages = {"python": "3.11.7", "packages": {"onnxruntime": version}}
    told = {**runtime, "source": f"onnxruntime=={version}", "options": {"optimization": "all"}}
    options: dict[str, Any] = {"forms": ["inputs"], "sampled": None, "repeat": 1, "pattern": None, "jobs": 1}
    options |= {"timeout": 20.0, "start_timeout": 120.0, "memory": 1 << 32, "network": False}
    return {
        "suite": made.digest,
        "runtime": {**told, "environment": packages, "offer": {**offer, "platform": _PLATFORM}},
        "platform": _PLATFORM,
        "options": {**options, "shard": shard},
        "started": "2026-11-26T06:00:00Z",
    }

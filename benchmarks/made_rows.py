"""Records of very many rows of a made suite: what the judge says of made-up answers to its cases.

Three quarters are right, the others unsupported, wrong in some elements, refused, or lost with their process.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.made_suite import MadeSuite
from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Crashed, Refused, Response
from conformance.judging.verdicts import VERDICTS, Verdict
from conformance.recording.outputs import describe_output
from conformance.recording.records import FORMAT as RECORD
from conformance.recording.rows import Result, make_result
from conformance.suite.canonical import canonical_json
from conformance.suite.cases import Case
from conformance.suite.shards import Shard
from opcert.vocabulary.tensors import Tensor

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
    return Answered(tuple(each.expected for each in expected), 0.0)


def _spoilt(case: Case) -> tuple[Tensor, ...] | None:
    """The expected outputs with every second element of the first one wrong; None where it has no element."""
    first, *others = (each.expected for each in case.expectations[0].outputs)
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
        counts = {each: self._counts[each] for each in VERDICTS}
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
        _Record(each, _header(made, version, str(Shard(number, count))))
        for number, each in enumerate(shards, 1)
    ]
    for position, (case_id, _) in enumerate(made.copies):
        verdict, line = rows.line(position)
        whole.append(verdict, line)
        for number, part in enumerate(parts, 1):
            if Shard(number, count).holds(str(case_id)):
                part.append(verdict, line)
    for each in (whole, *parts):
        each.finish()


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

"""What a cluster costs: seconds a case beside `-j` on one machine, and memory of the client by cases.

`uv run python -m benchmarks.cluster_costs overhead --cases 100000` runs a fake runtime, which itself takes
to nothing, with two lanes and two workers in turn, and prints what a case takes of clock and processors.
`... memory` has suites of 10,000, 100,000 and 1,000,000 cases run by workers that make up their answers, and
prints the client's memory: when the suite is open, at most while rows come, and at most altogether.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.clusters import cluster_run
from conformance.clusters.cluster_run import run_suite_on
from conformance.clusters.connecting import open_cluster
from conformance.clusters.machines import machine_here
from conformance.clusters.run_units import RunOrder, RunUnit, UnitAnswer, deflated
from conformance.clusters.worker_answers import on_worker
from conformance.processes.descendants import descendants
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.progress import Silent
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunOptions, RunRequest
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.canonical import canonical_json
from conformance.suite.manifests import FORMAT, manifest_digest
from conformance.suite.suites import open_suite
from tests.conformance.samples import echo_runtime, make_case, make_suite

_SIZES = (10_000, 100_000, 1_000_000)
_GOLDEN = bytes(400)
"""The bytes of a made-up case: nobody reads them, and they travel as others do."""
_FILE = "goldens/a/A-1.pb"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("overhead", "memory", "client"))
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.what == "client":
        _client(asked.folder)
        return
    with tempfile.TemporaryDirectory() as made:
        if asked.what == "overhead":
            _overhead(Path(made), asked.cases, asked.pairs)
        else:
            for cases in _SIZES:
                _memory(Path(made), cases)


def _overhead(folder: Path, cases: int, pairs: int) -> None:
    suite = make_suite(folder, (make_case(seed=each) for each in range(cases)))
    runtime, options = find_runtime(echo_runtime()), RunOptions(jobs=2)
    with open_suite(suite) as opened, open_cluster("local:2", print) as cluster:
        ways: dict[str, Callable[[], Record]] = {
            "-j 2": lambda: run_suite(opened, runtime, folder / "one.jsonl", options),
            "local:2": lambda: run_suite_on(
                cluster, RunRequest(opened, runtime, options), RecordPlace(folder / "many.jsonl")
            ),
        }
        for number in range(pairs):
            records = {}
            for name in sorted(ways, reverse=bool(number % 2)):
                begun, used = time.monotonic(), _processor_seconds()
                records[name] = ways[name]()
                seconds, used = time.monotonic() - begun, _processor_seconds() - used
                told = f"{1e6 * seconds / cases:.0f} us a case, {1e6 * used / cases:.0f} us of processors"
                print(f"{name}: {cases} cases in {seconds:.1f} s: {told}", flush=True)
            rows = [[(each.case, each.verdict) for each in record.results] for record in records.values()]
            print(f"the same rows: {rows[0] == rows[1]}", flush=True)


def _processor_seconds() -> float:
    """What this process and all that it has started have used of processors, those that are gone included."""
    total, tick = 0.0, os.sysconf("SC_CLK_TCK")
    for each in (os.getpid(), *descendants(os.getpid())):
        try:
            words = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, words[11:15])) / tick
    return total


def _memory(folder: Path, cases: int) -> None:
    place = folder / str(cases)
    _write_made_up(place, cases)
    words = [sys.executable, "-m", "benchmarks.cluster_costs", "client", "--folder", str(place)]
    print(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip(), flush=True)


def _write_made_up(place: Path, cases: int) -> None:
    """A suite of cases that are none, written without making any."""
    (place / _FILE).parent.mkdir(parents=True)
    digest = hashlib.sha256()
    with (place / _FILE).open("wb") as file:
        for _ in range(cases):
            file.write(_GOLDEN)
            digest.update(_GOLDEN)
    size = len(_GOLDEN)
    kind = {"demand": "answer", "element_type": "float", "family": "cover", "file": _FILE, "length": size}
    entries = [
        {**kind, "id": f"a/A-1/cover/{each:012x}", "offset": each * size, "expectation": f"{each:064x}"}
        for each in range(cases)
    ]
    goldens = {_FILE: {"sha256": digest.hexdigest(), "bytes": cases * size}}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "options": {},
        "facts": {"operators": {}},
        "goldens": goldens,
    }
    manifest["cases"] = entries
    whole = {**manifest, "digest": manifest_digest(manifest)}
    (place / "manifest.json").write_bytes(canonical_json(whole) + b"\n")


@on_worker
def answer_at_once(_: RunOrder, unit: RunUnit) -> UnitAnswer:
    """What a worker answers that made every case's row up."""
    begun, rows, orders = time.monotonic(), [], array("Q")
    machine = machine_here()
    levels = {"axis": "last", "shape": "2x3", "type_T": "float", "values": "ordinary"}
    for place, case in zip(unit.positions, unit.cases, strict=True):
        row = Result(
            case, "a::A-1", "cover", "float", "inputs", 0, "pass", levels=levels, outputs=("golden",)
        )
        rows.append(replace(row, machine=str(machine["name"])))
        orders.extend((place, 0, 0))
    identity = {"name": "echo", "version": "1.0", "packages": {}}
    lines = deflated(b"".join(each.to_line() for each in rows))
    return UnitAnswer(machine, identity, lines, orders.tobytes(), time.monotonic() - begun)


class _Watching(Silent):
    """Looks at this process's memory while rows come."""

    def __init__(self) -> None:
        self.most, self._rows = 0, 0

    def advance(self, result: Result) -> None:
        self._rows += 1
        if self._rows % 2000 == 0:
            self.most = max(self.most, _resident())


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _most_resident() -> int:
    """The most that this program has had, and not what started it, as `getrusage` would say."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def _client(place: Path) -> None:
    cluster_run.__dict__["run_unit"] = answer_at_once
    watching = _Watching()
    with open_cluster("local:2", lambda _: None) as cluster:
        alone = _resident()
        with open_suite(place) as suite:
            opened, begun = _resident(), time.monotonic()
            request = RunRequest(suite, find_runtime(echo_runtime()))
            record = run_suite_on(cluster, request, RecordPlace(place / "run.jsonl"), watching)
            seconds = time.monotonic() - begun
            told: dict[str, Any] = {
                "cases": len(suite.case_ids),
                "rows": len(record.results),
                "seconds": round(seconds, 1),
                "MiB alone": alone >> 20,
                "MiB with the suite open": opened >> 20,
                "MiB at most while rows come": watching.most >> 20,
                "MiB at most": _most_resident() >> 20,
            }
    print(json.dumps(told))


if __name__ == "__main__":
    main()

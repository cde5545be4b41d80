"""Kills workers, schedulers and clients of cluster runs at random moments, and counts rows that suffered.

`uv run python -m benchmarks.cluster_kills` starts a scheduler of Dask and workers on this machine, runs a
fake runtime over a suite with `opcert run --scheduler --resume`, and ends one of the processes with SIGKILL
again and again; what is gone is started anew. Then every record is held against that of a run of one machine:
prints how often who was killed, what clients said, and how many rows were lost, doubled, or another.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from conformance.recording.records import Record, read_record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from tests.conformance.clusters.services import Services, kill, worker_of
from tests.conformance.samples import echo_runtime, make_case, make_suite

_VICTIMS = ("worker", "scheduler", "client")


@dataclass
class Kills:
    """What was killed so far, and what the clients said that ended by themselves before the end."""

    folder: Path
    suite: Path
    chance: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    services: Services | None = None
    nannies: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def cluster(self) -> str:
        """The address of a scheduler that is there, with its workers."""
        if self.services is None:
            place = self.folder / f"services-{sum(self.killed.values())}"
            place.mkdir()
            self.services = Services(place)
            self.services.scheduler()
            self.nannies = [self.services.worker() for _ in range(2)]
        return self.services.address

    def forget_cluster(self) -> None:
        if self.services is not None:
            self.services.stop()
        self.services = None

    def client(self, record: Path) -> subprocess.Popen[bytes]:
        words = ["run", echo_runtime(), "-s", self.suite, "--scheduler", self.cluster()]
        with record.with_suffix(".log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "opcert", *map(str, words), "--resume", "-o", str(record)],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def one_record(self, record: Path, wanted: int) -> None:
        """Run until the record is whole; as long as kills are wanted, with kills."""
        while True:
            client = self.client(record)
            while client.poll() is None and sum(self.killed.values()) < wanted:
                # After further rows, so that there is something to lose.
                before = _size(record)
                _await(client, partial(_grown, record, before), 120)
                _await(client, lambda: False, self.chance.random() * 4)
                if client.poll() is None:
                    self._kill_one(client)
            client.wait()
            if client.returncode in (0, 1):
                return
            if client.returncode > 0:
                self.said[record.with_suffix(".log").read_text().splitlines()[-1][:90]] += 1

    def _kill_one(self, client: subprocess.Popen[bytes]) -> None:
        victim = self.chance.choice(_VICTIMS)
        print(f"{sum(self.killed.values()) + 1}: {victim}", flush=True)
        if victim == "worker":
            process = worker_of(self.chance.choice(self.nannies))
            if process is None:
                return
            subprocess.run(["kill", "-KILL", str(process)], check=False)
        elif victim == "client":
            kill(client)
        else:
            self.forget_cluster()
        self.killed[victim] += 1


def _grown(record: Path, before: int) -> bool:
    return _size(record) != before


def _size(record: Path) -> int:
    return record.stat().st_size if record.exists() else 0


def _await(client: subprocess.Popen[bytes], what: Callable[[], bool], seconds: float) -> None:
    """Wait for something, for so long at most, or until the client has ended."""
    end = time.monotonic() + seconds
    while client.poll() is None and not what() and time.monotonic() < end:
        time.sleep(0.02)


def _rows(record: Record) -> Counter[tuple[str, str, int, str]]:
    return Counter((each.case, each.form, each.repeat, each.verdict) for each in record.results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--cases", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        words = ["echo", "echo", "echo", "ulp", "raise"]
        suite = make_suite(folder, [make_case(words[each % 5], seed=each) for each in range(asked.cases)])
        with open_suite(suite) as opened:
            whole = run_suite(opened, find_runtime(echo_runtime()), folder / "one.jsonl", RunOptions(jobs=2))
        wanted = _rows(whole)
        kills = Kills(folder, suite, random.Random(asked.seed))
        records: list[Path] = []
        try:
            while sum(kills.killed.values()) < asked.kills:
                records.append(folder / f"{len(records)}.jsonl")
                kills.one_record(records[-1], asked.kills)
        finally:
            kills.forget_cluster()
        print(f"killed: {dict(kills.killed)}, in {len(records)} runs of {asked.cases} cases")
        for said, times in kills.said.items():
            print(f"  {times} clients said: {said}")
        lost = doubled = other = 0
        for path in records:
            record = read_record(path)
            found = _rows(record)
            case_rows = Counter((case, form, repeat) for case, form, repeat, _ in found.elements())
            doubled += sum(count - 1 for count in case_rows.values())
            lost += len(wanted) - len({key[:3] for key in wanted} & set(case_rows))
            other += sum((found - wanted).values())
            assert (record.footer or {})["counts"] == (whole.footer or {})["counts"], path
        print(f"rows lost {lost}, doubled {doubled}, another verdict {other}")


if __name__ == "__main__":
    main()

"""Runs kept over time in a folder: what each came to, by runtime and version, of one version by time."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from conformance.recording.records import FORMAT, Record, read_record
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.regular_files import open_regular
from reports.causes.followed_readings import fault_text
from reports.comparisons.version_order import version_key
from reports.results.headline import runtime_label
from reports.results.told_facts import mapping, text

_HEAD = 4096
_UNCOUNTED = ("not_run", "harness_error")


@dataclass(frozen=True)
class KeptRun:
    """One run: its record, who ran when on which suite, and each case's verdict; without its rows.

    `series` names the runtime with its options: runs of one series follow each other. `report` is the run's
    own page, None where there is none beside the record.
    """

    path: Path
    series: str
    label: str
    version: str
    started: str
    suite: str
    partial: bool
    verdicts: Mapping[str, str]
    faults: tuple[str, ...]
    report: Path | None

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.verdicts.values())

    @cached_property
    def by_operator(self) -> Mapping[OperatorName, Mapping[str, str]]:
        """The verdicts of each operator version's cases."""
        found: dict[OperatorName, dict[str, str]] = defaultdict(dict)
        for case, verdict in self.verdicts.items():
            found[CaseId.parse(case).operator][case] = verdict
        return found

    @property
    def ran(self) -> bool:
        """Whether anything was learnt of the runtime."""
        return any(each not in _UNCOUNTED for each in self.counts)


@dataclass(frozen=True)
class KeptRuns:
    """The runs of a folder by series, each by version and then by time; and files left out, with why."""

    series: Mapping[str, Sequence[KeptRun]]
    left_out: tuple[tuple[Path, str], ...]

    @property
    def all(self) -> list[KeptRun]:
        return [each for runs in self.series.values() for each in runs]

    @cached_property
    def operators(self) -> list[OperatorName]:
        return sorted({operator for each in self.all for operator in each.by_operator})


def find_runs(folder: Path) -> KeptRuns:
    """Every record below a folder; raises UserError where there is no such folder.

    A record that cannot be read, or in which nothing ran, is left out and named: never shown as zeros.
    """
    if not folder.is_dir():
        raise UserError("there is no folder of runs", got=str(folder))
    runs: dict[str, list[KeptRun]] = defaultdict(list)
    left_out = []
    for path in sorted(folder.rglob("*.jsonl")):
        if not _is_record(path):
            continue
        try:
            kept = _keep(read_record(path))
        except UserError as error:
            left_out.append((path, error.got or error.problem))
            continue
        if kept.ran:
            runs[kept.series].append(kept)
        else:
            left_out.append((path, f"nothing ran on {kept.label}, so nothing is known of it"))
    ordered = {
        name: sorted(runs[name], key=lambda each: (version_key(each.version), each.started, str(each.path)))
        for name in sorted(runs)
    }
    return KeptRuns(ordered, tuple(left_out))


def _is_record(path: Path) -> bool:
    """Whether a file begins as a record does, so that other JSON Lines are passed over."""
    try:
        with open_regular(path) as file:
            return FORMAT.encode() in file.readline(_HEAD * 64)
    except OSError:
        return False


def _keep(record: Record) -> KeptRun:
    runtime = mapping(record.header.get("runtime"))
    options = mapping(runtime.get("options"))
    chosen = ", ".join(f"{name}={text(value)}" for name, value in sorted(options.items()))
    name = text(runtime.get("name")) or "runtime without a name"
    page = record.path.with_name("index.html")
    try:
        verdicts = {str(CaseId.parse(case)): verdict for case, verdict in record.verdicts.items()}
    except (ValueError, TypeError) as error:
        raise UserError("the record is damaged", got=str(error)) from error
    return KeptRun(
        record.path,
        f"{name} [{chosen}]" if chosen else name,
        runtime_label(record),
        text(runtime.get("version")),
        text(record.header.get("started")),
        text(record.header.get("suite")),
        record.partial,
        verdicts,
        tuple(fault_text(each) for each in record.faults),
        page if page.is_file() else None,
    )


def relative_link(target: Path, page: Path) -> str | None:
    """How a page links to a file that lies below its folder; None where it lies elsewhere."""
    link = os.path.relpath(target, page.parent)
    return None if link.startswith("..") else Path(link).as_posix()

"""Runs kept in folders: what each came to, by runtime and version, of one version by time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from conformance.recording.records import FORMAT, Record, read_record
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import open_regular
from reports.results.case_results import Results
from reports.sites.kept_run import ArchivedRun, keep_run

VersionKey = tuple[tuple[int, int, str], ...]
_PART = re.compile(r"[0-9]{1,18}|[a-z]+")
_BEFORE = ("dev", "nightly", "snapshot", "preview", "pre", "a", "alpha", "b", "beta", "c", "rc")
"""Words of versions that come before the one without them, in their order."""
_AFTER = ("post", "rev", "r", "p", "patch")
_WORD, _END, _LATER, _NUMBER = 1, 2, 3, 4
_HEAD = 4096
_MOST_ROWS = 100_000
"""Rows of a record that are kept in memory while a site takes of them what it shows."""
ResultsOf = Callable[[Record], Results | None]
"""A record beside its suite, and what is known of causes; None where the suite is not at hand."""


def no_suite(record: Record) -> None:
    """No suite is at hand for any record."""


@dataclass(frozen=True)
class KeptRuns:
    """The runs of folders by series, each by version and then by time; and files left out, with why.

    The names of files left out are relative to the folder in which they were found. `expectations` holds, for
    each suite that was at hand, by its digest, the digest of what each case expects.
    """

    series: Mapping[str, Sequence[ArchivedRun]]
    left_out: tuple[tuple[str, str], ...]
    expectations: Mapping[str, Mapping[str, str]]

    @property
    def all(self) -> list[ArchivedRun]:
        return [each for runs in self.series.values() for each in runs]

    @cached_property
    def operators(self) -> list[OperatorName]:
        return sorted({operator for each in self.all for operator in each.operators})

    @cached_property
    def groups(self) -> Mapping[str, str]:
        """The heading over each operator, by its name without version."""
        found: dict[str, str] = {}
        for each in self.all:
            found.update({operator.unversioned: group for operator, group in each.groups.items()})
        return found


def find_runs(folders: Sequence[Path], results_of: ResultsOf = no_suite) -> KeptRuns:
    """Every record below folders, each once; raises UserError where there is no such folder.

    A record that cannot be read, or in which nothing ran, is left out and named: never shown as zeros. The
    order of the folders, and what they are called, changes nothing.
    """
    runs: dict[str, dict[object, ArchivedRun]] = defaultdict(dict)
    left_out = []
    expectations: dict[str, Mapping[str, str]] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UserError("there is no folder of runs", got=str(folder))
        for path in _records(folder):
            try:
                record = _in_memory(read_record(path))
                results = results_of(record)
                kept = keep_run(record, results)
            except UserError as error:
                left_out.append((path.relative_to(folder).as_posix(), error.got or error.problem))
                continue
            if results is not None and kept.suite not in expectations:
                expectations[kept.suite] = _expectations(results)
            if kept.ran:
                runs[kept.series].setdefault(kept.identity, kept)
            else:
                name = path.relative_to(folder).as_posix()
                left_out.append((name, f"nothing ran on {kept.label}, so nothing is known of it"))
    ordered = {name: sorted(runs[name].values(), key=_order) for name in sorted(runs)}
    return KeptRuns(ordered, tuple(sorted(left_out)), expectations)


def _in_memory(record: Record) -> Record:
    """The record with its rows, which are looked at several times; very many are read each time."""
    if len(record.results) > _MOST_ROWS:
        return record
    return replace(record, results=tuple(record.results))


def _records(folder: Path) -> Iterator[Path]:
    """The records below a folder, those beside a report of their own first."""
    found = [each for each in folder.rglob("*.jsonl") if _is_record(each)]
    yield from sorted(found, key=lambda each: (not each.with_name("index.html").is_file(), each))


def _is_record(path: Path) -> bool:
    """Whether a file begins as a record does, so that other JSON Lines are passed over."""
    try:
        with open_regular(path) as file:
            return FORMAT.encode() in file.readline(_HEAD * 64)
    except OSError:
        return False


def _expectations(results: Results) -> dict[str, str]:
    suite = results.suite
    return {each: str(suite.entry(each)["expectation"]) for each in suite.case_ids}


def _order(run: ArchivedRun) -> tuple[object, ...]:
    return (version_key(run.version), run.version, run.started, run.suite, run.digest)


def versions_shown(series: Sequence[ArchivedRun], most: int) -> tuple[ArchivedRun, ...]:
    """Of each version its last whole run, the newest version first, at most so many.

    Where all runs are of one version, and perhaps of builds that differ, its last runs.
    """
    if len({each.version for each in series}) == 1 and not series[-1].code:
        return tuple(reversed(series))[:most]
    found: dict[str, ArchivedRun] = {}
    for each in series:
        before = found.get(each.version)
        if before is None or each.whole or not before.whole:
            found[each.version] = each
    return tuple(reversed(found.values()))[:most]


def newest(series: Sequence[ArchivedRun]) -> ArchivedRun:
    """The run that a runtime is shown by."""
    return versions_shown(series, 1)[0]


def version_key(text: str) -> VersionKey:
    """What versions are sorted by: 1.9 < 1.10rc1 < 1.10 < 1.10.post1 < 1.10.1.

    What follows a `+` counts last; a text that begins with no number comes before all that do.
    """
    public, _, local = text.strip().lower().removeprefix("v").partition("+")
    return (*_parts_of_version(public), (_END, 0, ""), *_parts_of_version(local))


def _parts_of_version(text: str) -> list[tuple[int, int, str]]:
    return [_part_of_version(each) for each in _PART.findall(text)]


def _part_of_version(text: str) -> tuple[int, int, str]:
    if text.isdigit():
        return _NUMBER, int(text), ""
    if text in _BEFORE:
        return 0, _BEFORE.index(text), ""
    return (_LATER, 0, "") if text in _AFTER else (_WORD, 0, text)

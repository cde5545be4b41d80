"""Runs kept in folders: what each came to, without its rows, by runtime, version and time."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import Any

from conformance.judging.verdicts import UNCOUNTED, VerdictCounts, word
from conformance.recording.records import FORMAT, Record, read_record
from conformance.runtimes.adapter import list_adapters, load_adapter
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.regular_files import open_regular
from reports.causes.followed_readings import fault_text
from reports.overview.headline import runtime_label
from reports.results.case_results import Results
from reports.results.told_facts import mapping, text
from reports.sites.seen_causes import CauseKey, SeenCause, causes_of, causes_of_record


@dataclass(frozen=True)
class Tally(VerdictCounts):
    """How many cases have each verdict."""

    counts: Mapping[str, int]

    @classmethod
    def sum_of(cls, tallies: Iterable[Tally]) -> Tally:
        counts = Counter[str]()
        for each in tallies:
            counts.update(each.counts)
        return cls(counts)

    @property
    def fails(self) -> bool:
        return self.failing > 0

    @property
    def word(self) -> str:
        """The mark as people read it."""
        return word(self.mark)


@dataclass(frozen=True, eq=False)
class ArchivedRun:
    """One run: who ran when on which suite, and what came of each case.

    `series` names the runtime with its options: runs of one series follow each other. `types` has the element
    type of each case, `finished` is when the run ended (where that is not known, when it began), `unsteady`
    are cases that killed a worker and not each time. `part` says that a run was of a part of its suite.
    `code` is what two runs of the very same program have in common, empty where nobody can know. `report` is
    the run's own page, None where there is none beside the record.
    """

    path: Path
    runtime: str
    series: str
    label: str
    version: str
    code: str
    started: str
    finished: str
    suite: str
    digest: str
    partial: bool
    part: bool
    verdicts: Mapping[str, str]
    types: Mapping[str, str]
    unsteady: frozenset[str]
    faults: tuple[str, ...]
    causes: tuple[SeenCause, ...]
    groups: Mapping[OperatorName, str]
    explained: bool
    report: Path | None

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two records one and the same run."""
        return (self.label, self.started, self.suite, self.digest)

    @property
    def whole(self) -> bool:
        return not (self.partial or self.part)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.verdicts.values())

    @property
    def ran(self) -> bool:
        """Whether anything was learnt of the runtime."""
        return any(count not in UNCOUNTED for count in self.counts)

    @cached_property
    def cause_of(self) -> Mapping[str, CauseKey]:
        """The cause of each failing case."""
        return {case: cause.key for cause in self.causes for case in cause.cases}

    @cached_property
    def causes_by_key(self) -> Mapping[CauseKey, SeenCause]:
        return {cause.key: cause for cause in self.causes}

    @cached_property
    def open(self) -> frozenset[str]:
        """Cases that are open in the documents: these contradict themselves there, or say nothing."""
        return frozenset(case for case, verdict in self.verdicts.items() if verdict == "document")

    @cached_property
    def by_chance(self) -> frozenset[str]:
        """Failing cases that may be right in another run of the same program, as their cause says."""
        chancy = (cause for cause in self.causes if cause.known is not None and cause.known.by_chance)
        return frozenset(case for each in chancy for case in each.cases)

    @cached_property
    def tally(self) -> Tally:
        return Tally(self.counts)

    @cached_property
    def by_type(self) -> Mapping[OperatorName, Mapping[str, Tally]]:
        """The cases of each operator version, by element type."""
        counts: dict[OperatorName, dict[str, Counter[str]]] = {}
        for case, verdict in self.verdicts.items():
            types = counts.setdefault(CaseId.parse(case).operator, {})
            types.setdefault(self.types[case], Counter())[verdict] += 1
        return {
            operator: {name: Tally(each) for name, each in types.items()}
            for operator, types in sorted(counts.items())
        }

    @cached_property
    def operators(self) -> Mapping[OperatorName, Tally]:
        """The cases of each operator version."""
        return {each: Tally.sum_of(types.values()) for each, types in self.by_type.items()}

    @cached_property
    def named(self) -> Mapping[str, Mapping[OperatorName, Tally]]:
        """The same by the operator's name without version."""
        found: dict[str, dict[OperatorName, Tally]] = {}
        for operator, tally in self.operators.items():
            found.setdefault(operator.unversioned, {})[operator] = tally
        return found

    @cached_property
    def opset(self) -> int:
        """The newest version of an operator of ONNX itself in the suite; 0 where it has none."""
        return max(
            (operator.since_version for operator in self.operators if operator.domain == "ai.onnx"), default=0
        )


def keep_run(record: Record, results: Results | None) -> ArchivedRun:
    """Take of a record what a site shows; raises UserError where it is damaged.

    `results` are the same with its suite, None where that is not at hand.
    """
    runtime, options = mapping(record.header.get("runtime")), mapping(record.header.get("options"))
    name = text(runtime.get("name")) or "runtime without a name"
    chosen = ", ".join(
        f"{each}={text(value)}"
        for each, value in sorted(mapping(runtime.get("options")).items())
        if not _is_default(name, each, text(value))
    )
    page = record.path.with_name("index.html")
    started = text(record.header.get("started"))
    footer: Mapping[str, Any] = record.footer or {}
    try:
        rows = _rows(record)
        causes = causes_of_record(record, name) if results is None else causes_of(results, name)
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError("the record is damaged", got=str(error)) from error
    return ArchivedRun(
        record.path,
        name,
        f"{name} [{chosen}]" if chosen else name,
        runtime_label(record),
        text(runtime.get("version")),
        _code(name, runtime),
        started,
        text(footer.get("finished")) or started,
        text(record.header.get("suite")),
        text(footer.get("digest")),
        record.partial,
        bool(options.get("pattern") or options.get("shard")),
        *rows,
        tuple(fault_text(fault) for fault in record.faults),
        causes,
        {} if results is None else {operator: results.group_of(operator) for operator in results.by_operator},
        results is not None,
        page if page.is_file() else None,
    )


def _is_default(runtime: str, option: str, value: str) -> bool:
    """Whether an option of a runtime that ships is what it is where nobody chose."""
    if runtime not in list_adapters():
        return False
    return load_adapter(runtime).options.get(option, ())[:1] == (value,)


def _code(name: str, runtime: Mapping[str, Any]) -> str:
    """The packages of a runtime that ships, as it was installed; the same ones are the same program."""
    packages = mapping(mapping(runtime.get("environment")).get("packages"))
    if not packages or name not in list_adapters():
        return ""
    return " ".join(f"{package}=={text(packages[package])}" for package in sorted(packages))


def _rows(record: Record) -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    """Verdicts, element types and unsteady cases; names are shared by all runs that have them."""
    types: dict[str, str] = {}
    unsteady = set()
    for result in record.results:
        name = intern(str(CaseId.parse(result.case)))
        types[name] = intern(str(result.element_type))
        if result.unstable:
            unsteady.add(name)
    verdicts = {intern(case): str(verdict) for case, verdict in record.verdicts.items()}
    return verdicts, types, frozenset(unsteady)


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
        return [run for runs in self.series.values() for run in runs]

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
            raise UserError(
                "there is no folder of runs",
                got=str(folder),
                remedy="Name a folder with records (run.jsonl) in it or in its folders, as out/.",
            )
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
    found = [path for path in folder.rglob("*.jsonl") if _is_record(path)]
    yield from sorted(found, key=lambda path: (not path.with_name("index.html").is_file(), path))


def _is_record(path: Path) -> bool:
    """Whether a file begins as a record does, so that other JSON Lines are passed over."""
    try:
        with open_regular(path) as file:
            return FORMAT.encode() in file.readline(_HEAD * 64)
    except OSError:
        return False


def _expectations(results: Results) -> dict[str, str]:
    suite = results.suite
    return {case_id: str(suite.entry(case_id)["expectation"]) for case_id in suite.case_ids}


def _order(run: ArchivedRun) -> tuple[object, ...]:
    return (version_key(run.version), run.version, run.started, run.suite, run.digest)


def versions_shown(series: Sequence[ArchivedRun], most: int) -> tuple[ArchivedRun, ...]:
    """Of each version its last whole run, the newest version first, at most so many.

    A run of some operators of an earlier one does not stand for its version. Where all are of one version,
    and perhaps of builds that differ, its last runs.
    """
    if len({run.version for run in series}) == 1 and not series[-1].code:
        return tuple(reversed(series))[:most]
    found: dict[str, ArchivedRun] = {}
    for run in series:
        before = found.get(run.version)
        fewer = before is not None and set(run.operators) < set(before.operators)
        if before is None or (run.whole and not fewer) or not before.whole:
            found[run.version] = run
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

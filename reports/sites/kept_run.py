"""One run as a site keeps it: each case's verdict, and the causes of those that fail; without its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import Any

from conformance.judging.verdicts import UNCOUNTED, VerdictCounts, word
from conformance.recording.records import Record
from conformance.runtimes.adapter import list_adapters, load_adapter
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
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
        return any(each not in UNCOUNTED for each in self.counts)

    @cached_property
    def cause_of(self) -> Mapping[str, CauseKey]:
        """The cause of each failing case."""
        return {case: each.key for each in self.causes for case in each.cases}

    @cached_property
    def causes_by_key(self) -> Mapping[CauseKey, SeenCause]:
        return {each.key: each for each in self.causes}

    @cached_property
    def open(self) -> frozenset[str]:
        """Cases that are open in the documents: these contradict themselves there, or say nothing."""
        return frozenset(case for case, verdict in self.verdicts.items() if verdict == "document")

    @cached_property
    def by_chance(self) -> frozenset[str]:
        """Failing cases that may be right in another run of the same program, as their cause says."""
        chancy = (each for each in self.causes if each.known is not None and each.known.by_chance)
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
        return max((each.since_version for each in self.operators if each.domain == "ai.onnx"), default=0)


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
        tuple(fault_text(each) for each in record.faults),
        causes,
        {} if results is None else {each: results.group_of(each) for each in results.by_operator},
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
    return " ".join(f"{each}=={text(packages[each])}" for each in sorted(packages))


def _rows(record: Record) -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    """Verdicts, element types and unsteady cases; names are shared by all runs that have them."""
    types: dict[str, str] = {}
    unsteady = set()
    for each in record.results:
        name = intern(str(CaseId.parse(each.case)))
        types[name] = intern(str(each.element_type))
        if each.unstable:
            unsteady.add(name)
    verdicts = {intern(case): str(verdict) for case, verdict in record.verdicts.items()}
    return verdicts, types, frozenset(unsteady)

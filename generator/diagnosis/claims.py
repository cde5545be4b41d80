"""Which failing cases of a run entries of `disagreements.yaml` explain, and which no longer do so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from conformance.judging.judge import FAILING
from conformance.judging.known_causes import KnownCause
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.recording.suite_ordered import cases_in_order
from conformance.suite.cases import Demand
from conformance.suite.suites import Suite
from generator.diagnosis.explainer import Explainer, Scopes, named_cases
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CHAINS, OperatorName, operator_path_of
from reference.disagreements import Disagreement

_TELL_LITTLE = ("example", CHAINS)
"""Families whose cases show few of the things that entries are about: these are of calls of one node."""
_DEMAND: Mapping[str, Demand] = {
    "accepted_invalid": "refuse",
    "mismatch": "answer",
    "rejected_valid": "answer",
}


@dataclass(frozen=True)
class Claims:
    """The entries that explain failures of a run, each with its cases, and those whose cases pass now."""

    explaining: tuple[KnownCause, ...]
    mended: tuple[KnownCause, ...]


def claim(
    suite: Suite, record: Record, entries: Sequence[Disagreement], folders: tuple[Path, ...] = ()
) -> Claims:
    """Hold entries against the failures of a run; the first entry that fits a failure explains it.

    An entry explains whatever it fits in any version of its runtime. Where it explains nothing and every
    case that it is about was asked and passed, it is mended, unless it is known of this very version: then
    the cases of this suite do not show it. Neither do chains, nor examples alone, such as ONNX's node tests.
    """
    told = record.header.get("runtime") or {}
    runtime, version = str(told.get("name")), str(told.get("version"))
    explainer = Explainer(suite, runtime, entries, folders)
    known, scopes = explainer.known, explainer.scopes
    if not known:
        return Claims((), ())
    cases: dict[str, list[str]] = {each.id: [] for each in known}
    passed = bytearray(len(suite.case_ids))
    for name, verdict in record.verdicts.items():
        if verdict == "pass" and name in suite:
            passed[suite.position(name)] = 1
    for row in _failing_rows(record):
        found = explainer.of_row(row)
        if found is not None:
            cases[found.id].append(row.case)
    faults = _claimed_faults(record, explainer)
    causes = _by_cause(known)
    explaining = [
        replace(
            shown_as(entries[0]),
            cases=tuple(case for each in entries for case in cases[each.id]),
            faults=tuple(fault for each in entries for fault in faults.get(each.id, ())),
        )
        for entries in causes
        if any(cases[each.id] or each.id in faults for each in entries)
    ]
    silent = [
        each
        for each in known
        if not cases[each.id] and each.id not in faults and not _is_known_of(version, each)
    ]
    return Claims(tuple(explaining), tuple(_mended(silent, suite, passed, scopes)))


def _by_cause(known: Sequence[Disagreement]) -> list[list[Disagreement]]:
    """The entries, those of one cause together, the one that the others name first."""
    found = {each.id: [each] for each in known}
    for each in known:
        if each.same_as in found and each.same_as != each.id:
            found[each.same_as].extend(found.pop(each.id))
    return list(found.values())


def shown_as(entry: Disagreement) -> KnownCause:
    """What reports show of an entry."""
    return KnownCause(
        entry.id,
        entry.cause,
        entry.explanation.strip(),
        tuple(entry.evidence),
        tuple(entry.passage),
        entry.thread,
        tuple(entry.versions),
        by_chance=entry.by_chance,
        short=entry.title,
    )


def _failing_rows(record: Record) -> Iterator[Result]:
    """The row of each failing case that its verdict is of, in suite order."""
    verdicts = record.verdicts
    failing = [
        each for each in record.results if each.verdict in FAILING and each.verdict == verdicts[each.case]
    ]
    for _, rows in cases_in_order(failing):
        yield rows[0]


def _claimed_faults(record: Record, explainer: Explainer) -> dict[str, list[str]]:
    """The faults of the whole run that entries explain, by the entry's id."""
    found: dict[str, list[str]] = {}
    shown = _rows_of_faults(record)
    for fault in record.faults:
        rows = sorted((row for each in named_cases(fault) for row in shown[each]), key=itemgetter(0))
        entry = explainer.of_fault(fault, [row for _, row in rows])
        if entry is not None:
            found.setdefault(entry.id, []).append(str(fault["message"]))
    return found


def _rows_of_faults(record: Record) -> dict[str, list[tuple[int, Result]]]:
    """The rows of the cases that faults name, with their places, in one pass: there may be many faults."""
    found: dict[str, list[tuple[int, Result]]] = {
        case: [] for fault in record.faults for case in named_cases(fault)
    }
    if found:
        for place, each in enumerate(record.results):
            if each.case in found:
                found[each.case].append((place, each))
    return found


def _is_known_of(version: str, entry: Disagreement) -> bool:
    """Whether an entry names a version of its runtime, and not all of them."""
    return any(each != "*" and fnmatchcase(version, each) for each in entry.versions)


def _mended(
    silent: Sequence[Disagreement], suite: Suite, passed: bytearray, scopes: Scopes
) -> Iterator[KnownCause]:
    """Of entries that explain nothing those whose every case was asked and passed.

    `passed` has a byte for each case of the suite, by its position.
    """
    by_operator = _by_operator(suite.case_ids)
    for entry in silent:
        asked: list[str] = []
        for case in _about(entry, suite, scopes, by_operator):
            if not passed[suite.position(case)]:
                break
            asked.append(case)
        else:
            if any(suite.case(case, call_alone=True).family not in _TELL_LITTLE for case in asked):
                yield replace(shown_as(entry), asked=tuple(asked))


def _by_operator(case_ids: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for operator, cases in groupby(case_ids, operator_path_of):
        found.setdefault(str(OperatorName.parse(operator)), []).extend(cases)
    return found


def _about(
    entry: Disagreement, suite: Suite, scopes: Scopes, by_operator: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """The cases that an entry is about, whatever a runtime made of them."""
    demands = {_DEMAND.get(each) for each in entry.verdicts} or {None}
    fitting = [each for each in by_operator if entry.concerns(each)]
    for operator, name in ((each, name) for each in fitting for name in by_operator[each]):
        if not any(fnmatchcase(name, each) for each in entry.cases):
            continue
        case = suite.case(name, call_alone=True)
        if None not in demands and case.demand not in demands:
            continue
        levels = {"element_type": case.element_type.name, **case.levels}
        bare = entry.model_copy(update={"verdicts": (), "reason": ()})
        names = None if entry.when is None else scopes.names_of(case)
        try:
            if bare.explains(operator, name, entry.against[0], "", levels, "", names):
                yield name
        except UserError:
            continue

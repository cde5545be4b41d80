"""Which failing cases of a run entries of `disagreements.yaml` explain, and which no longer do so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance.judging.judge import FAILING, worst_verdict
from conformance.judging.known_causes import KnownCause
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.suite.cases import Case, Demand
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from reference.disagreements import Disagreement
from specs.call_scopes import Scope, scope_of
from specs.library import load_spec
from specs.model import Spec

_AFTER = re.compile(r" after (\S+)$")
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


class Scopes:
    """The attributes and inputs of cases, as conditions of entries see them; None without a spec."""

    def __init__(self, folders: tuple[Path, ...] = ()) -> None:
        self._folders = folders
        self._specs: dict[OperatorName, Spec | None] = {}

    def names_of(self, case: Case) -> Scope | None:
        """A case's attributes (with their defaults) and inputs."""
        if case.operator not in self._specs:
            try:
                self._specs[case.operator] = load_spec(case.operator, self._folders)
            except UserError:
                self._specs[case.operator] = None
        spec = self._specs[case.operator]
        try:
            return None if spec is None else scope_of(spec, case.attributes, dict(case.inputs))
        except (KeyError, UserError):
            return None  # a call such as the spec does not describe: a suite may come from anywhere


def claim(
    suite: Suite, record: Record, entries: Sequence[Disagreement], folders: tuple[Path, ...] = ()
) -> Claims:
    """Hold entries against the failures of a run; the first entry that fits a failure explains it.

    An entry explains whatever it fits in any version of its runtime. Where it explains nothing and every
    case that it is about was asked and passed, it is mended.
    """
    runtime = str((record.header.get("runtime") or {}).get("name"))
    known = [each for each in entries if each.against == runtime]
    if not known:
        return Claims((), ())
    scopes = Scopes(folders)
    rows = _worst_rows(record)
    cases: dict[str, list[str]] = {each.id: [] for each in known}
    for row in rows.values():
        if row.verdict in FAILING and row.case in suite:
            found = _first(known, row, suite.case(row.case, call_alone=True), scopes)
            if found is not None:
                cases[found.id].append(row.case)
    faults = _claimed_faults(suite, record, known, scopes)
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
    silent = [each for each in known if not cases[each.id] and each.id not in faults]
    return Claims(tuple(explaining), tuple(_mended(silent, suite, rows, scopes)))


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
    )


def _worst_rows(record: Record) -> dict[str, Result]:
    """The row of each case that its verdict is of."""
    rows: dict[str, Result] = {}
    for each in record.results:
        before = rows.get(each.case)
        if before is None or worst_verdict((before.verdict, each.verdict)) != before.verdict:
            rows[each.case] = each
    return rows


def _first(known: Sequence[Disagreement], row: Result, case: Case, scopes: Scopes) -> Disagreement | None:
    # What a row says in full: a refusal's first line is seldom the one that says why.
    reason = "\n".join(each for each in (row.reason, row.message) if each)
    about = [each for each in known if fnmatchcase(row.operator, each.operator)]
    return next((each for each in about if _fits(each, row, case, reason, scopes)), None)


def _fits(entry: Disagreement, row: Result, case: Case, reason: str, scopes: Scopes) -> bool:
    names = None if entry.when is None else scopes.names_of(case)
    levels = {"element_type": case.element_type.name, **case.levels}
    try:
        return entry.explains(row.operator, row.case, entry.against, row.verdict, levels, reason, names)
    except UserError:
        return False  # its condition has no value for this call


def _claimed_faults(
    suite: Suite, record: Record, known: Sequence[Disagreement], scopes: Scopes
) -> dict[str, list[str]]:
    """The faults of the whole run that entries explain, by the entry's id."""
    found: dict[str, list[str]] = {}
    for fault in record.faults:
        operator, message = str(fault.get("operator", "")), str(fault["message"])
        subject = f"{OperatorName.parse(operator).path}/{fault['kind']}" if operator else str(fault["kind"])
        entry = next(
            (
                each
                for each in known
                if each.when is None and each.explains(operator, subject, each.against, "fault", {}, message)
            ),
            None,
        )
        if entry is None and fault["kind"] == "unload_crash":
            entry = _of_lost(suite, known, fault, scopes)
        if entry is not None:
            found.setdefault(entry.id, []).append(message)
    return found


def _of_lost(
    suite: Suite, known: Sequence[Disagreement], fault: Mapping[str, Any], scopes: Scopes
) -> Disagreement | None:
    """The entry about the crash of the case before, where a worker was lost just behind each such case."""
    entries: list[Disagreement | None] = []
    for reason in fault.get("reasons", ()):
        after = _AFTER.search(str(reason))
        if after is None or after[1] not in suite:
            return None
        case = suite.case(after[1], call_alone=True)
        lost = Result(
            after[1], str(case.operator), case.id.family, case.element_type.name, "", 0, "crash",
            reason=str(reason),
        )  # fmt: skip
        entries.append(_first(known, lost, case, scopes))
    return entries[0] if entries and all(entries) else None


def _mended(
    silent: Sequence[Disagreement], suite: Suite, rows: Mapping[str, Result], scopes: Scopes
) -> Iterator[KnownCause]:
    """Of entries that explain nothing those whose every case was asked and passed."""
    for entry in silent:
        asked = list(_about(entry, suite, scopes))
        if asked and all(case in rows and rows[case].verdict == "pass" for case in asked):
            yield replace(shown_as(entry), asked=tuple(asked))


def _about(entry: Disagreement, suite: Suite, scopes: Scopes) -> Iterator[str]:
    """The cases that an entry is about, whatever a runtime made of them."""
    demands = {_DEMAND.get(each) for each in entry.verdicts} or {None}
    operators: dict[str, bool] = {}
    for name in suite.case_ids:
        operator = str(CaseId.parse(name).operator)
        if operator not in operators:
            operators[operator] = fnmatchcase(operator, entry.operator)
        if not operators[operator] or not any(fnmatchcase(name, each) for each in entry.cases):
            continue
        case = suite.case(name, call_alone=True)
        if None not in demands and case.demand not in demands:
            continue
        levels = {"element_type": case.element_type.name, **case.levels}
        bare = entry.model_copy(update={"verdicts": (), "reason": ()})
        names = None if entry.when is None else scopes.names_of(case)
        try:
            if bare.explains(operator, name, entry.against, "", levels, "", names):
                yield name
        except UserError:
            continue

"""Which failing cases of a run entries of `disagreements.yaml` explain, and which no longer do so.

A wrong answer is explained by the entry that reproduces it (`generator.exploring.diagnosis.entry_trials`):
conditions say only where to look. What entries reproduce alike is given to none of them alone, what none
reproduces to nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from conformance.judging.kept_diagnosis import EntryTrial
from conformance.judging.known_causes import EQUALS, KnownCause, Suspicion, SuspicionKind
from conformance.judging.verdicts import ACCEPTED_INVALID, FAILING, REJECTED_VALID
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.recording.suite_ordered import cases_in_order
from conformance.suite.cases import Demand
from conformance.suite.suites import Suite
from generator.exploring.diagnosis.explainer import (
    BLAMING,
    Explainer,
    Pointed,
    Scopes,
    digest_of,
    named_cases,
)
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CHAINS, OperatorName, operator_path_of
from reference.readings.disagreements import Disagreement

_TELL_LITTLE = ("example", CHAINS)
"""Families whose cases show few of the things that entries are about: these are of calls of one node."""
_TOLD_IN_WORDS = ("property", "memory")
"""Differences that were measured of an answer, and are told in words: entries are held against these."""
_DEMAND: Mapping[str, Demand] = {
    ACCEPTED_INVALID: "refuse",
    "mismatch": "answer",
    REJECTED_VALID: "answer",
}


@dataclass(frozen=True)
class Claims:
    """The entries that explain failures of a run, each with its cases, and those whose cases pass now.

    `suspected` are the wrong answers of which no entry was shown for one alone.
    """

    explaining: tuple[KnownCause, ...]
    mended: tuple[KnownCause, ...]
    suspected: tuple[Suspicion, ...] = ()


@dataclass(frozen=True, eq=False)
class Pointing:
    """Entries held against the failures of a run, before any of a wrong answer was tried.

    An entry explains whatever it fits in any version of its runtime. Where it explains nothing and every
    case that it is about was asked and passed, it is mended, unless it is known of this very version: then
    the cases of this suite do not show it. Neither do chains, nor examples alone, such as ONNX's node tests.
    """

    known: tuple[Disagreement, ...]
    claimed: Mapping[str, Sequence[str]]
    faults: Mapping[str, Sequence[str]]
    pointed: tuple[Pointed, ...]
    mended: tuple[KnownCause, ...]

    def claims(self, trials: Iterable[EntryTrial] = ()) -> Claims:
        """What the entries explain by what trials showed of them."""
        tried = {(trial.case, trial.entry, trial.of): trial for trial in trials}
        causes = _by_cause(self.known)
        cause_of = {entry.id: entries[0] for entries in causes for entry in entries}
        cases = {disagreement.id: list(self.claimed.get(disagreement.id, ())) for disagreement in self.known}
        shown: dict[str, Counter[str]] = defaultdict(Counter)
        open_ones: dict[tuple[SuspicionKind, tuple[str, ...]], list[str]] = defaultdict(list)
        for pointed in self.pointed:
            found = [tried.get((pointed.row.case, entry.id, digest_of(entry))) for entry in pointed.entries]
            verdict = _decide(pointed.entries, found, cause_of)
            if isinstance(verdict, EntryTrial):
                cases[verdict.entry].append(pointed.row.case)
                if verdict.by:
                    shown[cause_of[verdict.entry].id][said_of(verdict)] += 1
            elif verdict is not None:
                open_ones[verdict].append(pointed.row.case)
        explaining = [
            replace(
                shown_as(entries[0]),
                cases=tuple(case for entry in entries for case in cases[entry.id]),
                faults=tuple(fault for entry in entries for fault in self.faults.get(entry.id, ())),
                shown=tuple(shown[entries[0].id].most_common()),
            )
            for entries in causes
            if any(cases[entry.id] or entry.id in self.faults for entry in entries)
        ]
        suspected = [
            Suspicion(tuple(shown_as(cause_of[name]) for name in names), tuple(found), kind)
            for (kind, names), found in open_ones.items()
        ]
        return Claims(tuple(explaining), self.mended, tuple(suspected))


def _decide(
    entries: Sequence[Disagreement],
    trials: Sequence[EntryTrial | None],
    cause_of: Mapping[str, Disagreement],
) -> EntryTrial | tuple[SuspicionKind, tuple[str, ...]] | None:
    """The trial that shows whose a wrong answer is; else whether several do alike, and the causes; or None.

    A formula says more than an experiment, and that more than one which speaks for several entries.
    """
    innocent = next((entry for entry in entries if not _is_tried(entry)), None)
    for result in ("equals", "cured", "spared", "alike", "together"):
        found: dict[str, EntryTrial] = {}
        for trial in trials:
            if trial is not None and trial.result == result:
                found.setdefault(cause_of[trial.entry].id, trial)
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            return "together" if result == "together" else "either", tuple(found)
        if result == "equals" and innocent is not None:
            return EntryTrial("", innocent.id, "", "equals")
    if None in trials:
        waiting = (
            cause_of[entry.id].id for entry, trial in zip(entries, trials, strict=True) if trial is None
        )
        return "suspected", tuple(dict.fromkeys(waiting))
    return None


def _is_tried(entry: Disagreement) -> bool:
    """Whether an entry must show what it says: one that blames nobody need not, unless it has a formula."""
    return bool(entry.computes) or entry.cause in BLAMING


def said_of(trial: EntryTrial) -> str:
    """What a trial showed, in words."""
    if trial.result == "equals":
        return f"{EQUALS} {trial.by}"
    return f"right with {trial.by}"


def point(
    suite: Suite, record: Record, entries: Sequence[Disagreement], folders: tuple[Path, ...] = ()
) -> Pointing:
    """Hold entries against the failures of a run: which may be about which, and which are mended."""
    told = record.header.get("runtime") or {}
    runtime, version = str(told.get("name")), str(told.get("version"))
    explainer = Explainer(suite, runtime, entries, folders)
    known, scopes = explainer.known, explainer.scopes
    if not known:
        return Pointing((), {}, {}, (), ())
    cases: dict[str, list[str]] = {disagreement.id: [] for disagreement in known}
    passed = bytearray(len(suite.case_ids))
    for name, verdict in record.verdicts.items():
        if verdict == "pass" and name in suite:
            passed[suite.position(name)] = 1
    pointed = []
    for row in _failing_rows(record):
        if row.verdict == "mismatch" and row.difference not in _TOLD_IN_WORDS:
            about = explainer.every_of_row(row)
            pointed += [Pointed(row, about)] if about else []
        elif (found := explainer.of_row(row)) is not None:
            cases[found.id].append(row.case)
    faults = _claimed_faults(record, explainer)
    used = {entry.id for each in pointed for entry in each.entries}
    silent = [
        disagreement
        for disagreement in known
        if not cases[disagreement.id]
        and disagreement.id not in used
        and disagreement.id not in faults
        and not _is_known_of(version, disagreement)
    ]
    mended = tuple(_mended(silent, suite, passed, scopes))
    return Pointing(tuple(known), cases, faults, tuple(pointed), mended)


def _by_cause(known: Sequence[Disagreement]) -> list[list[Disagreement]]:
    """The entries, those of one cause together, the one that the others name first."""
    found = {disagreement.id: [disagreement] for disagreement in known}
    for disagreement in known:
        if disagreement.same_as in found and disagreement.same_as != disagreement.id:
            found[disagreement.same_as].extend(found.pop(disagreement.id))
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
        result
        for result in record.results
        if result.verdict in (*FAILING, "inexact") and result.verdict == verdicts[result.case]
    ]
    for _, rows in cases_in_order(failing):
        yield rows[0]


def _claimed_faults(record: Record, explainer: Explainer) -> dict[str, list[str]]:
    """The faults of the whole run that entries explain, by the entry's id."""
    found: dict[str, list[str]] = {}
    shown = _rows_of_faults(record)
    for fault in record.faults:
        rows = sorted(
            (row for named_case in named_cases(fault) for row in shown[named_case]), key=itemgetter(0)
        )
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
        for place, result in enumerate(record.results):
            if result.case in found:
                found[result.case].append((place, result))
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
    demands = {_DEMAND.get(verdict) for verdict in entry.verdicts} or {None}
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

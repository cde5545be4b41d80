"""What a run found, case by case: a suite and a record of it, put together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import Any, Literal

from conformance.judging.known_causes import KnownCause, Suspicion
from conformance.judging.verdicts import BESIDE, FAILING, NOT_RUN, VERDICTS, worst_verdict
from conformance.recording.records import Record
from conformance.recording.rows import Result, case_verdicts, count_verdicts
from conformance.recording.suite_ordered import RecordRows
from conformance.suite.suites import Suite
from conformance.suite.where_shown import Shows, shows_of
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.harmless import for_shell
from opcert.vocabulary.names import DEFAULT_SUITE, CaseId, OperatorName
from reports.results.case_facts import CaseFacts, facts_in_order
from reports.results.document_texts import DocumentTexts
from reports.results.excuses import Excuses
from reports.results.others import OtherRun
from reports.results.standing import MetArithmetic, SuiteStanding, VersionTrust

_MOST_SHARED = 1 << 16


class KeptRows:
    """Makes rows small: one object of what many rows say alike.

    A row that does not fail is without its outputs and levels, and has of its greatest error the ratio alone:
    the record holds the rest.
    """

    def __init__(self) -> None:
        self._shared: dict[Hashable, Any] = {}

    def keep(self, row: Result, case: str) -> Result:
        """The row as it is kept; `case` is its case's name."""
        own = replace(
            row,
            case=case,
            readings=self._options(row.readings),
            behaviours=self._options(row.behaviours),
            reason=_one(row.reason),
            message=_one(row.message),
        )
        if row.verdict in FAILING:
            return own
        ratio = (row.worst or {}).get("ratio")
        worst = None if ratio is None else self._share(("ratio", repr(ratio)), {"ratio": ratio})
        return replace(own, outputs=(), levels=_NO_OPTIONS, worst=worst)

    def _options(self, options: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        return self._share(tuple(options.items()), options) if options else _NO_OPTIONS

    def _share(self, key: Hashable, value: Any) -> Any:
        try:
            found = self._shared.get(key)
        except TypeError:  # a record may come from anywhere
            return value
        if found is None:
            if len(self._shared) >= _MOST_SHARED:
                self._shared.clear()
            found = self._shared[key] = value
        return found


_NO_OPTIONS: Mapping[str, Any] = {}


def _one(said: str | None) -> str | None:
    return intern(said) if type(said) is str else said


Grouping = Literal["cause", "operator", "case"]
Followed = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
"""By operator version, reading and option, the names of runtimes."""
ONNX = "ai.onnx"
ANY_CASE = "CASE"
OTHERS = "Others"


@dataclass(frozen=True, eq=False, slots=True)
class CaseResult:
    """A case of a suite and its rows in a record; `row` is the worst of them, None where it did not run.

    `features` are what conditions may name (see `features`); `size` orders cases from small to large. `shows`
    says on what a failing case shows, None where nobody has read it.
    """

    id: CaseId
    element_type: str
    demand: str
    constraint: str | None
    features: Mapping[str, str]
    size: tuple[int, int, int]
    verdict: str
    row: Result | None
    rows: tuple[Result, ...]
    shows: Shows | None = None

    @property
    def operator(self) -> OperatorName:
        return self.id.operator

    @property
    def fails(self) -> bool:
        return self.verdict in FAILING

    @property
    def deviates(self) -> bool:
        """Whether it fails, or stands beside the failures with a cause of its own."""
        return self.fails or self.verdict in BESIDE

    @property
    def wrong_shape(self) -> bool:
        """Whether a mismatch is one of shape, element type or number of outputs."""
        return self.row is not None and self.row.difference in ("count", "type", "shape")

    @property
    def told(self) -> str:
        """What the judge said of its row: the verdict, before anything was known of its cause."""
        return self.verdict if self.row is None else self.row.verdict

    @property
    def ratio(self) -> float | None:
        """The greatest error over the error allowed to that element; None where equality was asked."""
        worst = self.row.worst if self.row is not None else None
        ratio = worst.get("ratio") if worst is not None else None
        return float(ratio) if isinstance(ratio, int | float) else None


@dataclass(frozen=True, eq=False)
class Results:
    """A whole run: every case of the suite in suite order, each with exactly one verdict.

    `suite_name` is what `-s` takes to find the suite again, for the commands that a report prints. `excuses`
    are what a profile and a baseline say of failing cases, where the run was held against one. `standing`
    says whose the suite is; None where nobody asked. `known` are causes that somebody has explained, with the
    failing cases of each, `mended` those whose cases pass in this run, and `suspected` has the wrong answers
    that entries may be about, without that one was shown alone. `others` are runs of other runtimes on the
    suite. `grouping` is what one test stands for in formats of tests. `texts` are documents at hand.
    `groups` are headings of what operators do, which stand over them where they are many. `followed` says
    which options of readings runtimes were seen to follow when they were last asked,
    `measured` what is known of the cases of operator versions beside what the suite says, `met` the
    arithmetic that their answers hold by.
    """

    suite: Suite
    record: Record
    cases: tuple[CaseResult, ...]
    suite_name: str = DEFAULT_SUITE
    excuses: Excuses = field(default_factory=Excuses)
    standing: SuiteStanding | None = None
    known: tuple[KnownCause, ...] = ()
    mended: tuple[KnownCause, ...] = ()
    suspected: tuple[Suspicion, ...] = ()
    others: tuple[OtherRun, ...] = ()
    grouping: Grouping = "case"
    texts: DocumentTexts = field(default_factory=DocumentTexts)
    groups: Mapping[OperatorName, str] = field(default_factory=dict)
    followed: Followed = field(default_factory=dict)
    measured: Mapping[OperatorName, VersionTrust] = field(default_factory=dict)
    met: Mapping[OperatorName, MetArithmetic] = field(default_factory=dict)

    @cached_property
    def counts(self) -> Counter[str]:
        """Cases by verdict."""
        return Counter(each.verdict for each in self.cases)

    @cached_property
    def by_id(self) -> dict[str, CaseResult]:
        """Cases by their ids."""
        return {str(each.id): each for each in self.cases}

    @cached_property
    def by_operator(self) -> dict[OperatorName, tuple[CaseResult, ...]]:
        """Cases by operator version, newest first within a domain."""
        found: dict[OperatorName, list[CaseResult]] = defaultdict(list)
        for each in self.cases:
            found[each.operator].append(each)
        return {operator: tuple(found[operator]) for operator in sorted(found)}

    def group_of(self, operator: OperatorName) -> str:
        """The group that an operator stands in; without one its domain, in ai.onnx the others."""
        return self.groups.get(operator) or (OTHERS if operator.domain == ONNX else operator.domain)

    @property
    def complete(self) -> bool:
        """Whether the record has its footer and every case of the suite ran."""
        return not self.record.partial and not self.counts[NOT_RUN]

    def reproduction_command(self, case: CaseId | None) -> str:
        """The command that makes a folder which reproduces a case, in the form in which it fails.

        Without a case it has `ANY_CASE` in its place.
        """
        words = ["opcert", "repro", ANY_CASE if case is None else str(case)]
        if self.suite_name != DEFAULT_SUITE:
            words += ["-s", self.suite_name]
        form = "" if case is None else self.form_of(case)
        return for_shell([*words, "--form", form] if form else words)

    def form_of(self, case: CaseId) -> str:
        """The form in which a case fails, where it does not in the first one; empty else."""
        found = self.by_id.get(str(case))
        if found is None or found.row is None or not found.fails:
            return ""
        first = str((self.record.header.get("options") or {}).get("forms", [""])[0])
        failing = {row.form for row in found.rows if row.verdict in FAILING}
        return "" if first in failing or not first else found.row.form

    def operator_facts(self, operator: OperatorName) -> Mapping[str, Any]:
        """What the suite's manifest says of an operator; empty where it says nothing."""
        operators = self.suite.facts.get("operators")
        found = operators.get(str(operator)) if isinstance(operators, dict) else None
        return found if isinstance(found, dict) else {}


def put_together(
    suite: Suite,
    record: Record,
    suite_name: str = DEFAULT_SUITE,
    only: Container[str] | None = None,
    *,
    bare: bool = False,
) -> Results:
    """Give every case of the suite, or of those in `only`, its rows and its verdict.

    With `bare` they are as the manifest has them, without features, rule and size: no case is read.
    Raises UserError where the record is of another suite, or holds a row of a case that the suite lacks.
    """
    if record.header.get("suite") != suite.digest:
        raise UserError(
            "the record is of another suite",
            got=str(record.header.get("suite")),
            expected=suite.digest,
            remedy="Name the suite that was run with -s.",
        )
    names = suite.case_ids
    rows = rows_by_case(suite, record, names, only)
    chosen = [place for place, name in enumerate(names) if only is None or name in only]
    facts = (_bare_facts(suite, names[each]) for each in chosen) if bare else facts_in_order(suite, chosen)
    cases = (
        CaseResult(CaseId.parse(names[place]), *fact, *_worst(rows[place] or ()), rows[place] or ())
        for place, fact in zip(chosen, facts, strict=True)
    )
    told = cases if bare else (_with_shows(suite, case) for case in cases)
    return Results(suite, record, tuple(told), suite_name)


def within(record: Record, suite: Suite) -> Record:
    """A record as one of a suite that is a part of its own: with rows and faults of the operators there."""
    operators = {str(CaseId.parse(each).operator) for each in suite.case_ids}
    rows = tuple(result for result in record.results if result.operator in operators)
    footer = record.footer
    if footer is not None:
        counts = count_verdicts(case_verdicts(rows).values())
        footer = {**footer, "faults": record.faults_among(operators), "counts": counts}
    header = {**record.header, "suite": suite.digest}
    return replace(record, header=header, results=rows, footer=footer, counted=None)


def _with_shows(suite: Suite, found: CaseResult) -> CaseResult:
    """Of the cases of a run those that fail are read: where they show hangs on their values."""
    if not found.fails:
        return found
    worst = found.row.worst if found.row is not None else None
    return replace(found, shows=shows_of(suite.case(str(found.id)), worst))


def rows_by_case(
    suite: Suite, record: Record, names: Sequence[str], only: Container[str] | None = None
) -> list[tuple[Result, ...] | None]:
    """The rows of each case of a suite, by its place there; those of a long record as they are kept.

    Raises UserError where the record holds a row of a case that the suite lacks.
    """
    found: list[tuple[Result, ...] | None] = [None] * len(names)
    kept = KeptRows() if isinstance(record.results, RecordRows) else None
    unknown: str | None = None
    for result in record.results:
        if only is not None and result.case not in only:
            continue
        try:
            place = suite.position(result.case)
        except KeyError:
            unknown = result.case if unknown is None else min(unknown, result.case)
            continue
        row = result if kept is None else kept.keep(result, names[place])
        found[place] = (*(found[place] or ()), row)
    if unknown is not None:
        raise UserError(
            "the record holds a case that its suite does not", got=unknown, where=Place(str(record.path))
        )
    return found


def _worst(own: tuple[Result, ...]) -> tuple[str, Result | None]:
    """The verdict of a case with these rows, and the first row that has it."""
    verdict = worst_verdict(result.verdict for result in own) if own else NOT_RUN
    return verdict, next((result for result in own if result.verdict == verdict), None)


def in_other_forms(case: CaseResult, forms: Container[str]) -> CaseResult:
    """A case as its rows in other forms than these have it; `not_run` where there are none."""
    rows = tuple(row for row in case.rows if row.form not in forms)
    if len(rows) == len(case.rows):
        return case
    verdict, row = _worst(rows)
    return case if row is not None and row is case.row else replace(case, verdict=verdict, row=row, rows=rows)


def _bare_facts(suite: Suite, case_id: str) -> CaseFacts:
    entry = suite.entry(case_id)
    return CaseFacts(intern(entry["element_type"]), intern(entry["demand"]), None, _NOTHING, _NO_SIZE)


_NOTHING: Mapping[str, str] = {}
_NO_SIZE = (0, 0, 0)


def blank_results(suite: Suite) -> Results:
    """The cases of a suite, none of which ran: read once for many records of it."""
    return put_together(suite, Record(Path(), {"suite": suite.digest}, (), None))


def summed_counts(cases: Collection[CaseResult]) -> dict[str, int]:
    """How many cases have each verdict, and how many they are in `sum`."""
    counted = Counter(result.verdict for result in cases)
    return {**{verdict: counted[verdict] for verdict in VERDICTS}, "sum": len(cases)}


def fill(blank: Results, record: Record) -> Results:
    """Such results with the rows of a record of that suite, as `put_together` gives them.

    Raises UserError where the record holds a row of a case that the suite lacks.
    """
    rows = rows_by_case(blank.suite, record, blank.suite.case_ids)
    cases = tuple(_filled(result, own or ()) for result, own in zip(blank.cases, rows, strict=True))
    return replace(blank, record=record, cases=cases)


def _filled(case: CaseResult, rows: tuple[Result, ...]) -> CaseResult:
    if not rows:
        return case
    verdict, row = _worst(rows)
    return replace(case, verdict=verdict, row=row, rows=rows)

"""Which entries of `disagreements.yaml` may be about a failing row or a fault of a run.

Of a refusal, a loss or an answer to a call that breaks a rule, the first whose words fit explains it. Of a
wrong answer an entry only says where to look: `generator.exploring.diagnosis.entry_trials` shows which one it
is of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.judging.verdicts import FAILING
from conformance.models.case_models import constants_fed
from conformance.recording.rows import Result
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CHAINS, OperatorName
from reference.readings.disagreements import Disagreement
from specs.files.library import load_spec
from specs.model.call_scopes import CallScope, scope_of
from specs.model.spec import Spec

BLAMING = frozenset({"witness_fault", "tolerance"})
"""What an entry says whose cause is another blames nobody, and must show nothing without a formula."""
_AFTER = re.compile(r" after (\S+)$")


class Scopes:
    """The attributes and inputs of cases, as conditions of entries see them; None where there are none.

    With `strict` a call without a spec, or such as its spec does not describe, raises instead.
    """

    def __init__(self, folders: tuple[Path, ...] = (), *, strict: bool = False) -> None:
        self._folders = folders
        self._strict = strict
        self._specs: dict[OperatorName, Spec | None] = {}

    def names_of(self, case: Case) -> CallScope | None:
        """A case's attributes (with their defaults) and inputs, those that its model holds among them."""
        spec = self._spec(case.operator)
        if spec is None:
            return None
        fed = constants_fed(case, [parameter.name for parameter in spec.inputs])
        try:
            return scope_of(spec, fed.attributes, fed.inputs, None, fed.slots)
        except (KeyError, UserError):
            if self._strict:
                raise
            return None  # a suite may come from anywhere

    def _spec(self, operator: OperatorName) -> Spec | None:
        if operator not in self._specs:
            try:
                self._specs[operator] = load_spec(operator, self._folders)
            except UserError:
                if self._strict:
                    raise
                self._specs[operator] = None
        return self._specs[operator]


class Explainer:
    """Holds entries about a runtime against failures of its run.

    With `strict` a condition that has no value for a call raises EvaluationError, and a case that the suite
    has not UserError; else they are not explained.
    """

    def __init__(
        self,
        suite: Suite,
        runtime: str,
        entries: Sequence[Disagreement],
        folders: tuple[Path, ...] = (),
        *,
        strict: bool = False,
    ) -> None:
        self._suite = suite
        self._strict = strict
        self._runtime = runtime
        self.known = [entry for entry in entries if runtime in entry.against]
        self.scopes = Scopes(folders, strict=strict)

    def of_row(self, row: Result) -> Disagreement | None:
        """The first entry that may be about a failing row, if there is one."""
        return next(self._about(row), None)

    def every_of_row(self, row: Result) -> tuple[Disagreement, ...]:
        """All entries that may be about a failing row."""
        return tuple(self._about(row))

    def _about(self, row: Result) -> Iterator[Disagreement]:
        if row.case not in self._suite and not self._strict:
            return
        about = [disagreement for disagreement in self.known if disagreement.concerns(row.operator)]
        if about:
            case = self._suite.case(row.case, call_alone=True)
            yield from (
                disagreement for disagreement in about if self._fits(disagreement, row, case, said_by(row))
            )

    def of_fault(self, fault: Mapping[str, Any], rows: Sequence[Result] = ()) -> Disagreement | None:
        """The entry about a fault of the run, or about the cases that it comes from, of its rows."""
        operator, subject, message = str(fault.get("operator", "")), subject_of(fault), str(fault["message"])
        for disagreement in self.known:
            if disagreement.explains(operator, subject, self._runtime, "fault", {}, message):
                return disagreement
        if fault["kind"] == "unload_crash":
            return self._of_lost(fault)
        return self._of_forms(fault, rows) if fault["kind"] == "forms_differ" else None

    def _fits(self, entry: Disagreement, row: Result, case: Case, reason: str) -> bool:
        if entry.when is not None and case.family == CHAINS:
            return False  # what goes into several nodes is not what a condition speaks of
        names = None if entry.when is None else self.scopes.names_of(case)
        levels = {"element_type": case.element_type.name, **case.levels}
        try:
            # What is less exact than a table allows is explained by what makes an answer wrong.
            verdict = "mismatch" if row.verdict == "inexact" else row.verdict
            return entry.explains(row.operator, row.case, self._runtime, verdict, levels, reason, names)
        except UserError:
            if self._strict:
                raise
            return False  # its condition has no value for this call

    def _of_forms(self, fault: Mapping[str, Any], rows: Sequence[Result]) -> Disagreement | None:
        """The entry about a row that fails in one form, where each failing row of each such case has one."""
        named = named_cases(fault)
        failing = [row for row in rows if row.case in named and row.verdict in FAILING]
        entries = [self.of_row(result) for result in failing]
        whole = entries and all(entries) and {result.case for result in failing} == named
        return entries[-1] if whole else None

    def _of_lost(self, fault: Mapping[str, Any]) -> Disagreement | None:
        """The entry about the crash of the case before, where a worker was lost just behind each such case.

        A process whose memory a case has broken may die in the case or a moment later.
        """
        entries: list[Disagreement | None] = []
        for reason in fault.get("reasons", ()):
            after = _AFTER.search(str(reason))
            if after is None or after[1] not in self._suite:
                return None
            case = self._suite.case(after[1], call_alone=True)
            lost = Result(
                after[1], str(case.operator), case.id.family, case.element_type.name, "", 0, "crash",
                reason=str(reason),
            )  # fmt: skip
            entries.append(self.of_row(lost))
        return entries[0] if entries and all(entries) else None


def named_cases(fault: Mapping[str, Any]) -> set[str]:
    """The cases whose rows decide about a fault; none but for one of forms."""
    cases = fault.get("cases", ()) if fault.get("kind") == "forms_differ" else ()
    return {str(each["case"]) for each in cases}


def said_by(row: Result) -> str:
    """What a row says in full: a refusal's first line is seldom the one that says why."""
    return "\n".join(each for each in (row.reason, row.message) if each)


def subject_of(fault: Mapping[str, Any]) -> str:
    """What entries call a fault of the whole run: its kind, under the path of its operator if it has one."""
    operator, kind = str(fault.get("operator", "")), str(fault["kind"])
    return f"{OperatorName.parse(operator).path}/{kind}" if operator else kind


@dataclass(frozen=True, eq=False)
class Pointed:
    """The row of a wrong answer and the entries that may be about it: their conditions fit the call."""

    row: Result
    entries: tuple[Disagreement, ...]

    @property
    def with_formula(self) -> tuple[Disagreement, ...]:
        """The entries that say what is computed instead."""
        return tuple(entry for entry in self.entries if entry.computes)

    @property
    def without_formula(self) -> tuple[Disagreement, ...]:
        """The entries that only the runtime can say something of."""
        return tuple(entry for entry in self.entries if not entry.computes and entry.cause in BLAMING)


def digest_of(entry: Disagreement) -> str:
    """Of what a trial of an entry hangs on: with another condition or formula it is another one."""
    stated = (entry.operator, entry.cases, entry.levels, entry.when, entry.computes)
    return sha256(canonical_json([entry.id, *stated]))[:12]

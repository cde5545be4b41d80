"""Explanations of a run: the failure classes of its report, held against single changes by the generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.judging.kept_explanations import FILE, Explanation, write_explanations
from conformance.judging.responses import ReturnedOther
from conformance.judging.verdicts import ACCEPTED_INVALID
from conformance.recording.outputs import restore_output
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.store import KeptWork
from generator.asking.named_operators import known_operators
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.strict_json import read_plain
from opcert.vocabulary.tensors import Tensor
from reports.causes.failure_class import FailureClass
from reports.causes.failure_classes import classes_of
from reports.results.case_results import CaseResult, Results

if TYPE_CHECKING:
    from generator.exploring.diagnosis.change_trials import FailingCase


def explain_run(results: Results, folders: tuple[Path, ...] = ()) -> Path:
    """Write what the failures of a run resemble beside its record; returns the file.

    `folders` hold specs that do not ship. Classes without results (refusals, crashes) and operators without
    a reference are left out. What was worked out of the same answers before comes from the user's cache.
    Raises UserError where the file cannot be written, or where the record is damaged.
    """

    def explained(found: FailureClass) -> bool:
        return found.kind in ("shape", "values", "inexact", ACCEPTED_INVALID) and known.issuperset(
            found.operators
        )

    known, read_case = {*known_operators(), *known_operators(folders)}, cache(results.suite.case)
    classes = [
        _Class(results, failures, folders, read_case) for failures in filter(explained, classes_of(results))
    ]
    explanations = [each.explain() for each in classes]
    named = _named(explanations)
    explanations = [
        each.explain_parts(whole, named.get(_operator(whole), ()))
        for each, whole in zip(classes, explanations, strict=True)
    ]
    path = results.record.path.with_name(FILE)
    digest = (results.record.footer or {}).get("digest")
    write_explanations(path, results.suite.digest, digest, explanations)
    return path


class _Class:
    """A class of failing cases, held against changes where nobody has done that before."""

    def __init__(
        self,
        results: Results,
        found: FailureClass,
        folders: tuple[Path, ...],
        read_case: Callable[[str], Case],
    ) -> None:
        self._results, self._found, self._folders, self._read_case = results, found, folders, read_case
        # Specs of the user's own may change without any of our files.
        self._work = None if folders else KeptWork("explanations")

    @cached_property
    def _passing(self) -> list[str]:
        """The cases of the same operators that were answered rightly."""
        by_operator = self._results.by_operator
        return [
            str(each.id)
            for operator in sorted(set(self._found.operators) & by_operator.keys())
            for each in by_operator[operator]
            if each.verdict == "pass" and each.demand == "answer"
        ]

    @cached_property
    def _failures(self) -> list[FailingCase]:
        from generator.exploring.diagnosis.change_trials import FailingCase

        failures = []
        for each in self._found.cases:
            case = self._read_case(str(each.id))
            outputs = _outputs(self._results, each, case)
            if outputs is not None:
                valid = None if case.valid_case is None else self._read_case(case.valid_case)
                failures.append(FailingCase(case, outputs, valid, self._folders))
        return failures

    def explain(self) -> Explanation:
        """What the class resembles as a whole."""

        def work_out() -> Explanation:
            from generator.exploring.diagnosis.change_trials import explain

            ids = [str(result.id) for result in self._found.cases]
            return explain(ids, self._failures, map(self._read_case, self._passing))

        return self._kept(("whole",), work_out)

    def explain_parts(self, whole: Explanation, named: Sequence[str]) -> Explanation:
        """The same, with what parts of it resemble where nothing is named; `named` are keys of changes."""

        def work_out() -> Explanation:
            from generator.exploring.diagnosis.change_trials import explain_parts

            return explain_parts(whole, self._failures, named)

        return whole if whole.sentence is not None else self._kept(("parts", *named), work_out)

    @cached_property
    def _answers(self) -> str:
        """The digest of what the class hangs on: its cases, what they were answered, and what is right."""
        rows = [
            (str(each.id), each.row.outputs if each.row is not None else ()) for each in self._found.cases
        ]
        return sha256(canonical_json([self._results.suite.digest, rows, self._passing]))

    def _kept(self, what: Sequence[str], work_out: Callable[[], Explanation]) -> Explanation:
        """What was worked out of the same answers before, or is now."""
        if self._work is None:
            return work_out()
        key = self._work.key(self._answers, what)
        with suppress(ValueError):
            return read_plain(Explanation, self._work.find(key))
        found = work_out()
        self._work.keep(key, asdict(found))
        return found


def _named(explanations: Sequence[Explanation]) -> Mapping[str, Sequence[str]]:
    """The keys of the changes named for mismatches, by operator without its version."""
    found: dict[str, dict[str, None]] = {}
    for explanation in explanations:
        if explanation.change is not None and CaseId.parse(explanation.cases[0]).family != "invalid":
            found.setdefault(_operator(explanation), {})[explanation.change.key] = None
    return {operator: tuple(keys) for operator, keys in found.items()}


def _operator(explanation: Explanation) -> str:
    operator = CaseId.parse(explanation.cases[0]).operator
    return operator.unversioned


def _outputs(results: Results, found: CaseResult, case: Case) -> tuple[Tensor | ReturnedOther, ...] | None:
    """The outputs of a case's worst row; None where the record does not hold all of them."""
    outputs = []
    for position, entry in enumerate(found.row.outputs if found.row is not None else ()):
        output = restore_output(entry, position, case, results.record.path)
        if output is None:
            return None
        outputs.append(output)
    return tuple(outputs) or None

"""Explanations of a run: the failure classes of its report, held against single changes by the generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from conformance.judging.kept_explanations import FILE, Explanation, write_explanations
from conformance.recording.outputs import restore_output
from conformance.running.responses import NotTensor
from conformance.suite.cases import Case
from generator.diagnosis.explain import Failure, explain, explain_parts
from generator.making.discovery import known_operators
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.tensors import Tensor
from reports.causes.failure_class import FailureClass
from reports.causes.failure_classes import classes_of
from reports.results.case_results import CaseResult, Results


def explain_run(results: Results, folders: tuple[Path, ...] = ()) -> Path:
    """Write what the failures of a run resemble beside its record; returns the file.

    `folders` hold specs that do not ship. Classes without results (refusals, crashes) and operators without
    a reference are left out. Raises UserError where the file cannot be written, or where the record is
    damaged.
    """

    @cache
    def read_case(case_id: str) -> Case:
        return results.suite.case(case_id)

    def explained(found: FailureClass) -> bool:
        return found.kind in ("shape", "values", "inexact", "accepted_invalid") and known.issuperset(
            found.operators
        )

    known, by_operator = {*known_operators(), *known_operators(folders)}, results.by_operator
    every_failure, explanations = [], []
    for found in filter(explained, classes_of(results)):
        failures = []
        for each in found.cases:
            case = read_case(str(each.id))
            outputs = _outputs(results, each, case)
            if outputs is not None:
                valid = None if case.valid_case is None else read_case(case.valid_case)
                failures.append(Failure(case, outputs, valid, folders))
        passing = (
            read_case(str(each.id))
            for operator in sorted(set(found.operators) & by_operator.keys())
            for each in by_operator[operator]
            if each.verdict == "pass" and each.demand == "answer"
        )
        every_failure.append(failures)
        explanations.append(explain([str(each.id) for each in found.cases], failures, passing))
    named = _named(explanations)
    explanations = [
        explain_parts(each, failures, named.get(_operator(each), ()))
        for each, failures in zip(explanations, every_failure, strict=True)
    ]
    path = results.record.path.with_name(FILE)
    digest = (results.record.footer or {}).get("digest")
    write_explanations(path, results.suite.digest, digest, explanations)
    return path


def _named(explanations: Sequence[Explanation]) -> Mapping[str, Sequence[str]]:
    """The keys of the changes named for mismatches, by operator without its version."""
    found: dict[str, dict[str, None]] = {}
    for each in explanations:
        if each.change is not None and CaseId.parse(each.cases[0]).family != "invalid":
            found.setdefault(_operator(each), {})[each.change.key] = None
    return {operator: tuple(keys) for operator, keys in found.items()}


def _operator(explanation: Explanation) -> str:
    operator = CaseId.parse(explanation.cases[0]).operator
    return operator.unversioned


def _outputs(results: Results, found: CaseResult, case: Case) -> tuple[Tensor | NotTensor, ...] | None:
    """The outputs of a case's worst row; None where the record does not hold all of them."""
    outputs = []
    for position, entry in enumerate(found.row.outputs if found.row is not None else ()):
        output = restore_output(entry, position, case, results.record.path)
        if output is None:
            return None
        outputs.append(output)
    return tuple(outputs) or None

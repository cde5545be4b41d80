"""What is measured of one operator, apart from any folder: its cases, and what the suite says of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.suite.cases import Case
from conformance.suite.suites import Suite
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.making.cases.clearest import ATTEMPTS, drawn_call
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options, Workshop
from generator.measured.kept import MeasuredOperator, Selected, cases_digest, covered, local_name
from generator.measured.outcomes import Adequacy, MutantOutcome
from generator.trust.mutants.measure import SET, Prepared, prepare
from generator.trust.mutants.measured_before import measurement_key
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator


@dataclass(frozen=True, eq=False)
class MeasuredWork:
    """An operator with its cases, by the part of their id behind it, and ONNX's node tests of it.

    `expectations` are digests of what the cases expect, `coverage` what the manifest says of the covering
    array; `folders` hold specs that do not ship. Mutants are tried in sets of `size`.
    """

    operator: OperatorName
    cases: Mapping[str, Case]
    expectations: Mapping[str, str]
    coverage: Mapping[str, Any]
    node_tests: Sequence[Case] = ()
    folders: tuple[Path, ...] = ()
    size: int = SET

    @contextmanager
    def prepared(self) -> Iterator[Prepared]:
        """The operator ready for its mutants; for the main thread alone, because mutants may hang."""
        subject, levels = self._subject()
        with subject.quick():
            prepared = prepare(subject, levels, self.cases, self.node_tests)
            yield replace(prepared, size=self.size)

    def together(self, prepared: Prepared, outcomes: Sequence[MutantOutcome]) -> MeasuredOperator:
        """What the outcomes of all sets come to; InternalError where they are of other mutants."""
        known = [each.id for each in prepared.made]
        if [each.mutant for each in outcomes] != known:
            raise InternalError(
                "mutants are others than those that were tried",
                got=f"{len(outcomes)} outcomes of {self.operator}",
                expected=f"those of {len(known)} mutants",
            )
        return self.kept(prepared.together(outcomes))

    def kept(self, found: Adequacy) -> MeasuredOperator:
        """What was found, as it is kept."""
        subject, levels = self._subject()
        workshop = Workshop(subject.spec, subject.reference, levels, Options())
        selection = []
        for name, kills in found.selection.items():
            rows = dict(self.cases[name].levels) if self.cases[name].family == "cover" else {}
            attempt = _attempt(workshop, rows, name) if rows else None
            selection.append(Selected(name, kills, self.expectations[name], rows, attempt))
        told = {**found.to_json(), "coverage": covered(self.coverage)}
        return MeasuredOperator(str(self.operator), cases_digest(self.expectations), tuple(selection), told)

    def _subject(self) -> tuple[MutatedOperator, DeclaredLevels]:
        spec, levels = open_spec(self.operator, self.folders)
        reference = find_operator(self.operator, spec.reference_module)
        return MutatedOperator.of(spec, reference, self.folders), levels


def packed(work: MeasuredWork) -> bytes:
    """The work for another process of ours."""
    return pickle.dumps(work)


def unpacked(work: bytes) -> MeasuredWork:
    """What this very process's parent, or our own client, packed: nobody else's bytes come here."""
    found: MeasuredWork = pickle.loads(work)
    return found


def expectations_of(suite: Suite, operator: OperatorName) -> dict[str, str]:
    """The digest of what each case of an operator in a suite expects."""
    prefix = f"{operator.path}/"
    names = [local_name(each) for each in suite.case_ids if each.startswith(prefix)]
    return {name: str(suite.entry(prefix + name)["expectation"])[:16] for name in names}


def key_of(operator: OperatorName, expectations: Mapping[str, str], against_node_tests: bool) -> str:
    """The digest by which a measurement is kept."""
    return measurement_key(operator, cases_digest(dict(expectations)), against_node_tests)


def work_of(
    suite: Suite, operator: OperatorName, folders: Sequence[Path] = (), node_tests: Sequence[Case] = ()
) -> MeasuredWork:
    """What is to be measured of an operator in a suite."""
    cases = {local_name(str(case.id)): case for case in suite.cases(f"{operator.path}/")}
    coverage = suite.facts["operators"][str(operator)]["coverage"]
    expectations = expectations_of(suite, operator)
    return MeasuredWork(operator, cases, expectations, coverage, tuple(node_tests), tuple(folders))


def _attempt(workshop: Workshop, levels: Mapping[str, str], name: str) -> int | None:
    """Which draw of a row a case is; None where it is none, but another family's call."""
    digest = name.rpartition("/")[2]
    for attempt in range(ATTEMPTS):
        call = drawn_call(workshop, levels, attempt)
        if call is not None and call.digest(workshop.spec.operator) == digest:
            return attempt
    return None

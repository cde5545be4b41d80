"""Puts beside a run what is known of its operators and their cases: reports see no specs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.vocabulary.names import CaseId, OperatorName

if TYPE_CHECKING:
    from conformance.suite.suites import Suite
    from reports.results.case_results import Results
    from reports.results.standing import VersionTrust

_GENERATED = {"operators", "size", "strength"}
"""The options that a suite names which `opcert generate` made, and no other suite."""


def with_operator_facts(results: Results, folders: tuple[Path, ...] = ()) -> Results:
    """The results with the groups that their operators are in, and what was measured of their cases."""
    from specs.files.operator_groups import group_headings

    operators = results.by_operator
    return replace(
        results,
        groups=group_headings(operators, folders),
        measured=find_measured(results.suite, operators, folders),
    )


def find_measured(
    suite: Suite, operators: Iterable[OperatorName] | None = None, folders: tuple[Path, ...] = ()
) -> dict[OperatorName, VersionTrust]:
    """What is known of the cases of a suite's operators, or of some; of a suite that others made, nothing.

    Raises UserError where a file of what was measured is damaged.
    """
    from generator.making.suites.measured_cases import locked_trust, measured_cases
    from generator.measured.kept import expectations_in
    from reports.results.standing import VersionTrust

    options = suite.manifest.get("options")
    if not isinstance(options, dict) or options.keys() != _GENERATED:
        return {}
    locked = {} if folders else locked_trust()
    entries: dict[OperatorName, list[str]] = {}
    for case_id in suite.case_ids:
        entries.setdefault(CaseId.parse(case_id).operator, []).append(case_id)
    found = {}
    for operator in entries if operators is None else operators:
        expectations = expectations_in(map(suite.entry, entries.get(operator, ())))
        known = measured_cases(operator, expectations, folders, locked)
        found[operator] = VersionTrust(known.trust, known.facts or {})
    return found

"""The locks of suites that are generated from the files that are there now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.suites import Suite, open_suite
from generator.asking.named_operators import referenced_operators
from generator.making.operators.named_suites import operators_named, suite_names
from generator.making.operators.workshop import Options
from generator.making.suites.cache import PROCESSES
from generator.making.suites.lock import Lock, LockedVersion
from generator.making.suites.measured_cases import locked_trust, measured_cases
from generator.making.suites.suite_making import Progress, write_generated
from generator.measured.kept import expectations_in
from opcert.vocabulary.names import DEFAULT_SUITE, CaseId, OperatorName


def make_lock(progress: Progress) -> Lock:
    """The lock of every operator version that has a reference, and of every suite that has a name."""
    every = lock_of_now(referenced_operators(), progress)
    operators = {name: operators_named(name) or [] for name in suite_names()}
    digests = {}
    for name, each in operators.items():
        with scratch_folder("suite") as folder:
            digests[name] = _make(folder / "suite", each, lambda _: None)
    options = {**every.options, "operators": sorted(map(str, operators[DEFAULT_SUITE]))}
    return replace(every, digest=digests.pop(DEFAULT_SUITE), options=options, suites=digests)


def lock_of_now(operators: Sequence[OperatorName], progress: Progress) -> Lock:
    """The lock of the suite of some operators, made now; of parts that are kept, these."""
    with scratch_folder("suite") as folder:
        _make(folder / "suite", operators, progress)
        return read_lock_of(folder / "suite")


def _make(path: Path, operators: Sequence[OperatorName], progress: Progress) -> str:
    return write_generated(path, operators, Options(), (), PROCESSES, progress, keep=True)


def read_lock_of(path: Path) -> Lock:
    """The lock of a generated suite in a folder or zip file; UserError where there is none."""
    with open_suite(path) as suite:
        return lock_of(suite)


def lock_of(suite: Suite) -> Lock:
    """The lock of a generated suite."""
    expected, locked = expectations_by_operator(suite), locked_trust()
    versions = {
        str(operator): LockedVersion(
            digest,
            len(expected[operator]),
            measured_cases(operator, expected[operator], locked=locked).trust,
        )
        for operator, digest in suite.part_digests().items()
    }
    return Lock(suite.digest, suite.manifest["options"], versions)


def expectations_by_operator(suite: Suite) -> dict[OperatorName, dict[str, str]]:
    """What the cases of each operator version expect (`generator.measured.kept.expectations_in`)."""
    expectations: dict[OperatorName, dict[str, str]] = {}
    for case in suite.case_ids:
        told = expectations.setdefault(CaseId.parse(case).operator, {})
        told.update(expectations_in([suite.entry(case)]))
    return expectations

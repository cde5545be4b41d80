"""The locks of suites that are generated from the files that are there now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.kept_parts import part_of_digest
from conformance.suite.suite_parts import SuitePart
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
    for name, operator in operators.items():
        with scratch_folder("suite") as folder:
            digests[name] = _make(folder / "suite", operator, lambda _: None)
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


WHOLE = "the suite"
"""The subject of a change of nothing but what is said of the whole."""
_DIGITS = 16


@dataclass(frozen=True)
class LockChange:
    """One difference between a lock and a suite: what changed, and how; `told` is what more is known."""

    subject: str
    how: str
    told: str = ""

    def __str__(self) -> str:
        return f"{self.how}: {self.subject}" + (f" ({self.told})" if self.told else "")


def compare(old: Lock, new: Lock, operators: Iterable[str] | None = None) -> list[LockChange]:
    """What differs between the lock and the suite of now, for all operators or the given ones.

    Which cases changed is told of an operator version where the user's cache has its part as the lock names
    it and as it is now. The suites beside the default one are compared where the new lock has them.
    """
    names = sorted({*old.versions, *new.versions}) if operators is None else sorted(operators)
    changes = [
        change
        for name in names
        if old.versions.get(name) != new.versions.get(name)
        for change in _compare_version(name, old.versions.get(name), new.versions.get(name))
    ]
    if operators is None:
        if old.options != new.options:
            changes.append(LockChange(WHOLE, "changed", "it is made with other options"))
        elif not changes and (old.digest != new.digest or (new.suites and old.suites != new.suites)):
            changes.append(LockChange(WHOLE, "changed"))
    return changes


def _compare_version(name: str, old: LockedVersion | None, new: LockedVersion | None) -> Iterator[LockChange]:
    if old is None or new is None:
        yield LockChange(name, "new operator" if old is None else "gone operator")
        return
    operator = OperatorName.parse(name)
    before, after = (part_of_digest(operator, locked_version.digest) for locked_version in (old, new))
    if before is None or after is None:
        digests = f"the lock has {old.digest[:_DIGITS]}, now it is {new.digest[:_DIGITS]}"
        yield LockChange(name, "changed operator", f"{digests}; its cases as they were are not kept here")
    else:
        yield from _compare_parts(before, after)


def _compare_parts(before: SuitePart, after: SuitePart) -> Iterator[LockChange]:
    """The cases that changed; else that what is said beside expectations did."""
    old, new = expectations_in(before.entries), expectations_in(after.entries)
    differing = [case for case in sorted({*old, *new}) if old.get(case) != new.get(case)]
    for case in differing:
        how = "new case" if case not in old else "gone case" if case not in new else "changed expectation"
        yield LockChange(f"{after.operator.path}/{case}", how)
    if before.facts != after.facts:
        yield LockChange(str(after.operator), "changed facts")
    elif not differing:
        # What a case says beside its call and expectation: its levels, its rule, the lines behind it.
        yield LockChange(str(after.operator), "changed cases")

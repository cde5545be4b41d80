"""What differs between the lock and the suite of now, and what may have caused it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.making.lock import Lock
from generator.making.lock_files import OperatorLock
from opcert.vocabulary.names import OperatorName

WHOLE = "the suite"
"""The subject of a change of nothing but what is said of the whole."""


@dataclass(frozen=True)
class Change:
    """One difference between a lock and a suite: what changed, how, and the causes that may explain it."""

    subject: str
    how: str
    causes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.how}: {self.subject} ({', '.join(self.causes) or 'no cause found'})"


def compare(old: Lock, new: Lock, operators: Iterable[str] | None = None) -> list[Change]:
    """What differs between the lock and the suite of now, for all operators or the given ones.

    Of the lock, what is known of an operator version is read where its digest is another one. The suites
    beside the default one are compared where the new lock has them.
    """
    general = ["generator option"] if operators is None and old.options != new.options else []
    names = sorted({*old.versions, *new.versions}) if operators is None else sorted(operators)
    changes: list[Change] = []
    for name in names:
        if old.versions.get(name) != new.versions.get(name):
            before = old.operators[name] if name in old.versions else None
            after = new.operators[name] if name in new.versions else None
            changes.extend(_compare_operator(name, before, after, general))
    suites_differ = bool(new.suites) and old.suites != new.suites
    if operators is None and not changes and (old.digest != new.digest or suites_differ):
        changes.append(Change(WHOLE, "changed", tuple(general)))
    return changes


def _compare_operator(
    name: str, old: OperatorLock | None, new: OperatorLock | None, general: list[str]
) -> Iterator[Change]:
    if old is None or new is None:
        yield Change(name, "new operator" if old is None else "gone operator", tuple(general))
        return
    causes = [
        f"spec fact: {file}"
        for file in sorted({*old.specs, *new.specs})
        if old.specs.get(file) != new.specs.get(file)
    ]
    causes += ["reference code"] * (old.reference != new.reference)
    causes += ["generator code"] * (old.generator != new.generator)
    causes += general
    path = OperatorName.parse(name).path
    told = False
    for case in sorted({*old.cases, *new.cases}):
        before, after = old.cases.get(case), new.cases.get(case)
        if before != after:
            told = True
            how = "new case" if before is None else "gone case" if after is None else "changed expectation"
            yield Change(f"{path}/{case}", how, tuple(causes))
    if old.facts != new.facts:
        yield Change(name, "changed facts", tuple(causes))
    elif not told:
        # What a case says beside its call and expectation: its levels, its rule, the lines behind it.
        yield Change(name, "changed cases", tuple(causes))

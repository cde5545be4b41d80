"""What differs between the lock and the suite of now, and what it is made from that changed since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.making.lock import Lock
from generator.making.lock_files import OperatorLock
from opcert.vocabulary.names import OperatorName

_REFERENCE = "reference/"
_MOST_NAMED = 3
WHOLE = "the suite"
"""The subject of a change of nothing but what is said of the whole."""


@dataclass(frozen=True)
class Change:
    """One difference between a lock and a suite: what changed, and how.

    `causes` are what changed, since the lock was written, of what the subject is made from.
    """

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
            code = () if after is None or not old.code else _changed_code(old.code, new.code, after.code)
            changes.extend(_compare_operator(name, before, after, [*code, *general]))
    suites_differ = bool(new.suites) and old.suites != new.suites
    if operators is None and not changes and (old.digest != new.digest or suites_differ):
        changes.append(Change(WHOLE, "changed", tuple(general)))
    return changes


def _changed_code(old: Mapping[str, str], new: Mapping[str, str], files: Iterable[str]) -> list[str]:
    """The files of code with another digest than when the lock was written: of the reference, and others."""
    changed = [each for each in files if old.get(each) != new[each]]
    reference = [each for each in changed if each.startswith(_REFERENCE)]
    others = [each for each in changed if not each.startswith(_REFERENCE)]
    named = {"reference code": reference, "generator code": others}
    return [f"{kind}: {_few(found)}" for kind, found in named.items() if found]


def _few(files: Sequence[str]) -> str:
    more = len(files) - _MOST_NAMED
    return " ".join([*files[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


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

"""Two runs side by side: what was fixed, what regressed, and what cannot be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from conformance.judging.verdicts import FAILING, HOLDING, LOST, NOT_JUDGED, worst_verdict
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.recording.suite_ordered import merged_cases
from opcert.vocabulary.errors import NothingRan
from reports.causes.followed_readings import fault_text
from reports.overview.headline import runtime_label
from reports.results.told_facts import items, mapping, text
from reports.text.phrasing import listed, plural

ChangeKind = Literal["regressed", "fixed", "changed", "expectation", "error", "same"]
KINDS: Mapping[ChangeKind, str] = {
    "regressed": "fails now and did not, loses its process now, or is no longer supported",
    "fixed": "holds now and did not",
    "changed": "fails or is rejected in another way",
    "expectation": "the suite expects something else now, so that the verdicts do not compare",
    "error": "same verdict, another error",
    "same": "same verdict, same error",
}
"""What can be said of a case that both runs ran, in the order in which it is told."""


@dataclass(frozen=True, slots=True)
class WorstRow:
    """What one run saw of a case, in the worst of its rows.

    `ratio` is the greatest error over the allowed one; None where equality was asked.
    """

    verdict: str
    ratio: float | None
    reason: str | None
    unstable: bool


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case that both runs ran, before and after."""

    case: str
    kind: ChangeKind
    before: WorstRow
    after: WorstRow


@dataclass(frozen=True, eq=False)
class RunComparison:
    """What changed in the cases that both runs ran, and the cases that only one ran.

    Cases that are the same in both are counted in `same`, and are none of `changes`. `new` and `gone` hold
    the cases with their verdicts in the one run that ran them. `new_faults` and `gone_faults` are texts of
    what only a whole run shows. With `common` what only one ran decides nothing.
    """

    base: Record
    head: Record
    changes: tuple[CaseChange, ...]
    same: int
    new: Mapping[str, str]
    gone: Mapping[str, str]
    new_faults: tuple[str, ...]
    gone_faults: tuple[str, ...]
    warnings: tuple[str, ...]
    common: bool = False

    @cached_property
    def lost(self) -> tuple[str, ...]:
        """The cases that the base run passed and the head run did not run: nobody knows whether they hold."""
        return tuple(each for each, verdict in self.gone.items() if verdict in HOLDING)

    @cached_property
    def counts(self) -> dict[ChangeKind, int]:
        """How many cases there are of each kind; their sum is the number of cases that both ran."""
        counted = Counter(change.kind for change in self.changes)
        return {**{kind: counted[kind] for kind in KINDS}, "same": self.same}

    @property
    def both(self) -> int:
        """How many cases both ran."""
        return self.same + len(self.changes)

    def of_kind(self, kind: ChangeKind) -> tuple[CaseChange, ...]:
        return tuple(change for change in self.changes if change.kind == kind)

    @property
    def holds(self) -> bool:
        """Whether nothing regressed, and, unless only common cases count, nothing that held is missing."""
        return not self.counts["regressed"] and not self.new_faults and (self.common or not self.lost)

    @property
    def labels(self) -> tuple[str, str]:
        """The two runs by their runtimes; those of one runtime by their files too."""
        before, after = runtime_label(self.base), runtime_label(self.head)
        if before == after:
            return f"{before} ({self.base.path})", f"{after} ({self.head.path})"
        return before, after


def compare_runs(
    base: Record, head: Record, expectations_changed: Iterable[str] = (), common: bool = False
) -> RunComparison:
    """Compare two runs case by case, over the cases that both ran.

    `expectations_changed` are ids of cases of which the suites of the two runs expect different things.
    With `common` cases that the base run passed may be missing in the head run.
    Raises NothingRan where no case ran in both.
    """
    changed = frozenset(expectations_changed)
    changes: list[CaseChange] = []
    same = 0
    new: dict[str, str] = {}
    gone: dict[str, str] = {}
    for found in merged_cases([base.results, head.results]):
        case, sides = found[0][1][0].case, {number: _seen(rows) for number, rows in found}
        before, after = sides.get(0), sides.get(1)
        if before is not None and after is not None:
            kind = _kind(before, after, case in changed)
            if kind == "same":
                same += 1
            else:
                changes.append(CaseChange(case, kind, before, after))
        elif after is not None:
            new[case] = after.verdict
        elif before is not None:
            gone[case] = before.verdict
    if not same and not changes:
        raise NothingRan("no case ran in both runs", got=f"{base.path} and {head.path}")
    old_faults, new_faults = _faults_of_both(base, head)
    return RunComparison(
        base,
        head,
        tuple(changes),
        same,
        new,
        gone,
        tuple(new_fault for new_fault in new_faults if new_fault not in old_faults),
        tuple(old_fault for old_fault in old_faults if old_fault not in new_faults),
        tuple(_warnings(base, head)),
        common,
    )


def _faults_of_both(base: Record, head: Record) -> tuple[list[str], list[str]]:
    """The faults of each run, without those of operators that the other one did not run."""
    ran = [{result.operator for result in record.results} for record in (base, head)]
    old, new = (list(map(fault_text, record.faults_among(ran[0] & ran[1]))) for record in (base, head))
    return old, new


def _seen(rows: Sequence[Result]) -> WorstRow | None:
    """What a run saw of a case with these rows; None where it did not run it."""
    verdict = worst_verdict(result.verdict for result in rows)
    if verdict in NOT_JUDGED:
        return None
    row = next(result for result in rows if result.verdict == verdict)
    ratio = (row.worst or {}).get("ratio")
    told = float(ratio) if isinstance(ratio, int | float | str) else None
    return WorstRow(verdict, told, row.reason, row.unstable)


def _kind(before: WorstRow, after: WorstRow, expectation_changed: bool) -> ChangeKind:
    if expectation_changed:
        return "expectation"
    if before.verdict == after.verdict:
        return "same" if before.ratio == after.ratio else "error"
    failed, fails = before.verdict in FAILING, after.verdict in FAILING
    if fails and (not failed or (after.verdict in LOST and before.verdict not in LOST)):
        return "regressed"
    if after.verdict == "unsupported" and not failed:
        return "regressed"
    if not fails and after.verdict != "unsupported":
        return "fixed"
    return "changed"


def _warnings(base: Record, head: Record) -> Iterable[str]:
    for name, record in (("base", base), ("head", head)):
        if record.partial:
            yield f"The record of the {name} run has no footer: it is a part of a run."
        uncounted = sum(record.counts[each] for each in NOT_JUDGED)
        if uncounted:
            yield f"{plural(uncounted, 'case')} of the {name} run did not run and are left out."
    before, after = (mapping(record.header.get("options")) for record in (base, head))
    for name in ("forms", "sampled", "repeat", "timeout", "memory"):
        if before.get(name) != after.get(name):
            yield f"The runs differ in {name}: {text(before.get(name))} and {text(after.get(name))}."
    yield from _other_processor(base, head)
    if base.header.get("suite") != head.header.get("suite"):
        yield "The runs are of different suites; cases are held together by their ids."


def _other_processor(base: Record, head: Record) -> Iterable[str]:
    """That runs had other instruction sets, or builds of one version: nothing where one does not say."""
    processors = [mapping(record.header.get("processor")) for record in (base, head)]
    if all(processors):
        flags = [list(map(text, items(processor.get("flags")))) for processor in processors]
        alone = [[flag for flag in own if flag not in other] for own, other in (flags, reversed(flags))]
        said = [
            f"{listed(only)} in the {name} run alone"
            for name, only in zip(("base", "head"), alone, strict=True)
            if only
        ]
        if said:
            yield f"The processors differ in their instruction sets: {'; '.join(said)}."
    builds = [
        mapping(mapping(mapping(record.header.get("runtime")).get("environment")).get("build"))
        for record in (base, head)
    ]
    if all(builds) and builds[0] != builds[1] and runtime_label(base) == runtime_label(head):
        files = [text(build.get("file")) for build in builds]
        same = ", under one name with other contents" if files[0] == files[1] else f" and {files[1]}"
        yield f"The builds of {runtime_label(base)} differ: {files[0]}{same}."

"""What changed between two runs of one runtime, case by case, put together by cause, and in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from conformance.judging.verdicts import FAILING, HOLDING, UNCOUNTED
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import CaseId, OperatorName
from reports.results.told_facts import short_names
from reports.sites.kept_runs import ArchivedRun, KeptRuns
from reports.sites.seen_causes import CauseKey
from reports.text.phrasing import count, listed, moment, plural

Turn = Literal[
    "regressed", "newly_failing", "dropped", "otherwise", "fixed", "supported", "refused", "open", "unsteady"
]
TURNS: Mapping[Turn, str] = {
    "regressed": "held before, failing now",
    "newly_failing": "not offered before, failing now",
    "dropped": "held before, not offered any more",
    "otherwise": "failing before, in another way now",
    "fixed": "failing before, held now",
    "supported": "not offered before, held now",
    "refused": "failing before, told to be not offered now",
    "open": "left open by the documents, answered in another way now",
    "unsteady": "perhaps something else in every run of the very same program",
}
"""What can become of a case, in the order in which it is told; cases of which nothing changed have none."""
HEADINGS: Mapping[Turn, str] = {
    "regressed": "Regressed",
    "newly_failing": "Newly failing",
    "dropped": "No longer supported",
    "otherwise": "Fails in another way",
    "fixed": "Fixed",
    "supported": "Newly supported",
    "refused": "Says now that it does not offer it",
    "open": "Open in the documents, and answered in another way",
    "unsteady": "Not the same in every run",
}
Expectations = Mapping[str, Mapping[str, str]]
"""For each suite by its digest the digest of what each of its cases expects."""
_HOLDING = (*HOLDING, "inexact")
_BETTER_OR_WORSE: tuple[Turn, ...] = ("regressed", "otherwise", "fixed")


@dataclass(frozen=True)
class ChangedCause:
    """Cases that changed in one way, by one cause; without a cause of one operator.

    The cause is that of the failure: the new one of what fails now, the old one of what is fixed; None of
    what is only offered or not. `late` counts the cases without an answer in time in one of the runs, which
    may have been the machine's doing.
    """

    turn: Turn
    cause: CauseKey | None
    title: str
    operators: tuple[OperatorName, ...]
    cases: tuple[str, ...]
    late: int


@dataclass(frozen=True, eq=False)
class VersionChange:
    """Two runs of a runtime, the older one first, and what changed; `why_not` where they do not compare.

    `compared` counts the cases that both ran and that ask the same; `apart` those of the newer run that the
    older did not run or of which its suite expects something else; `lost` those that held and did not run
    again.
    """

    before: ArchivedRun
    after: ArchivedRun
    causes: tuple[ChangedCause, ...] = ()
    compared: int = 0
    apart: int = 0
    lost: int = 0
    new_faults: tuple[str, ...] = ()
    gone_faults: tuple[str, ...] = ()
    why_not: str = ""

    @cached_property
    def counts(self) -> Mapping[Turn, int]:
        """How many cases changed in each way."""
        return {
            turn: sum(len(cause.cases) for cause in self.causes if cause.turn == turn)
            for turn in TURNS
            if any(cause.turn == turn for cause in self.causes)
        }

    @property
    def same_code(self) -> bool:
        """Whether both runs are of the very same program."""
        return _is_same_code(self.before, self.after)

    @property
    def changed(self) -> bool:
        return bool(self.causes or self.new_faults or self.gone_faults)

    def of_turn(self, turn: Turn) -> tuple[ChangedCause, ...]:
        return tuple(cause for cause in self.causes if cause.turn == turn)


def changes_of(runs: KeptRuns) -> Mapping[str, tuple[VersionChange, ...]]:
    """For each series every two runs that follow each other, the oldest first."""
    return {name: tuple(_changes(series, runs.expectations)) for name, series in runs.series.items()}


def _changes(series: Sequence[ArchivedRun], expectations: Expectations) -> Iterator[VersionChange]:
    shaky: dict[str, set[str]] = {}
    pairs = list(pairwise(series))
    for before, after in pairs:
        if _is_same_code(before, after):
            found = compare_kept(before, after, expectations)
            shaky.setdefault(after.code, set()).update(case for cause in found.causes for case in cause.cases)
    for before, after in pairs:
        known = shaky.get(before.code, set()) | shaky.get(after.code, set())
        yield compare_kept(before, after, expectations, known)


def compare_kept(
    before: ArchivedRun, after: ArchivedRun, expectations: Expectations, shaky: Collection[str] = ()
) -> VersionChange:
    """Compare two runs over the cases that both ran and that ask the same of a runtime.

    Runs of one suite do; of two suites the cases of equal expectations do, where both suites are known. Of
    the very same program nothing is better or worse: what differs is not the same in every run. `shaky` are
    cases of which that is known; of others the entry says it that explains them.
    """
    old, new = before.verdicts, after.verdicts
    both = [each for each in new if each in old]
    if before.suite != after.suite:
        asked, asks = expectations.get(before.suite), expectations.get(after.suite)
        if asked is None or asks is None:
            return VersionChange(before, after, why_not="of different suites, not both of which are at hand")
        both = [each for each in both if asked.get(each) == asks.get(each) is not None]
    both = [each for each in both if old[each] not in UNCOUNTED and new[each] not in UNCOUNTED]
    if not both:
        return VersionChange(before, after, why_not="no case that asks the same ran in both")
    ran = {each for each, verdict in new.items() if verdict not in UNCOUNTED}
    lost = sum(each not in ran for each, verdict in old.items() if verdict in _HOLDING)
    return VersionChange(
        before,
        after,
        tuple(_by_cause(before, after, both, before.unsteady.union(after.unsteady, shaky))),
        len(both),
        len(ran) - len(both),
        lost if before.suite == after.suite else 0,
        tuple(fault for fault in after.faults if fault not in before.faults),
        tuple(fault for fault in before.faults if fault not in after.faults),
    )


def _is_same_code(before: ArchivedRun, after: ArchivedRun) -> bool:
    return bool(before.code) and before.code == after.code


def _by_cause(
    before: ArchivedRun, after: ArchivedRun, cases: Sequence[str], shaky: Collection[str]
) -> Iterator[ChangedCause]:
    found: dict[Turn, dict[CauseKey | str, list[str]]] = {}
    same_code, by_chance = _is_same_code(before, after), before.by_chance | after.by_chance
    for case in cases:
        turn = _turn(before, after, case)
        if turn is not None:
            if same_code or case in shaky or (turn in _BETTER_OR_WORSE and case in by_chance):
                turn = "unsteady"
            keys = [side.cause_of.get(case) for side in _failing_sides(turn, before, after)]
            key = next(filter(None, keys), None) or CaseId.parse(case).operator.unversioned
            found.setdefault(turn, {}).setdefault(key, []).append(case)
    for turn in TURNS:
        for key, own in sorted(found.get(turn, {}).items(), key=lambda each: (-len(each[1]), min(each[1]))):
            operators = tuple(sorted({CaseId.parse(each).operator for each in own}))
            cause = None if isinstance(key, str) else key
            title = "" if cause is None else _title(cause, _failing_sides(turn, before, after))
            late = sum("timeout" in (before.verdicts[each], after.verdicts[each]) for each in own)
            yield ChangedCause(turn, cause, title, operators, tuple(sorted(own)), late)


def _failing_sides(turn: Turn, before: ArchivedRun, after: ArchivedRun) -> tuple[ArchivedRun, ...]:
    """The runs whose failures a turn is about, the first that has a cause first."""
    if turn in ("regressed", "newly_failing", "otherwise"):
        return (after,)
    if turn in ("open", "unsteady"):
        return (after, before)
    return (before,) if turn in ("fixed", "refused") else ()


def _title(key: CauseKey, runs: Sequence[ArchivedRun]) -> str:
    return next(run.causes_by_key[key].title for run in runs if key in run.causes_by_key)


def _turn(before: ArchivedRun, after: ArchivedRun, case: str) -> Turn | None:
    """What became of a case; a failure that blames nobody counts as an answer in another way."""
    old, new = before.verdicts[case], after.verdicts[case]
    if old == new and before.cause_of.get(case) == after.cause_of.get(case):
        return None
    if new not in FAILING and (case in before.open or case in after.open):
        return None if old == new else _open_turn(old, new)
    if new in FAILING:
        if old in FAILING:
            return "otherwise" if old != new else None
        return "newly_failing" if old == "unsupported" else "regressed"
    if new == "unsupported":
        return None if old == new else "refused" if old in FAILING else "dropped"
    return "fixed" if old in FAILING else "supported" if old == "unsupported" else None


def _open_turn(old: str, new: str) -> Turn:
    if old == "unsupported" and new in _HOLDING:
        return "supported"
    return "dropped" if new == "unsupported" and old in _HOLDING else "open"


_FEW = 4
_DONE: Mapping[Turn, str] = {
    "regressed": "regressed",
    "newly_failing": "newly failing",
    "dropped": "no longer supported",
    "otherwise": "failing in another way",
    "fixed": "fixed",
    "supported": "newly supported",
    "refused": "rejected as not offered",
    "open": "answered in another way where the documents are open",
    "unsteady": "not the same in every run",
}
_LONGEST = 500


def summary(change: VersionChange) -> str:
    """`3 regressed, 12 fixed, 1 new fault`, or that nothing changed, or why nobody knows."""
    if change.why_not:
        return f"not compared: {change.why_not}"
    parts = [f"{count(number)} {_DONE[turn]}" for turn, number in change.counts.items()]
    parts += [f"{plural(len(change.new_faults), 'new fault')}"] if change.new_faults else []
    parts += [f"{plural(len(change.gone_faults), 'fault')} gone"] if change.gone_faults else []
    parts += [f"{count(change.lost)} not run again"] if change.lost else []
    return ", ".join(parts) or "nothing changed"


def versions_text(change: VersionChange) -> str:
    """`1.31.1 to 1.32.0`; of one version the two moments."""
    before, after = change.before, change.after
    if before.version == after.version:
        return f"{after.version}, {moment(before.started)} to {moment(after.started)}"
    return f"{before.version} to {after.version}"


def operators_text(operators: Iterable[OperatorName]) -> str:
    """Operator versions by name where they are few, else how many."""
    found = list(operators)
    if len(found) > _FEW:
        return plural(len(found), "operator version")
    return listed([short_names([operator]) for operator in found])


def sentence(changed: ChangedCause) -> str:
    """What became of the cases of a cause: `12 cases of Conv-22 fixed: wrong when strides = 2.`"""
    said = (
        f"{plural(len(changed.cases), 'case')} of {operators_text(changed.operators)} {_DONE[changed.turn]}"
    )
    if changed.late:
        said += f" (a limit of time was met in {count(changed.late)}: perhaps the machine was busy)"
    return one_line(f"{said}: {changed.title}" if changed.title else f"{said}.", _LONGEST)

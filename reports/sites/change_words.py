"""What changed between two versions, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from reports.results.told_facts import short_names
from reports.sites.version_changes import ChangedCause, Turn, VersionChange
from reports.text.phrasing import count, listed, moment, plural

_FEW = 4
_DONE: Mapping[Turn, str] = {
    "regressed": "regressed",
    "newly_failing": "newly failing",
    "dropped": "no longer supported",
    "otherwise": "failing in another way",
    "fixed": "fixed",
    "supported": "newly supported",
    "refused": "refused as not offered",
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
    return listed([short_names([each]) for each in found])


def sentence(changed: ChangedCause) -> str:
    """What became of the cases of a cause: `12 cases of Conv-22 fixed: wrong when strides = 2.`"""
    said = (
        f"{plural(len(changed.cases), 'case')} of {operators_text(changed.operators)} {_DONE[changed.turn]}"
    )
    if changed.late:
        said += f" (a limit of time was met in {count(changed.late)}: perhaps the machine was busy)"
    return one_line(f"{said}: {changed.title}" if changed.title else f"{said}.", _LONGEST)

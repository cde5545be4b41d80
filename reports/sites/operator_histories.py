"""The page of an operator: every runtime and version beside each other, its causes, and what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from opcert.vocabulary.names import CaseId, OperatorName
from reports.single_cases.passages_shown import public_page
from reports.sites.change_words import sentence, versions_text
from reports.sites.kept_run import ArchivedRun
from reports.sites.site_causes import SiteCause
from reports.sites.site_links import anchor
from reports.sites.site_page import Site, run_name, short_name
from reports.sites.tallies import Tally
from reports.sites.version_changes import ChangedCause, Turn
from reports.text.type_order import type_rank


@dataclass(frozen=True)
class OperatorRow:
    """One run's cases of one operator version: all of them, and those of each element type."""

    run: ArchivedRun
    name: str
    operator: OperatorName
    first: bool
    tally: Tally
    cells: tuple[Tally | None, ...]


@dataclass(frozen=True)
class OperatorCause:
    """A cause, and how many of the operator's cases each runtime has by it, version by version."""

    cause: SiteCause
    runs: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


def render_operator(site: Site, name: str) -> str:
    """The page of an operator by its name without version."""
    runs = [each for each in site.shown_runs if name in each.named]
    types = _types(runs, name)
    rows = [
        (series, anchor(series), site.links.runtime(series), tuple(_rows(site, series, name, types)))
        for series in site.shown
    ]
    one = next(iter(runs[0].named[name])) if runs else None
    return site.render(
        "site_operator.html.j2",
        "../",
        name=name,
        short=short_name(name),
        group=site.group_of(name),
        page="" if one is None else public_page(one),
        types=types,
        rows=[each for each in rows if each[3]],
        versions=sorted({each.since_version for run in runs for each in run.named[name]}, reverse=True),
        causes=[_cause(site, each, name) for each in site.causes_of_operator.get(name, ())],
        changes=list(_changes(site, name)),
        absent=[series for series in site.shown if not any(name in run.named for run in site.shown[series])],
    )


def _types(runs: list[ArchivedRun], name: str) -> tuple[str, ...]:
    found = {each for run in runs for operator in run.named[name] for each in run.by_type[operator]}
    return tuple(sorted(found, key=lambda each: (type_rank(each), each)))


def _rows(site: Site, series: str, name: str, types: tuple[str, ...]) -> Iterator[OperatorRow]:
    first = True
    for run in site.shown[series]:
        for operator, tally in run.named.get(name, {}).items():
            cells = tuple(run.by_type[operator].get(each) for each in types)
            told = run_name(run, site.shown[series])
            yield OperatorRow(run, told, operator, first, tally, cells)
            first = False


def _cause(site: Site, cause: SiteCause, name: str) -> OperatorCause:
    found = []
    for series, runs in site.shown.items():
        counted = tuple(
            (run_name(run, site.shown[series]), _own(cause, run, name)) for run in runs if name in run.named
        )
        if any(number for _, number in counted):
            found.append((series, counted))
    return OperatorCause(cause, tuple(found))


def _own(cause: SiteCause, run: ArchivedRun, name: str) -> int:
    seen = cause.seen.get(run)
    return (
        0 if seen is None else Counter(CaseId.parse(each).operator.unversioned for each in seen.cases)[name]
    )


def _changes(site: Site, name: str) -> Iterator[tuple[str, str, str, list[tuple[Turn, str]]]]:
    """What changed in the operator's cases, by runtime, the newest version first."""
    for series, changes in site.changes.items():
        for change in reversed(changes):
            told = [
                (each.turn, sentence(own))
                for each in change.causes
                if (own := _of_operator(each, name)) is not None
            ]
            if told:
                yield series, site.links.change(change.after), versions_text(change), told


def _of_operator(changed: ChangedCause, name: str) -> ChangedCause | None:
    """The part of a change that is of the operator; None where it has none."""
    operators = tuple(each for each in changed.operators if each.unversioned == name)
    if not operators:
        return None
    cases = tuple(each for each in changed.cases if CaseId.parse(each).operator in operators)
    whole = len(cases) == len(changed.cases)
    return replace(
        changed,
        operators=operators,
        cases=cases,
        late=changed.late if whole else 0,
    )

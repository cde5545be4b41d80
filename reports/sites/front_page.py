"""The first page of a site: operators by runtime, each runtime in its newest version."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from opcert.vocabulary.names import OperatorName
from reports.results.case_results import OTHERS
from reports.sites.change_words import summary, versions_text
from reports.sites.kept_run import ArchivedRun
from reports.sites.site_links import anchor
from reports.sites.site_page import Site, short_name, versions_of
from reports.sites.tallies import Tally
from reports.text.phrasing import moment

MOST_FITTING = 9
"""A table of so many runtimes fits a telephone's width; a wider one is moved sideways."""


@dataclass(frozen=True)
class FrontCell:
    """A runtime's cases of an operator; `version` where its suite has other versions than the newest."""

    tally: Tally
    link: str
    version: str


@dataclass(frozen=True)
class FrontRow:
    operator: str
    short: str
    newest: str
    link: str
    cells: tuple[FrontCell | None, ...]

    @property
    def fails(self) -> bool:
        return any(each is not None and each.tally.fails for each in self.cells)

    @property
    def total(self) -> int | None:
        """The decided cases where they are as many for all runtimes, for narrow tables, which say it once."""
        found = {each.tally.decided for each in self.cells if each is not None}
        return found.pop() if len(found) == 1 else None


@dataclass(frozen=True)
class FrontGroup:
    name: str
    anchor: str
    rows: tuple[FrontRow, ...]

    @property
    def failing(self) -> int:
        return sum(each.fails for each in self.rows)


@dataclass(frozen=True)
class FrontColumn:
    """A runtime in its newest version; `suite` says which operators it was asked, where most were others."""

    run: ArchivedRun
    link: str
    suite: str


def render_front(site: Site) -> str:
    """The page; its table has every case of every run that it shows, once."""
    groups = _groups(site)
    last = {name: [each for each in own if not each.same_code] for name, own in site.changes.items()}
    changes = [(name, each[-1]) for name, each in last.items() if each]
    runs = site.runs.all
    return site.render(
        "site.html.j2",
        "",
        scripts="site_script",
        here="index",
        columns=_columns(site),
        groups=groups,
        operators=sum(len(each.rows) for each in groups),
        fits=len(site.newest) <= MOST_FITTING,
        changes=[
            (name, site.links.change(each.after), versions_text(each), summary(each))
            for name, each in changes
        ],
        total=len(runs),
        first=moment(min(each.started for each in runs)),
        last=moment(max(each.started for each in runs)),
        left_out=site.runs.left_out,
    )


def _columns(site: Site) -> tuple[FrontColumn, ...]:
    usual = Counter(frozenset(each.operators) for each in site.newest)
    most = max(usual, key=lambda each: (usual[each], sorted(each)))
    return tuple(
        FrontColumn(
            each,
            site.links.runtime(each.series),
            "" if each.operators.keys() == most else f"operators of opset {each.opset}",
        )
        for each in site.newest
    )


def _groups(site: Site) -> tuple[FrontGroup, ...]:
    """Operators by what they do, in the order of the alphabet; those that no group has come last."""
    found: dict[str, list[FrontRow]] = {}
    for name in dict.fromkeys(each.unversioned for each in site.runs.operators):
        row = _row(site, name)
        if any(row.cells):
            found.setdefault(site.group_of(name), []).append(row)
    names = sorted(found, key=lambda each: (each == OTHERS, each.lower(), each))
    return tuple(
        FrontGroup(each, anchor(each), tuple(sorted(found[each], key=lambda row: row.short.lower())))
        for each in names
    )


def _row(site: Site, name: str) -> FrontRow:
    having = {operator for run in site.newest for operator in run.named.get(name, ())}
    newest = max(having, key=lambda each: each.since_version, default=None)
    link = site.links.operator(name)
    cells = tuple(_cell(run, name, newest, link) for run in site.newest)
    return FrontRow(name, short_name(name), "" if newest is None else str(newest.since_version), link, cells)


def _cell(run: ArchivedRun, name: str, newest: OperatorName | None, link: str) -> FrontCell | None:
    own = run.named.get(name)
    if not own:
        return None
    others = "" if newest in own and len(own) == 1 else versions_of([*own])
    return FrontCell(Tally.sum_of(own.values()), f"{link}#{anchor(run.series)}", others)

"""The first page of a site: operators by runtime; the same with every version, and as data; badges."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from conformance.judging.verdicts import NOT_RUN
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from reports.causes.operator_use import Use, counted_models
from reports.certificates.badges import LABEL, render_badge
from reports.overview.decided import share_text
from reports.results.case_results import OTHERS
from reports.sites.kept_runs import ArchivedRun, Tally
from reports.sites.site_page import Site, SiteCause, anchor, short_name, versions_of
from reports.text.phrasing import count, moment, plural

MOST_FITTING = 8
"""A table of so many runtimes fits a telephone's width; in a wider one cells stand below each other."""


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
        return any(cell is not None and cell.tally.fails for cell in self.cells)

    @property
    def total(self) -> int | None:
        """The decided cases where they are as many for all runtimes, for narrow tables, which say it once."""
        found = {cell.tally.decided for cell in self.cells if cell is not None}
        return found.pop() if len(found) == 1 else None


@dataclass(frozen=True)
class FrontColumn:
    """A run, and which operators it was asked, where most were asked others; `share` of its decided cases
    pass, and `use` of the nodes of public models are of operators without a failure, in tenths of
    a percent."""

    run: ArchivedRun
    suite: str
    share: int
    use: int
    nodes: int


@dataclass(frozen=True)
class FrontGroup:
    name: str
    anchor: str
    rows: tuple[FrontRow, ...]

    @property
    def failing(self) -> int:
        return sum(row.fails for row in self.rows)


def render_front(site: Site, *, every_version: bool = False) -> str:
    """The page; its table has every case of every run that it shows, once.

    The runs are those of the newest versions, or with `every_version` of all that stand beside each other.
    """
    shown = site.shown_runs if every_version else site.newest
    groups = _groups(site, shown)
    last = {
        name: [version_change for version_change in own if not version_change.same_code]
        for name, own in site.changes.items()
    }
    runs, columns = site.runs.all, _columns(shown)
    return site.render(
        "site.html.j2",
        "",
        scripts="site_script",
        here="index",
        every_version=every_version,
        columns=columns,
        labels=[f"{run.series} {run.version}" if every_version else run.series for run in shown],
        weighed=any(column.nodes for column in columns),
        runtimes=len(site.newest),
        groups=groups,
        operators=sum(len(group.rows) for group in groups),
        fits=len(shown) <= MOST_FITTING,
        changes=[(name, each[-1]) for name, each in last.items() if each],
        total=len(runs),
        first=moment(min(run.started for run in runs)),
        last=moment(max(run.started for run in runs)),
        left_out=site.runs.left_out,
    )


def _columns(shown: Sequence[ArchivedRun]) -> list[FrontColumn]:
    usual = Counter(frozenset(run.operators) for run in shown)
    most = max(usual, key=lambda each: (usual[each], sorted(each)))
    found = []
    for run in shown:
        suite = "" if run.operators.keys() == most else f"operators of opset {run.opset}"
        whole, asked = use_without_failure(run)
        share = _tenths(run.tally.passing, run.tally.decided)
        found.append(FrontColumn(run, suite, share, _tenths(whole, asked), asked))
    return found


def _tenths(part: int, whole: int) -> int:
    return part * 1000 // whole if whole else 0


def use_without_failure(run: ArchivedRun) -> tuple[int, int]:
    """Of the nodes of public models whose operators a run was asked: of how many the operator passes without
    a failure, and how many there are."""
    whole = asked = 0
    for name, use in counted_models().operators.items():
        if name in run.named:
            tally = Tally.sum_of(run.named[name].values())
            asked += use.nodes
            whole += use.nodes if tally.passing and not tally.fails else 0
    return whole, asked


def render_data(site: Site) -> str:
    """`data.json`: the table, with the runs of all versions that are shown as columns (schemas/site.json)."""
    shown = site.shown_runs
    names = dict.fromkeys(operator.unversioned for run in shown for operator in run.operators)
    data = {
        "format": "opcert-site/1",
        "opcert": version("opcert"),
        "columns": [_column_data(site, run) for run in shown],
        "operators": {name: _operator_data(site, name, shown) for name in sorted(names)},
        "causes": [_cause_data(site, cause, shown) for cause in site.causes.values()],
    }
    return json.dumps(data, separators=(",", ":")) + "\n"


def _column_data(site: Site, run: ArchivedRun) -> dict[str, Any]:
    whole, asked = use_without_failure(run)
    return {
        "runtime": run.series,
        "version": run.version,
        "started": run.started,
        "suite": run.suite,
        "newest": run in site.newest,
        "whole": run.whole,
        "page": site.links.runtime(run.series),
        "cases": dict(sorted(run.counts.items())),
        "nodes": {"asked": asked, "without_failure": whole},
    }


def _operator_data(site: Site, name: str, shown: Sequence[ArchivedRun]) -> dict[str, Any]:
    use = counted_models().operators.get(name, Use())
    cells = []
    for run in shown:
        own = run.named.get(name)
        versions = [operator.since_version for operator in sorted(own or ())]
        cases = dict(sorted(Tally.sum_of((own or {}).values()).counts.items()))
        cells.append({"versions": versions, "cases": cases} if own else None)
    return {
        "group": site.group_of(name),
        "page": site.links.operator(name),
        "models": use.models,
        "nodes": use.nodes,
        "cells": cells,
    }


def _cause_data(site: Site, cause: SiteCause, shown: Sequence[ArchivedRun]) -> dict[str, Any]:
    return {
        "title": cause.title,
        "page": site.links.cause(cause.key),
        "entry": cause.known.id if cause.known is not None else None,
        "thread": (cause.known.thread or None) if cause.known is not None else None,
        "blames": not cause.open,
        "operators": [str(operator) for operator in cause.operators],
        "cases": [len(cause.seen[run].cases) if run in cause.seen else 0 for run in shown],
    }


def render_site_badge(run: ArchivedRun) -> str:
    """What a badge says of a runtime's newest run: how much of what was decided passes."""
    decided = run.tally.decided
    share = share_text(run.tally.passing, decided)
    message = f"{share} of {plural(decided, 'decided case')} pass" if decided else "nothing was decided"
    left = run.counts[NOT_RUN]
    message += "" if run.whole else ", a part of a run"
    message += f", {count(left)} not run" if left else ""
    color = "blue" if decided and run.whole and not left else "lightgrey"
    return render_badge(f"{LABEL}: {one_line(run.label, 40)}", message, color)


def _groups(site: Site, shown: Sequence[ArchivedRun]) -> tuple[FrontGroup, ...]:
    """Operators by what they do, in the order of the alphabet; those that no group has come last."""
    found: dict[str, list[FrontRow]] = {}
    for name in dict.fromkeys(operator.unversioned for operator in site.runs.operators):
        row = _row(site, name, shown)
        if any(row.cells):
            found.setdefault(site.group_of(name), []).append(row)
    names = sorted(found, key=lambda each: (each == OTHERS, each.lower(), each))
    return tuple(
        FrontGroup(name, anchor(name), tuple(sorted(found[name], key=lambda row: row.short.lower())))
        for name in names
    )


def _row(site: Site, name: str, shown: Sequence[ArchivedRun]) -> FrontRow:
    having = {operator for run in shown for operator in run.named.get(name, ())}
    newest = max(having, key=lambda operator: operator.since_version, default=None)
    link = site.links.operator(name)
    cells = tuple(_cell(run, name, newest, link) for run in shown)
    return FrontRow(name, short_name(name), "" if newest is None else str(newest.since_version), link, cells)


def _cell(run: ArchivedRun, name: str, newest: OperatorName | None, link: str) -> FrontCell | None:
    own = run.named.get(name)
    if not own:
        return None
    others = "" if newest in own and len(own) == 1 else versions_of([*own])
    return FrontCell(Tally.sum_of(own.values()), f"{link}#{anchor(run.series)}", others)

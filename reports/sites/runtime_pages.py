"""The page of a runtime: its versions beside each other, by cause and by operator, and what changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reports.sites.change_words import sentence, summary, versions_text
from reports.sites.kept_run import ArchivedRun
from reports.sites.site_causes import SiteCause
from reports.sites.site_links import report_link
from reports.sites.site_page import Site, run_name, short_name, versions_of
from reports.sites.tallies import Tally
from reports.sites.version_changes import TURNS, Turn, VersionChange
from reports.text.phrasing import moment


@dataclass(frozen=True)
class RunLine:
    """One run in the table of a runtime's runs; `since` says what changed since the one before."""

    run: ArchivedRun
    when: str
    tally: Tally
    suite: str
    report: str | None
    since: str
    link: str | None


@dataclass(frozen=True)
class CauseByVersion:
    """A cause with its cases in each version shown; None where the version was not asked any of them."""

    cause: SiteCause
    cells: tuple[int | None, ...]

    @property
    def differs(self) -> bool:
        return len({each for each in self.cells if each is not None}) > 1


@dataclass(frozen=True)
class OperatorByVersion:
    """An operator with its cases in each version shown, and its versions where they differ."""

    short: str
    link: str
    cells: tuple[tuple[Tally, str] | None, ...]

    @property
    def differs(self) -> bool:
        return len({str(sorted(each[0].counts.items())) for each in self.cells if each is not None}) > 1

    @property
    def tells(self) -> bool:
        """Whether there is more to say than that all passes."""
        return self.differs or any(
            each is None or each[0].mark != "pass" or each[0].open for each in self.cells
        )


def render_runtime(site: Site, series: str) -> str:
    """The page of a runtime by its name with its options."""
    shown = site.shown[series]
    causes = [each for each in (_cause(cause, shown) for cause in site.causes.values()) if any(each.cells)]
    names = sorted({name for run in shown for name in run.named}, key=lambda each: short_name(each).lower())
    operators = [_operator(site, name, shown) for name in names]
    return site.render(
        "site_runtime.html.j2",
        "../",
        series=series,
        shown=[(run, run_name(run, site.shown[series])) for run in shown],
        lines=list(reversed(list(_lines(site, series)))),
        causes=causes,
        operators=[each for each in operators if each.tells],
        quiet=sum(not each.tells for each in operators),
        changes=[_told(site, each) for each in reversed(site.changes[series]) if each.changed],
    )


def _lines(site: Site, series: str) -> Iterator[RunLine]:
    changes: list[VersionChange | None] = [None, *site.changes[series]]
    for run, change in zip(site.runs.series[series], changes, strict=True):
        since = "the first run that is kept" if change is None else summary(change)
        link = site.links.change(run) if change is not None and not change.why_not else None
        yield RunLine(
            run, moment(run.started), run.tally, suite_text(run), report_link(run, site.place), since, link
        )


def suite_text(run: ArchivedRun) -> str:
    """Which suite a run was of: the opset of ONNX's operators, and how many operator versions."""
    opset = f"opset {run.opset}, " if run.opset else ""
    return f"{opset}{len(run.operators)} operator versions, suite {run.suite[:12]}"


def _cause(cause: SiteCause, shown: tuple[ArchivedRun, ...]) -> CauseByVersion:
    def number(run: ArchivedRun) -> int | None:
        seen = cause.seen.get(run)
        if seen is not None:
            return len(seen.cases)
        return 0 if any(each in run.verdicts for each in cause.cases) else None

    return CauseByVersion(cause, tuple(number(each) for each in shown))


def _operator(site: Site, name: str, shown: tuple[ArchivedRun, ...]) -> OperatorByVersion:
    versions = {operator for run in shown for operator in run.named.get(name, ())}

    def cell(run: ArchivedRun) -> tuple[Tally, str] | None:
        own = run.named.get(name)
        if not own:
            return None
        return Tally.sum_of(own.values()), versions_of([*own]) if len(versions) > 1 else ""

    return OperatorByVersion(short_name(name), site.links.operator(name), tuple(cell(each) for each in shown))


def _told(site: Site, change: VersionChange) -> tuple[str, str, str, list[tuple[Turn, str, str]]]:
    """A change in words, the first causes of it; its page has them all."""
    told = [
        (each.turn, sentence(each), "" if each.cause is None else site.links.cause(each.cause))
        for turn in TURNS
        for each in change.of_turn(turn)
    ]
    return site.links.change(change.after), versions_text(change), summary(change), told

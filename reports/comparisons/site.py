"""A site of runs kept over time: an overview, a history for each operator version, changes between runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

from conformance.recording.records import read_record
from opcert.vocabulary.errors import NothingRan, Place, UserError
from opcert.vocabulary.names import OperatorName, slug
from opcert.vocabulary.whole_files import write_text
from reports.comparisons.comparison_page import render_comparison
from reports.comparisons.kept_runs import KeptRun, KeptRuns, find_runs, relative_link
from reports.comparisons.run_comparison import ChangeKind, Comparison, compare_runs
from reports.page_making.pages_alone import render_page
from reports.page_making.phrasing import moment
from reports.results.verdicts import FAILING, WORST_FIRST, word

FOLDER = "history"
_CHANGES: tuple[ChangeKind, ...] = ("regressed", "fixed", "changed", "error")


@dataclass(frozen=True)
class Counted:
    """A verdict, its word and how many cases have it."""

    verdict: str
    word: str
    number: int


@dataclass(frozen=True)
class RunLine:
    """One run in a table: when, what, its counts, and what changed since the run before."""

    when: str
    version: str
    suite: str
    counts: tuple[Counted, ...]
    cases: int
    faults: int
    partial: bool
    since: str
    since_link: str | None
    report_link: str | None

    @property
    def passing(self) -> int:
        return sum(each.number for each in self.counts if each.verdict == "pass")


@dataclass(frozen=True)
class NewestCell:
    """What the newest run of a series says of an operator version: its worst verdict, and what passes."""

    worst: Counted
    passing: int
    cases: int


@dataclass(frozen=True)
class OperatorRow:
    operator: OperatorName
    link: str
    cells: tuple[NewestCell | None, ...]


def write_site(folder: Path, output: Path | None = None) -> tuple[Path, KeptRuns]:
    """Write `index.html` and the pages in `history/`; returns the page and the runs that it shows.

    They stand in `folder` itself, or in `output`; links to a run's own report are written where it lies below
    that. The overview takes its place last, by rename. Raises UserError where there is no such folder, where
    it is the folder of one run, or where a page cannot be written; NothingRan where it holds no run.
    """
    place = output or folder
    if (place / "run.jsonl").is_file():
        raise UserError(
            "this is the folder of one run, whose report a site would replace",
            got=str(place),
            where=Place(str(place / "run.jsonl")),
            remedy="Name the folder above it, or another one with -o.",
        )
    runs = find_runs(folder)
    if not runs.series:
        raise NothingRan("there is no run in the folder", got=str(folder))
    written = set()
    lines: dict[str, list[RunLine]] = {}
    for name, series in runs.series.items():
        changes: list[Comparison | None] = [None, *(_changes(one, other) for one, other in pairwise(series))]
        lines[name] = []
        for run, change in zip(series, changes, strict=True):
            link = None
            if change is not None and (change.lost or any(change.counts[kind] for kind in _CHANGES)):
                page = place / FOLDER / f"changes-{slug(name)}-{slug(run.started)}-{len(lines[name])}.html"
                written.add(write_text(page, render_comparison(change)))
                link = f"{FOLDER}/{quote(page.name)}"
            first = not lines[name]
            lines[name].append(_line(run, change, link, relative_link_of(run, place), first=first))
    for operator in runs.operators:
        page = place / FOLDER / f"operator-{slug(str(operator))}.html"
        written.add(write_text(page, _render_operator(operator, runs)))
    index = write_text(place / "index.html", _render_index(runs, lines))
    for stale in (place / FOLDER).glob("*.html"):
        if stale not in written and stale.name.startswith(("changes-", "operator-")):
            stale.unlink()
    return index, runs


def relative_link_of(run: KeptRun, place: Path) -> str | None:
    """The link from the overview to a run's own report."""
    if run.report is None:
        return None
    link = relative_link(run.report.resolve(), place.resolve() / "index.html")
    return None if link is None else quote(link)


def _changes(before: KeptRun, after: KeptRun) -> Comparison | None:
    """What changed between two runs of one suite; None of two: there expectations may have changed."""
    if before.suite != after.suite:
        return None
    try:
        return compare_runs(read_record(before.path), read_record(after.path))
    except NothingRan:
        return None


def _line(
    run: KeptRun, change: Comparison | None, link: str | None, report: str | None, *, first: bool
) -> RunLine:
    if first:
        since = "the first run"
    elif change is None:
        since = "another suite, or no case in common: not compared"
    else:
        parts = [f"{change.counts[kind]} {_words(kind)}" for kind in _CHANGES if change.counts[kind]]
        parts += [f"{len(change.lost)} not run again"] if change.lost else []
        since = ", ".join(parts) or "nothing changed"
    return RunLine(
        moment(run.started),
        run.version,
        run.suite[:16],
        counted(run.counts),
        len(run.verdicts),
        len(run.faults),
        run.partial,
        since,
        link,
        report,
    )


def _words(kind: ChangeKind) -> str:
    return "with another error" if kind == "error" else kind


def counted(counts: Mapping[str, int]) -> tuple[Counted, ...]:
    """Every verdict that there is, the worst first; their numbers add up to the number of cases."""
    return tuple(Counted(each, word(each), counts[each]) for each in WORST_FIRST if counts.get(each))


def _render_index(runs: KeptRuns, lines: Mapping[str, list[RunLine]]) -> str:
    newest = [series[-1] for series in runs.series.values()]
    rows = []
    for operator in runs.operators:
        cells = tuple(_newest(each, operator) for each in newest)
        link = f"{FOLDER}/{quote(f'operator-{slug(str(operator))}.html')}"
        rows.append(OperatorRow(operator, link, cells))
    return render_page(
        "site.html.j2",
        lines={name: list(reversed(each)) for name, each in lines.items()},
        names=list(runs.series),
        newest=newest,
        rows=rows,
        total=len(runs.all),
        first=moment(min(each.started for each in runs.all)),
        last=moment(max(each.started for each in runs.all)),
        left_out=[(str(path), why) for path, why in runs.left_out],
        version=version("opcert"),
    )


def _newest(run: KeptRun, operator: OperatorName) -> NewestCell | None:
    verdicts = run.by_operator.get(operator)
    if not verdicts:
        return None
    counts = Counter(verdicts.values())
    order = (*FAILING, "pass", "unsupported", "observed", "harness_error", "not_run")
    worst = next(each for each in order if counts[each])
    return NewestCell(Counted(worst, word(worst), counts[worst]), counts["pass"], len(verdicts))


@dataclass(frozen=True)
class HistoryLine:
    """One run in the history of an operator version, and the cases whose verdict changed since the last."""

    when: str
    version: str
    suite: str
    counts: tuple[Counted, ...]
    cases: int
    changed: tuple[tuple[str, str, Counted], ...]
    compared: bool


def _render_operator(operator: OperatorName, runs: KeptRuns) -> str:
    histories = {
        name: list(
            reversed(list(_history(operator, [each for each in series if operator in each.by_operator])))
        )
        for name, series in runs.series.items()
    }
    return render_page(
        "history.html.j2",
        operator=operator,
        histories={name: lines for name, lines in histories.items() if lines},
        version=version("opcert"),
    )


def _history(operator: OperatorName, series: list[KeptRun]) -> Iterator[HistoryLine]:
    before: KeptRun | None = None
    for run in series:
        verdicts = run.by_operator[operator]
        compared = before is not None and before.suite == run.suite
        old = before.by_operator[operator] if before is not None and compared else {}
        changed = tuple(
            (case, word(old[case]), Counted(verdict, word(verdict), 1))
            for case, verdict in verdicts.items()
            if case in old and old[case] != verdict
        )
        yield HistoryLine(
            moment(run.started),
            run.version,
            run.suite[:16],
            counted(Counter(verdicts.values())),
            len(verdicts),
            changed,
            compared,
        )
        before = run

"""The pages of a runtime, of an operator and of a cause: versions beside each other, and what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from conformance.judging.known_causes import WORDS
from conformance.judging.verdicts import word
from conformance.runtimes.adapter import list_adapters, load_adapter
from opcert.vocabulary.harmless import for_markdown, for_markdown_code, one_line
from opcert.vocabulary.names import CaseId, OperatorName
from reports.causes.failure_class import INEXACT, NOBODY, OPEN
from reports.causes.titles import operator_names
from reports.results.case_results import ONNX
from reports.results.told_facts import short_names
from reports.single_cases.passages_shown import public_page, with_titles
from reports.sites.kept_runs import ArchivedRun, Tally
from reports.sites.seen_causes import CauseKey
from reports.sites.site_page import (
    CauseInRun,
    Site,
    SiteCause,
    anchor,
    cause_in_run,
    run_name,
    short_name,
    versions_of,
)
from reports.sites.version_changes import (
    ChangedCause,
    Turn,
    sentence,
    versions_text,
)
from reports.text.phrasing import count, plural
from reports.text.value_text import type_rank


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
    causes = [
        cause_by_version
        for cause_by_version in (_cause(cause, shown) for cause in site.causes.values())
        if any(cause_by_version.cells)
    ]
    names = sorted({name for run in shown for name in run.named}, key=lambda name: short_name(name).lower())
    operators = [_operator(site, name, shown) for name in names]
    return site.render(
        "site_runtime.html.j2",
        "../",
        anchor=anchor,
        series=series,
        badge=quote(site.links.badge(series)),
        shown=[(run, run_name(run, site.shown[series])) for run in shown],
        lines=[*zip(site.runs.series[series], [None, *site.changes[series]], strict=True)][::-1],
        causes=causes,
        operators=[operator for operator in operators if operator.tells],
        quiet=sum(not operator.tells for operator in operators),
        changes=[change for change in reversed(site.changes[series]) if change.changed],
    )


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


MOST_CASES = 40
"""So many of its cases a cause's page lists; of the others it says how many there are."""
TOLD = {
    "entry": "An entry of known causes explains it.",
    "message": "Told by what the runtime says when it rejects a call, or by how its process was lost.",
    "experiment": "Shown by experiments on the runtime.",
    "rule": "Calls that break this rule must be rejected, and are answered.",
    "documents": "Computed again, the answers are ones that the documents allow; the cases expect another.",
    "unexplained": "What these cases have in common is not known.",
}


def render_cause(site: Site, key: CauseKey) -> str:
    """The page of a cause by its key."""
    cause = site.causes[key]
    known = cause.known
    own = {each.unversioned for each in cause.operators}
    having = {run.series for run in cause.seen}
    # Of a runtime without it the newest version is enough.
    asked = [
        run
        for run in site.shown_runs
        if run.series in having or (run in site.newest and own & run.named.keys())
    ]
    rows = [each for run in asked if _tells(each := cause_in_run(cause, run), having)]
    operator = cause.operators[0]
    return site.render(
        "site_cause.html.j2",
        "../",
        cause=cause,
        title=f"{operator_names(cause.operators)}: {cause.title or key.told}",
        told=TOLD[key.told],
        says="" if known is None else WORDS[known.kind],
        explanation="" if known is None or known.explanation == cause.title else known.explanation,
        places=[] if known is None else [with_titles(each, operator) for each in known.passage],
        operators=short_names(cause.operators),
        links=sorted((short, site.links.operator(name)) for name, short in _operators(cause).items()),
        rows=[(row, run_name(row.run, site.shown[row.run.series])) for row in rows],
        silent=sorted({run.series for run in asked} - {row.run.series for row in rows}),
        older=[run.label for run in cause.seen if run not in site.shown_runs],
        verdict_of={row.run: word(row.example) for row in rows if row.example},
        cases=cause.cases[:MOST_CASES],
        more=max(0, len(cause.cases) - MOST_CASES),
        issue=issue_address(cause),
        issue_of=cause.example_run.runtime,
    )


_MOST_LETTERS = 4000
"""Of an issue's text so many stand in an address: trackers and browsers take no endless ones."""


def issue_address(cause: SiteCause) -> str:
    """The address of a new issue for the example's runtime, with title and text; empty where none is due.

    That is where a thread is known, where the cause is not known or blames nobody, where no runtime passes
    such a case, and where the call is not at hand.
    """
    run, example, nobody = cause.example_run, cause.example, {NOBODY.heading, INEXACT.heading, OPEN.heading}
    known = cause.known is not None and bool(cause.known.thread)
    untold = cause.key.told in ("documents", "unexplained") or cause.first.group in nobody
    tracker = load_adapter(run.runtime).issues if run.runtime in list_adapters() else ""
    if known or untold or cause.open or not example.call or not tracker:
        return ""
    operators = short_names(cause.operators)
    number = plural(len(cause.seen[run].cases), "test case")
    lines = [f"`{operators}` in {for_markdown(run.label)}, {number}.", ""]
    for each in (*example.call, *example.expected, *example.got):
        value = for_markdown_code(f"{each.type} {each.values}".strip())
        lines.append(f"- {for_markdown(each.name)}: {value}")
    lines += [f"- demanded by: {for_markdown(each.where)} {each.address}" for each in example.passages[:3]]
    lines += ["", f"`{example.command}` writes a script that needs numpy, onnx and the runtime alone."]
    said = {"title": one_line(f"{operators}: {cause.title}", 240), "body": "\n".join(lines)[:_MOST_LETTERS]}
    return f"{tracker}?{urlencode(said)}"


def _tells(each: CauseInRun, having: set[str]) -> bool:
    """Whether a run says anything of the cases: it has the cause, or it passes or fails some of them."""
    return each.run.series in having or bool(each.passing or each.otherwise)


def _operators(cause: SiteCause) -> dict[str, str]:
    return {
        operator.unversioned: operator.unversioned.removeprefix(f"{ONNX}::") for operator in cause.operators
    }


def render_causes(site: Site) -> str:
    """The list of all causes, in the order to fix them."""
    tiers: dict[str, list[tuple[SiteCause, str, str]]] = {}
    for cause in site.causes.values():
        runtimes = []
        for series in site.runs.series:
            own = [len(seen.cases) for run, seen in cause.seen.items() if run.series == series]
            newest = next((run for run in site.newest if run.series == series), None)
            if own:
                gone = newest is not None and newest not in cause.seen
                runtimes.append(f"{series} {'no more' if gone else count(own[0])}")
        told = (cause, ", ".join(runtimes), short_names(cause.operators))
        tiers.setdefault(cause.first.group, []).append(told)
    return site.render("site_causes.html.j2", "", scripts="site_script", here="causes", tiers=tiers)


Shown = tuple[str, OperatorName, Tally, tuple[Tally | None, ...]]
"""One run's cases of one operator version by the run's name: all of them, and those of each element type."""


def render_operator(site: Site, name: str) -> str:
    """The page of an operator by its name without version."""
    runs = [shown_run for shown_run in site.shown_runs if name in shown_run.named]
    types = _types(runs, name)
    rows = [
        (series, anchor(series), site.links.runtime(series), tuple(_shown_rows(site, series, name, types)))
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
        rows=[row for row in rows if row[3]],
        versions=sorted(
            {operator.since_version for run in runs for operator in run.named[name]}, reverse=True
        ),
        causes=[
            (site_cause, _counted(site, site_cause, name))
            for site_cause in site.causes_of_operator.get(name, ())
        ],
        changes=list(_changes(site, name)),
        absent=[series for series in site.shown if not any(name in run.named for run in site.shown[series])],
    )


def _types(runs: list[ArchivedRun], name: str) -> tuple[str, ...]:
    found = {each for run in runs for operator in run.named[name] for each in run.by_type[operator]}
    return tuple(sorted(found, key=lambda each: (type_rank(each), each)))


def _shown_rows(site: Site, series: str, name: str, types: tuple[str, ...]) -> Iterator[Shown]:
    for run in site.shown[series]:
        for operator, tally in run.named.get(name, {}).items():
            cells = tuple(run.by_type[operator].get(each) for each in types)
            yield run_name(run, site.shown[series]), operator, tally, cells


def _counted(site: Site, cause: SiteCause, name: str) -> list[tuple[str, tuple[tuple[str, int], ...]]]:
    """How many of the operator's cases each runtime has by a cause, version by version."""
    found = []
    for series, runs in site.shown.items():
        counted = tuple(
            (run_name(run, site.shown[series]), _own_cases(cause, run, name))
            for run in runs
            if name in run.named
        )
        if any(number for _, number in counted):
            found.append((series, counted))
    return found


def _own_cases(cause: SiteCause, run: ArchivedRun, name: str) -> int:
    seen = cause.seen.get(run)
    return (
        0 if seen is None else Counter(CaseId.parse(each).operator.unversioned for each in seen.cases)[name]
    )


def _changes(site: Site, name: str) -> Iterator[tuple[str, str, str, list[tuple[Turn, str]]]]:
    """What changed in the operator's cases, by runtime, the newest version first."""
    for series, changes in site.changes.items():
        for change in reversed(changes):
            told = [
                (cause.turn, sentence(own))
                for cause in change.causes
                if (own := _of_operator(cause, name)) is not None
            ]
            if told:
                yield series, site.links.change(change.after), versions_text(change), told


def _of_operator(changed: ChangedCause, name: str) -> ChangedCause | None:
    """The part of a change that is of the operator; None where it has none."""
    operators = tuple(operator for operator in changed.operators if operator.unversioned == name)
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

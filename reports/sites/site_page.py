"""What every page of a site is made with: its runs, causes and changes, and the links between its pages."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from conformance.judging.known_causes import KnownCause
from conformance.judging.verdicts import FAILING, HOLDING, NOT_JUDGED
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName, slug
from reports.causes.failure_class import GROUPS, NOBODY, TIERS
from reports.causes.operator_use import Use, use_of
from reports.results.case_results import ONNX, OTHERS
from reports.sites.kept_runs import ArchivedRun, KeptRuns, newest, versions_shown
from reports.sites.seen_causes import CauseExample, CauseKey, SeenCause
from reports.sites.version_changes import (
    HEADINGS,
    TURNS,
    VersionChange,
    changes_of,
    sentence,
    summary,
    versions_text,
)
from reports.text.pages_alone import linked_style, render_linked_page
from reports.text.phrasing import moment


@dataclass(frozen=True, eq=False)
class SiteCause:
    """A cause as the newest run of the first runtime that has it says it, and that in every run with it."""

    first: SeenCause
    example_run: ArchivedRun
    example: CauseExample
    seen: Mapping[ArchivedRun, SeenCause] = field(default_factory=dict)

    @property
    def key(self) -> CauseKey:
        return self.first.key

    @property
    def title(self) -> str:
        return self.first.title

    @property
    def known(self) -> KnownCause | None:
        return self.first.known

    @property
    def open(self) -> bool:
        return self.first.open

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """The cases of all runs that fail by it."""
        return tuple(sorted({case for each in self.seen.values() for case in each.cases}))

    @cached_property
    def operators(self) -> tuple[OperatorName, ...]:
        return tuple(sorted({operator for each in self.seen.values() for operator in each.operators}))


@dataclass(frozen=True)
class CauseInRun:
    """What a run makes of the cases of a cause: those that fail by it, and the others; `absent` are not in
    its suite. `example` is the verdict on the case that is shown."""

    run: ArchivedRun
    failing: int
    passing: int
    otherwise: int
    unsupported: int
    absent: int
    example: str | None


def collect_causes(runs: KeptRuns) -> Mapping[CauseKey, SiteCause]:
    """The causes of all runs by their keys, in the order to fix them, those of most runs first."""
    seen: dict[CauseKey, dict[ArchivedRun, SeenCause]] = {}
    for run in _newest_first(runs):
        for seen_cause in run.causes:
            seen.setdefault(seen_cause.key, {})[run] = seen_cause
    found = [_site_cause(each) for each in seen.values()]
    groups, tiers = ({tier.heading: place for place, tier in enumerate(those)} for those in (GROUPS, TIERS))

    def order(each: SiteCause) -> tuple[int, int, Use, int, CauseKey]:
        use = use_of(each.operators)
        return (
            # Of a run without its suite nobody knows it.
            groups.get(each.first.group, groups[NOBODY.heading]),
            tiers.get(each.first.tier, 0),
            Use(-use.models, -use.nodes),
            -len(each.cases),
            each.key,
        )

    found.sort(key=order)
    return {site_cause.key: site_cause for site_cause in found}


def _newest_first(runs: KeptRuns) -> Iterator[ArchivedRun]:
    for series in runs.series.values():
        yield from reversed(series)


def _site_cause(seen: Mapping[ArchivedRun, SeenCause]) -> SiteCause:
    first = next(iter(seen.values()))
    # Of equal calls the first, which is the newest run's: what is shown is what users meet today.
    run, shown = min(seen.items(), key=lambda each: each[1].example.rank)
    return SiteCause(first, run, shown.example, seen)


def cause_in_run(cause: SiteCause, run: ArchivedRun) -> CauseInRun:
    """What a run makes of all the cases of a cause."""
    own = cause.seen.get(run)
    by_it = frozenset(own.cases) if own is not None else frozenset[str]()
    others = [run.verdicts.get(each) for each in cause.cases if each not in by_it]
    return CauseInRun(
        run,
        len(by_it),
        sum(other in HOLDING for other in others),
        sum(other in FAILING for other in others),
        others.count("unsupported"),
        sum(other is None or other in NOT_JUDGED for other in others),
        run.verdicts.get(cause.example.case),
    )


FOLDERS = ("operators", "runtimes", "causes", "changes")
INDEX, CHANGES, CAUSES, FEED = "index.html", "changes.html", "causes.html", "feed.xml"
VERSIONS, DATA = "versions.html", "data.json"
_MOST_LETTERS = 80


@dataclass(frozen=True)
class SiteLinks:
    """The addresses of pages from the first page's folder, quoted; other pages put their `root` before."""

    operators: Mapping[str, str]
    runtimes: Mapping[str, str]
    changes: Mapping[tuple[str, ...], str]

    @classmethod
    def of(cls, runs: KeptRuns) -> SiteLinks:
        changed = {each.identity: f"{each.series} {each.version}" for each in runs.all}
        twice = Counter(changed.values())
        named = {
            identity: name if twice[name] == 1 else f"{name} {identity[1]} {identity[3][:8]}"
            for identity, name in changed.items()
        }
        files = file_names(named.values())
        return cls(
            file_names(each.unversioned for each in runs.operators),
            file_names(runs.series),
            {identity: files[name] for identity, name in named.items()},
        )

    def operator(self, unversioned: str) -> str:
        return f"operators/{quote(self.operators[unversioned])}.html"

    def runtime(self, series: str) -> str:
        return f"runtimes/{quote(self.runtimes[series])}.html"

    def badge(self, series: str) -> str:
        """The file that an endpoint badge of a runtime reads; not quoted."""
        return f"badges/{self.runtimes[series]}.json"

    def cause(self, key: CauseKey) -> str:
        return f"causes/{quote(key.file)}.html"

    def change(self, after: ArchivedRun) -> str:
        """The page of what changed in a run since the one before it."""
        return f"changes/{quote(self.changes[after.identity])}.html"


def file_names(texts: Iterable[str]) -> dict[str, str]:
    """A file's name without ending for each text, the same for the same texts in any order.

    Texts whose names a file system might take for one have a digest behind them.
    """
    every = sorted(set(texts))
    names = {each: slug(each)[:_MOST_LETTERS].rstrip("-.") or "unnamed" for each in every}
    times = Counter(name.lower() for name in names.values())
    return {
        text: name if times[name.lower()] == 1 and len(text) <= _MOST_LETTERS else f"{name}-{_digest(text)}"
        for text, name in names.items()
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:10]


def anchor(text: str) -> str:
    """An element's name on a page, of any text."""
    return f"{slug(text)[:_MOST_LETTERS].lower()}-{_digest(text)[:6]}"


def report_link(run: ArchivedRun, place: Path) -> str | None:
    """The way from a site's first page to a run's own report; None where it does not lie below that."""
    if run.report is None:
        return None
    link = os.path.relpath(run.report.resolve(), place.resolve())
    return None if link.startswith("..") else quote(Path(link).as_posix())


STYLE = "site_style"
_LONGEST = 80
MOST_VERSIONS = 4
"""So many versions of a runtime stand beside each other; of the others its page has the totals."""


@dataclass(frozen=True)
class Site:
    """The runs of a site, what its pages share, and the folder of its first page."""

    runs: KeptRuns
    place: Path

    @cached_property
    def causes(self) -> Mapping[CauseKey, SiteCause]:
        return collect_causes(self.runs)

    @cached_property
    def changes(self) -> Mapping[str, tuple[VersionChange, ...]]:
        return changes_of(self.runs)

    @cached_property
    def links(self) -> SiteLinks:
        return SiteLinks.of(self.runs)

    @cached_property
    def newest(self) -> tuple[ArchivedRun, ...]:
        """The run that each runtime is shown by, in the order of their names."""
        return tuple(newest(series) for series in self.runs.series.values())

    @cached_property
    def shown(self) -> Mapping[str, tuple[ArchivedRun, ...]]:
        """For each runtime the runs of its newest versions, the newest first."""
        return {name: versions_shown(each, MOST_VERSIONS) for name, each in self.runs.series.items()}

    @cached_property
    def shown_runs(self) -> tuple[ArchivedRun, ...]:
        return tuple(run for each in self.shown.values() for run in each)

    @cached_property
    def style(self) -> str:
        return linked_style(STYLE)

    @cached_property
    def causes_of_operator(self) -> Mapping[str, Sequence[SiteCause]]:
        """The causes of each operator, by its name without version, in the order to fix them."""
        found: dict[str, list[SiteCause]] = {}
        for cause in self.causes.values():
            for name in dict.fromkeys(each.unversioned for each in cause.operators):
                found.setdefault(name, []).append(cause)
        return found

    def group_of(self, operator: str) -> str:
        """The heading over an operator; without one its domain, in ai.onnx the others."""
        domain = operator.partition("::")[0]
        return self.runs.groups.get(operator) or (OTHERS if domain == ONNX else domain)

    def render(self, template: str, root: str, *, scripts: str | None = None, **values: Any) -> str:
        """A page in a template; `root` leads to the first page's folder; `here` is marked as open."""
        shared = {**_WORDS, "site": self, "version": version("opcert"), "here": ""}
        return render_linked_page(template, root, self.style, scripts=scripts, **{**shared, **values})


def suite_text(run: ArchivedRun) -> str:
    """Which suite a run was of: the opset of ONNX's operators, and how many operator versions."""
    opset = f"opset {run.opset}, " if run.opset else ""
    return f"{opset}{len(run.operators)} operator versions, suite {run.suite[:12]}"


_WORDS: Mapping[str, Any] = {
    "headings": HEADINGS,
    "meanings": TURNS,
    "moment": moment,
    "report_link": report_link,
    "sentence": sentence,
    "suite_text": suite_text,
    "summary": summary,
    "versions_text": versions_text,
}
"""What templates say of runs and of what changed between them."""


def short_name(operator: str) -> str:
    """An operator as tables name it: without the domain of ONNX itself."""
    return operator.removeprefix(f"{ONNX}::")


def versions_of(operators: Sequence[OperatorName]) -> str:
    """The versions of an operator: `-13, -19`."""
    return ", ".join(f"-{each.since_version}" for each in sorted(operators))


def run_name(run: ArchivedRun, shown: Sequence[ArchivedRun]) -> str:
    """What tells a run from others beside it: its version, and the moment where several have that."""
    alike = sum(each.version == run.version for each in shown)
    told = run.version if alike <= 1 and run.version else f"{run.version} {moment(run.started)}".strip()
    return one_line(told, _LONGEST)

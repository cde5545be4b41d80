"""What every page of a site is made with: its runs, causes, changes and links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from reports.results.case_results import ONNX, OTHERS
from reports.sites.cause_keys import CauseKey
from reports.sites.kept_run import ArchivedRun
from reports.sites.kept_runs import KeptRuns, newest, versions_shown
from reports.sites.site_causes import SiteCause, collect_causes
from reports.sites.site_links import SiteLinks
from reports.sites.version_changes import VersionChange, changes_of
from reports.text.pages_alone import linked_style, render_linked_page
from reports.text.phrasing import moment

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
        shared = {"site": self, "version": version("opcert"), "here": ""}
        return render_linked_page(template, root, self.style, scripts=scripts, **{**shared, **values})


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

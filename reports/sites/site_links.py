"""Where the pages of a site stand, and how they lead to each other."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from opcert.vocabulary.names import slug
from reports.sites.cause_keys import CauseKey
from reports.sites.kept_run import ArchivedRun
from reports.sites.kept_runs import KeptRuns

FOLDERS = ("operators", "runtimes", "causes", "changes")
INDEX, CHANGES, CAUSES, FEED = "index.html", "changes.html", "causes.html", "feed.xml"
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

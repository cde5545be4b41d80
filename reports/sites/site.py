"""A site of kept runs: operators by runtime, pages of operators, runtimes, causes, changes; a feed, data.

Every moment in it is one of a run, so that the same runs make the same feed, and an entry keeps its id as
long as its two runs are kept.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from opcert.vocabulary.errors import NothingRan, Place, UserError
from opcert.vocabulary.harmless import for_shell, tidy_xml
from opcert.vocabulary.whole_files import write_text
from reports.certificates.badges import LABEL
from reports.sites.front_page import render_data, render_front, render_site_badge
from reports.sites.kept_runs import KeptRuns, ResultsOf, find_runs, no_suite
from reports.sites.linked_pages import (
    render_cause,
    render_causes,
    render_operator,
    render_runtime,
)
from reports.sites.site_page import (
    CAUSES,
    CHANGES,
    DATA,
    FEED,
    FOLDERS,
    INDEX,
    VERSIONS,
    Site,
)
from reports.sites.version_changes import VersionChange, sentence, summary, versions_text
from reports.text.pages_alone import STYLE_FILE
from reports.text.phrasing import parse_moment

ATOM = "http://www.w3.org/2005/Atom"
MOST_ENTRIES = 60
_MOST_LINES = 40
_LONGEST = 20_000
_NAMES = uuid.uuid5(uuid.NAMESPACE_URL, "urn:opcert:site")


def render_feed(site: Site, address: str = "") -> str:
    """The feed as XML; `address` is where the site is published, without it links are relative.

    A change whose run does not say when it was is in no feed, for an entry must say when.
    """
    root = address if not address or address.endswith("/") else f"{address}/"
    entries = [
        (when, change)
        for changes in site.changes.values()
        for change in changes
        if not (change.why_not or change.same_code)
        and (when := run_moment(change.after.finished)) is not None
    ]
    entries.sort(key=lambda entry: (entry[0], entry[1].after.identity), reverse=True)
    moments = [when for run in site.runs.all if (when := run_moment(run.finished)) is not None]
    feed = Element("feed", xmlns=ATOM)
    SubElement(feed, "title").text = "opcert: what changed between versions of runtimes"
    SubElement(feed, "id").text = f"{root}{FEED}" if root else _urn("site", *_first_run(site))
    SubElement(feed, "updated").text = _text(max(moments, default=datetime(1970, 1, 1, tzinfo=UTC)))
    SubElement(SubElement(feed, "author"), "name").text = "opcert"
    SubElement(feed, "link", rel="self", type="application/atom+xml", href=f"{root}{FEED}")
    SubElement(feed, "link", rel="alternate", type="text/html", href=f"{root}{INDEX}")
    for when, change in entries[:MOST_ENTRIES]:
        feed.append(_entry(site, change, when, root))
    tidy_xml(feed, _LONGEST)
    indent(feed, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(feed, encoding="unicode")}\n'


def run_moment(text: str) -> datetime | None:
    """A moment of a record in UTC, taken as UTC where it names no zone; None where it is none."""
    found = parse_moment(text)
    if found is None:
        return None
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        return None


def _text(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def _first_run(site: Site) -> tuple[str, ...]:
    return min((run.started, *run.identity) for run in site.runs.all)


def _urn(*words: str) -> str:
    return uuid.uuid5(_NAMES, "\0".join(words)).urn


def _entry(site: Site, change: VersionChange, when: datetime, root: str) -> Element:
    entry = Element("entry")
    told = f"{change.after.series} {versions_text(change)}: {summary(change)}"
    SubElement(entry, "title").text = told
    SubElement(entry, "id").text = _urn("change", *change.before.identity, *change.after.identity)
    SubElement(entry, "updated").text = _text(when)
    link = f"{root}{site.links.change(change.after)}"
    SubElement(entry, "link", rel="alternate", type="text/html", href=link)
    SubElement(entry, "category", term=change.after.series)
    SubElement(entry, "content", type="text").text = "\n".join(_lines(change))
    return entry


def _lines(change: VersionChange) -> Sequence[str]:
    lines = [sentence(cause) for cause in change.causes]
    lines += [f"New fault: {new_fault}" for new_fault in change.new_faults]
    lines += [f"Fault gone: {gone_fault}" for gone_fault in change.gone_faults]
    more = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"and {more} more"] if more > 0 else [])] or ["Nothing changed."]


MOST_CASES = 30
"""So many cases of a cause that changed are listed; of the others it is said how many there are."""


def render_change(site: Site, change: VersionChange) -> str:
    """The page of what changed in a run since the one before."""
    return site.render(
        "site_change.html.j2",
        "../",
        change=change,
        most=MOST_CASES,
        command_of=lambda changed: for_shell(["opcert", "repro", changed.cases[0]]),
    )


MARK = '<meta name="generator" content="opcert site">'
"""What every page has, so that pages of before are told from whatever else lies in a folder."""
_HEAD = 2048


def write_site(
    folders: Sequence[Path],
    output: Path | None = None,
    results_of: ResultsOf = no_suite,
    address: str = "",
) -> tuple[Path, KeptRuns]:
    """Write a site of the runs below folders; returns its first page and the runs that it shows.

    It stands in `output`, or in the folder itself where there is one; links to a run's own report are written
    where it lies below that. `results_of` puts the suite beside a record, and what is known of causes;
    `address` is where the site is published. Pages of an earlier site that are no longer of any use go. The
    first page takes its place last, by rename. Raises UserError where there is no such folder, where the
    place is the folder of one run, or where a page cannot be written; NothingRan where there is no run.
    """
    place = output or folders[0]
    if output is None and len(folders) > 1:
        raise UserError("several folders of runs make one site", expected="-o, the folder to write it to")
    if (place / "run.jsonl").is_file():
        raise UserError(
            "this is the folder of one run, whose report a site would replace",
            got=str(place),
            where=Place(str(place / "run.jsonl")),
            remedy="Name the folder above it, or another one with -o.",
        )
    runs = find_runs(folders, results_of)
    if not runs.series:
        raise NothingRan(
            "there is no run in the folder",
            got=", ".join(map(str, folders)),
            remedy="`opcert certify RUNTIME` writes one to out/.",
        )
    site = Site(runs, place)
    write_text(place / STYLE_FILE, site.style)
    written = {write_text(place / name, text) for name, text in _pages(site)}
    write_text(place / FEED, render_feed(site, address))
    write_text(place / DATA, render_data(site))
    badges = {write_text(place / site.links.badge(run.series), render_site_badge(run)) for run in site.newest}
    index = write_text(place / INDEX, render_front(site))
    for folder in FOLDERS:
        for stale in (place / folder).glob("*.html"):
            if stale not in written and _is_page_of_a_site(stale):
                stale.unlink()
    for stale in (place / "badges").glob("*.json"):
        if stale not in badges and LABEL.encode() in stale.read_bytes():
            stale.unlink()
    return index, runs


def _pages(site: Site) -> Iterator[tuple[str, str]]:
    """Every page but the first, one after the other."""
    for operator, file in site.links.operators.items():
        yield f"operators/{file}.html", render_operator(site, operator)
    for series, file in site.links.runtimes.items():
        yield f"runtimes/{file}.html", render_runtime(site, series)
    for key in site.causes:
        yield f"causes/{key.file}.html", render_cause(site, key)
    for changes in site.changes.values():
        for change in changes:
            if not change.why_not:
                yield f"changes/{site.links.changes[change.after.identity]}.html", render_change(site, change)
    yield VERSIONS, render_front(site, every_version=True)
    yield CAUSES, render_causes(site)
    yield CHANGES, site.render("site_changes.html.j2", "", here="changes")


def _is_page_of_a_site(page: Path) -> bool:
    with page.open("rb") as file:
        return MARK.encode() in file.read(_HEAD)

"""A site of kept runs: operators by runtime, a page for each operator, runtime, cause and change, a feed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from opcert.vocabulary.errors import NothingRan, Place, UserError
from opcert.vocabulary.whole_files import write_text
from reports.sites.atom_feed import render_feed
from reports.sites.cause_pages import render_cause, render_causes
from reports.sites.change_pages import render_change, render_changes
from reports.sites.front_page import render_front
from reports.sites.kept_runs import KeptRuns, ResultsOf, find_runs, no_suite
from reports.sites.operator_histories import render_operator
from reports.sites.runtime_pages import render_runtime
from reports.sites.site_links import CAUSES, CHANGES, FEED, FOLDERS, INDEX
from reports.sites.site_page import Site
from reports.text.pages_alone import STYLE_FILE

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
        raise NothingRan("there is no run in the folder", got=", ".join(map(str, folders)))
    site = Site(runs, place)
    write_text(place / STYLE_FILE, site.style)
    written = {write_text(place / name, text) for name, text in _pages(site)}
    write_text(place / FEED, render_feed(site, address))
    index = write_text(place / INDEX, render_front(site))
    for folder in FOLDERS:
        for stale in (place / folder).glob("*.html"):
            if stale not in written and _is_page_of_a_site(stale):
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
        for each in changes:
            if not each.why_not:
                yield f"changes/{site.links.changes[each.after.identity]}.html", render_change(site, each)
    yield CAUSES, render_causes(site)
    yield CHANGES, render_changes(site)


def _is_page_of_a_site(page: Path) -> bool:
    with page.open("rb") as file:
        return MARK.encode() in file.read(_HEAD)

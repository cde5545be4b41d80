"""The page of what changed between two versions of a runtime, and the list of such pages."""

from __future__ import annotations

from opcert.vocabulary.harmless import for_shell
from reports.sites.change_words import sentence, summary, versions_text
from reports.sites.runtime_pages import suite_text
from reports.sites.site_page import Site
from reports.sites.version_changes import HEADINGS, TURNS, VersionChange
from reports.text.phrasing import moment

MOST_CASES = 30
"""So many cases of a cause that changed are listed; of the others it is said how many there are."""


def render_change(site: Site, change: VersionChange) -> str:
    """The page of what changed in a run since the one before."""
    sections = []
    for turn in TURNS:
        own = [
            (
                sentence(each),
                None if each.cause is None else site.links.cause(each.cause),
                for_shell(["opcert", "repro", each.cases[0]]),
                each.cases[:MOST_CASES],
                max(0, len(each.cases) - MOST_CASES),
            )
            for each in change.of_turn(turn)
        ]
        if own:
            sections.append((turn, HEADINGS[turn], TURNS[turn], change.counts[turn], own))
    return site.render(
        "site_change.html.j2",
        "../",
        change=change,
        series=change.after.series,
        runtime=site.links.runtime(change.after.series),
        versions=versions_text(change),
        summary=summary(change),
        sections=sections,
        sides=[
            (name, run, moment(run.started), suite_text(run))
            for name, run in (("before", change.before), ("now", change.after))
        ],
    )


def render_changes(site: Site) -> str:
    """Every two runs that follow each other, the newest first of each runtime."""
    told = [
        (
            series,
            site.links.runtime(series),
            [
                (
                    versions_text(each),
                    summary(each),
                    None if each.why_not else site.links.change(each.after),
                    moment(each.after.started),
                )
                for each in reversed(changes)
            ],
        )
        for series, changes in site.changes.items()
    ]
    return site.render("site_changes.html.j2", "", here="changes", told=told)

"""The feed of a site: an entry for each two versions that follow each other, as RFC 4287 says.

Every moment in it is one of a run, so that the same runs make the same feed, and an entry keeps its id as
long as its two runs are kept.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from opcert.vocabulary.harmless import tidy_xml
from reports.sites.change_words import sentence, summary, versions_text
from reports.sites.site_links import FEED, INDEX
from reports.sites.site_page import Site
from reports.sites.version_changes import VersionChange
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
    entries.sort(key=lambda each: (each[0], each[1].after.identity), reverse=True)
    moments = [when for each in site.runs.all if (when := run_moment(each.finished)) is not None]
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
    return min((each.started, *each.identity) for each in site.runs.all)


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
    lines = [sentence(each) for each in change.causes]
    lines += [f"New fault: {each}" for each in change.new_faults]
    lines += [f"Fault gone: {each}" for each in change.gone_faults]
    more = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"and {more} more"] if more > 0 else [])] or ["Nothing changed."]

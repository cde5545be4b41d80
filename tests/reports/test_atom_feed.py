"""The feed: as RFC 4287 says, with moments of runs alone, and ids that stay when runs come."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
import xmlschema

from reports.sites.site import ATOM, run_moment, write_site
from tests.reports.kept_samples import answer, crop_crashes, keep

SCHEMA = Path(__file__).parent / "schemas" / "atom.xsd"
HOSTILE = "</entry><script>\u202e\x00\x0b]]>&amp;" * 30


def feed_of(folder: Path, address: str = "") -> Element:
    """The feed of the runs in a folder, held to the schema."""
    write_site([folder], folder, address=address)
    raw = (folder / "feed.xml").read_text()
    xmlschema.XMLSchema(SCHEMA).validate(raw)
    return fromstring(raw)


def texts(feed: Element, *path: str) -> list[str]:
    return [str(element.text) for element in feed.findall("/".join(f"{{{ATOM}}}{name}" for name in path))]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    keep(tmp_path / "runs", "a", answer, "2026-01-01T00:00:00Z")
    keep(tmp_path / "runs", "b", crop_crashes, "2026-02-01T00:00:00Z", version="1.1")
    return tmp_path / "runs"


def end_at(place: Path, moment: str) -> None:
    """A run ends when the record's footer says so; the fakes' end when the test runs."""
    record = place / "run.jsonl"
    lines = record.read_text().splitlines()
    before = lines[-1].split('"finished":"')[1].split('"')[0]
    record.write_text("\n".join([*lines[:-1], lines[-1].replace(before, moment)]) + "\n")


def test_an_entry_for_each_change_at_the_end_of_its_run(runs: Path) -> None:
    end_at(runs / "b", "2026-02-01T01:02:03Z")
    end_at(runs / "a", "2026-01-01T01:00:00Z")
    feed = feed_of(runs)
    assert texts(feed, "entry", "title") == ["engine 1.0 to 1.1: 2 regressed"]
    assert texts(feed, "entry", "updated") == texts(feed, "updated") == ["2026-02-01T01:02:03Z"]
    (content,) = texts(feed, "entry", "content")
    assert "1 case of CenterCropPad-18 regressed: crashes: the worker died of SIGSEGV" in content


def test_ids_stay_when_runs_come_and_no_two_are_one(runs: Path) -> None:
    before = feed_of(runs)
    for number in range(2, 9):
        respond = answer if number % 2 == 0 else crop_crashes
        keep(runs, f"n{number}", respond, f"2026-0{number}-03T00:00:00Z", version=f"1.{number}")
    after = feed_of(runs)
    ids = texts(after, "entry", "id")
    assert len(ids) == len({*ids, *texts(after, "id")}) - 1 == 8
    assert {*texts(before, "entry", "id")} < {*ids}
    assert texts(before, "id") == texts(after, "id")
    assert texts(after, "entry", "updated") == sorted(texts(after, "entry", "updated"), reverse=True)


def test_with_an_address_links_are_whole(runs: Path) -> None:
    feed = feed_of(runs, "https://example.org/site")
    links = [element.get("href") for element in feed.iter(f"{{{ATOM}}}link")]
    assert links == [
        "https://example.org/site/feed.xml",
        "https://example.org/site/index.html",
        "https://example.org/site/changes/engine-1.1.html",
    ]
    assert texts(feed, "id") == ["https://example.org/site/feed.xml"]


def test_what_strangers_say_leaves_it_valid(tmp_path: Path) -> None:
    """A run that does not say when it was is in no entry: an entry must say when."""
    folder = tmp_path / "runs"
    keep(folder, "a", answer, HOSTILE, HOSTILE, version=HOSTILE)
    late = keep(folder, "b", crop_crashes, "2026-02-01T00:00:00Z", HOSTILE, version=f"{HOSTILE}2")
    never = keep(folder, "c", answer, "never", HOSTILE, version=f"{HOSTILE}3")
    assert len(texts(feed_of(folder), "entry")) == 2
    end_at(late, "0001-01-01T00:00:00+14:00")
    end_at(never, "soon")
    assert len(texts(feed_of(folder), "entry")) == 0


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05+00:00"),
        ("2026-01-02 03:04", "2026-01-02T03:04:00+00:00"),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
    ],
)
def test_moments_are_of_one_zone(text: str, moment: str | None) -> None:
    found = run_moment(text)
    assert (None if found is None else found.isoformat()) == moment

"""The page in a real browser: it fits, its policy holds, its links work, with and without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from reports.html import render_html
from reports.results import put_together
from tests.reports.sample import Maker, sample_cases
from tests.reports.test_html import HOSTILE

pytestmark = pytest.mark.browser
WIDTHS = (1440, 390)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")

    def header() -> dict[str, object]:
        return {"runtime": {"name": "example-runtime", "version": HOSTILE}, "started": HOSTILE * 50}

    made = Maker(folder, header()).make(list(sample_cases(5)), skip=2)
    with made.suite:
        (folder / "index.html").write_text(render_html(put_together(made.suite, made.record)))
    return folder / "index.html"


@pytest.fixture
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


class Watched:
    """A page, with everything that it complained about and asked for."""

    def __init__(self, browser: Browser, width: int, **options: object) -> None:
        self.page: Page = browser.new_page(viewport={"width": width, "height": 900}, **options)  # type: ignore[arg-type]
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_and_is_silent(browser: Browser, report: Path, width: int, scheme: str) -> None:
    watched = Watched(browser, width, color_scheme=scheme)
    watched.page.goto(report.as_uri())
    watched.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    size = watched.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert size[0] <= size[1]
    assert watched.said == []
    assert watched.asked == [report.as_uri()]


@pytest.mark.parametrize("scripts", [True, False], ids=["with", "without"])
def test_a_link_opens_what_it_leads_to(browser: Browser, report: Path, scripts: bool) -> None:
    watched = Watched(browser, 1440, java_script_enabled=scripts)
    watched.page.goto(report.as_uri())
    watched.page.click(".class .go a:first-child >> nth=0")
    shown = watched.page.locator("details.case[open]")
    assert shown.count() == 1
    assert shown.locator(".happened").is_visible()
    watched.page.click(".matrix td .k a >> nth=0")
    assert watched.page.locator("#cases details[open]").count() == 1
    assert watched.said == []


def test_every_anchor_exists(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440)
    watched.page.goto(report.as_uri())
    missing = watched.page.evaluate(
        "[...document.links].map(each => each.hash.slice(1)).filter(each => !document.getElementById(each))"
    )
    assert missing == []


def test_the_first_screen_holds_headline_totals_and_matrix(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440)
    watched.page.goto(report.as_uri())
    for selector in ("h1", ".say", ".facts", ".ledger", ".matrix thead", ".notes li:first-child"):
        box = watched.page.locator(selector).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 900


def test_a_command_can_be_copied(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440)
    watched.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    watched.page.goto(report.as_uri())
    watched.page.click(".command button >> nth=0")
    watched.page.wait_for_selector("button:text('Copied')")
    assert watched.page.evaluate("navigator.clipboard.readText()").startswith("opcert repro ")


def test_it_works_from_the_keyboard(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440)
    watched.page.goto(report.as_uri())
    watched.page.keyboard.press("Tab")
    assert watched.page.evaluate("document.activeElement.className") == "skip"
    watched.page.locator("details.case summary").first.focus()
    watched.page.keyboard.press("Enter")
    assert watched.page.locator("details.case[open]").count() == 1


def test_it_prints(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440)
    watched.page.goto(report.as_uri())
    watched.page.emulate_media(media="print")
    assert watched.page.locator(".top").is_hidden()
    assert watched.page.locator(".matrix").is_visible()
    assert len(watched.page.pdf(format="A4")) > 10_000

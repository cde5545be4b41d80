"""The page in a real browser: it fits, its policy holds, its links work, with and without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from reports.formats.html import render_report
from reports.results.case_results import put_together
from tests.reports.sample import Maker, sample_cases
from tests.reports.test_html import HOSTILE

pytestmark = pytest.mark.browser
WIDTHS = (1920, 1440, 390)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")

    def header() -> dict[str, object]:
        return {"runtime": {"name": "example-runtime", "version": HOSTILE}, "started": HOSTILE * 50}

    made = Maker(folder, header()).make(list(sample_cases(5)), skip=2)
    with made.suite:
        (folder / "index.html").write_text(render_report([put_together(made.suite, made.record)]))
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        pytest.param(
            width, scheme, marks=[] if (width == 390) == (scheme == "light") else pytest.mark.nightly
        )
        for width in WIDTHS
        for scheme in ("light", "dark")
    ],
)
def test_it_fits_and_is_silent(browser: Browser, report: Path, width: int, scheme: str) -> None:
    watched = Watched(browser, width, color_scheme=scheme)
    for page in ("summary", "operators", "cases", "readings", "documents", "adequacy", "accuracy", "time"):
        watched.page.goto(f"{report.as_uri()}#/{page}")
        watched.page.wait_for_selector(f"section.page.on[data-page='{page}']")
        size = watched.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert size[0] <= size[1], page
    assert watched.said == []
    assert {each.partition("#")[0] for each in watched.asked} == {report.as_uri()}


@pytest.mark.slow
def test_a_smallest_case_opens_beside_its_note(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440)
    watched.page.goto(report.as_uri())
    watched.page.click(".class .go a >> nth=0")
    watched.page.wait_for_selector("#drawer h2")
    case = watched.page.text_content("#drawer h2 code")
    assert case is not None
    assert case in watched.page.url
    assert watched.page.locator("#list tr.current").count() == 1
    watched.page.keyboard.press("Escape")
    watched.page.wait_for_selector("#drawer", state="hidden")
    assert "case=" not in watched.page.url
    assert watched.said == []


@pytest.mark.slow
def test_every_count_of_the_summary_is_what_its_link_lists(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440)
    watched.page.goto(report.as_uri())
    links = watched.page.eval_on_selector_all(
        ".ledger a, .matrix .first, .class .go a:last-child",
        """all => all.map(each => [
            each.getAttribute('href'),
            (each.querySelector(".k") ?? each).textContent.match(/[\\d,]+|only/)[0].replace('only', '1'),
        ])""",
    )
    assert len(links) > 50
    for link, number in links[:: len(links) // 10]:
        watched.page.goto(report.as_uri() + link)
        watched.page.wait_for_function(
            "number => document.querySelector('#query-says b')?.textContent === number", arg=number
        )
    assert watched.said == []


@pytest.mark.slow
def test_without_scripts_the_summary_and_the_classes_are_there(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440, java_script_enabled=False)
    watched.page.goto(report.as_uri())
    for selector in (".run h1", ".ledger", ".matrix", ".class .io >> nth=0"):
        assert watched.page.locator(selector).is_visible()
    watched.page.click("#note-0-5 summary")
    assert watched.page.locator("#note-0-5 .io").is_visible()
    watched.page.click(".matrix .marks a >> nth=0")
    assert "#note-0-" in watched.page.url


@pytest.mark.slow
def test_the_first_screen_holds_headline_totals_and_what_to_fix_first(browser: Browser, report: Path) -> None:
    watched = Watched(browser, 1440)
    watched.page.goto(report.as_uri())
    for selector in (".run h1", ".say", ".shares", ".ledger", ".standings", "#note-0-1 summary"):
        box = watched.page.locator(selector).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 900
    tops = watched.page.eval_on_selector_all(".ledger > div", "all => all.map(each => each.offsetTop)")
    assert len(set(tops)) == 1
    order = watched.page.eval_on_selector_all(
        ".shares, .ledger, .standings, .class, .matrix, .facts", "all => all.map(each => each.classList[0])"
    )
    assert order[:3] == ["shares", "ledger", "standings"]
    assert (set(order[3:-2]), order[-2:]) == ({"class"}, ["matrix", "facts"])


@pytest.mark.slow
def test_the_five_worst_causes_are_seen_at_once_and_the_others_behind_a_line(
    browser: Browser, report: Path
) -> None:
    watched = Watched(browser, 1280)
    page = watched.page
    page.goto(report.as_uri())
    shown = page.locator(".run:not([hidden]) .class > summary:visible")
    assert shown.locator(".n").all_text_contents() == ["1", "2", "3", "4", "5"]
    box = shown.nth(4).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900
    every = page.locator(".run:not([hidden]) .class").count()
    line = page.locator(".further > summary")
    assert line.inner_text() == f"{every - 5} further causes, in the order to fix them"
    assert not page.locator(f"#note-0-{every}").is_visible()
    page.goto(f"{report.as_uri()}#note-0-{every}")
    page.wait_for_selector(f"#note-0-{every}.hit")
    assert page.locator(f"#note-0-{every} .io").is_visible()
    assert watched.said == []

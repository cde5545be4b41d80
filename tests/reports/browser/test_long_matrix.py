"""A table of very many operators: laid out when it comes into sight, and whole wherever it is looked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from benchmarks.report_page import many_cases, many_operators
from reports.pages.report_page import write_report
from reports.results.case_results import put_together
from tests.reports.accessibility import find_violations
from tests.reports.sample import Maker

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OPERATORS = 45
EACH = 24
GREAT = 250
TABLE = "document.querySelector('#matrix-0 table')"
LAID_OUT = f"{TABLE}.checkVisibility({{contentVisibilityAuto: true}})"
TO_TABLE = f"{TABLE}.scrollIntoView({{behavior: 'instant'}})"
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run of many operators, in some of which something fails."""
    folder = tmp_path_factory.mktemp("many")
    made = Maker(folder).make(list(many_cases(EACH * OPERATORS, OPERATORS)))
    with made.suite:
        return write_report([put_together(made.suite, made.record)], folder / "report")


@pytest.fixture
def page(module_browser: Browser, index: Path) -> Iterator[Page]:
    """The report as it opens, 1440 pixels wide."""
    opened = module_browser.new_page(viewport={"width": 1440, "height": 900}, bypass_csp=True)
    opened.goto(index.as_uri())
    opened.wait_for_selector("html[data-ready]", state="attached")
    yield opened
    opened.close()


def test_it_is_laid_out_when_it_comes_into_sight(page: Page) -> None:
    fits = "document.querySelector('#matrix-0').classList.contains('fits')"
    # A browser lays out what is a few windows away, so that nobody waits for it: this window is low.
    page.set_viewport_size({"width": 1440, "height": 200})
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    page.evaluate(FRAMES)
    assert not page.evaluate(LAID_OUT)
    assert not page.evaluate(fits)
    page.evaluate(TO_TABLE)
    page.wait_for_function(LAID_OUT)
    page.wait_for_function(fits)
    page.evaluate("scrollBy({top: 150, behavior: 'instant'})")
    head = "document.querySelector('#matrix-0 thead th').getBoundingClientRect().top"
    page.wait_for_function(f"Math.round({head}) === 49")


def test_paper_has_all_of_it(page: Page) -> None:
    page.emulate_media(media="print")
    page.evaluate(FRAMES)
    assert page.evaluate(LAID_OUT)
    rows = page.locator("#matrix-0 tr[data-operator]")
    assert rows.count() == len(many_operators(OPERATORS))
    assert rows.evaluate_all("all => all.every(each => each.checkVisibility())")


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_250_operators(
    module_browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    made = Maker(tmp_path).make(list(many_cases(2 * GREAT, GREAT)))
    with made.suite:
        index = write_report([put_together(made.suite, made.record)], tmp_path / "report")
    page = module_browser.new_page(color_scheme=scheme, bypass_csp=True)
    page.goto(index.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    for width in (1920, 1440, 390):
        page.set_viewport_size({"width": width, "height": 1800})
        page.evaluate(TO_TABLE)
        page.wait_for_function(LAID_OUT)
        page.evaluate(FRAMES)
        assert page.locator("#matrix-0 tr[data-operator]").count() == len(many_operators(GREAT))
        assert find_violations(page) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_an_operator_of_one_case_is_told_of_in_the_singular(module_browser: Browser, tmp_path: Path) -> None:
    made = Maker(tmp_path).make(list(many_cases(1, 1)))
    with made.suite:
        index = write_report([put_together(made.suite, made.record)], tmp_path / "report")
    opened = module_browser.new_page()
    opened.goto(index.as_uri() + "#/operators")
    opened.click("#operator tbody th a")
    opened.wait_for_selector("#operator .say")
    text = opened.inner_text("#operator")
    assert "1 of 1 decided case gives what the documents say." in text
    assert "Its only case" in text
    assert "half of them" not in text
    opened.close()

"""A table of very many operators: laid out when it comes into sight, and whole wherever it is looked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from conformance.suite.cases import Case
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from reports.formats.html import write_together
from reports.results.case_results import put_together
from tests.reports.accessibility import find_violations
from tests.reports.sample import FACTORS, TYPES, Maker, make_case

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OPERATORS = 45
EACH = 24
GREAT = 250
TABLE = "document.querySelector('#matrix-0 table')"
LAID_OUT = f"{TABLE}.checkVisibility({{contentVisibilityAuto: true}})"
TO_TABLE = f"{TABLE}.scrollIntoView({{behavior: 'instant'}})"
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


def many_operators(number: int) -> dict[OperatorName, Mapping[str, tuple[str, ...]]]:
    """So many operators with their factors: those of the sample, and the same by other names."""
    found = {}
    for place, (operator, factors) in zip(range(number), itertools.cycle(FACTORS.items()), strict=False):
        again = place // len(FACTORS)
        name = f"{operator.name}{again}" if again else operator.name
        found[OperatorName(operator.domain, name, operator.since_version)] = factors
    return found


def many_cases(number: int, operators: int = len(FACTORS)) -> Iterator[Case]:
    """Cases that differ in an attribute that is no feature, so that each has an id of its own."""
    serial = itertools.count()
    named_factors, most = many_operators(operators), -(-number // operators)
    while True:
        for operator, factors in named_factors.items():
            combinations = itertools.product(*factors.values(), TYPES)
            own = (
                combinations
                if operators == len(FACTORS)
                else itertools.islice(itertools.cycle(combinations), most)
            )
            for *levels, element_type in own:
                place = next(serial)
                if place >= number:
                    return
                family = ("cover", "cover", "cover", "boundary", "example")[place % 5]
                given = {"serial": attribute("ints", [place])}
                named = dict(zip(factors, levels, strict=True))
                yield make_case(operator, family, named, element_type, side=2 + place % 4, attributes=given)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run of many operators, in some of which something fails."""
    folder = tmp_path_factory.mktemp("many")
    made = Maker(folder).make(list(many_cases(EACH * OPERATORS, OPERATORS)))
    with made.suite:
        return write_together([put_together(made.suite, made.record)], folder / "report")


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
        index = write_together([put_together(made.suite, made.record)], tmp_path / "report")
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
        index = write_together([put_together(made.suite, made.record)], tmp_path / "report")
    opened = module_browser.new_page()
    opened.goto(index.as_uri() + "#/operators")
    opened.click("#operator tbody th a")
    opened.wait_for_selector("#operator .say")
    text = opened.inner_text("#operator")
    assert "1 of 1 decided case gives what the documents say." in text
    assert "Its only case" in text
    assert "half of them" not in text
    opened.close()

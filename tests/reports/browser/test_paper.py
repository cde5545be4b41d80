"""The report on paper: nothing beyond the sheet, light whatever the screen is, all unfolded or named."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.nightly]
Open = Callable[[str], Page]
PORTRAIT, LANDSCAPE = 718, 1047
"""Pixels of CSS between the margins of A4, upright and across."""
PLACES = ("#/summary", "#/summary?by=attribute&attr=mode", "#/cases?q=status:failing", "#/operators")
FURTHER = ("#/readings", "#/documents", "#/adequacy", "#/accuracy", "#/time")
BEYOND = """() => [...document.querySelectorAll('main *, #drawer *')].filter(each => each.checkVisibility()
  && !each.closest('.hidden, svg') && each.getBoundingClientRect().right > innerWidth + 1)
  .map(each => `${each.tagName}.${each.className} ${each.textContent.slice(0, 40)}`)"""


@pytest.fixture
def on_paper(open_at: Open) -> Iterator[Callable[[str, int], Page]]:
    """Opens the report at a fragment as it is printed, so many pixels wide."""
    used: list[Page] = []

    def opened(fragment: str, width: int = PORTRAIT) -> Page:
        page = open_at(fragment)
        used.append(page)
        page.set_viewport_size({"width": width, "height": 1000})
        page.emulate_media(media="print", color_scheme="dark")
        return page

    yield opened
    for page in used:
        page.emulate_media(media="screen", color_scheme="light")
        page.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.parametrize("place", [*PLACES, "#/operators?operator=ai.onnx::Resize", *FURTHER])
def test_nothing_reaches_beyond_the_sheet(on_paper: Callable[[str, int], Page], place: str) -> None:
    page = on_paper(place, PORTRAIT)
    across = page.evaluate("getComputedStyle(document.querySelector('#matrix-0')).page") == "across"
    page.set_viewport_size({"width": LANDSCAPE if across else PORTRAIT, "height": 1000})
    assert page.evaluate(BEYOND) == []


@pytest.mark.parametrize("theme", ["", "theme=dark"])
def test_paper_is_light(on_paper: Callable[[str], Page], theme: str) -> None:
    page = on_paper(f"#/summary?{theme}")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


def test_groups_and_causes_are_all_there(on_paper: Callable[[str], Page]) -> None:
    page = on_paper("#/summary")
    visible = "all => all.every(each => each.checkVisibility())"
    assert page.locator("#matrix-0 [data-fold]").evaluate_all(visible)
    assert page.locator(".run:not([hidden]) .class .io").evaluate_all(visible)


def test_notes_that_a_cell_only_counts_are_written_out(on_paper: Callable[[str], Page]) -> None:
    page = on_paper("#/summary")
    page.evaluate(
        """() => document.querySelector('#matrix-0 .marks')
        .insertAdjacentHTML('beforeend', '<a class="more" data-notes="7 11" href="#">+2</a>')"""
    )
    more = page.locator("#matrix-0 .more")
    assert more.evaluate("each => getComputedStyle(each, '::after').content") == '"7 11"'


def test_what_was_searched_is_named_and_a_case_stands_alone(on_paper: Callable[[str], Page]) -> None:
    page = on_paper("#/cases?q=status:failing")
    assert "found by status:failing" in page.inner_text("#query-says")
    case = str(page.get_attribute("#list tr[data-case]", "data-case"))
    page = on_paper(f"#/cases?q=status:failing&case={case}")
    page.wait_for_selector("#drawer h2")
    assert page.locator("#list").is_hidden()
    assert page.locator("#drawer").is_visible()


def test_a_plot_can_be_divided_between_its_rows(on_paper: Callable[[str], Page]) -> None:
    page = on_paper("#/time")
    slices = page.locator(".run:not([hidden]) .plot > svg")
    assert slices.count() > 5
    assert (
        slices.evaluate_all("all => Math.max(...all.map(each => each.getBoundingClientRect().height))") < 60
    )

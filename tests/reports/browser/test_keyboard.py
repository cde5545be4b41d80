"""The report without a mouse: every link reached, the focus seen and kept, what opens closed by Escape."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]
Open = Callable[[str], Page]
PLACES = ("#/summary", "#/operators", "#/operators?operator=ai.onnx::Resize", "#/cases?q=status:failing")
FURTHER = ("#/readings", "#/documents", "#/adequacy", "#/accuracy", "#/time")
MOST = 160
SEEN = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const place = element.getBoundingClientRect(), style = getComputedStyle(element);
  const x = place.left + Math.min(place.width, 16) / 2, y = place.top + Math.min(place.height, 16) / 2;
  const there = place.height > innerHeight ? element : document.elementFromPoint(x, y);
  const free = Boolean(there) && (element.contains(there) || there.contains(element));
  return { what: `${element.tagName} ${element.textContent.trim().slice(0, 40)}`,
    seen: style.outlineStyle !== 'none' && free };
}"""


@pytest.fixture
def open_still(open_at: Open) -> Iterator[Open]:
    """Opens the report at a fragment; it does not scroll smoothly, so that what has the focus is in place."""
    used: list[Page] = []

    def opened(fragment: str) -> Page:
        page = open_at(fragment)
        page.emulate_media(reduced_motion="reduce")
        used.append(page)
        return page

    yield opened
    for page in used:
        page.emulate_media(reduced_motion="no-preference")


def focused(page: Page) -> str:
    """The text of the element that has the focus."""
    return str(
        page.evaluate("document.activeElement === document.body ? '' : document.activeElement.textContent")
    )


@pytest.mark.nightly
@pytest.mark.parametrize("place", [*PLACES, *FURTHER])
@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
def test_every_stop_is_seen(open_still: Open, place: str, key: str) -> None:
    page = open_still(place)
    stops = []
    for _ in range(MOST):
        page.keyboard.press(key)
        stop = page.evaluate(SEEN)
        if stop is None:
            break
        stops.append(stop)
    assert len(stops) > 12
    assert [each["what"] for each in stops if not each["seen"]] == []


def test_links_of_skipping_lead_past_head_and_filters(open_still: Open) -> None:
    page = open_still("#/cases?q=status:failing")
    page.keyboard.press("Tab")
    expect(page.locator(".skip >> nth=0")).to_be_in_viewport()
    page.keyboard.press("Enter")
    for _ in page.locator("#runs button").all():
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("[data-skip]")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#list td.id a >> nth=0")).to_be_focused()


def test_a_filter_and_a_head_keep_the_focus_that_they_are_worked_with(open_still: Open) -> None:
    page = open_still("#/cases")
    for selector in ("#facets button[data-value=mismatch]", "#list [data-head=id]"):
        page.locator(selector).focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(f"{selector}[aria-pressed=true], [aria-sort] {selector.split(' ')[1]}")
        expect(page.locator(selector)).to_be_focused()


def test_a_note_and_a_page_take_the_focus_with_them(open_still: Open) -> None:
    page = open_still("#/summary")
    page.locator("#matrix-0 .marks a[href='#note-0-5'] >> nth=0").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#note-0-5 > summary")).to_be_focused()
    page.locator("#note-0-5 .go a >> nth=1").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#list tr[data-case]")
    expect(page.locator("#main")).to_be_focused()


def test_a_case_is_walked_through_and_closed(open_still: Open) -> None:
    page = open_still("#/cases?q=status:failing")
    page.locator("#list td.id a >> nth=1").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#drawer h2")).to_be_focused()
    step = page.locator("#drawer [data-step='1']")
    step.focus()
    before = page.inner_text("#drawer h2")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer h2")).not_to_have_text(before)
    expect(step).to_be_focused()
    expect(page.locator("#said")).to_have_text(page.inner_text("#drawer h2"))
    page.keyboard.press("Escape")
    expect(page.locator("#list td.id a >> nth=2")).to_be_focused()


def test_nothing_below_a_case_that_covers_it_takes_the_focus(open_still: Open) -> None:
    page = open_still("#/cases?q=status:failing")
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        page.locator("#list td.id a >> nth=1").click()
        expect(page.locator("#drawer h2")).to_be_focused()
        for _ in range(4):
            page.keyboard.press("Shift+Tab")
            assert page.evaluate("!document.activeElement.closest('main, header, footer')")
        page.keyboard.press("Escape")
        expect(page.locator("#list td.id a >> nth=1")).to_be_focused()
    finally:
        page.set_viewport_size({"width": 1440, "height": 900})


def test_arrows_move_in_the_table_of_support(open_still: Open) -> None:
    page = open_still("#/summary")
    row = page.locator("#matrix-0 tr[data-operator] >> nth=0")
    links = row.locator("a")
    links.first.focus()
    page.keyboard.press("ArrowRight")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(links.last).to_be_focused()
    page.keyboard.press("Home")
    expect(links.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(
        page.locator("#matrix-0 tr[data-operator] >> nth=1").locator("td a.first >> nth=0")
    ).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#matrix-0 [data-fold] >> nth=0")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()


def test_what_a_pointer_is_told_the_focus_is_told_too(open_still: Open) -> None:
    page = open_still("#/summary")
    cell = page.locator("#matrix-0 .cell:has(.marks) >> nth=0")
    said = str(cell.get_attribute("title"))
    page.locator("#matrix-0 tr[data-operator] a >> nth=0").focus()
    cell.locator(".first").focus()
    tip = page.locator("#tip")
    expect(tip).to_have_text(said)
    expect(tip).to_be_in_viewport(ratio=1)
    assert "notes" in said
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "tip"
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert focused(page) == cell.locator(".first").text_content()
    page.keyboard.press("Tab")
    expect(tip).to_be_visible()
    page.locator("#help-button").focus()
    expect(tip).to_be_hidden()


def test_escape_closes_help_and_suggestions(open_still: Open) -> None:
    page = open_still("#/cases")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("stat")
    expect(page.locator("#suggestions li").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#suggestions")).to_be_hidden()

"""Searching and filtering a report in a real browser: what is found, and what the address says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from reports.results.case_results import CaseResult, Results
from tests.reports.browser.conftest import OTHER

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[[str], Page]
COUNT = "#query-says b"
SEARCHED = "query => (new URLSearchParams(location.hash.split('?')[1] ?? '').get('q') ?? '') === query"


def found(results: Results, fits: Callable[[CaseResult], bool]) -> str:
    return f"{sum(map(fits, results.cases)):,}"


SEARCHES: dict[str, Callable[[CaseResult], bool]] = {
    "": lambda each: True,
    "status:failing": lambda result: result.fails,
    "status:mismatch,crash": lambda result: result.verdict in ("mismatch", "crash"),
    "verdict:mismatch,crash": lambda result: result.verdict in ("mismatch", "crash"),
    "verd:pass": lambda result: result.verdict == "pass",
    "!status:pass": lambda result: result.verdict != "pass",
    "-type:float": lambda result: result.element_type != "float",
    "op:Resize": lambda result: result.operator.name == "Resize",
    "op:Resize-18 type:float,double": lambda result: (
        str(result.operator) == "ai.onnx::Resize-18" and result.element_type in ("float", "double")
    ),
    "op:com.microsoft::Pad-1": lambda result: result.operator.name == "Pad",
    "family:cover mode:cubic": lambda result: (
        result.id.family == "cover" and result.features.get("mode") == "cubic"
    ),
    "antialias:*": lambda result: "antialias" in result.features,
    "antial:1": lambda result: result.features.get("antialias") == "1",
    "rank(X):2 !mode:*": lambda result: result.features["rank(X)"] == "2" and "mode" not in result.features,
    "rule:pads": lambda result: "pads" in (result.constraint or ""),
    "worst:>1": lambda result: result.verdict == "mismatch" and not result.wrong_shape,
    "reading:align_corners_length=floored": lambda result: any(
        "floored" in row.readings.get("align_corners_length", ())
        for row in result.rows
        if row.verdict == "pass"
    ),
    "elements": lambda result: (
        result.row is not None and "elements" in str(result.row.reason) and result.verdict == "mismatch"
    ),
    'mode:"cubic"': lambda result: result.features.get("mode") == "cubic",
}


def test_cases_on_which_the_runs_differ_are_found(open_at: Open, runs: list[Results]) -> None:
    pairs = list(zip(runs[0].cases, runs[1].cases, strict=True))
    differing = sum(one.verdict != two.verdict for one, two in pairs)
    page = open_at("#/cases")
    facet = page.locator(".facet", has=page.locator("h2:text('same on all runs')"))
    assert facet.locator(".c").all_text_contents() == [f"{len(pairs) - differing:,}", f"{differing:,}"]
    facet.locator("button:has-text('no')").click()
    expect(page.locator("#query")).to_have_value("same:no")
    expect(page.locator(COUNT)).to_have_text(f"{differing:,}")


def test_a_search_finds_what_it_says(open_at: Open, runs: list[Results]) -> None:
    page = open_at("#/cases")
    for query, fits in SEARCHES.items():
        page.fill("#query", query)
        page.press("#query", "Enter")
        page.wait_for_function(SEARCHED, arg=query)
        expect(page.locator(COUNT), query).to_have_text(found(runs[0], fits))
        assert page.locator("#query-problems p").count() == 0, query


def test_a_note_and_another_run_are_searched_for(open_at: Open, runs: list[Results]) -> None:
    page = open_at(f"#/cases?q=status:failing%20{OTHER}:pass")
    other = {str(result.id): result.verdict for result in runs[1].cases}
    expect(page.locator(COUNT)).to_have_text(
        found(runs[0], lambda run: run.fails and other[str(run.id)] == "pass")
    )
    page = open_at("#/cases?q=note:2")
    notes = page.locator("#list tbody td[data-label=note]").all_text_contents()
    assert notes
    assert set(notes) == {"2"}


def test_an_unknown_key_is_named_with_near_ones_and_left_out(open_at: Open, runs: list[Results]) -> None:
    page = open_at("#/cases?q=coordinate:1%20nosuchkey:2%20mode_:x%20mode:cubic")
    problems = page.locator("#query-problems p").all_text_contents()
    assert problems == [
        "No key nosuchkey. The token was left out.",
        "No key mode_; did you mean one of mode, coordinate_transformation_mode. The token was left out.",
    ]


def test_where_nothing_fits_it_says_which_token_to_drop(open_at: Open, runs: list[Results]) -> None:
    page = open_at("#/cases?q=mode:cubic%20type:nothing")
    expect(page.locator(".nothing")).to_contain_text("Without type:nothing there are")
    page.click(".nothing a")
    expect(page.locator(COUNT)).to_have_text(found(runs[0], SEARCHES['mode:"cubic"']))


def test_a_half_typed_token_waits_and_suggestions_complete_it(open_at: Open, runs: list[Results]) -> None:
    page = open_at("#/cases")
    everything = page.text_content(COUNT)
    page.locator("#query").press_sequentially("mod")
    page.wait_for_timeout(250)
    assert page.text_content(COUNT) == everything
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#query", "aria-activedescendant") == "suggestion-0"
    page.keyboard.press("Enter")
    assert page.input_value("#query") == "mode:"
    page.locator("#query").press_sequentially("cub")
    expect(page.locator("#suggestions li")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(COUNT)).to_have_text(found(runs[0], SEARCHES['mode:"cubic"']))
    assert page.url.endswith("#/cases?q=mode:cubic")


def test_facets_toggle_tokens_and_count_without_their_own(open_at: Open, runs: list[Results]) -> None:
    page = open_at("#/cases?q=op:Resize-18")
    button = page.locator("button[data-token=mode][data-value=linear]")
    number = button.locator(".c").text_content()
    other = page.locator("button[data-token=mode][data-value=cubic] .c").text_content()
    button.click()
    expect(page.locator(COUNT)).to_have_text(number or "")
    assert "mode:linear" in page.url
    expect(button).to_have_attribute("aria-pressed", "true")
    assert page.locator("button[data-token=mode][data-value=cubic] .c").text_content() == other
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    page.go_back()
    expect(button).to_have_attribute("aria-pressed", "true")


def test_columns_sort_both_ways_and_the_address_says_so(open_at: Open) -> None:
    page = open_at("#/cases?q=status:pass")
    page.click("button[data-sort=ms]")
    times = [float(text.replace(",", "")) for text in page.locator("td[data-label=ms]").all_text_contents()]
    assert times == sorted(times, reverse=True)
    assert "sort=ms" in page.url
    page.click("button[data-sort=-ms]")
    times = [float(text.replace(",", "")) for text in page.locator("td[data-label=ms]").all_text_contents()]
    assert times == sorted(times)
    expect(page.locator("th[aria-sort=descending]")).to_have_count(1)


def test_more_rows_are_shown_on_demand(open_at: Open) -> None:
    page = open_at("#/cases")
    rows = page.locator("#list tr[data-case]")
    expect(rows).to_have_count(60)
    page.click("[data-more]")
    assert rows.count() == 120
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 61


def test_keys_walk_through_list_and_cases(open_at: Open) -> None:
    page = open_at("#/cases?q=status:failing")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.press("Escape")
    page.focus("#list tbody tr:first-child a")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawer h2")
    ids = page.locator("#list td.id a").all_text_contents()
    expect(page.locator("#drawer h2")).to_contain_text(ids[1])
    page.keyboard.press("j")
    expect(page.locator("#drawer h2")).to_contain_text(ids[2])
    page.keyboard.press("k")
    expect(page.locator("#drawer h2")).to_contain_text(ids[1])
    page.go_back()
    page.wait_for_selector("#drawer", state="hidden")
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    page.uncheck("#single-keys")
    page.click("#help [data-close]")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "query"

"""A report of so many cases that it lists some alone: every table still counts all of them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from reports.formats.html import write_together
from reports.results.case_results import Results

pytestmark = [pytest.mark.browser, pytest.mark.nightly]
LISTED = 90
MATRIX = "document.querySelector('#matrix-0').innerHTML"
OPERATOR = "#/operators?operator=ai.onnx::Resize"
FROM_THE_OTHER = "&of=other-runtime"


@pytest.fixture(scope="module")
def reports(runs: list[Results], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The report of two runs as it is, and as one that lists 90 cases of theirs."""
    with pytest.MonkeyPatch.context() as patch:
        whole = write_together(runs, tmp_path_factory.mktemp("whole"))
        patch.setattr("reports.pages.case_table.MOST_LISTED", LISTED)
        yield whole, write_together(runs, tmp_path_factory.mktemp("some"))


@pytest.fixture(scope="module")
def pages(module_browser: Browser, reports: tuple[Path, Path]) -> Iterator[tuple[Page, Page]]:
    said: list[str] = []
    opened = []
    for report in reports:
        page = module_browser.new_page(viewport={"width": 1440, "height": 900}, bypass_csp=True)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(report.as_uri())
        opened.append(page)
    yield opened[0], opened[1]
    assert said == []


def _shown(pages: tuple[Page, Page], fragment: str, what: str) -> list[str]:
    found = []
    for page in pages:
        before = page.evaluate("document.documentElement.dataset.ready ?? ''")
        page.evaluate(f"location.hash = {fragment!r}")
        page.wait_for_function(f"document.documentElement.dataset.ready > {before or 0}")
        found.append(str(page.evaluate(what)))
    return found


@pytest.mark.parametrize(
    "cut", ["by=runtime", "by=family", "by=attribute&attr=mode", "by=attribute&attr=crops"]
)
@pytest.mark.parametrize("of", ["", FROM_THE_OTHER])
def test_the_matrix_counts_every_case(pages: tuple[Page, Page], cut: str, of: str) -> None:
    what = MATRIX.replace("0", "1") if of else MATRIX
    whole, some = _shown(pages, f"#/summary?{cut}{of}", what)
    assert some == whole
    assert "of " in whole


@pytest.mark.parametrize("of", ["", FROM_THE_OTHER])
def test_the_pages_of_operators_count_every_case(pages: tuple[Page, Page], of: str) -> None:
    boxes = "document.querySelectorAll('#operator table, #operator .attributes')"
    tables = f"[...{boxes}].map(each => each.innerText).join()"
    whole, some = _shown(pages, f"{OPERATOR}{of}", tables)
    assert some == whole
    assert "cubic" in whole
    whole, some = _shown(pages, f"#/operators?{of.removeprefix('&')}", tables)
    assert some == whole


def test_the_list_says_where_all_cases_are(pages: tuple[Page, Page], reports: tuple[Path, Path]) -> None:
    whole, some = _shown(pages, "#/cases", "document.querySelector('#query-says').innerText")
    total = whole.split(" of ")[1].split(" ")[0]
    assert f"of {total} in all" in some
    link = pages[1].get_attribute("#query-says a", "href")
    assert link is not None
    with (reports[1].parent / link).open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == int(total.replace(",", ""))


def test_the_smallest_case_of_every_cause_is_listed(pages: tuple[Page, Page]) -> None:
    links = pages[1].evaluate(
        "[...document.querySelectorAll('.run a[href*=\"case=\"]')].map(each => each.getAttribute('href'))"
    )
    noted = [link for link in links if "note:" in link]
    assert noted
    for each in noted:
        _, head = _shown(pages, each, "document.querySelector('#drawer h2').innerText")
        assert "not listed" not in head


def test_a_case_that_is_not_listed_is_said_to_be_in_the_file(
    pages: tuple[Page, Page], runs: list[Results]
) -> None:
    ids = [str(result.id) for result in runs[0].cases if result.verdict == "pass"]
    heads = [
        _shown(pages, f"#/cases?case={each}", "document.querySelector('#drawer h2').innerText")
        for each in ids[-6:]
    ]
    assert all(whole != "This case is not listed here" for whole, _ in heads)
    assert any(some == "This case is not listed here" for _, some in heads)

"""The report of two runs in a browser, for the tests that look at it there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from conformance.judging.responses import Answered, Response
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from reports.formats.html import write_together
from reports.results.case_results import Results, put_together
from tests.reports.sample import HEADER, Maker, planted, sample_cases

OTHER = "other-runtime"


def _kinder(case: Case) -> Response:
    """The runtime beside the one in question: it crashes nowhere, and is right where the other is inexact."""
    if case.levels.get("extent") == "from_zero" or case.levels.get("mode") == "linear":
        return Answered((case.expectations[0].outputs[0].expected,), 0.002)
    return planted(case)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Results]]:
    """Two runs of one suite of a few hundred cases, the second of `OTHER`."""
    folder = tmp_path_factory.mktemp("runs")
    first = Maker(folder).make(list(sample_cases(7)), skip=2)
    beside = Maker(folder / "beside", {**HEADER, "runtime": {"name": OTHER, "version": "0.9"}})
    second = beside.make(list(sample_cases(7)), _kinder)
    with open_suite(folder / "suite") as suite:
        yield [put_together(suite, first.record), put_together(suite, second.record)]


@pytest.fixture(scope="module")
def module_browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests of a module."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def open_at(
    module_browser: Browser, runs: list[Results], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Page]]:
    """Opens the report at a fragment, in one and the same window; at the end nothing was complained about."""
    index = write_together(runs, tmp_path_factory.mktemp("report"))
    said: list[str] = []
    page = module_browser.new_page(viewport={"width": 1440, "height": 900})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    def opened(fragment: str) -> Page:
        page.goto("about:blank")
        page.goto(index.as_uri() + fragment)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    assert said == []

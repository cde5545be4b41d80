"""The page of a check in a real browser: it fits, keeps its policy, is accessible, and changes its order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from conformance.judging.responses import Crashed, Response
from conformance.suite.cases import Case
from reports.checked_models.check_files import write_check
from tests.reports.accessibility import find_unreadable, find_violations
from tests.reports.checked_models import calls, check_of, is_resize, is_row, right, run, wrong
from tests.reports.test_browser import Watched
from tests.reports.test_call_answers import NUMBERS

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDTHS = (1440, 820, 390)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
HOSTILE = "<script>alert(1)</script>\u202e" + "wide" * 60


def bad(case: Case) -> Response:
    """Wrong in Resize, dead in the other with one kind of data."""
    if is_resize(case):
        return wrong(case)
    dies = case.levels.get("data") == "huge"
    return Crashed(HOSTILE, "SIGSEGV", stderr=HOSTILE) if dies else right(case)


def fused(case: Case) -> Response:
    """Wrong in nodes in a row alone."""
    return wrong(case) if is_row(case) else right(case)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    good, worse = run(folder / "good", fused), run(folder / "bad", bad)
    check = check_of(calls(600, 2, name=HOSTILE), (worse, good), (good, None), name=HOSTILE)
    first, second = check.runtimes
    check = replace(
        check,
        model=replace(check.model, path=f"{HOSTILE}.onnx", notes=(HOSTILE,)),
        runtimes=(first, replace(second, numbers=NUMBERS)),
    )
    return write_check(check, ("html",), folder)["html"]


def test_it_fits_asks_for_nothing_and_is_accessible(module_browser: Browser, page_file: Path) -> None:
    for scheme in SCHEMES:
        watched = Watched(module_browser, WIDTHS[0], color_scheme=scheme)
        watched.page.goto(page_file.as_uri())
        for width in WIDTHS:
            watched.page.set_viewport_size({"width": width, "height": 900})
            size = watched.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert size[0] <= size[1], (width, scheme)
        assert watched.said == []
        assert watched.asked == [page_file.as_uri()]
        watched.page.close()
        # The policy of the page keeps axe out as well, so it is looked at without it.
        context = module_browser.new_context(color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto(page_file.as_uri())
        assert find_violations(page) == []
        context.close()


def test_nothing_is_too_small_or_beyond_the_window(module_browser: Browser, page_file: Path) -> None:
    page = module_browser.new_page()
    page.goto(page_file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert [find_unreadable(page, width) for width in (390, 1280)] == [[], []]
    page.close()


def test_nodes_stand_in_three_orders(module_browser: Browser, page_file: Path) -> None:
    watched = Watched(module_browser, WIDTHS[0])
    page = watched.page
    page.goto(page_file.as_uri())
    rows = "[...document.querySelectorAll('#nodes tr[data-n]')]"
    numbers = f"{rows}.map(row => Number(row.dataset.n))"
    assert page.evaluate(numbers) == list(range(1, 604))
    page.click("#orders button >> nth=1")
    ranks = page.evaluate(f"{rows}.map(row => Number(row.dataset.rank))")
    assert len(ranks) == 603
    assert ranks == sorted(ranks)
    assert page.locator("#nodes .block:visible").count() == 0
    assert page.url.endswith("#/nodes=worst")
    page.click("#orders button >> nth=2")
    shown = page.evaluate(f"{rows}.filter(row => row.checkVisibility()).map(row => row.dataset.rank)")
    assert shown
    assert "6" not in shown
    page.click("#orders button >> nth=0")
    assert page.evaluate(numbers) == list(range(1, 604))
    assert watched.said == []
    page.close()


def test_a_node_leads_to_its_call_without_a_script(module_browser: Browser, page_file: Path) -> None:
    page = module_browser.new_page(java_script_enabled=False)
    page.goto(page_file.as_uri())
    assert not page.is_visible("#orders")
    page.click(".block summary >> nth=0")
    page.click("tr[data-n='1'] a")
    assert page.url.endswith("#call-1")
    assert page.is_visible("#call-1 .small-case")
    assert page.is_visible("#chain-1 .small-case")
    page.close()

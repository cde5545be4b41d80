"""Hostile text in a real browser: markup, scripts and direction marks are shown, and nothing runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from conformance.judging.judge import Judgement
from conformance.judging.responses import Refused
from conformance.suite.cases import Case
from reports.formats.html import write_together
from reports.results.case_results import put_together
from tests.reports.sample import RESIZE_18, Maker, make_case, sample_facts
from tests.reports.test_html import HOSTILE, poison

pytestmark = pytest.mark.browser
PAGES = (
    "summary",
    "summary?by=family",
    "summary?by=attribute",
    "operators",
    "cases",
    "readings",
    "documents",
    "adequacy",
)


@pytest.mark.slow
def test_nothing_of_it_runs_anywhere(
    module_browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The reader of goldens takes no such words; the page does not rely on it.
    monkeypatch.setattr("conformance.suite.goldens.check_words", lambda case: case)
    cases = [
        make_case(RESIZE_18, "cover", {"mode": "linear", HOSTILE: f"{HOSTILE}{number}"}, rule=HOSTILE)
        for number in range(6)
    ]

    def refuse(case: Case) -> Refused:
        return Refused(HOSTILE, HOSTILE * 20_000)

    def change(case: Case, judged: Judgement) -> dict[str, Any]:
        return {"stderr": HOSTILE, "pattern": HOSTILE, "reason": HOSTILE * 1000}

    header = {"runtime": {"name": HOSTILE, "version": HOSTILE}, "options": {HOSTILE: HOSTILE}}
    facts: dict[str, Any] = poison(sample_facts())
    made = Maker(tmp_path, header).make(cases, refuse, facts=facts, change=change)
    results = put_together(made.suite, made.record, HOSTILE)
    index = write_together([results, results], tmp_path / "report")
    page = module_browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    case = made.suite.case_ids[0]
    for place in (
        *PAGES,
        f"cases?q={HOSTILE[:9]}",
        f"cases?case={case}",
        f"cases?q=status:failing&case={case}",
    ):
        page.goto("about:blank")
        page.goto(f"{index.as_uri()}#/{place}")
        page.wait_for_selector("html[data-ready]", state="attached")
        assert page.locator("img, iframe, object, evil").count() == 0, place
        assert page.locator("script:not([type])").count() == 1, place
    shown = page.inner_text("#drawer")
    assert "<script>alert(1)</script>\\x00\\u202eevil" in shown
    assert len(shown) < 50_000
    page.fill("#query", HOSTILE)
    page.press("#query", "Enter")
    page.wait_for_selector(".nothing")
    assert "\\u202eevil" in page.inner_text(".nothing")
    assert "\u202e" not in page.inner_text(".nothing")
    assert said == []
    page.close()

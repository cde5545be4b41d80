"""What axe-core finds wrong with a page, by the rules of WCAG 2.2 up to level AA."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def find_violations(page: Page) -> list[str]:
    """Each violation with the element that shows it; the page must let scripts in (`bypass_csp`)."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found: dict[str, Any] = page.evaluate("rules => axe.run(document, rules)", RULES)
    assert found["passes"], "no rule was tried"
    return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]]

"""What axe-core finds wrong with a page, by the rules of WCAG 2.2 up to level AA, and what cannot be read."""

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


_UNREADABLE = """() => [...document.querySelectorAll('body *')].flatMap(each => {
  const style = getComputedStyle(each), box = each.getBoundingClientRect();
  if (style.visibility === 'hidden' || box.width < 2 || each.closest('svg')) return [];
  const said = [...each.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const moved = style.overflowX === 'auto' && each.scrollWidth > each.clientWidth && each.tabIndex >= 0;
  const found = [];
  if (said && parseFloat(style.fontSize) < 12) found.push(`${style.fontSize}: `);
  if (said && box.right > innerWidth + 1) found.push(`reaches to ${Math.round(box.right)} px: `);
  if (moved) found.push(`is moved sideways, ${each.scrollWidth} px of it in ${each.clientWidth}: `);
  return found.map(what => what + each.outerHTML.slice(0, 100));
})"""


def find_unreadable(page: Page, width: int) -> list[str]:
    """What in a window of so many pixels is smaller than 12 px, reaches out, or has to be moved sideways."""
    page.set_viewport_size({"width": width, "height": 900})
    found: list[str] = page.evaluate(_UNREADABLE)
    return found

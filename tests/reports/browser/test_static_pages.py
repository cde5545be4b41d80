"""Comparison, certificate and site in a real browser: they fit, keep their policy, are accessible."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from conformance.judging.responses import Answered, Refused, Response
from conformance.recording.records import read_record
from conformance.suite.cases import Case
from opcert.vocabulary.whole_files import write_text
from reports.certificates.certificate import make_certificate
from reports.certificates.certificate_page import write_certificate_page
from reports.comparisons.comparison_text import render_comparison
from reports.comparisons.run_comparison import compare_runs
from reports.gates.profiles import Profile
from reports.results.case_results import put_together
from reports.sites.front_page import MOST_FITTING
from reports.sites.site import write_site
from tests.reports.accessibility import find_unreadable, find_violations
from tests.reports.kept_samples import keep
from tests.reports.sample import CROP_PAD, HEADER, PATCHES, RESIZE_18, Maker, sample_cases
from tests.reports.test_browser import Watched

pytestmark = pytest.mark.browser
WIDTHS = (1920, 1440, 820, 390)
SITE = ("site", "versions", "operator", "runtime", "cause", "change", "causes", "changes")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
HOSTILE = "<script>alert(1)</script>\u202e" + "wide" * 200
WAIVER = {
    "cases": "ai.onnx/Resize-18",
    "conditions": {"mode": "cubic"},
    "reason": HOSTILE,
    "link": "https://example.org/a/very/long/address/of/a/thread",
    "expires": "2027-01-01",
}


def obey(case: Case) -> Response:
    """The runtime before it had faults."""
    if case.demand == "refuse":
        return Refused("InvalidArgument", "no")
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind, with long and hostile text in it."""
    folder = tmp_path_factory.mktemp("pages")
    cases = list(sample_cases(29))
    runs = folder / "runs"
    versions = {"runtime": {"name": "example-runtime", "version": f"9.0 {HOSTILE}"}}
    (folder / "new").mkdir()
    made = Maker(folder / "new", {**HEADER, **versions}).make(cases)
    with made.suite:
        results = put_together(made.suite, made.record)
        profile = Profile.model_validate(
            {
                "profile": "three",
                "description": "three operators",
                "operators": [str(each) for each in (CROP_PAD, PATCHES, RESIZE_18)],
                "waivers": [WAIVER],
            }
        )
        certificate = make_certificate(results, profile, date(2026, 11, 20))
        signed = write_certificate_page(certificate, folder, "ab" * 32)
    before = keep(runs, "a", obey, "2026-01-01T00:00:00Z", "example-runtime", cases)
    kept = keep(runs, "b", obey, "2026-02-01T00:00:00Z", "example-runtime", cases, skip=3)
    (kept / "run.jsonl").write_bytes(made.record.path.read_bytes())
    comparison = compare_runs(read_record(before / "run.jsonl"), made.record)
    compared = write_text(folder / "comparison.html", render_comparison(comparison, HOSTILE))
    keep(runs, "c", obey, "2026-02-03T00:00:00Z", "other-runtime", cases)
    index, _ = write_site([runs])
    return {
        "comparison": compared,
        "certificate": signed,
        "site": index,
        "versions": runs / "versions.html",
        "operator": runs / "operators" / "ai.onnx-Resize.html",
        "runtime": runs / "runtimes" / "example-runtime.html",
        "cause": max((runs / "causes").iterdir(), key=lambda path: path.stat().st_size),
        "change": max((runs / "changes").iterdir(), key=lambda path: path.stat().st_size),
        "causes": runs / "causes.html",
        "changes": runs / "changes.html",
    }


def files_of(page: Path) -> list[str]:
    """What a page may ask for: itself, and of a site the style of all its pages."""
    styles = [
        path for path in (page.parent / "style.css", page.parent.parent / "style.css") if path.is_file()
    ]
    return [style.as_uri() for style in (page, *styles)]


def _dearer(name: str) -> object:
    """The name of a page, marked nightly where others are laid out as it is."""
    return name if name in ("site", "operator") else pytest.param(name, marks=pytest.mark.nightly)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["comparison", "certificate", *map(_dearer, SITE)])
def test_it_fits_asks_for_nothing_and_is_accessible(
    module_browser: Browser, pages: dict[str, Path], name: str
) -> None:
    for scheme in SCHEMES:
        watched = Watched(module_browser, WIDTHS[0], color_scheme=scheme)
        watched.page.goto(pages[name].as_uri())
        for width in WIDTHS:
            watched.page.set_viewport_size({"width": width, "height": 900})
            size = watched.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert size[0] <= size[1], (name, width, scheme)
        assert watched.said == []
        assert watched.asked == files_of(pages[name])
        watched.page.close()
        # The policy of the page keeps axe out as well, so it is looked at without it.
        context = module_browser.new_context(color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto(pages[name].as_uri())
        assert find_violations(page) == []
        context.close()


@pytest.mark.slow
def test_nothing_but_the_link_is_needed_to_go_from_the_overview_to_what_changed(
    module_browser: Browser, pages: dict[str, Path]
) -> None:
    page = module_browser.new_page(java_script_enabled=False)
    page.goto(pages["site"].as_uri())
    page.click(".news a")
    assert "Regressed" in page.inner_text("main")
    page.click("nav >> text=Operators")
    assert page.url == pages["site"].as_uri()
    page.click("text=Resize-18")
    assert "By runtime, version and element type" in page.inner_text("main")
    page.click(".causes a >> nth=0")
    assert "Who has it" in page.inner_text("main")
    page.click("table a >> nth=0")
    assert "the newest version first" in page.inner_text("main")
    page.close()


@pytest.mark.slow
def test_the_table_is_filtered_and_used_with_keys(module_browser: Browser, pages: dict[str, Path]) -> None:
    watched = Watched(module_browser, 1440)
    page = watched.page
    page.goto(pages["site"].as_uri())
    rows = page.locator("tr[data-name]:visible")
    every = rows.count()
    page.fill("#seek", "pad")
    assert 0 < rows.count() < every
    assert page.inner_text("#found") == f"{rows.count()} operators"
    assert page.url.endswith("#?q=pad")
    page.reload()
    assert page.input_value("#seek") == "pad"
    assert 0 < rows.count() < every
    page.fill("#seek", "")
    page.check("#failing")
    assert rows.count() == page.locator("tr[data-fails]").count()
    page.uncheck("#failing")
    page.focus(".map tbody th a >> nth=0")
    page.keyboard.press("ArrowDown")
    second = page.locator(".map tbody th a").nth(1).get_attribute("href")
    assert page.evaluate("document.activeElement.getAttribute('href')") == second
    assert watched.said == []
    page.close()


@pytest.mark.slow
def test_causes_are_searched_and_a_search_has_an_address(
    module_browser: Browser, pages: dict[str, Path]
) -> None:
    watched = Watched(module_browser, 390)
    page = watched.page
    page.goto(pages["causes"].as_uri())
    causes, groups = page.locator(".causes > li:visible"), page.locator("[data-group]:visible")
    every, headings = causes.count(), groups.count()
    page.fill("#seek", "resize crash")
    assert causes.count() == 0
    page.fill("#seek", "resize")
    found = causes.count()
    assert 0 < found < every
    assert groups.count() < headings
    assert all("resize" in text.lower() for text in causes.all_inner_texts())
    assert page.inner_text("#found") == f"{found} cause{'s' if found > 1 else ''}"
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    assert (causes.count(), page.input_value("#seek")) == (found, "resize")
    assert watched.said == []
    page.close()


@pytest.mark.slow
def test_columns_are_put_in_order_and_every_version_is_shown_with_the_same_choices(
    module_browser: Browser, pages: dict[str, Path]
) -> None:
    watched = Watched(module_browser, 1440)
    page = watched.page
    page.goto(pages["site"].as_uri())
    heads = page.locator(".map thead th a span:first-child")
    first, cells = ".map .all tr:first-child td", page.locator(".map .all tr:first-child td")
    assert heads.all_inner_texts() == ["example-runtime", "other-runtime"]
    before = cells.all_inner_texts()
    page.select_option("#order", "share")
    assert heads.all_inner_texts() == ["other-runtime", "example-runtime"]
    assert cells.all_inner_texts() == before[::-1]
    page.fill("#seek", "pad")
    page.click("text=all versions")
    assert page.url.endswith("versions.html#?q=pad&columns=share")
    assert heads.count() == 3
    shares = [
        int(each)
        for each in page.eval_on_selector_all(
            ".map thead th[data-share]", "all => all.map(each => each.dataset.share)"
        )
    ]
    assert shares == sorted(shares, reverse=True)
    assert page.locator("tr[data-name]:visible").count() == 2
    page.select_option("#order", "")
    assert [each.split()[0] for each in heads.all_inner_texts()] == ["example-runtime"] * 2 + [
        "other-runtime"
    ]
    assert page.eval_on_selector_all(first, "all => all.length") == 3
    assert watched.said == []
    page.close()


@pytest.mark.slow
def test_an_operator_is_whole_on_a_phone(module_browser: Browser, pages: dict[str, Path]) -> None:
    """Every cell stands in the window, with its element type before it, and nothing is moved sideways."""
    page = module_browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(pages["operator"].as_uri())
    reach = "all => all.map(each => Math.ceil(each.getBoundingClientRect().right))"
    cells = page.locator(".types td:visible")
    assert cells.count() == page.locator(".types td > div").count() > 10
    assert max(cells.evaluate_all(reach)) <= 390
    labels = "all => all.map(each => getComputedStyle(each, '::before').content)"
    assert {'"all"', '"float"', '"bfloat16"'} <= set(cells.evaluate_all(labels))
    moved = "box => [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight]"
    assert page.locator(".across").evaluate(moved) == [0, 0]
    page.close()


@pytest.mark.slow
def test_a_table_of_many_runtimes_is_whole_on_a_phone(
    module_browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    """Every cell stands in the window with its runtime before it; each runtime's page is a link away."""
    names = [f"runtime-{number}" for number in range(MOST_FITTING + 2)]
    for name in names:
        keep(tmp_path, name, obey, "2026-01-01T00:00:00Z", name, list(sample_cases(3)))
    index, _ = write_site([tmp_path])
    page = module_browser.new_page()
    page.goto(index.as_uri())
    for width in (390, 820):
        page.set_viewport_size({"width": width, "height": 844})
        cells = page.locator("tr[data-name] td:visible")
        assert cells.count() == page.locator("tr[data-name] td > div").count() >= len(names)
        assert max(cells.evaluate_all("all => all.map(each => each.getBoundingClientRect().right)")) <= width
        labels = cells.evaluate_all("all => all.map(each => getComputedStyle(each, '::before').content)")
        assert labels[: len(names)] == [f'"{name}"' for name in names]
        moved = "box => [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight]"
        assert page.locator(".across").evaluate(moved) == [0, 0]
        assert page.locator("thead a:visible span:first-child").all_inner_texts() == names
        assert find_unreadable(page, width) == []
    page.fill("#seek", "pad")
    assert page.locator("tr[data-name]:visible").count() < page.locator("tr[data-name]").count()
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["site", "operator", "cause", "certificate"])
def test_nothing_is_too_small_or_beyond_the_window(
    module_browser: Browser, pages: dict[str, Path], name: str
) -> None:
    page = module_browser.new_page()
    page.goto(pages[name].as_uri())
    assert [find_unreadable(page, width) for width in (390, 820, 1280)] == [[], [], []]
    page.close()


@pytest.mark.slow
def test_names_of_runtimes_stay_in_sight_over_a_long_table(
    module_browser: Browser, pages: dict[str, Path]
) -> None:
    for width in WIDTHS:
        page = module_browser.new_page(viewport={"width": width, "height": 500})
        page.goto(pages["site"].as_uri())
        page.evaluate(
            "document.querySelector('.map tbody:last-of-type tr:last-child')"
            ".scrollIntoView({behavior: 'instant'})"
        )
        box = page.locator(".map thead").bounding_box()
        head = page.locator(".map thead th >> nth=1").bounding_box()
        assert box is not None
        assert head is not None
        assert -1 <= head["y"] <= 60, width
        page.close()

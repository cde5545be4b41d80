"""The report in a real browser: cases beside the list, runs beside each other, every width, paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from conformance.judging.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from reports.formats import html as report_page
from reports.formats.html import write_together
from reports.gates.baseline import Baseline, excuse
from reports.results.case_results import Results, put_together
from tests.reports.accessibility import find_unreadable, find_violations
from tests.reports.browser.conftest import OTHER
from tests.reports.sample import CROP_PAD, Maker, planted, sample_cases

pytestmark = [pytest.mark.slow, pytest.mark.browser]
Open = Callable[[str], Page]
COUNT = "#query-says b"


def open_mismatch(open_at: Open, more: str = "") -> Page:
    page = open_at(f"#/cases?q=status:mismatch%20worst:%3E1%20mode:cubic{more}")
    page.click("#list td.id a >> nth=0")
    page.wait_for_selector("#drawer .heat g[tabindex]")
    return page


def test_a_case_says_everything_about_itself(open_at: Open) -> None:
    page = open_mismatch(open_at)
    heads = page.locator("#drawer h3").all_text_contents()
    assert heads == [
        "Where it differs",
        "Expected and got",
        "Why this is expected",
        "Attributes and inputs",
        "Reproduce",
        "The same case on the other runs",
    ]
    text = page.inner_text("#drawer")
    for said in ("opcert repro ", "error ÷ allowed", ", line 109", "in note", f"{OTHER} 0.9"):
        assert said in text
    page.click("text=see it there")
    expect(page.locator("#runs [aria-pressed=true]")).to_have_text(f"{OTHER} 0.9")
    assert page.is_visible("#drawer h2")


def test_the_picture_is_read_by_pointer_and_keys(open_at: Open) -> None:
    page = open_mismatch(open_at)
    page.locator("#drawer .heat g[tabindex='0']").focus()
    expect(page.locator("#read")).to_contain_text("[0, 0]")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#read")).to_contain_text("[0, 1]")
    assert page.locator("#drawer .heat g.point").count() == 3
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#read")).to_contain_text("[0, 0]  expected 2, got 77")
    page.locator("#drawer .heat >> nth=0").locator("g >> nth=3").hover()
    expect(page.locator("#read")).to_contain_text("expected")
    page.click("#drawer summary:text('As a table')")
    assert page.locator("#drawer table td").first.text_content() == "2"


def test_a_case_that_is_not_there_is_said_not_to_be(open_at: Open) -> None:
    page = open_at("#/cases?case=ai.onnx/Resize-18/cover/ffffffffffff")
    expect(page.locator("#drawer h2")).to_have_text("No such case in this report")


def test_a_link_reproduces_what_is_seen(open_at: Open) -> None:
    page = open_at("#/summary")
    page.click("#theme-button")
    page = open_mismatch(open_at, "&theme=dark")
    address, seen = page.url, page.inner_text("body")
    assert "theme=dark" in address
    page = open_at(address[address.index("#") :])
    page.wait_for_selector("#drawer .heat g[tabindex]")
    assert page.inner_text("body") == seen
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("Escape")
    page.click("nav a[data-page=accuracy]")
    page.wait_for_selector("section.page.on[data-page=accuracy]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_run_in_question_can_be_switched(open_at: Open, runs: list[Results]) -> None:
    page = open_at("#/summary")
    page.click(f"#runs button:has-text('{OTHER}')")
    expect(page.locator(".run:not([hidden]) h1")).to_have_text(f"{OTHER} 0.9")
    page.click(".run:not([hidden]) .ledger a:has-text('mismatch')")
    expect(page.locator(COUNT)).to_have_text(f"{runs[1].counts['mismatch']:,}")
    page.click("nav a[data-page=time]")
    assert page.locator("[data-page=time] h2:visible").first.text_content() == f"{OTHER} 0.9"


@pytest.mark.parametrize("by", ["type", "runtime", "family", "attribute"])
def test_the_matrix_adds_up_by_whatever_it_is_cut(open_at: Open, runs: list[Results], by: str) -> None:
    page = open_at("#/summary")
    page.click(f".run:not([hidden]) [data-by={by}]")
    page.wait_for_selector(f".run:not([hidden]) [data-by={by}][aria-pressed=true]")
    page.wait_for_function("by => document.querySelector('#matrix-0').dataset.shows.startsWith(by)", arg=by)
    feet = [int(text.replace(",", "")) for text in page.locator("#matrix-0 tfoot td").all_text_contents()]
    total = len(runs[0].cases)
    assert feet[0] == total
    if by in ("type", "family"):
        assert sum(feet[1:]) == total
    if by == "runtime":
        assert feet[1] == sum(feet[2:]) == total
    page.click("#matrix-0 tbody .first >> nth=1")
    expect(page.locator(COUNT)).not_to_have_text("0")


def test_known_failures_are_said_where_they_are_seen(
    module_browser: Browser, runs: list[Results], tmp_path: Path
) -> None:
    crashes = [str(result.id) for result in runs[0].cases if result.verdict == "crash"]
    entry = {"verdict": "crash", "reason": "divides by <zero>", "link": "https://example.org/9"}
    holds, over = (
        {**entry, "expires": expires, "cases": cases}
        for expires, cases in (("2026-12-31", crashes[1:]), ("2026-11-01", crashes[:1]))
    )
    baseline = Baseline.model_validate({"known": [holds, over]})
    index = write_together([excuse(runs[0], None, baseline, date(2026, 11, 20)), runs[1]], tmp_path)
    page = module_browser.new_page(viewport={"width": 1440, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(index.as_uri())
    page.click("p.excuse a:has-text('known to the baseline')")
    expect(page.locator(COUNT)).to_have_text(str(len(crashes) - 1))
    facet = page.locator(".facet", has=page.locator("h2:text('known failures')"))
    failing = sum(result.fails for result in runs[0].cases)
    assert sum(int(text) for text in facet.locator(".c").all_text_contents()) == failing
    assert page.locator("#list td:first-child").first.inner_text().split("\n") == ["crash", "known"]
    facet.locator("button:has-text('expired')").click()
    expect(page.locator("#list td:first-child")).to_have_text("crashno longer known")
    page.click("#list td.id a")
    expect(page.locator("#drawer .excuse")).to_have_text(
        "Known only until 2026-11-01, which is over: divides by <zero>, https://example.org/9"
    )
    page.fill("#query", "known:no")
    page.keyboard.press("Enter")
    expect(page.locator(COUNT)).to_have_text(str(failing - len(crashes)))
    assert said == []
    page.close()


def test_a_note_number_leads_to_its_class_and_opens_it(open_at: Open) -> None:
    page = open_at("#/summary")
    assert not page.locator("#note-0-5 .io").is_visible()
    page.click("#matrix-0 .marks a[href='#note-0-5'] >> nth=0")
    expect(page.locator("#note-0-5")).to_have_class("class hit")
    expect(page.locator("#note-0-5 .io")).to_be_visible()
    assert page.url.endswith("note=5")


@pytest.mark.parametrize("by", ["type", "family"])
def test_rows_can_be_folded_and_narrowed_to_those_that_fail(open_at: Open, by: str) -> None:
    page = open_at(f"#/summary?by={by}")
    rows = page.locator("#matrix-0 tr[data-operator]")
    quiet = page.locator("#matrix-0 tr.quiet").count()
    shown = "all => all.filter(each => each.checkVisibility()).length"
    page.locator(".run:not([hidden]) [data-only]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#matrix-0 .failing-only")
    assert rows.evaluate_all(shown) == rows.count() - quiet
    assert "only=failing" in page.url
    page.click(".run:not([hidden]) [data-only]")
    page.wait_for_selector("#matrix-0 table:not(.failing-only)")
    assert rows.evaluate_all(shown) == rows.count()
    page.locator("#matrix-0 [data-fold] >> nth=0").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#matrix-0 [data-fold] >> nth=0")).to_have_attribute("aria-expanded", "false")
    assert rows.evaluate_all(shown) < rows.count()


@pytest.mark.parametrize("width", [390, 820, 1200])
def test_an_open_case_fits_every_width(open_at: Open, width: int) -> None:
    page = open_mismatch(open_at)
    page.set_viewport_size({"width": width, "height": 900})
    try:
        sizes = page.evaluate(
            """['html', '#drawer'].map(each => document.querySelector(each))
            .map(each => each.scrollWidth - each.clientWidth)"""
        )
        assert sizes == [0, 0]
    finally:
        page.set_viewport_size({"width": 1440, "height": 900})


def test_it_prints_the_page_that_is_open(open_at: Open) -> None:
    page = open_at("#/summary")
    page.emulate_media(media="print")
    assert page.locator(".top").is_hidden()
    assert page.locator(".matrix >> nth=0").is_visible()
    assert len(page.pdf(format="A4")) > 10_000
    page.emulate_media(media="screen")


def test_a_command_can_be_copied(open_at: Open) -> None:
    page = open_at("#/summary")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click(".class .command button >> nth=0")
    expect(page.locator("#said")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("opcert repro ")


def test_parts_are_loaded_from_files_when_needed(
    module_browser: Browser, runs: list[Results], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_page, "ONE_FILE_CASES", 10)
    index = write_together(runs, tmp_path)
    page = module_browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto(index.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert asked == ["index.html"]
    page.click(".class .go a >> nth=0")
    page.wait_for_selector("#drawer h2")
    expect(page.locator("#drawer")).to_contain_text("Expected and got")
    assert [each.partition("-")[0] for each in asked[1:]] == ["table", "details"]
    for path in (tmp_path / "parts").glob("details-*"):
        path.unlink()
    page.reload()
    expect(page.locator("#drawer .warning")).to_contain_text("belongs beside this page")
    page.close()


@pytest.mark.nightly
def test_axe_finds_nothing(module_browser: Browser, tmp_path: Path) -> None:
    """The rules of WCAG 2.2 AA on every page of a small report, in both schemes."""
    made = Maker(tmp_path).make(list(sample_cases(61)), skip=2)
    results = put_together(made.suite, made.record)
    index = write_together([results, results], tmp_path / "report")
    # The policy of the page keeps axe out as well, so it is looked at without it.
    page = module_browser.new_page(bypass_csp=True)
    page.goto(index.as_uri())
    case = page.get_attribute(".class .go a >> nth=-2", "href")
    assert case is not None
    places = ["#/summary", "#/summary?by=runtime", "#/cases?q=status:failing", case, "#/readings"]
    for place in [*places, "#/documents", "#/adequacy", "#/accuracy", "#/time", f"{case}&theme=dark"]:
        page.evaluate("place => { location.hash = place; }", place)
        page.wait_for_timeout(250)
        assert find_violations(page) == [], place
    page.close()


def test_operators_stand_worst_first_and_every_order_and_filter_has_an_address(
    open_at: Open, runs: list[Results]
) -> None:
    names = "#operator tbody th a"
    shares: dict[str, float] = {}
    for name in {result.operator.name for result in runs[0].cases}:
        own = [result for result in runs[0].cases if result.operator.name == name]
        passing, failing = sum(case.verdict == "pass" for case in own), sum(case.fails for case in own)
        shares[name] = passing / (passing + failing)
    page = open_at("#/operators")
    expect(page.locator(names)).to_have_count(len(shares))
    worst = page.locator(names).all_text_contents()
    assert page.get_by_role("button", name="worst first").get_attribute("aria-pressed") == "true"
    # As the first screen names them: in the order of the causes.
    assert [f"{each} " for each in worst] == [
        re.sub(r"[\d,]+$", "", each)
        for each in page.locator(".run:not([hidden]) .standings a").all_text_contents()
    ]
    page.click("[data-order=share]")
    expect(page.locator("[data-order=share]")).to_have_attribute("aria-pressed", "true")
    assert page.locator(names).all_text_contents() == sorted(shares, key=lambda name: shares[name])
    said = page.locator("#operator tbody tr:has(th a:text-is('Pad')) td:nth-child(3)").inner_text()
    assert said == f"{int(shares['Pad'] * 1000) / 10} %"
    page.locator("#operator-name").press_sequentially("pad, resi")
    expect(page.locator(names)).to_have_count(3)
    assert page.evaluate("document.activeElement.id") == "operator-name"
    page.click("[data-order=name]")
    expect(page.locator(names)).to_have_text(["CenterCropPad", "Pad", "Resize"])
    address = page.url
    assert "order=name" in address
    again = open_at(address[address.index("#") :])
    expect(again.locator(names)).to_have_text(["CenterCropPad", "Pad", "Resize"])
    assert again.input_value("#operator-name") == "pad, resi"
    expect(again.locator("#operator-count")).to_have_text(f"3 of {len(shares)} operators")
    again.click("nav [data-page=cases]")
    assert "order=" not in again.url
    assert "name=" not in again.url


@pytest.mark.parametrize("said", ["operators/Resize", "operators/resize-18", "operators?operator=Resize"])
def test_an_operator_is_found_by_its_name_without_a_domain(open_at: Open, said: str) -> None:
    page = open_at(f"#/{said}")
    expect(page.locator("#operator h1")).to_have_text("Resize ai.onnx")
    assert page.url.endswith("#/operators?operator=ai.onnx::Resize")
    assert page.title().startswith("Resize · ")
    assert not page.locator("#astray").is_visible()


def test_an_address_that_leads_nowhere_says_so(open_at: Open) -> None:
    page = open_at("#/operators/Resiz%3Cb")
    expect(page.locator(".warning:visible")).to_have_text("No operator of this report is called Resiz<b.")
    page = open_at("#/verdicts/Resize?by=type")
    expect(page.locator("#astray")).to_have_text(
        "This report has no page verdicts/Resize; this is its summary."
    )
    page.click("nav [data-page=cases]")
    expect(page.locator("#astray")).to_be_hidden()


def test_operators_that_fail_are_shown_alone_and_stand_before_the_others(
    module_browser: Browser, tmp_path: Path
) -> None:
    def crop_is_right(case: Case) -> Response:
        if case.id.operator != CROP_PAD:
            return planted(case)
        return Refused("InvalidArgument", "no") if case.demand == "refuse" else _right(case)

    made = Maker(tmp_path).make(list(sample_cases(29)), crop_is_right)
    with made.suite:
        results = put_together(made.suite, made.record)
        index = write_together([results], tmp_path / "report")
    page = module_browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(index.as_uri() + "#/operators?only=failing")
    names, failing = (
        page.locator("#operator tbody th a"),
        {each.operator.name for each in results.cases if each.fails},
    )
    every = {each.operator.name for each in results.cases}
    assert failing < every
    expect(names).to_have_count(len(failing))
    assert set(names.all_text_contents()) == failing
    page.click("#operator [data-only]")
    expect(names).to_have_count(len(every))
    assert "only=" not in page.url
    assert set(names.all_text_contents()[len(failing) :]) == every - failing
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


def _right(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


def test_an_operator_has_a_page_that_adds_up(open_at: Open, runs: list[Results]) -> None:
    page = open_at("#/operators")
    page.click("#operator tbody th a:text-is('Resize')")
    expect(page.locator("#operator h1")).to_contain_text("Resize")
    own = [result for result in runs[0].cases if result.operator.name == "Resize"]
    passing = sum(result.verdict == "pass" for result in own)
    decided = passing + sum(result.fails for result in own)
    expect(page.locator("#operator .say")).to_contain_text(f"{passing:,} of {decided:,} decided cases")
    versions = page.locator("#operator .matrix >> nth=0").locator("tbody tr")
    assert versions.count() == len({result.operator for result in own})
    totals = versions.locator("td:nth-child(2) .k").all_text_contents()
    assert sum(int(total.removeprefix("of ").replace(",", "")) for total in totals) == decided
    text = page.inner_text("#operator")
    for said in ("Beside other runs", OTHER, "What keeps it from passing", "Attributes and levels", "mode"):
        assert said in text
    public = page.get_attribute("#operator a:has-text('Public page')", "href")
    assert public == "https://onnx.ai/onnx/operators/onnx__Resize.html"
    value = page.locator("#operator .attributes a:has(code:text-is('cubic'))")
    of = int(value.inner_text().split(" of ")[1].replace(",", ""))
    assert of == sum(result.features.get("mode") == "cubic" for result in own)
    value.click()
    expect(page.locator(COUNT)).to_have_text(f"{of:,}")


@pytest.mark.parametrize("fragment", ["#/summary", "#/operators?operator=ai.onnx::Resize", "#/cases"])
def test_nothing_is_too_small_or_beyond_the_window(open_at: Open, fragment: str) -> None:
    page = open_at(fragment)
    try:
        assert [find_unreadable(page, width) for width in (390, 1280)] == [[], []]
    finally:
        page.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_page_of_an_operator(
    module_browser: Browser, runs: list[Results], tmp_path: Path, scheme: str
) -> None:
    index = write_together(runs, tmp_path)
    context = module_browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", bypass_csp=True
    )
    page = context.new_page()
    for fragment in ("#/summary", "#/operators", "#/operators?operator=ai.onnx::Resize"):
        page.goto("about:blank")
        page.goto(index.as_uri() + fragment)
        page.wait_for_selector("html[data-ready]", state="attached")
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert find_violations(page) == [], (fragment, width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (fragment, width)
    context.close()

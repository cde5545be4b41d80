"""The report of real runs in a real browser: three runtimes side by side, and two versions of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from conformance.recording.records import read_record
from conformance.suite.suites import open_suite
from opcert.commands import cli
from reports.results.case_results import Results, put_together
from tests.reports.accessibility import find_violations

pytestmark = [pytest.mark.slow, pytest.mark.browser]
RUNTIMES = ("onnxruntime", "openvino", "tract")
EARLIER = "onnxruntime==1.20.1"
COUNT = "#query-says b"
Report = Callable[..., tuple[Path, list[Results]]]


def opcert(*words: object, answers: tuple[int, ...] = (0,)) -> None:
    done = CliRunner().invoke(cli, [str(word) for word in words])
    assert done.exit_code in answers, done.output


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    """Runs a small suite on runtimes, each at most once, and writes the report of them."""
    folder = tmp_path_factory.mktemp("real")
    opcert("generate", "CenterCropPad-18", "Resize-10", "--size", "small", "-o", folder / "suite")

    def made(*runtimes: str) -> tuple[Path, list[Results]]:
        records = [folder / f"{runtime}.jsonl" for runtime in runtimes]
        for runtime, record in zip(runtimes, records, strict=True):
            if not record.exists():
                opcert("run", runtime, "-s", folder / "suite", "-o", record, answers=(0, 1))
        place = folder / "-".join(runtimes)
        opcert("report", *records, "-s", folder / "suite", "-o", place)
        return place / "index.html", [put_together(suite, read_record(record)) for record in records]

    with open_suite(folder / "suite") as suite:
        yield made


@contextmanager
def silent_page(browser: Browser, index: Path, **options: object) -> Iterator[Page]:
    """The report in a window of its own, about which nothing may be complained."""
    said: list[str] = []
    page = browser.new_page(**options)  # type: ignore[arg-type]  # a viewport and a scheme
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(index.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    yield page
    assert said == []
    page.close()


def number(found: int) -> str:
    return f"{found:,}"


@pytest.mark.nightly
@pytest.mark.runtimes(*RUNTIMES)
def test_three_runtimes_stand_side_by_side(module_browser: Browser, report: Report) -> None:
    index, runs = report(*RUNTIMES)
    with silent_page(module_browser, index, viewport={"width": 1440, "height": 900}) as page:
        for place, (runtime, run) in enumerate(zip(RUNTIMES, runs, strict=True)):
            page.click(f"#runs button >> nth={place}")
            expect(page.locator(".run:not([hidden]) h1")).to_contain_text(f"{runtime} ")
            numbers = page.locator(".run:not([hidden]) .ledger b").all_text_contents()
            assert sum(int(each) for each in numbers[:-1]) == int(numbers[-1]) == len(run.cases)
            page.click(".run:not([hidden]) .ledger a:has-text('pass')")
            expect(page.locator(COUNT)).to_have_text(number(run.counts["pass"]))
            page.click("nav a[data-page=summary]")
        page.click("#runs button >> nth=1")
        page.click(".run:not([hidden]) [data-by=runtime]")
        page.wait_for_function("document.querySelector('#matrix-1').dataset.shows.startsWith('runtime')")
        feet = [int(text) for text in page.locator("#matrix-1 tfoot td").all_text_contents()]
        beside = len(feet) // 2  # of each other run its cases, and how the two agree
        sums = [feet[0], feet[1], sum(feet[2 : 1 + beside]), feet[1 + beside], sum(feet[2 + beside :])]
        assert set(sums) == {len(runs[0].cases)}
        page.fill("#query", "status:failing onnxruntime:pass")
        page.press("#query", "Enter")
        pairs = zip(runs[0].cases, runs[1].cases, strict=True)
        differing = sum(two.fails and one.verdict == "pass" for one, two in pairs)
        assert differing > 0
        expect(page.locator(COUNT)).to_have_text(number(differing))


@pytest.mark.runtimes(*RUNTIMES)
def test_a_real_failure_says_what_happened(module_browser: Browser, report: Report) -> None:
    index, runs = report(*RUNTIMES)
    wrong = [each for each in runs[1].cases if each.verdict == "mismatch" and not each.wrong_shape]
    with silent_page(module_browser, index, viewport={"width": 1440, "height": 900}) as page:
        page.click("#runs button >> nth=1")
        page.fill("#query", "status:mismatch worst:*")
        page.press("#query", "Enter")
        expect(page.locator(COUNT)).to_have_text(number(len(wrong)))
        page.click("#list td.id a >> nth=0")
        page.wait_for_selector("#drawer .heat g[tabindex]")
        text = page.inner_text("#drawer")
        for said in ("opcert repro ", "Where it differs", "onnxruntime", "tract"):
            assert said in text
        for _ in wrong:  # a script holds small tensors alone
            if "Script without opcert" in page.inner_text("#drawer"):
                break
            page.keyboard.press("j")
        assert "Script without opcert" in page.inner_text("#drawer")
        page.keyboard.press("j")
        page.keyboard.press("Escape")
        page.wait_for_selector("#drawer", state="hidden")
        page.click("#list [data-sort=ms]")
        expect(page.locator("#list th[aria-sort]")).to_contain_text("ms")
        types = {str(each.element_type) for each in wrong}
        chosen = min(name for name in types if not any(name in other for other in types - {name}))
        page.click(f".facet button[data-token=type]:has-text('{chosen}') >> nth=0")
        expect(page.locator("#query")).to_have_value(f"status:mismatch worst:* type:{chosen}")


@pytest.mark.nightly
@pytest.mark.runtimes(*RUNTIMES)
def test_axe_finds_nothing_on_a_phone_in_the_dark(module_browser: Browser, report: Report) -> None:
    index, _ = report(*RUNTIMES)
    small = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "bypass_csp": True}
    with silent_page(module_browser, index, **small) as page:
        case = page.get_attribute(".class .go a >> nth=0", "href")
        for place in ("#/summary", case, "#/accuracy"):
            shown = int(page.get_attribute("html", "data-ready") or 0)
            page.evaluate("place => { location.hash = place; }", place)
            page.wait_for_function(
                "shown => Number(document.documentElement.dataset.ready) > shown", arg=shown
            )
            width = page.evaluate("document.documentElement.scrollWidth")
            assert (width, find_violations(page)) == (390, []), place


@pytest.mark.nightly
@pytest.mark.runtimes("onnxruntime", EARLIER)
def test_two_versions_of_a_runtime_are_told_apart(module_browser: Browser, report: Report) -> None:
    index, (earlier, later) = report(EARLIER, "onnxruntime")
    version = later.record.header["runtime"]["version"]
    assert version != "1.20.1"
    with silent_page(module_browser, index) as page:
        heads = page.locator("#runs button").all_text_contents()
        assert heads == ["onnxruntime 1.20.1", f"onnxruntime {version}"]
        page.fill("#query", f"onnxruntime-{version}:pass")
        page.press("#query", "Enter")
        expect(page.locator(COUNT)).to_have_text(number(later.counts["pass"]))
        assert page.locator("#query-problems p").count() == 0
        page.click("#runs button >> nth=1")
        page.fill("#query", "onnxruntime-1.20.1:pass")
        page.press("#query", "Enter")
        expect(page.locator(COUNT)).to_have_text(number(earlier.counts["pass"]))

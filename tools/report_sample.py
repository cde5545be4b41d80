"""The sample report of `docs/report/` and the pictures of it, made of a record of a real run.

    uv run python -m tools.report_sample out/onnxruntime/run.jsonl [--suite first-operators]
        [--many out/node/run.jsonl] [--site public]

Writes `docs/report/sample.html`, one file under 1 MB, and `docs/report/*.png`: the first screen at four
widths, light and dark, and the list of cases with a case beside it. `docs/report.png` is the first of them.
With `--many`, a record over `onnx-node`, the table of support of its 210 operator versions is taken as well;
with `--site`, what `opcert site` wrote, its first page: `docs/site.png`.
Exits with 1 where the sample is too large, or where the browser complains about anything.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from conformance.recording.records import read_record
from opcert.commands.cause_finding import with_known_causes
from opcert.commands.operator_facts import with_operator_facts
from opcert.commands.suite_argument import resolve_suite
from opcert.vocabulary.whole_files import write_bytes
from reports.formats.html import write_together
from reports.pages.run_page import RunPage
from reports.results.case_results import Results, put_together

FOLDER = Path("docs/report")
MANY = "many"
MOST_BYTES = 1_000_000
WIDTHS = {"desk": (1920, 1080), "wide": (1440, 900), "tablet": (820, 1100), "phone": (390, 844)}
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

IN_SIGHT = """async () => {
  const table = document.querySelector('#matrix-0 table');
  while (!table.checkVisibility({contentVisibilityAuto: true})) await new Promise(done => setTimeout(done));
}"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("--suite", default="default")
    parser.add_argument("--many", type=Path, help="a record over onnx-node, of which pictures are made too")
    parser.add_argument("--site", type=Path, help="a site, of which a picture is made too")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    record = read_record(options.record)
    with resolve_suite(options.suite, str(record.header.get("suite"))) as suite:
        # The commands in it name the default suite, which is what its readers have.
        results = with_known_causes(with_operator_facts(put_together(suite, record)))
        with tempfile.TemporaryDirectory() as name:
            made = write_together([results], Path(name))
            sample = write_bytes(FOLDER / "sample.html", made.read_bytes())
        case = _telling_case(results)
    size = sample.stat().st_size
    print(f"{sample}: {size:,} bytes, {len(results.cases):,} cases")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        said = _take_pictures(browser, sample, {"summary": "#/summary", "case": case})
        if options.many is not None:
            said += _show_many(browser, options.many)
        if options.site is not None:
            page = _open_page(
                browser, (options.site / "index.html").resolve().as_uri(), "wide", "light", said
            )
            write_bytes(FOLDER.with_name("site.png"), page.screenshot(animations="disabled"))
        browser.close()
    print("\n".join(said))
    return 1 if said or size > MOST_BYTES else 0


def _telling_case(results: Results) -> str:
    """The fragment that shows the smallest case of the largest class of wrong values."""
    wrong = [failures for failures in RunPage(results).classes if failures.kind in ("values", "inexact")]
    if not wrong:
        return "#/cases?q=status:failing"
    found = max(wrong, key=lambda failures: len(failures.cases))
    return f"#/cases?q=note:{found.number}&case={found.smallest.id}"


def _show_many(browser: Browser, path: Path) -> list[str]:
    record = read_record(path)
    with resolve_suite("onnx-node", str(record.header.get("suite"))) as suite:
        results = with_known_causes(with_operator_facts(put_together(suite, record, "onnx-node")))
        with tempfile.TemporaryDirectory() as name:
            made = write_together([results], Path(name))
            return _take_pictures(browser, made, {MANY: "#/summary"})


def _take_pictures(browser: Browser, sample: Path, places: Mapping[str, str]) -> list[str]:
    said: list[str] = []
    for name, fragment in places.items():
        for size in WIDTHS:
            for scheme in SCHEMES:
                page = _open_page(browser, sample.resolve().as_uri() + fragment, size, scheme, said)
                page.wait_for_selector("html[data-ready]", state="attached")
                if name == MANY:
                    page.evaluate("document.querySelector('#h-support-0').scrollIntoView()")
                    page.evaluate(IN_SIGHT)
                picture = page.screenshot(animations="disabled")
                write_bytes(FOLDER / f"{name}-{size}-{scheme}.png", picture)
                if (name, size, scheme) == ("summary", "wide", "light"):
                    write_bytes(FOLDER.with_suffix(".png"), picture)
                page.close()
    return said


def _open_page(browser: Browser, address: str, size: str, scheme: Scheme, said: list[str]) -> Page:
    """A page in a window of its own; what the browser complains about is added to `said`."""
    width, height = WIDTHS[size]
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",  # a page that still scrolls is not the same twice
    )
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address)
    return page


if __name__ == "__main__":
    sys.exit(main())

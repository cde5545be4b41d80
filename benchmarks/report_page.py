"""How large the HTML report of many cases is, and how quickly it answers in Chromium.

    uv run python -m benchmarks.report_page [--cases 20000] [--operators 7] [--runs 1] [--folder DIR]

The suite is invented (tests/reports/sample.py): seven operator versions, or as many as are asked for, in
groups of ten; one case in nine fails. Prints bytes, the seconds that putting the page together takes and the
memory that it needs, and of the page in a browser the time to its first screen, to the list at the first
click (as Playwright sees it, which looks for the link first, and as the page does, from the pointer's press
to the next frame), to the list after each of a few filters (the median, the slowest filter by the best of
its tries, and the slowest try), and to a case's details. Exits with 1 where the page misses what is demanded:
3 MB up to 20,000 cases, 0.5 s for the first click, 100 ms for a filter, also for the slowest one.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from conformance.suite.cases import Case
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from reports.pages.report_page import write_report
from reports.results.case_results import Results, put_together
from tests.reports.sample import FACTORS, TYPES, Maker, make_case

FILTERS = (
    "status:failing",
    "mode:cubic",
    "op:Resize type:float,float16",
    "note:3",
    "!status:pass ratio:up2",
    "worst:>0.1",
    "axes:some family:cover",
    "abc",
)
TRIES = 3
_CLICK = """
() => {
  document.addEventListener('pointerdown', event => { window.pressed = event.timeStamp; }, {once: true});
  new MutationObserver((_, observer) => {
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.answered = performance.now(); }));
  }).observe(document.querySelector('#list'), {childList: true});
}
"""
_ANSWERED = """
async () => {
  while (!window.answered) await new Promise(done => setTimeout(done));
  return window.answered - window.pressed;
}
"""
_FILTER = """
async text => {
  const list = document.querySelector('#list'), begun = performance.now();
  const shown = new Promise(resolve => new MutationObserver((_, observer) => {
    observer.disconnect(); requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
  }).observe(document.querySelector('#facets'), {childList: true}));
  location.hash = '#/cases?q=' + encodeURIComponent(text);
  return await shown;
}
"""


def many_operators(number: int) -> dict[OperatorName, Mapping[str, tuple[str, ...]]]:
    """So many operators with their factors: those of the sample, and the same by other names."""
    found = {}
    for place, (operator, factors) in zip(range(number), itertools.cycle(FACTORS.items()), strict=False):
        again = place // len(FACTORS)
        name = f"{operator.name}{again}" if again else operator.name
        found[OperatorName(operator.domain, name, operator.since_version)] = factors
    return found


def many_cases(number: int, operators: int = len(FACTORS)) -> Iterator[Case]:
    """Cases that differ in an attribute that is no feature, so that each has an id of its own."""
    serial = itertools.count()
    named_factors, most = many_operators(operators), -(-number // operators)
    while True:
        for operator, factors in named_factors.items():
            combinations = itertools.product(*factors.values(), TYPES)
            own = (
                combinations
                if operators == len(FACTORS)
                else itertools.islice(itertools.cycle(combinations), most)
            )
            for *levels, element_type in own:
                place = next(serial)
                if place >= number:
                    return
                family = ("cover", "cover", "cover", "boundary", "example")[place % 5]
                given = {"serial": attribute("ints", [place])}
                named = dict(zip(factors, levels, strict=True))
                yield make_case(operator, family, named, element_type, side=2 + place % 4, attributes=given)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--operators", type=int, default=len(FACTORS))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the report is left")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = Maker(folder).make(list(many_cases(options.cases, options.operators)))
        with made.suite:
            begun = time.perf_counter()
            results = put_together(made.suite, made.record)
            if options.operators > len(FACTORS):
                groups = {
                    each: f"Group {n // 10}" for n, each in enumerate(many_operators(options.operators))
                }
                results = replace(results, groups=groups)
            joined = time.perf_counter() - begun
            index = write_report([results] * options.runs, options.folder or folder / "report")
            seconds = time.perf_counter() - begun
        print(_size_line(results, index, joined, seconds))
        return _measure(index, options.cases, options.chromium)


def _size_line(results: Results, index: Path, joined: float, seconds: float) -> str:
    parts = list((index.parent / "parts").glob("*.js"))
    size, further = index.stat().st_size, sum(each.stat().st_size for each in parts)
    failing = sum(each.fails for each in results.cases)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{len(results.cases):,} cases, {failing:,} failing: page {size / 1e6:.2f} MB, "
        f"{len(parts)} parts of {further / 1e6:.2f} MB; put together in {seconds:.1f} s "
        f"(of these {joined:.1f} s reading), {memory:.0f} MiB at most"
    )


def _measure(index: Path, cases: int, chromium: str) -> int:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        begun = time.perf_counter()
        page.goto(index.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        first = time.perf_counter() - begun
        page.evaluate(_CLICK)
        begun = time.perf_counter()
        page.click(".ledger li a >> nth=1")
        page.wait_for_selector("#list tr[data-case]")
        click = time.perf_counter() - begun
        inside = float(page.evaluate(_ANSWERED)) / 1000
        tries = [[float(page.evaluate(_FILTER, each)) for each in FILTERS] for _ in range(TRIES)]
        opened = _open_case(page)
        browser.close()
    filters = list(itertools.chain(*tries))
    slowest = max(map(min, zip(*tries, strict=True)))
    print(
        f"first screen {first:.2f} s, first click {click:.2f} s ({inside:.2f} s in the page), "
        f"a filter {statistics.median(filters):.0f} ms (the slowest {slowest:.0f} ms, "
        f"the slowest of all tries {max(filters):.0f} ms), a case {opened:.2f} s"
    )
    small = cases > 20_000 or index.stat().st_size <= 3_000_000
    return 0 if small and click < 0.5 and slowest < 100 else 1


def _open_case(page: Page) -> float:
    page.goto(page.url.partition("#")[0] + "#/cases?q=status:failing")
    page.wait_for_selector("#list tr[data-case]")
    begun = time.perf_counter()
    page.click("#list tr[data-case] td.id a >> nth=0")
    page.wait_for_selector("#drawer:not([hidden]) section")
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())

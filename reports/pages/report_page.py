"""The HTML report: one file, or, where that would be too large, a page and a folder of its data."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from markupsafe import Markup

from opcert.vocabulary.errors import unwritable
from opcert.vocabulary.whole_files import write_text
from reports.overview.headline import runtime_name
from reports.pages.case_details import list_details
from reports.pages.case_table import build_table
from reports.pages.operator_pages import list_operator_facts
from reports.pages.report import Report
from reports.results.case_csv import FILE as CSV_FILE
from reports.results.case_csv import render_csv
from reports.results.case_results import ANY_CASE, Results
from reports.single_cases.standalone import surroundings
from reports.text.page_data import FOLDER, DataPart, pack, pack_many, to_json
from reports.text.pages_alone import render_page

ONE_FILE_BYTES = 2_900_000
ONE_FILE_CASES = 20_000
"""A report of up to this many bytes and cases is one file."""


def render_report(runs: Sequence[Results]) -> str:
    """The report of runs of one suite as one page, however large."""
    report = Report(runs)
    parts, where = _pack(report)
    return _render(report, parts, where, apart=False)


def write_report(runs: Sequence[Results], folder: Path) -> Path:
    """Write `index.html` and, if it needs one, the folder of its parts; returns the page.

    The page takes its place by rename when everything that it needs is there, so that an earlier report is
    whole until the new one is. Raises UserError where the folder cannot be written.
    """
    report = Report(runs)
    parts, where = _pack(report)
    apart = report.first.total > ONE_FILE_CASES
    page, kept = _render(report, parts, where, apart=apart), set[str]()
    if apart or len(page.encode()) > ONE_FILE_BYTES:
        page = page if apart else _render(report, parts, where, apart=True)
        kept = {each.file for each in parts}
        for each in parts:
            write_text(folder / FOLDER / each.file, each.script)
    if not report.whole:
        for each_page, name in zip(report.pages, _lists(report), strict=True):
            write_text(folder / name, render_csv(each_page.results))
    index = write_text(folder / "index.html", page)
    _remove_parts(folder / FOLDER, kept)
    return index


def _pack(report: Report) -> tuple[list[DataPart], dict[str, list[int]]]:
    """The parts, and by the name of each part of details the positions of its cases."""
    where, details = {}, []
    with ThreadPoolExecutor(1) as beside:  # compressing keeps no other thread from its work
        table = beside.submit(pack, "table", build_table(report))
        operators = beside.submit(pack, "operators", list_operator_facts(report.runs[0]))
        for part, positions in pack_many("details", list_details(report)):
            details.append(part)
            where[part.name] = positions
    return [table.result(), operators.result(), *details], where


def _render(report: Report, parts: Sequence[DataPart], where: dict[str, list[int]], *, apart: bool) -> str:
    directory = {
        "details": where,
        "files": {each.name: [f"{FOLDER}/{each.file}", each.digest] for each in parts} if apart else {},
        "runs": [
            [each.key, each.runtime, surroundings(runtime_name(each.results.record))] for each in report.pages
        ],
        "command": _command(report.first.results),
    }
    if not report.whole:
        directory["lists"] = _lists(report)
    return render_page(
        "report.html.j2",
        scripts="script",
        nonces=[each.digest for each in parts] if apart else [],
        report=report,
        directory=Markup(to_json(directory).replace("<", "\\u003c")),
        # Base64 has no character that HTML reads.
        parts=[] if apart else [(each.name, Markup(each.text)) for each in parts],
    )


def _lists(report: Report) -> list[str]:
    """The file beside the page that has every case, for each run."""
    several = len(report.pages) > 1
    return [f"cases-{each.key}.csv" if several else CSV_FILE for each in report.pages]


def _command(results: Results) -> list[str]:
    """What stands before and after a case id in the command that reproduces the case."""
    if not results.cases:
        return ["", ""]
    before, _, after = results.reproduction_command(None).partition(ANY_CASE)
    return [before, after]


def _remove_parts(folder: Path, kept: set[str]) -> None:
    """Remove what an earlier report left in its folder of parts; anything that is not ours stays."""
    if not folder.is_dir():
        return
    try:
        for each in folder.iterdir():
            if (
                each.suffix == ".js"
                and each.name not in kept
                and each.name.startswith(("table-", "operators-", "details-"))
            ):
                each.unlink()
        if not any(folder.iterdir()):
            shutil.rmtree(folder)
    except OSError as error:
        raise unwritable("the report's parts", folder, error) from error

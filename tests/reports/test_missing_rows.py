"""Records that were cut: every report says what is missing, and how the run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.recording.records import read_record
from reports.certificates.badges import render_run_badge
from reports.overview.headline import list_missing, list_warnings
from reports.results.case_results import Results, put_together
from tests.commands.command_line import call
from tests.reports.sample import CROP_PAD, HEADER, PAD, PATCHES, Maker, make_case

EXTENTS = ("same", "crop", "pad")
CASES = [
    make_case(name, "cover", {"extent": extent}) for name in (CROP_PAD, PAD, PATCHES) for extent in EXTENTS
]


def cut(folder: Path, skip: int = 0, *, close: bool = False, keep: Callable[[str], bool] = bool) -> Results:
    """A run of nine cases without its last ones, and of its lines those that are to stay."""
    header = {**HEADER, "options": {"forms": ["inputs"], "repeat": 1}}
    made = Maker(folder, header).make(CASES, skip=skip, close=close)
    path = made.record.path
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if keep(line)))
    return put_together(made.suite, read_record(path), str(made.suite.path))


def test_a_whole_record_lacks_nothing(tmp_path: Path) -> None:
    assert list_missing(cut(tmp_path, close=True)) == ()


def test_what_is_missing_is_told_by_operator(tmp_path: Path) -> None:
    results = cut(tmp_path, skip=4)
    told = " ".join(list_warnings(results))
    assert "The record has no footer" in told
    assert (
        "4 cases were not run and count for nothing: 1 of 3 of com.microsoft Pad-1; all of org.openvino"
        in told
    )
    place = f"-s {results.suite.path} -o {results.record.path}"
    words = f"opcert run 'package example_runtime-2.1.0' {place} --resume"
    assert words in told
    assert ", 4 not run" in json.loads(render_run_badge(results))["message"]


def test_a_record_that_lacks_its_footer_alone_says_so(tmp_path: Path) -> None:
    told = list_missing(cut(tmp_path))
    assert "no footer" in told[0]
    assert not [each for each in told if "not run" in each]


def test_rows_that_are_missing_of_cases_that_ran_are_counted(tmp_path: Path) -> None:
    results = cut(tmp_path, close=True)
    header = {**results.record.header, "options": {"forms": ["inputs", "dynamic"], "repeat": 2}}
    (told,) = list_missing(replace(results, record=replace(results.record, header=header)))
    assert told == "9 cases lack some of the rows that the run requested; the others count."


def test_the_command_says_it_where_pages_are_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = cut(tmp_path, skip=4)
    results.suite.close()
    answer = call(capsys, "report", results.record.path, "-s", results.suite.path, "-o", tmp_path / "out")
    assert answer.code == 0
    assert "opcert: example-runtime 2.1.0: 4 cases were not run" in answer.err
    assert "4 cases were not run" in (tmp_path / "out" / "index.html").read_text()

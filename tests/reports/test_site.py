"""The site: every run once, what changed between runs of one suite, and links that lead somewhere."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from conformance.running.responses import Answered, Crashed, Response
from conformance.suite.cases import Case
from opcert.vocabulary.errors import NothingRan, UserError
from reports.comparisons.kept_runs import find_runs
from reports.comparisons.site import write_site
from tests.commands.command_line import call
from tests.reports.sample import CROP_PAD, HEADER, PAD, Maker, make_case

CASES = [
    make_case(operator, "cover", {"extent": each})
    for operator in (CROP_PAD, PAD)
    for each in ("same", "crop")
]


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


def crop_crashes(case: Case) -> Response:
    return (
        Crashed("the worker died of SIGSEGV", "SIGSEGV") if case.levels["extent"] == "crop" else answer(case)
    )


def keep(
    folder: Path,
    name: str,
    respond: Callable[[Case], Response],
    started: str,
    runtime: str = "engine",
    cases: list[Case] = CASES,
    *,
    version: str = "1.0",
    skip: int = 0,
) -> Path:
    """A run in a folder of its own, as `certify -o runs/NAME` leaves it."""
    place = folder / name
    place.mkdir(parents=True)
    header = {**HEADER, "runtime": {"name": runtime, "version": version}, "started": started}
    made = Maker(place, header).make(cases, respond, skip=skip)
    made.suite.close()
    shutil.rmtree(place / "suite")
    (place / "index.html").write_text("a report")
    return place


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    keep(folder, "c", answer, "2026-03-01T00:00:00Z", version="1.2")
    keep(folder, "a", answer, "2026-01-01T00:00:00Z", version="1.0")
    keep(folder, "b", crop_crashes, "2026-02-01T00:00:00Z", version="1.1")
    keep(folder, "other", crop_crashes, "2026-02-02T00:00:00Z", "machine")
    return folder


def text_of(page: Path) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.read_text()))


def test_runs_stand_in_the_order_of_time_with_what_changed(runs: Path) -> None:
    index, found = write_site(runs)
    assert {name: [each.version for each in series] for name, series in found.series.items()} == {
        "engine": ["1.0", "1.1", "1.2"],
        "machine": ["1.0"],
    }
    said = text_of(index)
    assert "4 runs of 2 runtimes" in said
    assert said.index("1.2 4 pass of 4 2 fixed") < said.index("1.1 2 crash , 2 pass of 4 2 regressed")
    assert "the first run" in said


def test_runs_stand_by_version_and_not_by_the_clock(runs: Path) -> None:
    """The oldest version is run again last: what the newest one says stays what the site begins with."""
    keep(runs, "again", crop_crashes, "2026-05-01T00:00:00Z", version="1.0")
    keep(runs, "ten", answer, "2026-01-02T00:00:00Z", version="1.10")
    index, found = write_site(runs)
    assert [each.version for each in found.series["engine"]] == ["1.0", "1.0", "1.1", "1.2", "1.10"]
    said = text_of(index)
    assert "engine 1.10 4 of 4 1.10, 1.2, 1.1, 1.0" in said
    assert "machine 1.0 2 of 4 2 crash 1.0" in said
    operators = said[said.index("Operators") :]
    assert "ai.onnx::CenterCropPad-18 2 of 2 1 of 2 1 crash" in operators
    assert "From 2026-01-01" in said


def test_cases_that_were_not_run_again_are_told(runs: Path) -> None:
    keep(runs, "part", answer, "2026-05-01T00:00:00Z", version="1.3", skip=1)
    index, _ = write_site(runs)
    assert "1 not run again" in text_of(index)


def test_every_link_leads_to_a_file_of_the_site(runs: Path) -> None:
    index, _ = write_site(runs)
    pages = [index, *(runs / "history").iterdir()]
    seen = 0
    for page in pages:
        for link in re.findall(r'href="([^"#]+)"', page.read_text()):
            assert (page.parent / unquote(link)).is_file(), (page, link)
            seen += 1
    assert seen >= 4 + 2 + 2  # reports, operators, changes
    assert "a report" in (runs / "a" / "index.html").read_text()


def test_an_operators_history_names_the_cases_that_changed(runs: Path) -> None:
    write_site(runs)
    said = text_of(runs / "history" / "operator-ai.onnx-CenterCropPad-18.html")
    changed = next(str(each.id) for each in CASES if each.levels["extent"] == "crop")
    assert f"{changed} : pass, now crash" in said
    assert f"{changed} : crash, now pass" in said


def test_each_count_adds_up(runs: Path) -> None:
    index, found = write_site(runs)
    for each in found.all:
        assert sum(each.counts.values()) == len(each.verdicts) == 4
        assert sum(len(own) for own in each.by_operator.values()) == 4
    rows = re.findall(r"<td>((?:(?!</td>).)* of [0-9]+)</span>", index.read_text())
    for row in rows:
        numbers = [int(each) for each in re.findall(r"(?:^|>, |\s)([0-9]+) <span class=\"v", row)]
        if numbers:
            assert sum(numbers) == 4


def test_runs_of_different_suites_are_not_compared(tmp_path: Path) -> None:
    keep(tmp_path / "runs", "a", answer, "2026-01-01T00:00:00Z")
    keep(tmp_path / "runs", "b", crop_crashes, "2026-02-01T00:00:00Z", cases=CASES[1:])
    index, _ = write_site(tmp_path / "runs")
    assert "another suite" in text_of(index)
    assert not list((tmp_path / "runs" / "history").glob("changes-*"))


def test_what_is_no_run_is_left_out_and_named(runs: Path) -> None:
    """A runtime of which nothing ran is no row of zeros, and a damaged record no end of the site."""
    keep(runs, "dead", answer, "2026-04-01T00:00:00Z", "dead-engine", skip=4)
    (runs / "notes.jsonl").write_text('{"anything": 1}\n')
    lines = (runs / "a" / "run.jsonl").read_text().splitlines()
    (runs / "damaged.jsonl").write_text("\n".join([lines[0], "{}", *lines[1:]]) + "\n")
    index, found = write_site(runs)
    assert len(found.all) == 4
    assert {path.name for path, _ in found.left_out} == {"run.jsonl", "damaged.jsonl"}
    said = text_of(index)
    assert "nothing ran on dead-engine 1.0, so nothing is known of it" in said
    assert "dead-engine" not in said.replace("nothing ran on dead-engine", "")


def test_a_part_of_a_run_is_told_to_be_one(runs: Path) -> None:
    record = runs / "c" / "run.jsonl"
    record.write_text("".join(record.read_text().splitlines(keepends=True)[:-1]))
    index, _ = write_site(runs)
    assert "a part of a run: its record has no footer" in text_of(index)


def test_pages_of_before_go_and_nothing_else_does(runs: Path) -> None:
    write_site(runs)
    mine = runs / "history" / "notes.html"
    mine.write_text("mine")
    shutil.rmtree(runs / "c")
    shutil.rmtree(runs / "b")
    write_site(runs)
    assert mine.read_text() == "mine"
    assert not list((runs / "history").glob("changes-*"))


def test_hostile_text_is_shown_and_not_executed(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e\x00/../.."
    keep(tmp_path / "runs", "a", answer, "2026-01-01T00:00:00Z", hostile, version=hostile)
    keep(tmp_path / "runs", "b", crop_crashes, hostile, hostile, version=hostile)
    write_site(tmp_path / "runs")
    pages = [tmp_path / "runs" / "index.html", *(tmp_path / "runs" / "history").iterdir()]
    assert len(pages) == 4
    for page in pages:
        text = page.read_text()
        assert "<script" not in text
        assert "\u202e" not in text
        assert "script-src 'none'" in text


def test_the_folder_of_one_run_keeps_its_report(runs: Path) -> None:
    with pytest.raises(UserError, match="folder of one run"):
        write_site(runs / "a")
    assert (runs / "a" / "index.html").read_text() == "a report"


def test_another_place_has_no_links_out_of_itself(runs: Path, tmp_path: Path) -> None:
    index, _ = write_site(runs, tmp_path / "public")
    assert index == tmp_path / "public" / "index.html"
    assert "../" not in index.read_text()
    assert not (runs / "index.html").exists()


def test_the_command(capsys: pytest.CaptureFixture[str], runs: Path, tmp_path: Path) -> None:
    (runs / "odd.jsonl").write_text(json.dumps({"type": "header", "format": "opcert-run/1"}) + "\n{\n")
    done = call(capsys, "site", runs)
    assert done.code == 0
    assert done.out.splitlines()[0] == "4 runs of 2 runtimes"
    assert "left out" in done.err
    (tmp_path / "empty").mkdir()
    assert call(capsys, "site", tmp_path / "empty").code == 5
    assert call(capsys, "site", tmp_path / "none").code == 2


def test_nothing_ran_anywhere(tmp_path: Path) -> None:
    keep(tmp_path / "runs", "a", answer, "2026-01-01T00:00:00Z", skip=4)
    with pytest.raises(NothingRan):
        write_site(tmp_path / "runs")
    assert len(find_runs(tmp_path / "runs").left_out) == 1

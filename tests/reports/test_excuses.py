"""Waivers and known failures in the report: said beside the cases, with verdicts and counts as they were."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from opcert.commands import cli
from reports.causes.followed_readings import fault_name
from reports.formats.html import render_report
from reports.gates.baseline import Baseline, excuse, write_baseline
from reports.gates.profiles import Profile
from reports.pages.run_page import RunPage
from reports.results.case_results import Results, put_together
from reports.results.excuses import STANDINGS, Excuse
from tests.reports.page_data import read_parts, text_of
from tests.reports.sample import CROP_PAD, PAD, RESIZE_18, Maker, sample_cases

DAY = date(2026, 11, 20)
FAULT = {"kind": "repeats_differ", "operator": str(CROP_PAD), "message": "answers differ (3 cases)"}


def waiver(cases: str, expires: str, **more: object) -> dict[str, object]:
    link = "https://example.org/9"
    return {"cases": cases, "reason": "later <b>", "link": link, "expires": expires, **more}


PROFILE = Profile.model_validate(
    {
        "profile": "some",
        "description": "two operators",
        "operators": [str(RESIZE_18), str(PAD)],
        "waivers": [
            waiver("Pad-1/", "2026-11-19"),
            waiver("Resize-18/", "2026-11-20", conditions={"mode": "cubic"}),
        ],
    }
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases(7)), faults=(FAULT,))
    with made.suite:
        yield put_together(made.suite, made.record)


@pytest.fixture(scope="module")
def baseline(plain: Results) -> Baseline:
    crashes = [str(each.id) for each in plain.cases if each.verdict == "crash"]
    others = [str(each.id) for each in plain.cases if each.verdict == "mismatch"]
    entry = {"verdict": "crash", "reason": "divides by zero", "link": "javascript:alert(1)"}
    fault = {"verdict": "fault", "reason": "threads", "cases": [fault_name(FAULT)], "expires": "2026-12-31"}
    known = [
        {**entry, "expires": "2026-12-31", "cases": crashes[:2]},
        {**entry, "expires": "2026-11-01", "cases": crashes},
        {**entry, "expires": "2026-12-31", "cases": others},
        fault,
    ]
    return Baseline.model_validate({"known": known})


@pytest.fixture(scope="module")
def held(plain: Results, baseline: Baseline) -> Results:
    return excuse(plain, PROFILE, baseline, DAY)


@pytest.mark.slow
def test_a_case_has_the_first_excuse_that_holds(held: Results) -> None:
    marks = {(each.verdict, each.operator): set[str]() for each in held.cases if each.fails}
    for each in held.cases:
        found = held.excuses.by_name.get(str(each.id))
        if each.fails:
            cubic = each.operator == RESIZE_18 and each.features["mode"] == "cubic"
            assert (found is not None and found.mark == "waived") is cubic
            marks[each.verdict, each.operator].add("" if found is None else found.mark)
        else:
            assert found is None
    assert marks["crash", CROP_PAD] == {"known", "no longer known"}
    assert marks["rejected_valid", PAD] == {"no longer waived"}
    assert marks["mismatch", RESIZE_18] == {"waived", ""}  # known to crash alone
    crashes = [held.excuses.standing(str(each.id)) for each in held.cases if each.verdict == "crash"]
    assert Counter(crashes) == {"baseline": 2, "expired": len(crashes) - 2}
    assert len(crashes) > 2


def test_verdicts_and_counts_stay_and_the_excused_add_up(plain: Results, held: Results) -> None:
    assert held.counts == plain.counts
    failing = sum(result.fails for result in plain.cases)
    page = RunPage(held)
    assert sum(excused_cases.number for excused_cases in page.excused) == failing
    assert [excused_cases.words for excused_cases in page.excused] == list(STANDINGS.values())
    assert RunPage(plain).excused == ()
    for found in page.classes:
        assert sum(excused_cases.number for excused_cases in page._excused(found, "")) <= len(found.cases)


def test_the_page_says_reason_link_and_last_day(held: Results) -> None:
    page = render_report([held])
    said = text_of(page)
    assert "Known until 2026-12-31: divides by zero" in said
    assert "Known until 2026-12-31: threads" in said
    assert "Waived only until 2026-11-19, which is over: later <b>" in said
    assert "later &lt;b&gt;" in page
    assert '<a href="https://example.org/9" rel="noreferrer">' in page
    assert not re.search(r"href=.javascript", page)
    (run,) = read_parts(page)["table"]["runs"]
    standings = ["no", *(each[0] for each in run["excuses"])]
    numbers = Counter(
        standings[number] for number, result in zip(run["excuse"], held.cases, strict=True) if result.fails
    )
    assert numbers == {
        excused_cases.link.rpartition(":")[2]: excused_cases.number for excused_cases in RunPage(held).excused
    }


def test_a_report_that_is_held_against_nothing_speaks_of_no_excuse(plain: Results) -> None:
    page = render_report([plain])
    assert "Of the failing cases" not in page
    assert read_parts(page)["table"]["runs"][0]["held"] is False
    assert excuse(plain, None, None) is plain


def test_only_addresses_of_the_web_are_led_to() -> None:
    for link, leads in {"https://a/b": True, "http://a": True, "file:///a": False, "": False}.items():
        assert bool(Excuse("waiver", "why", link, DAY, False).address) is leads


def test_the_command_takes_a_profile_and_a_baseline(
    plain: Results, baseline: Baseline, tmp_path: Path
) -> None:
    write_baseline(baseline, tmp_path / "known.yaml")
    words = ["report", plain.record.path, "-s", plain.suite.path, "-o", tmp_path]
    chosen = ["--baseline", tmp_path / "known.yaml", "--profile", "center-crop-pad"]
    done = CliRunner().invoke(cli, [str(word) for word in (*words, *chosen)])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "index.html").read_text()
    assert "profile center-crop-pad and a baseline of known failures" in page
    assert "Of the failing cases" in page


def test_what_to_fix_stands_directly_under_the_totals_and_a_fault_leads_to_a_case(
    tmp_path: Path, plain: Results
) -> None:
    shown = next(result for result in plain.cases if result.operator == CROP_PAD)
    fault = {**FAULT, "cases": [{"case": str(shown.id), "between": []}, {"case": "none/of/the-suite"}]}
    results = replace(plain, record=replace(plain.record, footer={"faults": [fault]}))
    html = render_report([results])
    totals, fix, faults = (
        html.index(each) for each in ('class="ledger"', "What to fix,", "Faults of the run")
    )
    assert totals < fix < faults
    (line,) = re.findall(r"<li>[^\n]*answers differ[^\n]*</li>", html[faults:])
    assert [shown.id.digest in each for each in re.findall(r'<a href="([^"]*)"', line)] == [True]


def test_beside_the_heading_that_is_its_reason_an_excuse_does_not_say_it_again() -> None:
    known = Excuse("baseline", "wrong shape when axes=some", "", date(2027, 1, 31), expired=False)
    assert known.sentence == "Known until 2027-01-31: wrong shape when axes=some"
    assert known.beside("wrong shape when axes=some").sentence == "Known until 2027-01-31"
    assert known.beside("another cause") == known

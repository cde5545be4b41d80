"""Certificates: what they state, that it is canonical, and that what is read back agrees with its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import jsonschema
import pytest
from markupsafe import escape

from conformance.judging.responses import Answered
from conformance.suite.canonical import canonical_json
from opcert.vocabulary.errors import NothingRan, UserError
from reports.causes.failure_classes import classes_of
from reports.certificates.badges import write_certificate_badge
from reports.certificates.certificate import PREDICATE_TYPE, make_certificate, statement_digest
from reports.certificates.certificate_files import write_certificate
from reports.certificates.certificate_page import write_certificate_page
from reports.formats import write_format
from reports.gates.profiles import Profile, load_profile
from reports.overview.cause_paragraphs import readings_lines, summary_table
from reports.results.case_results import Results, put_together
from reports.results.standing import Departure, Standing, SuiteStanding, VersionTrust
from reports.schemas import load_schema
from tests.conftest import REPOSITORY
from tests.reports.sample import (
    CROP_PAD,
    HEADER,
    PAD,
    RESIZE_18,
    Maker,
    make_case,
    sample_cases,
    sample_facts,
)

DAY = date(2026, 11, 20)
BEYOND = (Departure(str(CROP_PAD), 0, 8, 2), Departure("org.example::Own-1", 0, 0, 1))
RELEASED = SuiteStanding("released", "The suite is the one that opcert carries.", (), 9, 9)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases(17)))
    with made.suite:
        yield put_together(made.suite, made.record)


def test_it_is_an_in_toto_statement_over_runtime_suite_and_record(results: Results) -> None:
    statement = make_certificate(results, on=DAY).statement
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == PREDICATE_TYPE
    digests = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
    assert digests["suite"] == results.suite.digest
    record = results.record.path
    assert digests["run.jsonl"] == hashlib.sha256(record.read_bytes()).hexdigest()
    assert "runtime example-runtime 2.1.0" in digests
    assert all(len(digest) == 64 for digest in digests.values())


@pytest.mark.parametrize("profile", [None, "first-operators"])
def test_it_is_as_its_schema_says(results: Results, profile: str | None) -> None:
    demanded = None if profile is None else load_profile(profile)
    jsonschema.validate(make_certificate(results, demanded, DAY).statement, load_schema("certificate"))


def test_without_a_profile_nothing_is_passed(results: Results) -> None:
    certificate = make_certificate(results, on=DAY)
    assert certificate.holds
    assert certificate.statement["predicate"]["result"] == "NOT_DEMANDED"
    assert certificate.statement["predicate"]["profile"] is None


def test_an_unmet_profile_fails_with_reasons(results: Results) -> None:
    certificate = make_certificate(results, load_profile("first-operators"), DAY)
    assert not certificate.holds
    predicate = certificate.statement["predicate"]
    assert predicate["result"] == "FAILED"
    assert predicate["profile"]["reasons"]


def test_a_met_profile_passes(tmp_path: Path) -> None:
    cases = [make_case(CROP_PAD, "cover", {"extent": each}) for each in ("same", "crop")]
    made = Maker(tmp_path).make(
        cases, lambda case: Answered((case.expectations[0].outputs[0].expected,), 0.001)
    )
    certificate = make_certificate(
        put_together(made.suite, made.record), load_profile("center-crop-pad"), DAY
    )
    assert certificate.holds
    assert certificate.statement["predicate"]["result"] == "PASSED"


def test_counts_add_up_everywhere(results: Results) -> None:
    predicate = make_certificate(results, on=DAY).statement["predicate"]
    whole = predicate["counts"]
    assert whole["sum"] == len(results.cases) == sum(each for name, each in whole.items() if name != "sum")
    for name in whole:
        assert whole[name] == sum(each["counts"][name] for each in predicate["operators"])
        for each in predicate["operators"]:
            assert each["counts"][name] == sum(counts[name] for counts in each["elementTypes"].values())
    assert len(predicate["passedTests"]) == whole["pass"]
    assert len(predicate["failedTests"]) == sum(len(each["failing"]) for each in predicate["operators"])
    assert [each["operator"] for each in predicate["operators"] if each["holds"]] == ["ai.onnx::Resize-10"]


def test_what_was_not_tested_and_which_readings_are_followed_is_said(results: Results) -> None:
    predicate = make_certificate(results, on=DAY).statement["predicate"]
    assert any("run in one form only" in each for each in predicate["notTested"])
    readings = [each for operator in predicate["operators"] for each in operator["readings"]]
    assert all(reading["id"] == "align_corners_length" and reading["consistent"] for reading in readings)
    assert any(reading["followed"] for reading in readings)


def test_it_is_canonical_and_carries_its_own_digest(results: Results, tmp_path: Path) -> None:
    certificate = make_certificate(results, on=DAY)
    path = write_certificate(certificate, tmp_path / "certificate.json")
    raw = path.read_bytes()
    read = json.loads(raw)
    assert raw == canonical_json(read) + b"\n"
    assert read["predicate"]["digest"]["sha256"] == statement_digest(read) == certificate.digest
    read["predicate"]["counts"]["pass"] += 1
    assert statement_digest(read) != certificate.digest
    again = write_certificate(make_certificate(results, on=DAY), tmp_path / "again.json")
    assert again.read_bytes() == raw


def test_nothing_ran_is_nothing_to_certify(tmp_path: Path) -> None:
    made = Maker(tmp_path).make([make_case(CROP_PAD, "cover", {"extent": "same"})], skip=1, close=False)
    with pytest.raises(NothingRan):
        make_certificate(put_together(made.suite, made.record))


def test_a_run_that_is_not_whole_is_refused_with_every_reason(tmp_path: Path) -> None:
    cases = [make_case(CROP_PAD, "cover", {"extent": each}) for each in ("same", "crop")]
    options = {"pattern": "Crop", "shard": "1/4"}
    merged = {"missing": ["3/4"]}
    header = {**HEADER, "options": options, "merged": merged}
    made = Maker(tmp_path, header).make(cases, skip=1, close=False)
    with pytest.raises(UserError) as caught:
        make_certificate(put_together(made.suite, made.record), on=DAY)
    said = str(caught.value)
    for words in (
        "it has no footer",
        "filtered with -k 'Crop'",
        "the shard 1/4 alone",
        "merged without the shards 3/4",
        "1 of 2 cases of the suite did not run",
    ):
        assert words in said


def test_a_run_that_ended_early_is_refused(results: Results) -> None:
    footer = {**(results.record.footer or {}), "stopped": {"kind": "max_failures", "reason": "3 have failed"}}
    stopped = replace(results, record=replace(results.record, footer=footer))
    with pytest.raises(UserError, match="the run ended early: 3 have failed"):
        make_certificate(stopped, on=DAY)


def test_a_changed_suite_is_certified_as_one(results: Results) -> None:
    changed = SuiteStanding("changed", "The suite has local changes.", (Departure(str(CROP_PAD), 3, 0, 1),))
    predicate = make_certificate(results, on=DAY, standing=changed).statement["predicate"]
    assert predicate["suite"] == {
        "standing": "changed",
        "says": "The suite has local changes.",
        "departures": [{"operator": str(CROP_PAD), "otherwise": 3, "leftOut": 0, "beyond": 1}],
        "cases": 0,
        "released": 0,
        "figures": changed.figures,
    }


def test_it_says_whose_suite_it_is_what_was_loaded_and_how_adequate_the_suite_is(results: Results) -> None:
    predicate = make_certificate(results, on=DAY, standing=RELEASED).statement["predicate"]
    assert predicate["suite"]["standing"] == "released"
    assert predicate["loaded"] is None
    assert predicate["operators"][0]["coverage"] == {"strength": 2, "feasible": 120, "covered": 118}
    assert predicate["operators"][0]["adequacy"] is None


@pytest.mark.parametrize("kind", ["part", "own", "changed"])
def test_figures_of_another_suite_never_travel(tmp_path: Path, kind: Standing) -> None:
    """What is known of the cases of another suite is not what the certificate of the released one states."""
    facts = {**sample_facts(), "adequacy": {str(CROP_PAD): {"mutants": {"made": 9, "killed": 9}}}}
    made = Maker(tmp_path).make([make_case(CROP_PAD, "cover", {"extent": "same"})], facts=facts)
    measured = {CROP_PAD: VersionTrust("reviewed", {"mutants": {"made": 9, "killed": 9}, "cases": "0" * 64})}
    results = replace(put_together(made.suite, made.record), measured=measured)
    standing = SuiteStanding(kind, "", (Departure(str(CROP_PAD), 0, 1, 0),), 1, 2)
    predicate = make_certificate(results, on=DAY, standing=standing).statement["predicate"]
    assert [each["coverage"] for each in predicate["operators"]] == [None]
    assert [each["adequacy"] for each in predicate["operators"]] == [None]
    assert "are not stated" in predicate["suite"]["figures"]
    assert predicate["notTested"][0] == "1 of 2 cases of the suite that opcert carries."


def test_planted_faults_are_stated_with_the_digest_of_the_cases_measured(
    tmp_path: Path,
) -> None:
    mutants = {"made": 210, "equivalent": 10, "killed": 197, "score": 0.985}
    cases = [make_case(CROP_PAD, "cover", {"extent": "same"})]
    made = Maker(tmp_path).make(cases, facts=sample_facts())
    measured = {CROP_PAD: VersionTrust("reviewed", {"mutants": mutants, "cases": "0" * 64})}
    results = replace(put_together(made.suite, made.record), measured=measured)
    certificate = make_certificate(results, on=DAY, standing=RELEASED)
    (stated,) = certificate.statement["predicate"]["operators"]
    assert stated["adequacy"] == {**mutants, "cases": "0" * 64}
    assert stated["trust"] == "reviewed"
    page = write_certificate_page(certificate, tmp_path).read_text()
    assert "118 of 120 combinations of 2 levels; finds 197 of 200 planted faults" in page


def test_it_cites_what_the_expected_outputs_are_verified_by(tmp_path: Path, results: Results) -> None:
    """Figures are of the operator versions of the run, and of the released suite alone."""
    mutants = {"made": 1210, "equivalent": 10, "killed": 1197}
    cases = [make_case(each, "cover", {"extent": "same"}) for each in (CROP_PAD, RESIZE_18)]
    made = Maker(tmp_path).make(cases, facts=sample_facts())
    measured = {
        CROP_PAD: VersionTrust("reviewed", {"mutants": mutants, "cases": "0" * 64}),
        RESIZE_18: VersionTrust("referenced"),
        PAD: VersionTrust("reviewed", {"mutants": mutants, "cases": "0" * 64}),
    }
    ran = replace(put_together(made.suite, made.record), measured=measured)
    certificate = make_certificate(ran, on=DAY, standing=RELEASED)
    told = certificate.statement["predicate"]["verified"]
    assert told["says"][:2] == [
        "Of 1,200 mistakes planted in the references of 1 operator version that change an output, the cases "
        "notice 1,197; of 1 more this was not measured here.",
        "The expected outputs of 2 of 2 operator versions agree with independent witnesses; reviewed: 1.",
    ]
    page = write_certificate_page(certificate, tmp_path).read_text()
    for each in (*told["says"], told["page"]):
        assert escape(each) in page
    assert (REPOSITORY / told["page"]).is_file()
    (own,) = make_certificate(results, on=DAY).statement["predicate"]["verified"]["says"]
    assert "are not stated" in own


def test_the_page_says_what_was_not_tested_and_that_nobody_signed(results: Results, tmp_path: Path) -> None:
    certificate = make_certificate(results, load_profile("first-operators"), DAY)
    page = write_certificate_page(certificate, tmp_path).read_text()
    predicate = certificate.statement["predicate"]
    for each in [*predicate["notTested"], *predicate["profile"]["reasons"], certificate.digest]:
        assert escape(each) in page
    assert "It is not signed" in page
    assert "The profile first-operators" in page
    assert "is not met" in page
    assert "Which files the runtime loaded was not recorded" in page
    assert "<script" not in page
    signed = write_certificate_page(certificate, tmp_path, "ab" * 32).read_text()
    assert "--public-key KEY" in signed
    assert "It is not signed" not in signed


def test_it_names_the_processor_and_the_build_where_the_record_does(results: Results, tmp_path: Path) -> None:
    before = make_certificate(results, on=DAY)
    assert "processor" not in before.statement["predicate"]["run"]
    build = {"file": "example-2.1.0-py3-none-any.whl", "contents": "c" * 64}
    header = {
        **HEADER,
        "runtime": {**HEADER["runtime"], "environment": {"build": build}},
        "processor": {"model": "A B", "flags": ["avx2", "fma"]},
    }
    made = Maker(tmp_path, header).make(list(sample_cases(17)))
    with made.suite:
        certificate = make_certificate(put_together(made.suite, made.record), on=DAY)
    jsonschema.validate(certificate.statement, load_schema("certificate"))
    assert certificate.statement["predicate"]["run"]["processor"] == header["processor"]
    page = write_certificate_page(certificate, tmp_path).read_text()
    for said in ("A B (avx2, fma)", build["file"], build["contents"]):
        assert said in page
        assert said not in write_certificate_page(before, tmp_path).read_text()


def test_the_page_shows_hostile_text_and_executes_none(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e\x00"
    header = {**HEADER, "runtime": {"name": hostile, "version": hostile}, "platform": hostile}
    made = Maker(tmp_path, header).make([make_case(CROP_PAD, "cover", {"extent": "same"})])
    results = put_together(made.suite, made.record, hostile)
    page = write_certificate_page(make_certificate(results, on=DAY), tmp_path).read_text()
    assert "<script" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("demanded", [True, False])
def test_the_badge_says_no_more_than_the_certificate(
    results: Results, tmp_path: Path, demanded: bool
) -> None:
    profile = load_profile("first-operators") if demanded else None
    certificate = make_certificate(results, profile, DAY, RELEASED)
    badge = json.loads(write_certificate_badge(certificate, tmp_path).read_text())
    assert badge["schemaVersion"] == 1
    if demanded:
        assert (badge["message"], badge["color"]) == ("profile first-operators not met", "red")
    else:
        failing = len(certificate.statement["predicate"]["failedTests"])
        assert badge["message"].startswith(f"{failing} of ")
        assert badge["color"] == "lightgrey"


@pytest.mark.parametrize(
    ("standing", "says", "color"),
    [
        (RELEASED, "own profile first-operators met", "brightgreen"),
        (
            SuiteStanding("part", "", (Departure(str(CROP_PAD), 0, 1631, 0),), 1133, 2764),
            "own profile first-operators met, part of the suite: 1,133 of 2,764 cases",
            "yellow",
        ),
        (
            SuiteStanding("own", "", BEYOND[:1], 3, 9),
            "own profile first-operators met, own suite: 3 cases",
            "yellow",
        ),
        (
            SuiteStanding("own", "", BEYOND, 3, 9),
            "own profile first-operators met, own suite: 3 cases",
            "green",
        ),
        (SuiteStanding("changed", ""), "own profile first-operators met, suite with local changes", "yellow"),
    ],
)
def test_a_badge_says_of_which_suite_and_is_bright_green_for_the_released_one_alone(
    tmp_path: Path, standing: SuiteStanding, says: str, color: str
) -> None:
    cases = [make_case(CROP_PAD, "cover", {"extent": each}) for each in ("same", "crop")]
    made = Maker(tmp_path).make(
        cases, lambda case: Answered((case.expectations[0].outputs[0].expected,), 0.001)
    )
    results = replace(put_together(made.suite, made.record), standing=standing)
    profile = Profile(profile="first-operators", description="", operators=(str(CROP_PAD),))
    certificate = make_certificate(results, profile, DAY, standing)
    badge = json.loads(write_certificate_badge(certificate, tmp_path).read_text())
    assert (badge["message"], badge["color"]) == (says, color)
    of_run = json.loads(write_format("badge", results, tmp_path).read_text())
    assert of_run["color"] == color
    assert of_run["message"].endswith(standing.label)


def test_the_table_for_a_terminal_adds_up(results: Results) -> None:
    head, *rows, sums = summary_table(results)
    assert head[0] == "operator"
    assert head[-1] == "cases"
    numbers = [[0 if cell == "-" else int(cell) for cell in row[1:]] for row in rows]
    assert [sum(column) for column in zip(*numbers, strict=True)] == [int(cell) for cell in sums[1:]]
    assert all(sum(row[:-1]) == row[-1] for row in numbers)
    smallest = [found.smallest.id for found in classes_of(results)]
    assert all(results.reproduction_command(case).startswith("opcert repro ") for case in smallest)
    assert any("align_corners_length: floored" in readings_line for readings_line in readings_lines(results))

"""The commands: what they write and what they answer, wrong use included."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from conformance.suite.canonical import sha256
from conformance.suite.suites import open_suite
from opcert.commands import cli
from opcert.vocabulary.errors import NothingRan, UserError
from tests.reports.kept_samples import CASES, crop_crashes, keep
from tests.reports.sample import CROP_PAD, PAD, Maker, Sample, make_case, sample_cases

INDEX_SCHEMA = Path(__file__).parents[2] / "conformance" / "schemas" / "export_index.json"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases(31)))
    made.suite.close()
    return made


def invoke(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_report_writes_each_format(sample: Sample, tmp_path: Path) -> None:
    done = invoke(
        "report",
        sample.record.path,
        "-s",
        sample.suite.path,
        "-o",
        tmp_path,
        "--format",
        "html",
        "--format",
        "junit",
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "index.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "junit.xml").is_file()
    assert str(sample.suite.path) in (tmp_path / "index.html").read_text()


def test_report_of_several_runs_is_one_page_and_one_file_each_in_other_formats(
    sample: Sample, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    raw = sample.record.path.read_text().replace('"version":"2.1.0"', '"version":"2.2.0"', 1)
    other.write_text(raw)
    runs = (sample.record.path, other, "-s", sample.suite.path, "-o", tmp_path / "out")
    done = invoke("report", *runs, "--format", "html", "--format", "junit")
    assert done.exit_code == 0, done.output
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*l")) == [
        "example-runtime-2.1.0/junit.xml",
        "example-runtime-2.2.0/junit.xml",
        "index.html",
    ]
    page = (tmp_path / "out" / "index.html").read_text()
    assert "seen from" in page
    assert page.count("<h1>example-runtime 2.") == 2


def test_report_of_another_suite_is_refused(sample: Sample, tmp_path: Path) -> None:
    made = Maker(tmp_path).make([make_case(CROP_PAD, "cover", {"extent": "same"})])
    done = invoke("report", sample.record.path, "-s", made.suite.path, "-o", tmp_path / "out")
    assert isinstance(done.exception, UserError)
    assert "another suite" in str(done.exception)


def test_a_report_of_a_part_beside_the_whole_shows_the_part_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `opcert run -k` leaves it: the cases of one operator as a suite of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept = tmp_path / "cache" / "opcert" / "suites"
    part = [each for each in CASES if each.operator == PAD]
    other = [make_case(CROP_PAD, "cover", {"extent": "pad"})]
    whole, some, others = (
        keep(tmp_path, name, crop_crashes, "2026-01-01T00:00:00Z", name, cases, suites=kept) / "run.jsonl"
        for name, cases in (("whole", CASES), ("some", part), ("others", other))
    )
    done = invoke("report", whole, some, "-o", tmp_path / "out", "--format", "json")
    assert done.exit_code == 0, done.output
    assert "whole 1.0: the report shows 2 of the 4 cases of its suite, which all runs have" in done.output
    told = [json.loads(path.read_text()) for path in sorted((tmp_path / "out").rglob("report.json"))]
    assert [len(each["cases"]) for each in told] == [2, 2]
    assert told[0]["counts"] == told[1]["counts"]
    refused = invoke("report", whole, others, "-o", tmp_path / "out")
    assert isinstance(refused.exception, UserError)
    assert "opcert compare --common" in str(refused.exception)


def test_a_record_of_cases_that_this_version_makes_otherwise_is_not_taken_for_one_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept, part = tmp_path / "cache" / "opcert" / "suites", [each for each in CASES if each.operator == PAD]
    own = keep(tmp_path, "own", crop_crashes, "2026-01-01T00:00:00Z", cases=part, suites=kept) / "run.jsonl"
    header, *rows = own.read_text().splitlines()
    told = json.loads(header)
    (made,) = kept.iterdir()
    monkeypatch.setattr("opcert.commands.suite_argument.made_of", lambda *_, **__: open_suite(made))
    older = {**told, "suite": "0" * 64, "options": {**told.get("options", {}), "pattern": str(PAD.short)}}
    other = tmp_path / "older.jsonl"
    other.write_text("\n".join([json.dumps(older), *rows]) + "\n")
    refused = invoke("report", own, other, "-o", tmp_path / "out")
    assert isinstance(refused.exception, UserError)
    assert "what is made in its place is another" in str(refused.exception)


def test_report_where_nothing_ran_says_so(tmp_path: Path) -> None:
    case = make_case(CROP_PAD, "cover", {"extent": "same"})
    made = Maker(tmp_path).make([case], skip=1, close=False)
    done = invoke("report", made.record.path, "-s", made.suite.path)
    assert isinstance(done.exception, NothingRan)
    assert "Nothing ran" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("text", ["", "{}", "not a record", '{"type":"header"}\n'])
def test_report_of_no_record_is_an_error(sample: Sample, tmp_path: Path, text: str) -> None:
    wrong = tmp_path / "run.jsonl"
    wrong.write_text(text)
    done = invoke("report", wrong, "-s", sample.suite.path)
    assert isinstance(done.exception, UserError)


def test_a_folder_that_cannot_be_written_is_an_error(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = invoke("report", sample.record.path, "-s", sample.suite.path, "-o", tmp_path / "file" / "out")
    assert isinstance(done.exception, UserError)
    assert "cannot be written" in str(done.exception)


def test_repro_writes_a_folder(sample: Sample, tmp_path: Path) -> None:
    case = sample.record.results[0].case
    done = invoke("repro", case, "-s", sample.suite.path, "-o", tmp_path / "repro")
    assert done.exit_code == 0, done.output
    names = {path.name for path in (tmp_path / "repro").iterdir()}
    assert {"reproduce.py", "case.json", "model.onnx", "test_data_set_0"} <= names


@pytest.mark.parametrize("case", ["", "Resize", "../../etc/passwd", "ai.onnx/Resize-18/cover/000000000000"])
def test_repro_of_no_case_is_an_error(sample: Sample, tmp_path: Path, case: str) -> None:
    done = invoke("repro", case, "-s", sample.suite.path, "-o", tmp_path / "repro")
    assert isinstance(done.exception, UserError)
    assert not (tmp_path / "repro").exists()


def test_export_writes_every_case_and_says_what_the_layout_lacks(sample: Sample, tmp_path: Path) -> None:
    done = invoke("export", sample.suite.path, "-o", tmp_path)
    assert done.exit_code == 0, done.output
    written = sorted(json.loads(path.read_text())["id"] for path in tmp_path.rglob("case.json"))
    assert written == sorted(sample.suite.case_ids)
    assert f"{len(written)} cases in" in done.output
    index = json.loads((tmp_path / "index.json").read_text())
    jsonschema.validate(index, json.loads(INDEX_SCHEMA.read_text()))
    assert [each["id"] for each in index["cases"]] == list(sample.suite.case_ids)
    there = {str(path.relative_to(tmp_path)): path for path in tmp_path.rglob("*") if path.is_file()}
    digests = {name: digest for each in index["cases"] for name, digest in each["files"].items()}
    assert digests == {
        name: sha256(path.read_bytes()) for name, path in there.items() if name != "index.json"
    }
    assert "no ONNX model (see case.json)" in done.output


def test_help_of_each_command() -> None:
    for name in ("report", "repro", "export"):
        done = invoke(name, "--help")
        assert done.exit_code == 0
        assert "Usage" in done.output

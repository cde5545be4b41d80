"""`opcert certify --run`: whole records are certified as if they had just been made, all others refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.command_line import Answer, call, check_message, identity_suite

Capture = pytest.CaptureFixture[str]
GOOD = "fake_backends:Good"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return identity_suite(tmp_path, 4)


def certify(capsys: Capture, suite: Path, record: Path, runtime: str = GOOD) -> Answer:
    out = record.parent / "certified"
    answer = call(capsys, "certify", runtime, "-s", suite, "--run", record, "-o", out)
    assert (answer.code == 0) == (out / "certificate.json").exists()
    return answer


def test_a_whole_record_is_certified_and_verified(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    assert call(capsys, "run", GOOD, "-s", suite, "--identify", "-o", record).code == 0
    assert certify(capsys, suite, record).code == 0
    certificate = tmp_path / "certified" / "certificate.json"
    predicate = json.loads(certificate.read_text())["predicate"]
    assert any("numpy/" in each["file"] for each in predicate["loaded"])
    verified = call(capsys, "verify", certificate, "--run", record, "--suite", suite)
    assert verified.code == 0, verified.out


def test_what_was_not_recorded_is_told(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    call(capsys, "run", GOOD, "-s", suite, "-o", record)
    assert certify(capsys, suite, record).code == 0
    page = (tmp_path / "certified" / "certificate.html").read_text()
    assert "Which files the runtime loaded was not recorded" in page


def test_a_filtered_record_is_refused(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    call(capsys, "run", GOOD, "-s", suite, "-k", "Identity", "-o", record)
    answer = certify(capsys, suite, record)
    check_message(answer, 2, "input", "no certificate can be made of this run", "filtered with -k 'Identity'")


def test_shards_with_gaps_are_refused(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    part, merged = tmp_path / "1.jsonl", tmp_path / "merged.jsonl"
    call(capsys, "run", GOOD, "-s", suite, "--shard", "1/2", "-o", part)
    check_message(certify(capsys, suite, part), 2, "input", "the shard 1/2 alone", "did not run")
    call(capsys, "merge", part, "-o", merged, "--allow-missing")
    check_message(certify(capsys, suite, merged), 2, "input", "merged without the shards 2/2")


def test_a_record_without_its_end_is_refused(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    call(capsys, "run", GOOD, "-s", suite, "-o", record)
    record.write_text("".join(record.read_text().splitlines(keepends=True)[:-1]))
    check_message(certify(capsys, suite, record), 2, "input", "the record is partial")


def test_the_record_of_another_runtime_is_refused(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    call(capsys, "run", "fake_backends:Raises", "-s", suite, "-o", record)
    check_message(certify(capsys, suite, record), 2, "input", "another runtime", "fake_backends:Raises")


def test_a_record_in_which_nothing_ran_is_refused(capsys: Capture, suite: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    call(capsys, "run", "fake_backends:RefusesEverything", "-s", suite, "-o", record)
    answer = certify(capsys, suite, record, "fake_backends:RefusesEverything")
    check_message(answer, 5, "run", "nothing ran")

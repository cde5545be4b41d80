"""`opcert certify --run` judges again before it signs, and what `verify` answers to what it made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.recording.rows import Result, case_verdicts, count_verdicts
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.suites import open_suite
from reports.certificates.certificate import statement_digest
from tests.commands.command_line import call, identity_suite
from tests.conformance.samples import echo_runtime, make_case, make_suite
from tests.reports.certified import make_key

Capture = pytest.CaptureFixture[str]
Row = dict[str, Any]


def rewrite(record: Path, change: Callable[[list[Row]], None]) -> None:
    """Change the rows of a record, with a footer that fits."""
    first, *rows, last = (json.loads(line) for line in record.read_text().splitlines())
    change(rows)
    lines = [canonical_json(row) + b"\n" for row in rows]
    counts = count_verdicts(case_verdicts(map(Result.from_json, rows)).values())
    footer = canonical_json({**last, "digest": sha256(b"".join(lines)), "counts": counts})
    record.write_bytes(b"".join([canonical_json(first) + b"\n", *lines, footer + b"\n"]))


def call_right(rows: list[Row]) -> None:
    for row in rows:
        for name in ("reason", "worst", "difference", "pattern"):
            row[name] = None
        row.update(verdict="pass", wrong=0, expectation=0)
        for name in ("difference", "pattern"):
            del row[name]


def leave_out_the_offer(rows: list[Row]) -> None:
    for row in rows:
        row.update(verdict="unsupported", reason="echo does not offer tensors of float", outputs=[])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (call_right, "stated pass, and judged again mismatch"),
        (leave_out_the_offer, "counted as not offered, and what the header says was offered takes it"),
    ],
)
def test_a_record_that_does_not_hold_is_not_signed(
    capsys: Capture, tmp_path: Path, change: Callable[[list[Row]], None], words: str
) -> None:
    suite = make_suite(tmp_path, [make_case("echo"), make_case("zero")])
    record, out = tmp_path / "run.jsonl", tmp_path / "out"
    assert call(capsys, "run", echo_runtime(), "-s", suite, "-o", record).code == 1

    def wrong(rows: list[Row]) -> None:
        change([row for row in rows if row["verdict"] == "mismatch"])

    rewrite(record, wrong)
    make_key(tmp_path / "key.pem", tmp_path / "key.pub")
    words_of_call = ("certify", echo_runtime(), "-s", suite, "--run", record, "-o", out)
    answer = call(capsys, *words_of_call, "--key", tmp_path / "key.pem")
    assert answer.code == 1, answer.err
    assert words in answer.err
    assert "does not hold: nothing is certified" in answer.err
    assert "Traceback" not in answer.err
    assert not list(out.glob("certificate*"))


def test_what_was_recorded_elsewhere_says_so(capsys: Capture, tmp_path: Path) -> None:
    suite, record = identity_suite(tmp_path), tmp_path / "run.jsonl"
    call(capsys, "run", "fake_backends:Good", "-s", suite, "-o", record)
    for words, recorded, said in (
        (("--run", record), "elsewhere", "the outputs were recorded elsewhere"),
        ((), "here", "the run was recorded by the process that certified it"),
    ):
        out = tmp_path / recorded
        assert call(capsys, "certify", "fake_backends:Good", "-s", suite, *words, "-o", out).code == 0
        predicate = json.loads((out / "certificate.json").read_text())["predicate"]
        assert predicate["run"]["recorded"] == recorded
        run = record if words else out / "run.jsonl"
        verified = call(capsys, "verify", out / "certificate.json", "-s", suite, "--run", run)
        assert verified.code == 0, verified.out
        stated = verified.out.partition("stated, not checked:\n")[2]
        assert said in stated


@pytest.fixture
def certified(capsys: Capture, tmp_path: Path) -> tuple[Path, Path]:
    """A certificate that demands nothing, and its suite."""
    suite, out = identity_suite(tmp_path), tmp_path / "out"
    assert call(capsys, "certify", "fake_backends:Good", "-s", suite, "-o", out).code == 0
    return out / "certificate.json", suite


def test_another_version_has_an_answer_of_its_own(capsys: Capture, certified: tuple[Path, Path]) -> None:
    path, suite = certified
    statement = json.loads(path.read_text())
    statement["predicate"]["verifier"]["version"] = "0.0.9"
    statement["predicate"]["digest"] = {"sha256": statement_digest(statement)}
    path.write_bytes(canonical_json(statement) + b"\n")
    answer = call(capsys, "verify", path, "-s", suite)
    assert answer.code == 6
    last = "certificate: cannot be verified by this version: take opcert 0.0.9"
    assert answer.out.splitlines()[-1] == last
    statement["subject"][1]["digest"]["sha256"] = "0" * 64
    path.write_bytes(canonical_json(statement) + b"\n")
    assert call(capsys, "verify", path, "-s", suite).code == 1


def test_the_answer_as_json_is_the_same(capsys: Capture, certified: tuple[Path, Path]) -> None:
    path, suite = certified
    answer = call(capsys, "verify", path, "-s", suite, "--format", "json")
    found = json.loads(answer.out)
    assert (answer.code, found["holds"], found["problems"], found["unchecked"]) == (0, True, [], [])
    assert any("what the worker offered" in each for each in found["stated"])
    assert found["answer"].startswith("holds; own suite: 3 cases")


def test_a_profile_that_is_given_must_have_been_demanded(
    capsys: Capture, certified: tuple[Path, Path], tmp_path: Path
) -> None:
    path, suite = certified
    profile = tmp_path / "mine.yaml"
    profile.write_text("profile: mine\ndescription: ''\noperators: ['ai.onnx::Identity-13']\n")
    answer = call(capsys, "verify", path, "-s", suite, "--profile", profile)
    assert answer.code == 1
    assert "does not hold: no profile was demanded, and mine was given" in answer.out


def test_a_suite_in_a_zip_is_the_same_suite(capsys: Capture, certified: tuple[Path, Path]) -> None:
    from conformance.suite.suites import write_suite

    path, suite = certified
    packed = suite.with_name("packed.zip")
    with open_suite(suite) as opened:
        write_suite(packed, opened.cases(), opened.facts, opened.manifest["options"])
    answer = call(capsys, "verify", path, "-s", packed)
    assert answer.code == 0, answer.out


def test_a_record_of_a_day_to_come_is_not_signed(capsys: Capture, tmp_path: Path) -> None:
    """The clock is wrong here, or was: `verify` would not take what is issued before the run ended."""
    suite = make_suite(tmp_path, [make_case("echo")])
    record, out = tmp_path / "run.jsonl", tmp_path / "out"
    assert call(capsys, "run", echo_runtime(), "-s", suite, "-o", record).code == 0
    *lines, last = record.read_text().splitlines()
    later = json.dumps({**json.loads(last), "finished": "2099-01-01T00:00:00Z"})
    record.write_text("\n".join([*lines, later]) + "\n")
    found = call(capsys, "certify", echo_runtime(), "--run", record, "-s", suite, "-o", out)
    assert found.code == 1
    assert "does not hold: the run ended on 2099-01-01, which is not yet by this machine's clock" in found.err
    assert not (out / "certificate.json").exists()

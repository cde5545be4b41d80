"""Verification without a key: what holds is said to hold, and what the suite knows better is named."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from conformance.suite.canonical import canonical_json
from conformance.suite.suites import open_suite
from tests.conformance.samples import make_case, make_suite
from tests.reports.certified import PROFILE, Certified, Row, pass_everything, problems


def test_a_failed_certificate_is_told_to_be_one_and_all_else_holds(certified: Certified) -> None:
    """The runtime answers one case differently each time: a fault, for which there is no waiver."""
    found = certified.verify()
    assert found.problems == ["the profile echo is not met, as the certificate says itself"]
    assert any("rows judged again" in each for each in found.checked)
    assert any(note.startswith("unsigned: integrity only") for note in found.notes)


def test_what_holds_is_said_to_hold(calm: Certified) -> None:
    found = calm.verify()
    assert found.holds, found.problems
    said = " ".join(found.checked)
    for words in ("bytes and its digest agree", "suite is the certified", "record is the certified"):
        assert words in said
    assert "22 rows judged again" in said
    assert "profile echo is met" in said


def claim_golden(rows: list[Row]) -> list[Row]:
    """A wrong output that is replaced by `the golden one`, with the verdict left as it was."""
    wrong = next(row for row in rows if row["verdict"] == "mismatch" and len(row["outputs"]) == 1)
    wrong["outputs"] = ["golden"]
    return rows


def call_it_unsupported(rows: list[Row]) -> list[Row]:
    for row in rows:
        if row["verdict"] == "rejected_valid":
            row["verdict"] = "unsupported"
    return rows


def drop_output(rows: list[Row]) -> list[Row]:
    for row in rows:
        for output in row["outputs"]:
            if isinstance(output, dict) and "data" in output:
                raw = base64.b64decode(output.pop("data"))
                output.update(sha256="0" * 64, bytes=len(raw))
    return rows


def praise(rows: list[Row]) -> list[Row]:
    next(row for row in rows if row["verdict"] == "mismatch")["reason"] = "nearly right"
    return rows


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (pass_everything, "stated pass, and judged again mismatch"),
        (claim_golden, "stated mismatch, and judged again pass"),
        (call_it_unsupported, "stated unsupported, and judged again rejected_valid"),
        (drop_output, "an output that a record keeps is not in it"),
        (praise, "stated otherwise than judged again: reason"),
        (lambda rows: [row for number, row in enumerate(rows) if number != 3], "rows are left out"),
        (lambda rows: [*rows, rows[0]], "rows of one form and repetition"),
        (lambda rows: [rows[1], rows[0], *rows[2:]], "not in the order of the suite"),
    ],
)
def test_verdicts_and_rows_are_held_against_the_suite(
    calm: Certified, change: Callable[[list[Row]], list[Row]], words: str
) -> None:
    """Record and certificate are both rewritten, and agree with each other."""
    calm.rewrite(change)
    calm.certify()
    found = calm.verify()
    assert words in problems(found)
    assert not any("another record" in problem for problem in found.problems)


def test_a_changed_record_is_another_one(calm: Certified) -> None:
    calm.rewrite(pass_everything)
    assert "another record was certified" in problems(calm.verify())


def test_a_record_that_lacks_a_case_is_noticed_however_it_is_claimed(calm: Certified) -> None:
    gone = json.loads(calm.record.read_text().splitlines()[1])["case"]
    calm.rewrite(lambda rows: [row for row in rows if row["case"] != gone])
    calm.claim_record()
    said = problems(calm.verify())
    assert "rows are left out" in said
    assert "did not run" in said


def test_another_suite_is_noticed(calm: Certified, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    path = make_suite(tmp_path / "other", [make_case("echo")])
    with open_suite(path) as other:
        said = problems(calm.verify(suite=other))
        digest = other.digest
    assert "another suite was certified" in said
    calm.restate(lambda statement: statement["subject"][1]["digest"].update(sha256=digest))
    assert "another suite was certified" in problems(calm.verify())


def test_the_record_of_another_runtime_is_noticed(calm: Certified) -> None:
    calm.rewrite(header=lambda header: header["runtime"].update(name="better-runtime"))
    assert "another record was certified" in problems(calm.verify())
    calm.claim_record()
    said = problems(calm.verify())
    assert "runtime.name: stated" in said
    assert "subject[0].digest.sha256" in said


def test_other_files_that_were_loaded_are_another_runtime(calm: Certified) -> None:
    calm.rewrite(footer=lambda footer: footer["loaded"][0].update(sha256="0" * 64))
    calm.claim_record()
    assert "loaded[0].sha256: stated" in problems(calm.verify())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda predicate: predicate["counts"].update({"pass": 99}), "counts.pass: stated 99, found"),
        (lambda predicate: predicate["passedTests"].append("x"), "passedTests: stated a list of"),
        (lambda predicate: predicate.update(notTested=[]), "notTested: stated a list of 0"),
        (lambda predicate: predicate["operators"][0].update(holds=True), "operators[0].holds: stated True"),
        (lambda predicate: predicate.update(coverage="all"), "coverage: stated all, found nothing"),
        (lambda predicate: predicate["profile"].update(demandedCases=1), "profile.demandedCases: stated 1"),
        (lambda predicate: predicate["profile"]["waivers"][0]["covers"].pop(), "covers: stated a list"),
        (lambda predicate: predicate.update(result="NOT_DEMANDED"), "result: stated NOT_DEMANDED"),
        (lambda predicate: predicate.update(issued="1999-01-01"), "issued on 1999-01-01, before the run"),
        (lambda predicate: predicate.update(issued="2100-01-02"), "which is not yet"),
        (lambda predicate: predicate.update(issued="soon"), "cannot be made from this record"),
        (lambda predicate: predicate.update(profile={"demands": 7}), "cannot be made from this record"),
    ],
)
def test_the_statement_is_made_anew_and_compared(
    calm: Certified, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    calm.restate(lambda statement: change(statement["predicate"]))
    assert words in problems(calm.verify())


def test_a_changed_statement_without_a_new_digest_is_noticed(calm: Certified) -> None:
    document = json.loads(calm.certificate.read_text())
    document["predicate"]["counts"]["pass"] += 1
    calm.certificate.write_bytes(canonical_json(document) + b"\n")
    assert "does not have the digest that it states of itself" in problems(calm.verify())


def test_a_fault_that_is_left_out_is_noticed(certified: Certified) -> None:
    certified.rewrite(footer=lambda footer: footer.update(faults=[]))
    certified.certify()
    assert "a fault is left out: answers of org.example::Echo-1 differ" in problems(certified.verify())


def test_a_waiver_that_had_expired_covers_nothing(calm: Certified) -> None:
    """Used all the same: the certificate was changed to say that it covers what it covered before."""
    before = json.loads(calm.certificate.read_text())["predicate"]
    old = {**PROFILE["waivers"][0], "expires": "2099-12-31"}
    calm.certify(profile={**PROFILE, "waivers": [old]})
    assert "is not met" in problems(calm.verify())

    def pretend(statement: dict[str, Any]) -> None:
        predicate = statement["predicate"]
        predicate.update({name: before[name] for name in ("result", "passedTests", "failedTests")})
        predicate["profile"].update(met=True, reasons=[])
        predicate["profile"]["waivers"][0].update(
            expired=False, covers=before["profile"]["waivers"][0]["covers"]
        )

    calm.restate(pretend)
    said = problems(calm.verify())
    assert "profile.met: stated True, found False" in said
    assert "expired: stated False, found True" in said


def test_a_waiver_that_expired_since_is_named(calm: Certified) -> None:
    later = date(2100, 6, 2)
    said = problems(calm.verify(on=later))
    assert "no longer so: the waiver for org.example/Echo-1 (known) expired on 2100-06-01" in said
    assert calm.verify(on=later - timedelta(days=1)).holds


def test_a_profile_that_only_has_the_name_of_a_known_one_is_told(calm: Certified) -> None:
    calm.certify(profile={**PROFILE, "profile": "first-operators"})
    assert "named first-operators, but not the ready-made one: description: stated" in problems(calm.verify())

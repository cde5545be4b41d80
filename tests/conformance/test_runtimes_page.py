"""The page that tools/runtimes.py makes of runs: a verdict for each case and form, deaths by signal."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import Suite, open_suite
from tests.conformance.samples import echo_runtime, make_case, make_suite
from tools import runtimes

pytestmark = pytest.mark.slow

DEEDS = ("echo", "SIGSEGV", "SIGFPE", "echo")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    cases = [make_case(do, seed=number) for number, do in enumerate(DEEDS)]
    return open_suite(make_suite(tmp_path_factory.mktemp("books"), cases))


@pytest.fixture(scope="module")
def record(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Record:
    place = tmp_path_factory.mktemp("run") / "run.jsonl"
    return run_suite(suite, find_runtime(echo_runtime()), place, RunOptions(forms="all"))


def test_every_case_in_every_form_has_its_verdict(suite: Suite, record: Record) -> None:
    rows = list(runtimes.verdict_rows({"echo": record}))
    assert [cases for _, _, cases, *_ in rows] == [4, 4, 4]
    runtimes.check_whole(suite.case_ids, record)


def test_deaths_are_counted_by_signal(record: Record) -> None:
    rows = list(runtimes.death_rows({"echo": record}))
    assert [(forms, reason, count) for _, forms, reason, _, count, _ in rows] == [
        ("inputs, initializers, dynamic", f"killed by {signal} at run", 3) for signal in ("SIGFPE", "SIGSEGV")
    ]


def test_a_verdict_that_is_missing_or_there_twice_is_noticed(suite: Suite, record: Record) -> None:
    results = record.results
    for wrong in (results[1:], (*results, results[0])):
        cooked = replace(record, results=tuple(wrong))
        with pytest.raises(SystemExit, match=re.escape(results[0].case)):
            runtimes.check_whole(suite.case_ids, cooked)


def test_the_document_has_a_row_of_each_runtime_and_of_forms_that_differ(
    suite: Suite, record: Record
) -> None:
    first = record.results[0]
    other = replace(record, results=(replace(first, verdict="unsupported"), *record.results[1:]))
    lines = list(runtimes.write(17, [suite], {"echo": record, "other": other}))
    text = "\n".join(lines)
    assert suite.digest[:12] in text
    assert "| runtime | cases | pass | unsupported | crash | seconds |" in lines
    assert [line[: line.rindex(" | ")] for line in lines if " 1.0 | 4 |" in line] == [
        "| echo 1.0 | 4 | 2 | - | 2",
        "| other 1.0 | 4 | 1 | 1 | 2",
    ]
    assert "| other | initializers | 4 | 2 | - | 2 |" in lines
    assert not any(line.startswith("| echo | initializers | 4 |") for line in lines)


def test_cases_are_chosen_by_their_digests_of_each_operator(suite: Suite) -> None:
    chosen = runtimes.cases_of(suite, 3)
    assert len(chosen) == 3
    assert chosen[:2] == runtimes.cases_of(suite, 2)
    assert set(chosen) < set(suite.case_ids)

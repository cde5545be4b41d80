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
    runtimes.check_whole(suite, {"echo": record})


def test_deaths_are_counted_by_signal(record: Record) -> None:
    counted = {
        (form, reason): count for _, form, reason, _, count, _ in runtimes.death_rows({"echo": record})
    }
    assert counted == {
        (form, f"killed by {signal} at run"): 1
        for form in ("inputs", "dynamic", "initializers")
        for signal in ("SIGSEGV", "SIGFPE")
    }


def test_a_verdict_that_is_missing_or_there_twice_is_noticed(suite: Suite, record: Record) -> None:
    results = record.results
    for wrong in (results[1:], (*results, results[0])):
        cooked = replace(record, results=tuple(wrong))
        with pytest.raises(SystemExit, match=re.escape(results[0].case)):
            runtimes.check_whole(suite, {"echo": cooked})


def test_the_document_names_suite_and_runtime(suite: Suite, record: Record) -> None:
    text = "\n".join(runtimes.write(suite, {"echo": record}))
    assert suite.digest[:12] in text
    assert "| echo | 1.0 | Python 3." in text

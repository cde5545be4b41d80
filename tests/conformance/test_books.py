"""The books that tools/runtimes.py keeps of a run: what was given, sent, recorded and lost."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

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
def run(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> runtimes.Run:
    return runtimes.run(suite, echo_runtime(), tmp_path_factory.mktemp("run"))


def test_every_case_in_every_form_has_its_line(suite: Suite, run: runtimes.Run) -> None:
    ((_, given, handed, requests, verdicts, lost, twice, workers, at_a_case, between, _),) = (
        runtimes.book_rows(suite, [run])
    )
    assert (given, handed, verdicts, lost, twice, at_a_case, between) == (12, 12, 12, "0", "0", 6, 0)
    # Each of the six deaths takes another worker, but for one after the last case; the first three are tried
    # three times more.
    assert workers in (15, 16)
    assert isinstance(requests, int)
    assert requests >= 12
    runtimes.check_books(suite, [run])


def test_deaths_are_counted_by_signal(run: runtimes.Run) -> None:
    counted = {(form, reason): count for _, form, reason, _, count, _ in runtimes.death_rows([run])}
    assert counted == {
        (form, f"killed by {signal} at run"): 1
        for form in ("inputs", "dynamic", "initializers")
        for signal in ("SIGSEGV", "SIGFPE")
    }


def test_a_verdict_that_is_missing_or_there_twice_is_noticed(suite: Suite, run: runtimes.Run) -> None:
    results = run.record.results
    for wrong in (results[1:], (*results, results[0])):
        cooked = replace(run, record=replace(run.record, results=tuple(wrong)))
        with pytest.raises(SystemExit, match=re.escape(results[0].case)):
            runtimes.check_books(suite, [cooked])


def test_the_document_names_suite_and_runtime(suite: Suite, run: runtimes.Run) -> None:
    text = "\n".join(runtimes.write(suite, [run]))
    assert suite.digest[:12] in text
    assert "| echo | 1.0 | Python 3." in text

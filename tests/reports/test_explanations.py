"""What failures resemble, as a report shows it: of this record alone, and as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.judging.kept_explanations import ExplainedPart, Explanation, NamedChange, write_explanations
from opcert.vocabulary.errors import UserError
from reports.causes.failure_classes import classes_of
from reports.formats.html import render_report
from reports.results.case_results import Results, put_together
from tests.reports.page_data import read_details
from tests.reports.sample import Maker, sample_cases

SENTENCE = "The result equals the expected output with <b>antialias</b> 1 → 0."


@pytest.fixture
def again(tmp_path: Path) -> Callable[[], Results]:
    """Reads one and the same record anew."""
    made = Maker(tmp_path).make(list(sample_cases()))
    return lambda: put_together(made.suite, made.record)


def explanations(results: Results) -> list[Explanation]:
    """Of the first class of mismatches all cases; of the next one the smallest alone."""
    first, second = [failures for failures in classes_of(results) if failures.kind in ("values", "shape")][:2]
    change = NamedChange("attribute antialias=0", "antialias 1 → 0")
    cases = tuple(str(result.id) for result in first.cases)
    one = (str(second.smallest.id),)
    return [
        Explanation(cases, len(cases), change, (), cases, SENTENCE),
        Explanation(
            tuple(str(result.id) for result in second.cases),
            1,
            sentence="In a part of the cases.",
            parts=(ExplainedPart(NamedChange("roi whole", "roi ignored"), one),),
        ),
    ]


def test_a_class_and_its_cases_say_what_they_resemble(again: Callable[[], Results]) -> None:
    results = again()
    found = explanations(results)
    digest = (results.record.footer or {})["digest"]
    path = results.record.path.with_name("explanations.json")
    write_explanations(path, results.suite.digest, digest, found)
    page = render_report([again()])
    # What all answers of a cause equal is its heading.
    shown = "&lt;b&gt;antialias&lt;/b&gt; 1 → 0"
    assert page.count(f", as with {shown}") >= 1
    assert f'<p class="resembles small">The result equals the expected output with {shown}' not in page
    assert page.count('<p class="resembles small">In a part of the cases.</p>') == 1
    told = [detail["runs"][0].get("resembles") for detail in read_details(page).values()]
    assert told.count(SENTENCE) == len(found[0].cases)
    assert told.count("The result equals the expected output with roi ignored.") == 1


def test_explanations_of_another_run_are_left_out(again: Callable[[], Results]) -> None:
    results = again()
    path = results.record.path.with_name("explanations.json")
    write_explanations(path, results.suite.digest, "0" * 64, explanations(results))
    assert 'class="resembles' not in render_report([again()])


def test_damaged_explanations_are_said_to_be(again: Callable[[], Results]) -> None:
    results = again()
    results.record.path.with_name("explanations.json").write_text("{}", "utf-8")
    with pytest.raises(UserError, match="damaged"):
        render_report([again()])

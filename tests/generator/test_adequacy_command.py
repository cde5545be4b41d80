"""The command `adequacy`: what it measures, writes and refuses; and the calls that it draws."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.judging.responses import Answered
from generator.calls.data.draws import Draw
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options
from generator.making.suites.suite_making import write_generated
from generator.trust.mutants.random_calls import RandomCalls, varied
from generator.trust.mutants.subject import MutatedOperator
from opcert.commands import adequacy_command
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from specs.model.domain import check_constraints

BATCH = OperatorName.parse("org.tensorflow::BatchToSpaceND-1")
PAD = OperatorName.parse("com.microsoft::Pad-1")


@pytest.mark.nightly
@pytest.mark.slow
def test_a_suite_is_measured_and_told_as_a_page_and_as_json(tmp_path: Path) -> None:
    suite = tmp_path / "suite.zip"
    write_generated(suite, [BATCH], Options.of("small"))
    arguments = ["BatchToSpaceND", "-s", str(suite), "-o", str(tmp_path / "out"), "-j", "1"]
    ran = CliRunner().invoke(adequacy_command.command, arguments, standalone_mode=False)
    assert ran.exception is None
    assert ran.return_value == ExitCode.HOLDS
    found = json.loads((tmp_path / "out" / "adequacy.json").read_text(encoding="utf-8"))[str(BATCH)]
    counts = found["mutants"]
    assert counts["made"] == counts["killed"] + counts["equivalent"] + counts["survived"] > 60
    assert counts["score"] >= 0.9
    assert all(each["calls"] == found["calls"] == 2000 for each in found["equivalents"])
    assert found["node_tests"] is None
    page = (tmp_path / "out" / "adequacy.md").read_text(encoding="utf-8")
    assert f"| `{BATCH}` |" in page
    assert f"{counts['killed']} of" in ran.stderr


def test_an_operator_that_the_suite_does_not_have_is_named(tmp_path: Path) -> None:
    suite = tmp_path / "suite.zip"
    write_generated(suite, [BATCH], Options.of("small"))
    ran = CliRunner().invoke(adequacy_command.command, ["com.microsoft::Pad-1", "-s", str(suite)])
    assert isinstance(ran.exception, UserError)
    assert str(PAD) in str(ran.exception)


def test_nothing_is_kept_of_what_is_not_measured() -> None:
    ran = CliRunner().invoke(adequacy_command.command, ["--kept", "--update"])
    assert isinstance(ran.exception, UserError)


@pytest.fixture
def calls() -> RandomCalls:
    spec, levels = open_spec(PAD)
    return RandomCalls(MutatedOperator.of(spec, find_operator(PAD)), levels, Draw("test"))


def test_random_calls_are_valid_and_the_same_every_time(calls: RandomCalls) -> None:
    again = RandomCalls(calls.subject, calls.levels, Draw("test"))
    with calls.subject.quick():
        for drawing in (calls, again):
            drawing.more(20)
            drawing.vary(60, drawing.drawn)
    assert [random_call.call.digest(PAD) for random_call in calls.drawn] == [
        random_call.call.digest(PAD) for random_call in again.drawn
    ]
    assert len(calls.drawn) > 40
    for random_call in calls.drawn:
        assert isinstance(random_call.answer, Answered)
        assert not check_constraints(
            calls.subject.spec, random_call.call.attributes, dict(random_call.call.inputs)
        )


def test_calls_are_varied_beyond_the_levels(calls: RandomCalls) -> None:
    with calls.subject.quick():
        calls.more(3)
    base = calls.drawn[0].call
    made = {varied(calls.subject.spec, base, Draw(f"{each}")).digest(PAD) for each in range(40)}
    assert len(made) > 15


def test_aimed_calls_all_come_by_the_point(calls: RandomCalls) -> None:
    subject = calls.subject
    with subject.quick():
        calls.more(30)
        rare = min(
            (point for random_call in calls.drawn for point in random_call.reached),
            key=lambda point: (sum(point in random_call.reached for random_call in calls.drawn), point),
        )
        aimed = calls.aimed(frozenset((rare,)))
        assert all(rare in next(aimed).reached for _ in range(50))

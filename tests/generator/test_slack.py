"""Slack: what plain faults in right answers cases accept, and how much of it the default suite has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from conformance.suite.cases import Alternative, Case, Expectation, ExpectedOutput
from conformance.suite.suites import open_suite
from generator.making.operators.opsets import default_operators
from generator.making.operators.workshop import Options
from generator.making.suites.cache import default_suite
from generator.making.suites.suite_making import write_generated
from generator.measured.slack import (
    Allowed,
    Slack,
    is_measured,
    outputs_of,
    read_allowed,
    slack_facts,
    slack_of,
    unexcused,
    write_page,
)
from opcert.commands import adequacy_command
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from tests.conformance.samples import make_case

RIGHT = np.array([1, -2, 4], np.float32)


def case_with(allowed: float, *more: ExpectedOutput, given: object = RIGHT, **attributes: int) -> Case:
    outputs = [ExpectedOutput("Y", tensor(RIGHT), np.full(3, allowed)), *more]
    return replace(
        make_case(seed=1, demand="answer"),
        inputs=(("X", tensor(np.asarray(given))),),
        output_names=("Y",),
        attributes={name: attribute("int", value) for name, value in attributes.items()},
        expectations=tuple(Expectation((output,)) for output in outputs),
    )


@pytest.mark.parametrize(
    ("allowed", "largest", "single"),
    [
        (0.0, None, 0.0),
        (0.001, "x 1.0001", 0.00025),
        (0.05, "x 1.01", 0.0125),
        (4.5, "x 0", 1.125),
        (np.inf, "x 0", np.inf),
    ],
)
def test_the_largest_fault_that_a_case_accepts(allowed: float, largest: str | None, single: float) -> None:
    (found,) = outputs_of(case_with(allowed))
    assert found.largest == largest
    assert found.single == single
    assert found.is_hollow == (allowed == np.inf)
    assert (found.beyond is not None) == (allowed > 0.01)


def test_every_expectation_and_alternative_counts() -> None:
    (found,) = outputs_of(case_with(0.0, ExpectedOutput("Y", tensor(RIGHT * np.float32(0)))))
    assert found.accepted == {"x 0"}
    alternatives = tuple(Alternative(at, (np.float32(0), np.float32(-0.0))) for at in range(3))
    case = case_with(0.0, ExpectedOutput("Y", tensor(RIGHT), None, alternatives))
    (found,) = outputs_of(case)
    assert found.accepted == {"x 0"}


def test_what_is_no_ordinary_float32_data_is_not_measured() -> None:
    assert is_measured(case_with(0.0))
    for given in (
        RIGHT.astype(np.float64),
        RIGHT.astype(np.float16),
        np.array([1e30, 1, 1], np.float32),
        np.array([1e-30, 1, 1], np.float32),
        np.array([np.nan, 1, 1], np.float32),
    ):
        assert not is_measured(case_with(0.0, given=given))
    assert not is_measured(replace(case_with(0.0), demand="survive", expectations=()))


def test_a_narrower_type_on_the_way_is_asked_for_no_more_than_zeros() -> None:
    (found,) = outputs_of(case_with(0.5, stash_type=16))
    assert found.largest == "x 1.1"
    assert found.beyond is None
    (found,) = outputs_of(case_with(4.5, stash_type=16))
    assert found.beyond == "x 0"
    (found,) = outputs_of(case_with(0.5, stash_type=1))
    assert found.beyond == "x 1.1"


def test_an_entry_excuses_the_cases_that_it_names_up_to_its_fault() -> None:
    measured = tuple(outputs_of(case_with(0.05)))
    found = [Slack("ai.onnx::Some-1", measured)]
    name = measured[0].case
    assert unexcused(found, ()) == measured
    assert unexcused(found, (Allowed(cases=name, accepts="x 1.01", why="so"),)) == ()
    assert unexcused(found, (Allowed(cases=name, accepts="x 1.001", why="so"),)) == measured
    assert "accepts x 1.01: so" in write_page(found, (Allowed(cases=name, accepts="x 1.1", why="so"),))


def test_the_manifest_says_what_is_accepted() -> None:
    """Of doubles, whether float would do: by which reading, and not where the data is extreme."""
    third = np.array([1 / 3, 2.0], np.float64)
    narrow = Expectation((ExpectedOutput("Y", tensor(third), np.full(2, 1e-7)),), {"width": ("float",)})
    exact = Expectation((ExpectedOutput("Y", tensor(third), np.zeros(2)),), {"width": ("double",)})
    both = replace(case_with(0.0, given=RIGHT.astype(np.float64)), expectations=(exact, narrow))
    one = replace(both, expectations=(exact,))
    facts = slack_facts([both, one, case_with(0.05)])
    assert facts["rounded_to_float"] == {"cases": 2, "accepting": 1, "readings": ["width"]}
    assert facts["slack"] == {"cases": 1, "by_one": "x 1.01", "by_all": "x 1.01", "single": 0.0125}
    extreme = replace(both, inputs=(("X", tensor(np.array([1e300]))),))
    held = replace(both, expectations=case_with(0.0).expectations)
    assert slack_facts([extreme, held]) == {"slack": {"cases": 0}}
    assert slack_facts([case_with(np.inf)])["slack"]["single"] is None


def test_a_fault_that_has_no_name_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "slack.yaml").write_text("- {cases: Abs, accepts: x 3, why: so}\n", encoding="utf-8")
    with pytest.raises(UserError, match="no fault of that name"):
        read_allowed(tmp_path / "slack.yaml")


def test_the_command_prints_the_table(tmp_path: Path) -> None:
    pad = OperatorName.parse("com.microsoft::Pad-1")
    suite = tmp_path / "suite.zip"
    write_generated(suite, [pad], Options.of("small"))
    ran = CliRunner().invoke(
        adequacy_command.command, ["com.microsoft::Pad-1", "--slack", "-s", str(suite)], standalone_mode=False
    )
    assert ran.exception is None
    assert ran.return_value == ExitCode.HOLDS
    assert f"| `{pad}` |" in ran.stdout
    ran = CliRunner().invoke(adequacy_command.command, ["--slack", "--update"])
    assert isinstance(ran.exception, UserError)


@pytest.mark.slow
def test_no_case_of_the_default_suite_accepts_a_hundredth_more_or_zeros() -> None:
    """But for those that specs/slack.yaml names, of which each is needed."""
    with open_suite(default_suite(lambda line: None)) as suite:
        found = list(slack_of(suite, suite.facts["operators"]))
    allowed = read_allowed()
    beyond = [f"{each.case} {each.output} accepts {each.beyond}" for each in unexcused(found, allowed)]
    assert beyond == []
    assert all(each.largest is None for each in found)
    every_operator = {str(default_operator) for default_operator in default_operators()}
    assert {each.operator for each in found} == every_operator
    every = [output for each in found for output in each.beyond]
    assert [each.cases for each in allowed if not any(each.covers(output) for output in every)] == []

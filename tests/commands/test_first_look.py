"""A first look at a runtime while its suite is still made: results at once, nothing recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pytest

from conformance.processes.worker_limits import Limits
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suite_parts import make_part
from generator.asking.ambiguity import Ambiguity
from generator.making.suites.suite_making import Made
from opcert.commands.first_look import FirstLook
from opcert.vocabulary.names import OperatorName
from tests.conformance.samples import ECHO, echo_runtime, find_processes, make_case

pytestmark = pytest.mark.slow
OTHER = OperatorName("org.example", "Echo", 2)


def made(operator: OperatorName, cases: Sequence[Case], *, kept: bool = False, last: bool = False) -> Made:
    left = () if last else (OTHER,)
    part = make_part(operator, cases, {})
    return Made(operator, len(cases), 1.0, len(cases), (operator,), left, Ambiguity(0, 0), kept, part)


def first_look(word: str = "") -> FirstLook:
    return FirstLook(find_runtime(echo_runtime(word)), Limits(case_seconds=60))


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_came_of_an_operator_is_told_before_the_next_one_is_made() -> None:
    told: list[object] = []
    valid = make_case()
    wrong, dies = make_case("differs_by_form", seed=1), make_case("load_segv", seed=2)
    cases = [valid, wrong, dies, make_case("unsupported", seed=3)]
    refused = make_case(seed=4, family="invalid", demand="refuse", valid_case=valid, word="rule")
    with first_look().beside(told.append) as progress:
        progress("a sentence")
        progress(made(ECHO, [*cases, refused]))
        wait_until(lambda: len(told) == 3)
    assert told[0] == "a sentence"
    assert str(told[1]).startswith("org.example::Echo-1: 5 cases in 1.0 s")
    assert told[2] == "first look at 1 operator: 1 pass, 2 failing, 1 other; failing most: Echo-1 2"


def test_of_many_cases_of_an_operator_some_are_asked_from_the_first_to_the_last() -> None:
    told: list[object] = []
    cases = [make_case(seed=seed) for seed in range(100)]
    with first_look().beside(told.append) as progress:
        progress(made(ECHO, cases))
        wait_until(lambda: len(told) == 2)
    assert told[1] == "first look at 1 operator: 34 pass, 0 failing, 0 other"


def test_nothing_starts_where_all_was_kept_or_the_suite_is_whole_at_once() -> None:
    told: list[object] = []
    with first_look("once").beside(told.append) as progress:
        progress(made(ECHO, [make_case()], kept=True))
        progress(made(ECHO, [make_case()], last=True))
        assert find_processes("once") == []
    assert len(told) == 2


def test_a_case_that_hangs_and_a_runtime_that_does_not_start_hold_nothing_up() -> None:
    told: list[object] = []
    with first_look("hanging").beside(told.append) as progress:
        progress(made(ECHO, [make_case("load_sleep")]))
        wait_until(lambda: find_processes("hanging"))
    wait_until(lambda: not find_processes("hanging"))
    with first_look("raise").beside(told.append) as progress:
        progress(made(ECHO, [make_case()]))
    assert len(told) == 2

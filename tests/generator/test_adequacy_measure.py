"""Measuring: what is killed, what is equivalent, what survives; and the reference passes all cases."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Refused
from conformance.suite.cases import Case
from generator.asking.calls import Call, call_of
from generator.calls.data.draws import Draw
from generator.making.operators.discovery import open_spec
from generator.making.operators.workshop import Options, Workshop
from generator.making.suites.operator_cases import generate_operator
from generator.measured.kept import local_name
from generator.trust.mutants import measure as measuring
from generator.trust.mutants import random_calls, subject
from generator.trust.mutants.bench import Adequacy, MutantOutcome, Status, hold
from generator.trust.mutants.measure import measure, select
from generator.trust.mutants.random_calls import RandomCalls, varied
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.registry import find_operator
from specs.files.library import load_spec
from specs.model.spec import Spec

pytestmark = pytest.mark.slow

CENTER = OperatorName.parse("ai.onnx::CenterCropPad-18")
RESIZE = OperatorName.parse("ai.onnx::Resize-19")


@cache
def _cases(operator: OperatorName) -> Mapping[str, Case]:
    return {local_name(str(each.id)): each for each in generate_operator(operator, Options.of("small")).cases}


def _subject(operator: OperatorName) -> MutatedOperator:
    return MutatedOperator.of(open_spec(operator)[0], find_operator(operator))


def _edges(operator: OperatorName, count: int) -> dict[str, Case]:
    """The first boundary cases of an operator, by their words."""
    spec, levels = open_spec(operator)
    workshop = Workshop(spec, find_operator(operator), levels, Options())
    edges = workshop.levels.boundary_calls(workshop.spec, workshop.draw("edges"))
    return {word: workshop.add_valid("boundary", word, call) for word, _, call in islice(edges, count)}


def _measured(cases: Mapping[str, Case]) -> Adequacy:
    subject = _subject(CENTER)
    with subject.quick():
        return measure(subject, open_spec(CENTER)[1], cases, ())


@pytest.fixture
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (random_calls, measuring):
        monkeypatch.setattr(module, "AIMED", 60)
    monkeypatch.setattr(measuring, "FIRST_CALLS", 60)


@pytest.mark.nightly
@pytest.mark.usefixtures("few_calls")
def test_a_suite_kills_mutants_and_its_selection_kills_the_same() -> None:
    cases = _cases(CENTER)
    found = _measured(cases)
    assert len(found.outcomes) > 60
    assert found.score > 0.9
    assert all(each.killer in cases for each in found.of("killed"))
    assert sum(found.selection.values()) == len(found.of("killed"))
    alone = _measured({name: cases[name] for name in found.selection} | _neighbours(cases, found.selection))
    assert {each.mutant for each in alone.of("killed")} == {each.mutant for each in found.of("killed")}


def _neighbours(cases: Mapping[str, Case], names: Mapping[str, int]) -> dict[str, Case]:
    wanted = {cases[name].valid_case for name in names}
    return {name: case for name, case in cases.items() if str(case.id) in wanted}


@pytest.mark.nightly
@pytest.mark.usefixtures("few_calls")
def test_what_a_poor_suite_misses_survives_with_a_call_that_tells_it() -> None:
    found = _measured({"boundary/rank_0_of_S": _edges(CENTER, 1)["rank_0_of_S"]})
    survivors = found.of("survived")
    assert len(survivors) > len(found.outcomes) / 2
    assert all(survivor.call for survivor in survivors)
    assert found.score < 0.5


@pytest.mark.nightly
@pytest.mark.usefixtures("few_calls")
def test_only_what_agrees_on_every_random_call_is_equivalent() -> None:
    found = _measured(_cases(CENTER))
    assert {line for each in found.of("equivalent") for line in each.diff} >= {"+        if (surplus > 0):"}
    assert all(each.calls == 60 for each in found.of("equivalent"))


def test_the_search_ends_where_there_are_no_new_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def the_same(_spec: Spec, call: Call, _draw: Draw) -> Call:
        tried.append(call)
        return call

    monkeypatch.setattr(random_calls, "varied", the_same)
    whole, levels = _subject(CENTER), open_spec(CENTER)[1]
    with whole.quick():
        random = RandomCalls(whole, levels, Draw("barren"))
        random.more(20)
        monkeypatch.setattr(random, "more", lambda _count: None)
        known = len(random.drawn)
        given = list(random.aimed(frozenset()))
    assert len(given) == known
    assert 0 < len(tried) <= 100 * (random_calls._BARREN + 2)


def test_a_cache_is_emptied_for_what_it_hangs_on_alone() -> None:
    """A mutant of the operator's own module changes nothing that a module below it holds."""
    operator = OperatorName.parse("ai.onnx::Softmax-13")
    found = _subject(operator)
    assert {"operators/softmaxes.py", "functions/functions.py"} <= {part.place for part in found.parts}
    places = [each.places for each in found.caches]
    assert any("functions/functions.py" in place for place in places)
    assert not any("operators/softmaxes.py" in place for place in places)


def test_the_reference_itself_must_pass() -> None:
    name, case = next((name, each) for name, each in _cases(CENTER).items() if each.family == "cover")
    other = next(each for each in _cases(CENTER).values() if each.family == "cover" and each is not case)
    wrong = replace(case, expectations=other.expectations)
    with pytest.raises(InternalError, match="fails on a case"):
        _measured({name: wrong})


def test_a_case_that_takes_the_reference_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, cases = _subject(CENTER), _cases(CENTER)
    answered = {name: each for name, each in cases.items() if each.demand == "answer"}
    slow = next(iter(answered))
    evaluate = type(whole.reference).evaluate

    def held_up(self: Any, attributes: Any, inputs: Any, *rest: Any, **named: Any) -> Any:
        if inputs == dict(answered[slow].inputs):
            until = time.process_time() + 2 * subject.LONGEST
            while time.process_time() < until:
                pass
        return evaluate(self, attributes, inputs, *rest, **named)

    monkeypatch.setattr(subject, "LONGEST", 0.2)
    monkeypatch.setattr(type(whole.reference), "evaluate", held_up)
    some = dict(islice(answered.items(), 3))
    with whole.quick():
        held = [trial_case.name for trial_case in hold(whole, some, strict=True)]
    assert held == [name for name in some if dict(answered[name].inputs) != dict(answered[slow].inputs)]
    assert 0 < len(held) < len(some)


def test_the_reference_passes_every_case() -> None:
    subject, cases = _subject(RESIZE), _edges(RESIZE, 60)
    with subject.quick():
        assert len(hold(subject, cases, strict=True)) == len(cases)


def test_a_call_is_watched_alike_whatever_was_asked_before() -> None:
    """What the reference keeps of an answer is worked out again where its way is watched."""
    subject, cases = _subject(RESIZE), _edges(RESIZE, 5)
    with subject.quick():
        ways = [[subject.watch(call_of(case))[1] for case in cases.values()] for _ in range(2)]
    assert ways[0] == ways[1]
    assert all(ways[0])


def test_who_is_held_up_once_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "LONGEST", 0.1)
    whole = _subject(CENTER)
    case = next(each for each in _cases(CENTER).values() if each.demand == "answer")
    asked: list[int] = []

    def held_up(**given: Any) -> Any:
        asked.append(1)
        while len(asked) == 1:
            pass
        return whole.reference.function(**given)

    held = replace(whole, reference=replace(whole.reference, function=held_up))
    with held.quick():
        assert isinstance(held.respond(call_of(case)), Answered)
    assert len(asked) == 2


def test_a_mutant_that_hangs_is_ended_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "LONGEST", 0.1)
    whole = _subject(CENTER)

    def forever(input_data: Tensor, shape: Tensor, **_given: object) -> Answer:
        while True:
            pass

    hanging = replace(whole, reference=replace(whole.reference, function=forever))
    case = next(each for each in _cases(CENTER).values() if each.demand == "answer")
    with hanging.quick():
        response = hanging.respond(call_of(case))
    assert isinstance(response, Refused)
    assert response.kind == "hang"
    assert judge(case, response).verdict == "rejected_valid"
    assert not subject.tells_nothing(response, 0.001)
    assert subject.tells_nothing(response, 0.09)
    assert not subject.tells_nothing(Refused("ValueError", "no"), 0.09)


def test_a_mutant_that_fails_in_its_own_way_refuses() -> None:
    whole = _subject(CENTER)
    call = Call({}, (("input_data", None), ("shape", None)))
    with whole.quick():
        assert isinstance(whole.respond(call), Refused)


def test_few_cases_are_selected_that_kill_everything() -> None:
    killers = {"m": {"a", "b"}, "n": {"b"}, "o": {"b", "c"}, "p": {"c", "d"}, "q": {"d"}}

    def killer(mutant: str, names: Sequence[str]) -> str | None:
        return next((name for name in names if name in killers[mutant]), None)

    assert select({"a": ["m"], "b": ["n"], "c": ["o", "p"], "d": ["q"]}, killer) == {"b": 3, "d": 2}
    assert select({"b": ["m", "n"]}, killer) == {"b": 2}
    assert select({}, killer) == {}


def test_scores_leave_equivalent_mutants_aside() -> None:
    ends: dict[str, Status] = {"a": "killed", "b": "killed", "c": "equivalent", "d": "survived"}
    outcomes = [
        MutantOutcome(name, "kind", "file.py", 1, ("+x",), status, by_node_tests=name == "a")
        for name, status in ends.items()
    ]
    found = Adequacy("test::X-1", tuple(outcomes), node_tests=5)
    plain = found.to_json()
    assert plain["mutants"] == {
        "made": 4, "killed": 2, "equivalent": 1, "survived": 1, "by_node_tests": 1, "score": 2 / 3,
    }  # fmt: skip
    assert plain["node_tests"] == {"cases": 5, "killed": 1, "score": 1 / 3}
    assert [each["mutant"] for each in plain["survivors"]] == ["d"]


def test_words_are_varied_by_letters() -> None:
    spec = load_spec(OperatorName.parse("ai.onnx::Shape-25"))
    word = Call({}, (("data", tensor([b"same"], "string")),))
    found = {call.inputs[0][1].array[0] for call in (varied(spec, word, Draw(str(n))) for n in range(50))}  # type: ignore[union-attr]
    assert any(each.startswith(b"same") and each != b"same" for each in found)

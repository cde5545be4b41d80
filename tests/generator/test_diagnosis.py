"""Experiments on fakes that are wrong on purpose: what they show, and what they leave open."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conformance.judging.judge import judge
from conformance.judging.kept_diagnosis import (
    FILE,
    DiagnosedCause,
    Diagnosis,
    Needed,
    read_diagnosis,
    write_diagnosis,
)
from conformance.judging.responses import Response
from conformance.suite.cases import Case
from generator.exploring.diagnosis import diagnose as diagnosing
from generator.exploring.diagnosis import taking_apart
from generator.exploring.diagnosis.diagnose import diagnose
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from tests.generator.fuzz_fakes import Fake, Mistake, space_of

PAD = "com.microsoft::Pad-1"
CROP = "ai.onnx::CenterCropPad-18"
SCHEMA = Path(__file__).parents[2] / "conformance/schemas/diagnosis.json"
Inputs = Mapping[str, Tensor | None]


@cache
def cases_of(operator: str) -> tuple[Case, ...]:
    made = generate_operator(OperatorName.parse(operator), Options())
    return tuple(each for each in made.cases if each.demand == "answer")


def failing(operator: str, mistake: Mistake) -> list[Case]:
    fake = Fake(space_of(operator), mistake)
    return [each for each in cases_of(operator) if judge(each, fake.ask(each)).verdict != "pass"]


def diagnosed(operator: str, mistake: Mistake, **limits: Any) -> Diagnosis:
    fake = Fake(space_of(operator), mistake)
    return diagnose(failing(operator, mistake), [], fake.ask, seconds=limits.pop("seconds", 600), **limits)


def reflect_as_edge(attributes: dict[str, Any], _inputs: Inputs) -> dict[str, Any] | None:
    return {**attributes, "mode": "edge"} if attributes.get("mode") == "reflect" else None


def edge_as_constant_in_double(attributes: dict[str, Any], inputs: Inputs) -> dict[str, Any] | None:
    data = inputs["data"]
    wrong = attributes.get("mode") == "edge" and data is not None and data.element_type.name == "double"
    return {**attributes, "mode": "constant"} if wrong else None


def both(attributes: dict[str, Any], inputs: Inputs) -> dict[str, Any] | None:
    return reflect_as_edge(attributes, inputs) or edge_as_constant_in_double(attributes, inputs)


def factors(diagnosis: Diagnosis) -> list[list[str]]:
    return [[needed.factor for needed in cause.needed] for cause in diagnosis.causes]


def test_a_wrong_value_of_an_attribute_is_named() -> None:
    found = diagnosed(PAD, reflect_as_edge)
    assert factors(found) == [["mode"]]
    (cause,) = found.causes
    assert cause.needed[0].value == "reflect"
    assert set(cause.needed[0].cures) == {"constant", "edge"}
    assert {*cause.cases, *found.unexplained} == {str(each.id) for each in failing(PAD, reflect_as_edge)}
    assert set(cause.without.values()) == {"pass"}
    assert cause.sentence == "fails with mode = reflect; right with mode = constant or edge"


def test_elements_have_no_value_to_be_named() -> None:
    needed = Needed("elements of X", "", (), ("0, 1, 2, ...", "not negative"))
    cause = DiagnosedCause(False, (), "", (), "", (needed,), (), (), (), {})
    told = "fails with elements of X as given; right with elements of X = 0, 1, 2, ... or not negative"
    assert cause.sentence == told


def test_two_mistakes_of_which_one_needs_two_factors_are_two_causes() -> None:
    found = diagnosed(PAD, both)
    assert sorted(map(sorted, factors(found))) == [["mode"], ["mode", "type of data"]]
    of_two = next(cause for cause in found.causes if len(cause.needed) == 2)
    shown = {needed.factor: needed for needed in of_two.needed}
    assert (shown["mode"].value, shown["type of data"].value) == ("edge", "double")


def test_what_is_right_everywhere_has_no_cause() -> None:
    found = diagnosed(PAD, lambda _attributes, _inputs: None)
    assert (found.causes, found.unexplained, found.calls) == ((), (), ())


def test_a_mistake_in_negative_axes_is_one_of_their_signs() -> None:
    def turned_round(attributes: dict[str, Any], _inputs: Inputs) -> dict[str, Any] | None:
        axes = attributes.get("axes", ())
        return {**attributes, "axes": axes[::-1]} if len(axes) > 1 and min(axes) < 0 else None

    found = diagnosed(CROP, turned_round)
    assert factors(found) == [["signs of axes"]]
    assert found.causes[0].needed[0].value == "some negative"


def test_it_ends_with_its_calls_and_says_so() -> None:
    found = diagnosed(PAD, reflect_as_edge, most_calls=7)
    assert len(found.calls) == 7
    assert found.stopped == "7 calls were made"
    assert {name for cause in found.causes for name in cause.cases}.isdisjoint(found.unexplained)
    assert diagnosed(PAD, reflect_as_edge, seconds=0.0).calls == ()


@pytest.mark.parametrize("first", [1, 7, 40])
def test_what_came_to_no_end_goes_on_from_its_calls(tmp_path: Path, first: int) -> None:
    """The same is found as at a stretch, and nothing is asked twice."""
    whole = diagnosed(PAD, both)
    begun = diagnosed(PAD, both, most_calls=first)
    write_diagnosis(tmp_path / FILE, "a" * 64, None, begun)
    jsonschema.validate(json.loads((tmp_path / FILE).read_bytes()), json.loads(SCHEMA.read_bytes()))
    earlier = read_diagnosis(tmp_path / FILE, "a" * 64, None)
    assert earlier == begun
    fake, asked = Fake(space_of(PAD), both), list[Case]()

    def ask(case: Case, valid: Case | None = None) -> Response:
        asked.append(case)
        return fake.ask(case, valid)

    found = diagnose(failing(PAD, both), [], ask, seconds=600, earlier=earlier)
    assert replace(found, seconds=0) == replace(whole, seconds=0)
    assert len(asked) == len(whole.calls) - first
    assert found.seconds >= begun.seconds


def test_what_is_ended_from_outside_keeps_its_calls() -> None:
    fake, asked, kept = Fake(space_of(PAD), both), list[Case](), list[Diagnosis]()

    def ask(case: Case, valid: Case | None = None) -> Response:
        if len(asked) == 60:
            raise KeyboardInterrupt
        asked.append(case)
        return fake.ask(case, valid)

    with pytest.raises(KeyboardInterrupt):
        diagnose(failing(PAD, both), [], ask, seconds=600, keep=kept.append)
    assert (len(kept[-1].calls), kept[-1].stopped) == (60, "interrupted")
    assert kept[-1].causes


def test_what_is_known_is_kept_every_few_seconds() -> None:
    """What was put together to be kept changes nothing of what is found at the end."""
    times, kept = count(), list[Diagnosis]()
    fake, cases = Fake(space_of(PAD), both), failing(PAD, both)
    found = diagnose(cases, [], fake.ask, seconds=1e9, keep=kept.append, clock=lambda: float(next(times)))
    assert len(kept) > 3
    assert {diagnosis.stopped for diagnosis in kept} == {"interrupted"}
    assert replace(found, seconds=0) == replace(diagnosed(PAD, both), seconds=0)


def test_every_call_that_was_made_is_written_down_and_read_again(tmp_path: Path) -> None:
    found = diagnosed(PAD, both)
    path = tmp_path / FILE
    write_diagnosis(path, "a" * 64, "b" * 64, found)
    jsonschema.validate(json.loads(path.read_bytes()), json.loads(SCHEMA.read_bytes()))
    assert read_diagnosis(path, "a" * 64, "b" * 64) == found
    assert read_diagnosis(path, "a" * 64, "c" * 64) is None
    assert read_diagnosis(tmp_path / "none.json", "a" * 64, None) is None
    shown = {(call.call, call.outcome) for call in found.calls}
    assert len(shown) == len({call.call for call in found.calls})
    path.write_bytes(path.read_bytes().replace(b'"outcome"', b'"outcom"', 1))
    with pytest.raises(UserError, match="diagnosis is damaged"):
        read_diagnosis(path, "a" * 64, "b" * 64)


def test_a_case_that_does_not_fail_again_is_unsteady() -> None:
    fake = Fake(space_of(PAD), lambda _attributes, _inputs: None)
    cases: Sequence[Case] = cases_of(PAD)[:2]
    found = diagnose(cases, [], fake.ask, seconds=60)
    assert set(found.unsteady) == {str(each.id) for each in cases}
    assert found.unexplained == ()


def test_a_case_that_expects_more_than_the_documents_is_no_fault_of_the_runtime(tmp_path: Path) -> None:
    """One of two cases has another result than the reference's, as somebody else's example may."""
    right, wrong = cases_of(PAD)[:2]
    fake = Fake(space_of(PAD), lambda _attributes, _inputs: None)
    other = replace(right, expectations=wrong.expectations)
    assert judge(other, fake.ask(other)).verdict == "mismatch"
    found = diagnose([other, wrong], [], fake.ask, seconds=60)
    assert (found.allowed, found.unsteady) == ((str(other.id),), (str(wrong.id),))
    assert found.unexplained == ()
    write_diagnosis(tmp_path / FILE, "a" * 64, None, found)
    jsonschema.validate(json.loads((tmp_path / FILE).read_bytes()), json.loads(SCHEMA.read_bytes()))
    assert read_diagnosis(tmp_path / FILE, "a" * 64, None) == found


def test_of_a_told_cause_the_cost_is_asked() -> None:
    cases = failing(PAD, both)
    fake = Fake(space_of(PAD), both)
    found = diagnose([], [cases], fake.ask, seconds=600)
    (cause,) = found.causes
    assert cause.told
    assert set(cause.cases) == {str(each.id) for each in cases}
    assert set(cause.without.values()) <= {"pass", "fails", "unsupported", "unknown"}
    assert cause.count("pass") > 0


def test_a_told_cause_that_says_nothing_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    apart: list[str] = []
    telling = failing(PAD, reflect_as_edge)
    names = {str(each.id) for each in telling}
    silent = [each for each in failing(PAD, both) if str(each.id) not in names]
    silent *= 1 + max(len(telling), diagnosing.MOST_SEEDS) // len(silent)

    def take_apart(laboratory: Any, space: Any, name: str, call: Any, failure: Any) -> Any:
        apart.append(name)
        core = taking_apart.take_apart(laboratory, space, name, call, failure)
        return core if name in names else replace(core, needed=())

    monkeypatch.setattr(diagnosing, "take_apart", take_apart)
    fake = Fake(space_of(PAD), both)
    (cause,) = diagnose([], [silent, telling], fake.ask, seconds=600).causes
    assert set(cause.cases) == names
    assert [each in names for each in apart[:2]] == [False, True]
    assert len(apart) == diagnosing.MOST_SEEDS + 1


def test_what_causes_need_is_found_before_what_one_of_them_costs() -> None:
    """So that it does not hang on the seconds that there are, how many causes are told of."""
    reflects, doubles = failing(PAD, reflect_as_edge), failing(PAD, edge_as_constant_in_double)
    fake = Fake(space_of(PAD), both)
    whole = diagnose([], [reflects, doubles], fake.ask, seconds=600)
    assert len(whole.causes) == 2
    assert "unknown" not in whole.causes[0].without.values()
    calls = next(
        number
        for number in count(1)
        if len(diagnose([], [reflects, doubles], fake.ask, seconds=600, most_calls=number).causes) == 2
    )
    found = diagnose([], [reflects, doubles], fake.ask, seconds=600, most_calls=calls)
    assert "unknown" in found.causes[0].without.values()
    assert [cause.needed for cause in found.causes] == [cause.needed for cause in whole.causes]

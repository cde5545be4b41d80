"""Explanations of failures: planted faults are named rightly, and nothing is ever named wrongly."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from numpy.typing import NDArray

from conformance.judging.kept_explanations import Explanation, read_explanations, write_explanations
from conformance.schemas import load_schema
from generator.asking.named_operators import first_operators
from generator.calls.edits.finding import find_changes
from generator.exploring.diagnosis.change_trials import MOST_CASES, FailingCase, explain, explain_parts
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from specs.files.library import load_spec
from tests.generator import planted_faults as planted

NAMES = {fault.name: fault for fault in planted.FAULTS}
KEPT = (
    "reflect as edge",
    "low bits alone",
    "crops swapped",
    "same_lower as same_upper",
)
"""One fault of each operator that is quick; the others show the same in more tries."""


@cache
def found(name: str) -> tuple[planted.Run, Explanation]:
    fault = NAMES[name]
    run = planted.run_fault(fault.operator, fault.mistake)
    return run, explain(run.failing_ids, run.failures, run.passing)


def named(explanation: Explanation) -> set[str]:
    changes = explanation.either if explanation.change is None else (explanation.change,)
    return {change.key for change in changes}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in KEPT else [pytest.mark.nightly]) for name in NAMES]
)
def test_no_fault_is_named_wrongly(name: str) -> None:
    run, explanation = found(name)
    assert run.failures
    keys = named(explanation)
    if keys:
        assert keys & set(NAMES[name].keys)
        assert explanation.sentence is not None
    else:
        assert explanation.sentence is None


@pytest.mark.nightly
@pytest.mark.slow
def test_most_faults_are_named_alone() -> None:
    assert len(NAMES) >= 25
    assert len({fault.operator for fault in planted.FAULTS}) == 5
    right = [name for name, fault in NAMES.items() if found(name)[1].change is not None]
    assert len(right) >= len(NAMES) * 3 / 4, sorted(set(NAMES) - set(right))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "reflect as edge",
        *(
            pytest.param(name, marks=pytest.mark.nightly)
            for name in ("crops ignored", "rates ignored", "crop axes sorted")
        ),
    ],
)
def test_no_part_of_a_class_is_named_wrongly(name: str) -> None:
    run, _ = found(name)
    parts: dict[object, list[FailingCase]] = defaultdict(list)
    for failure in run.failures:
        parts["type", failure.case.element_type.name].append(failure)
        parts["family", failure.case.family].append(failure)
        parts["case", str(failure.case.id)].append(failure)
    for part in parts.values():
        keys = named(explain([str(each.case.id) for each in part], part, run.passing))
        assert not keys or keys & set(NAMES[name].keys)


def scrambled(answer: NDArray[Any]) -> NDArray[Any]:
    flat = answer.reshape(-1)
    return flat[np.argsort([(7 * place + 3) % (flat.size + 11) for place in range(flat.size)])]


def spoilt_first(answer: NDArray[Any]) -> NDArray[Any]:
    flat = answer.reshape(-1).copy()
    flat[:1] = flat[-1:]
    return flat


def zeros(answer: NDArray[Any]) -> NDArray[Any]:
    return np.full(answer.size, b"" if answer.dtype == object else 0, dtype=answer.dtype)


def halved(answer: NDArray[Any]) -> NDArray[Any]:
    flat = answer.reshape(-1)
    return flat if answer.dtype == object or answer.dtype == bool else (flat / 2).astype(answer.dtype)


@pytest.mark.slow
@pytest.mark.parametrize(
    "operator", [planted.RESIZE, planted.PAD, planted.CENTER, planted.BATCH, planted.PATCHES]
)
@pytest.mark.parametrize("spoil", [scrambled, spoilt_first, zeros, halved])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # bits taken for numbers
def test_garbage_is_not_explained(operator: str, spoil: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    def mistake(
        attributes: planted.Attributes, inputs: planted.Inputs, _readings: planted.Readings
    ) -> Tensor | None:
        right = planted.right_answer(operator, attributes, inputs)
        first = next(iter(inputs.values()))
        assert first is not None
        return Tensor(first.element_type, spoil(right).reshape(right.shape))

    run = planted.run_fault(operator, mistake)
    explanation = explain(run.failing_ids, run.failures, run.passing)
    assert run.failures
    assert named(explanation) == set()
    assert explanation.tried


def test_two_changes_at_once_are_not_called_one() -> None:
    def mistake(attributes: planted.Attributes, inputs: planted.Inputs, readings: planted.Readings) -> None:
        planted.replaced("mode", "reflect", "edge")(attributes, inputs, readings)
        planted.without_input("value")(attributes, inputs, readings)

    run = planted.run_fault(planted.PAD, mistake)
    assert named(explain(run.failing_ids, run.failures, run.passing)) == set()


def test_a_change_named_elsewhere_explains_part_of_a_class() -> None:
    """A class that holds the failures of two mistakes: each is said of its own cases."""
    value, _ = found("value ignored")
    edge, _ = found("reflect as edge")
    failures = [*edge.failures, *value.failures]
    ids = [str(failure.case.id) for failure in failures]
    whole = explain(ids, failures)
    assert named(whole) == set()
    parts = explain_parts(whole, failures, ["attribute mode=edge", "input value ignored", "pads pairs"])
    explained = {part.change.key: set(part.cases) for part in parts.parts}
    assert explained.keys() == {"attribute mode=edge", "input value ignored"}
    assert explained["attribute mode=edge"] <= set(edge.failing_ids)
    assert explained["input value ignored"] <= set(value.failing_ids)
    assert str(parts.sentence).startswith("In ")
    assert explain_parts(found("value ignored")[1], value.failures, ["pads pairs"]).parts == ()


@pytest.mark.parametrize("spoil", [scrambled, spoilt_first, halved])
def test_no_part_of_garbage_is_explained(spoil: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    failures = []
    for case in planted.cases_of(planted.PAD):
        right = case.expectations[0].outputs[0].expected
        with np.errstate(all="ignore"):
            wrong = Tensor(right.element_type, spoil(right.array).reshape(right.shape))
        if wrong != right:
            failures.append(FailingCase(case, (wrong,)))
    whole = explain([str(failure.case.id) for failure in failures], failures)
    assert explain_parts(whole, failures, []) == whole


def test_a_case_that_cannot_tell_says_nothing() -> None:
    """What comes out is wrong in one element of one case: no evidence for anything, whatever fits."""
    run, _ = found("value ignored")
    one = [
        failure for failure in run.failures if failure.case.expectations[0].outputs[0].expected.array.size < 3
    ]
    for failing_case in one:
        assert named(explain([str(failing_case.case.id)], [failing_case])) == set()


def test_a_class_without_outputs_is_not_explained() -> None:
    explanation = explain(["ai.onnx/Resize-18/cover/0123456789ab"], [])
    assert (explanation.compared, explanation.change, explanation.sentence) == (0, None, None)


def test_a_great_class_is_compared_in_part_and_says_so() -> None:
    run, explanation = found("crops ignored")
    assert len(run.failures) > MOST_CASES
    assert explanation.compared == len(explanation.explained) == MOST_CASES
    assert f"in all {MOST_CASES} cases compared of {len(run.failures)}" in str(explanation.sentence)


def test_an_accepted_invalid_call_may_be_taken_for_a_valid_one() -> None:
    made = generate_operator(OperatorName.parse(planted.CENTER), Options.of("small")).cases
    by_id = {str(each.id): each for each in made}
    broken = next(each for each in made if each.constraint == "type_of_Tind")
    valid = by_id[str(broken.valid_case)]
    right = valid.expectations[0].outputs[0].expected
    explanation = explain([str(broken.id)], [FailingCase(broken, (right,), valid)])
    assert explanation.change is not None
    assert explanation.change.key == "input shape as int64"


@pytest.mark.parametrize("operator", first_operators(), ids=str)
def test_changes_have_keys_of_their_own(operator: OperatorName) -> None:
    keys = [change.key for change in find_changes(load_spec(operator))]
    assert len(keys) == len(set(keys)) > 20


def test_the_file_is_read_back_and_keeps_its_schema(tmp_path: Path) -> None:
    explanations: tuple[Explanation, ...] = (
        found("rates ignored")[1],
        found("align_corners unknown")[1],
    )
    run, _ = found("value ignored")
    garbage = [replace(run.failures[0], outputs=()), *run.failures]
    whole = explain([str(failing_case.case.id) for failing_case in garbage], garbage)
    explanations = (*explanations, explain_parts(whole, garbage, ["input value ignored"]))
    assert explanations[-1].parts
    path = tmp_path / "out" / "explanations.json"
    write_explanations(path, "a" * 64, "b" * 64, explanations)
    Draft202012Validator(load_schema("explanations")).validate(json.loads(path.read_text("utf-8")))
    assert read_explanations(path, "a" * 64, "b" * 64) == explanations
    assert read_explanations(path, "a" * 64, "c" * 64) == ()
    assert read_explanations(tmp_path / "absent.json", "a" * 64, None) == ()
    path.write_text('{"format": "opcert-explanations/1", "suite": "x"}', "utf-8")
    with pytest.raises(UserError, match="damaged"):
        read_explanations(path, "a" * 64, "b" * 64)


def test_a_call_that_the_spec_does_not_know_is_left_out() -> None:
    run, _ = found("rates ignored")
    failure = run.failures[0]
    strange = (
        replace(failure.case, attributes={**failure.case.attributes, "dilations": Attribute("int", 2)}),
        replace(failure.case, attributes={**failure.case.attributes, "rates": Attribute("string", "2")}),
        replace(failure.case, inputs=()),
        replace(failure.case, inputs=(("image", failure.case.inputs[0][1]),)),
    )
    for case in strange:
        explanation = explain([str(case.id)], [FailingCase(case, failure.outputs)], [case])
        assert (explanation.compared, explanation.sentence) == (0, None)

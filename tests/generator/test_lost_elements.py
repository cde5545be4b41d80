"""Causes that hang on an element type: those that lose elements, and those that compute wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from conformance.judging.kept_diagnosis import Needed
from conformance.judging.responses import Answered, Response
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.exploring.diagnosis.causes_shown import Shown, put_together_by_type
from generator.exploring.diagnosis.laboratory import Laboratory
from generator.exploring.diagnosis.taking_apart import FailureCore, loses_elements
from generator.exploring.shrinking.judged_calls import CallFailure
from generator.exploring.shrinking.known_space import open_space
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

SPACE = open_space(OperatorName.parse("ai.onnx::Identity-25"))
PAD = open_space(OperatorName.parse("com.microsoft::Pad-1"))
WIDE = Call({}, (("input", tensor(np.array([1e300, 0.1, 7.0]))),))
WRONG = CallFailure("mismatch", "value", pattern="other")
Effect = Callable[[Tensor], Tensor]


def laboratory(effect: Effect) -> Laboratory:
    def ask(case: Case, _valid: Case | None = None) -> Response:
        return Answered((effect(case.expectations[0].outputs[0].expected),))

    return Laboratory(ask)


def through_float32(output: Tensor) -> Tensor:
    with np.errstate(over="ignore"):
        return Tensor(output.element_type, output.array.astype(np.float32).astype(output.array.dtype))


def one_more(output: Tensor) -> Tensor:
    return Tensor(output.element_type, output.array * 2 + 1)


@pytest.mark.parametrize(("effect", "loses"), [(through_float32, True), (one_more, False)])
def test_what_is_right_with_elements_that_every_type_holds_loses_others(effect: Effect, loses: bool) -> None:
    assert loses_elements(laboratory(effect), SPACE, "a/b/c", WIDE, WRONG) is loses


def test_elements_that_are_plain_already_are_not_lost() -> None:
    plain = Call({}, (("input", tensor(np.arange(3.0))),))
    assert loses_elements(laboratory(one_more), SPACE, "a/b/c", plain, WRONG) is False


def test_of_texts_nothing_is_said() -> None:
    texts = Call({}, (("input", tensor(np.array(["a", "b"], dtype=object))),))
    assert loses_elements(laboratory(one_more), SPACE, "a/b/c", texts, WRONG) is None


def test_every_input_of_the_type_has_plain_elements() -> None:
    """What fills is lost as well as what is filled."""
    given = tensor(np.array([3.0])), tensor(np.array([1, 1], np.int64)), tensor(np.array([1e300]))
    call = Call({}, tuple(zip(("data", "pads", "value"), given, strict=True)))
    assert loses_elements(laboratory(through_float32), PAD, "a/b/c", call, WRONG) is True


def cause(name: str, *losing: bool) -> Shown:
    needed = Needed("type of input", "double", (), ("float",))
    shown = Shown(FailureCore(SPACE, WIDE, WRONG, (needed,), ()), name)
    shown.add(name, WRONG, "pass")
    shown.losing |= set(losing)
    return shown


def groups(*shown: Shown) -> list[list[str]]:
    return [each.cases for each in put_together_by_type([each.copy() for each in shown])]


def test_causes_of_which_one_loses_and_one_computes_wrongly_stay_apart() -> None:
    lost, wrong, unseen = cause("lost", True), cause("wrong", True, False), cause("unseen")
    assert groups(lost, wrong) == [["lost"], ["wrong"]]
    assert groups(lost, cause("also", True)) == [["lost", "also"]]
    assert groups(wrong, unseen) == [["wrong", "unseen"]]


def test_a_cause_is_no_part_of_one_that_is_right_with_a_value_with_which_it_fails() -> None:
    memory = Shown(
        FailureCore(
            SPACE, WIDE, WRONG, (Needed("mode", "cubic", (), ("nearest", "linear")),), ("coordinates",)
        ),
        "a",
    )
    also = Needed("coordinates", "nn", (), ("half",))
    part = FailureCore(SPACE, WIDE, WRONG, (Needed("mode", "cubic", (), ("nearest",)), also), ())
    assert Shown(part, "b").is_part_of(memory)
    other = replace(part, needed=(Needed("mode", "cubic", ("linear",), ("nearest",)), also))
    assert not Shown(other, "c").is_part_of(memory)

"""References that answer something else than is declared: told with operator and call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.suite.suites import open_suite
from generator.asking.answered_outputs import check_answers, declared_results
from generator.asking.calls import Call
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference import registry
from reference.answers import Answer
from reference.registry.reference_operator import ReferenceOperator
from specs.files.library import load_spec
from specs.model.spec import Spec
from tests.commands.command_line import call, check_message

pytestmark = pytest.mark.slow

WRONG = OperatorName.parse("ai.onnx::Not-1")
RIGHT = OperatorName.parse("ai.onnx::And-7")


def _raises(error: Exception) -> Callable[..., Any]:
    def fail(**_: Any) -> Any:
        raise error

    return fail


def _changed(change: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> Callable[..., Any]:
    return lambda **given: Answer(Tensor(given["X"].element_type, change(~given["X"].array)))


REFERENCES: dict[str, tuple[Callable[..., Any], str]] = {
    "raises": (_raises(ZeroDivisionError("nothing is left")), "nothing is left"),
    "gives up": (_raises(InternalError("more bits than the limit")), "more bits than the limit"),
    "an axis more": (_changed(lambda found: found[None]), "another shape than is declared"),
    "an axis reversed": (_changed(np.transpose), "another shape than is declared"),
    "an element more": (_changed(lambda found: np.append(found, True)), "another shape than is declared"),
    "another type": (
        lambda **given: Answer(Tensor(ELEMENT_TYPES["uint8"], given["X"].array.astype(np.uint8))),
        "another type than it has",
    ),
    "too few": (lambda **_: (), "too few outputs"),
    "no tensor": (lambda **given: Answer(given["X"].array), "what is no tensor"),
}
FIRST = ("raises", "an axis more", "too few")


@pytest.mark.parametrize(
    "name",
    [
        reference if reference in FIRST else pytest.param(reference, marks=pytest.mark.nightly)
        for reference in REFERENCES
    ],
)
def test_one_that_is_wrong_is_named_with_its_call_and_the_others_are_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    function, told = REFERENCES[name]
    right = registry.reference_of

    def found(spec: Spec) -> ReferenceOperator:
        reference = right(spec)
        return replace(reference, function=function) if spec.operator == WRONG else reference

    for place in ("operators.workshop", "suites.operator_cases", "suites.suite_making"):
        monkeypatch.setattr(f"generator.making.{place}.reference_of", found)
    monkeypatch.setattr("generator.making.suites.cache.PROCESSES", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    suite = tmp_path / "suite"
    answer = call(capsys, "generate", WRONG, RIGHT, "-o", suite)
    check_message(answer, 3, "bug", str(WRONG), told, "X: bool")
    assert not suite.exists()
    assert f"{RIGHT}: " not in answer.err.partition("opcert: bug")[2]
    kept = tmp_path / "cache" / "opcert" / "parts" / "ai.onnx"
    assert {path.parent.name for path in kept.glob("*/*") if path.suffix != ".lock"} == {RIGHT.short}
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert call(capsys, "generate", WRONG, RIGHT, "--size", "small", "-o", suite).code == 0
    with open_suite(suite) as opened:
        assert set(opened.facts["operators"]) == {str(WRONG), str(RIGHT)}


def _asked(operator: str, call: Call, names: tuple[str, ...], *shapes: tuple[int, ...]) -> None:
    spec = load_spec(OperatorName.parse(operator))
    answers = [Answer(Tensor(ELEMENT_TYPES["float"], np.zeros(shape, np.float32))) for shape in shapes]
    check_answers(spec, names, answers, declared_results(spec, call, names))


def _floats(*shape: int) -> Tensor:
    return Tensor(ELEMENT_TYPES["float"], np.zeros(shape, np.float32))


def test_each_tensor_of_a_variadic_output_has_its_own_shape_and_the_type() -> None:
    given = Call(
        {}, (("input", _floats(5, 2)), ("split", tensor([1, 4], "int64"))), (), ("outputs_0", "outputs_1")
    )
    names = ("outputs_0", "outputs_1")
    _asked("ai.onnx::Split-13", given, names, (1, 2), (4, 2))
    with pytest.raises(InternalError, match="answers outputs_1 with another shape"):
        _asked("ai.onnx::Split-13", given, names, (1, 2), (1, 2))
    halves = Call({}, (("input", tensor([1, 2], "int32")),), (), names)
    with pytest.raises(InternalError, match="answers outputs_0 with another type"):
        _asked("ai.onnx::Split-13", halves, names, (1,), (1,))


def test_an_output_that_nobody_asks_for_is_not_looked_at() -> None:
    given = Call({}, (("X", _floats(2, 2)),), (), ("Y", "", "inverse_indices"))
    spec = load_spec(OperatorName.parse("ai.onnx::Unique-11"))
    declared = declared_results(spec, given, ("Y", "", "inverse_indices"))
    assert [str(declared_output.shape) for declared_output in declared] == ["[up to 4]", "None", "[4]"]


def test_extents_up_to_a_number_are_those_and_no_more() -> None:
    given = Call({}, (("X", _floats(2, 3)),))
    spec = load_spec(OperatorName.parse("ai.onnx::NonZero-13"))
    (declared,) = declared_results(spec, given, ("Y",))
    assert (shape := declared.shape) is not None
    assert [shape.holds(each) for each in ((2, 0), (2, 6))] == [True, True]
    assert [shape.holds(each) for each in ((2, 7), (6, 2), (2,))] == [False, False, False]


def test_what_a_reading_decides_is_left_open_but_for_the_rank() -> None:
    roi = tensor([0.0, 0.0, 1.0, 0.5], "float")
    given = Call({}, (("X", _floats(2, 4)), ("roi", roi), ("scales", tensor([1.0, 2.0], "float"))))
    spec = load_spec(OperatorName.parse("ai.onnx::Resize-13"))
    (declared,) = declared_results(spec, given, ("Y",))
    assert (shape := declared.shape) is not None
    assert [shape.holds(each) for each in ((2, 8), (2, 4), (2, 8, 1))] == [True, True, False]

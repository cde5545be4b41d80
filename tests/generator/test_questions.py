"""Questions to a reference: what it did not ask for changes nothing, and is not computed again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, cast

from generator.asking.calls import Call
from generator.asking.expectations import expectations_of
from generator.asking.questions import ask
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.registry.reference_operator import ReferenceOperator
from specs.files.library import load_spec
from specs.model.spec import Reading

RELU = load_spec(OperatorName("ai.onnx", "Relu", 14))
CALL = Call({}, (("X", tensor([1.0, 2.0], "float")),))


@dataclass
class Asking:
    """A reference whose second reading matters under one option of the first alone, and the third nowhere."""

    operator: OperatorName = RELU.operator
    evaluated: list[tuple[str, ...]] = field(default_factory=list)

    def evaluate(
        self, _: Any, given: Any, chosen: dict[str, str], asked: set[str], *__: object
    ) -> tuple[Answer, ...]:
        self.evaluated.append(tuple(chosen.values()))
        asked.add("first")
        if chosen["first"] == "b":
            asked.add("second")
        moved = {"b": {"a": 1, "b": 2, "c": 3}[chosen["second"]], "a": 0, "c": 5}[chosen["first"]]
        return (Answer(tensor(given["X"].array + moved, "float")),)


def readings() -> list[Reading]:
    like = next(iter(RELU.readings))
    options = {each: next(iter(like.options.values())) for each in "abc"}
    return [replace(like, id=each, options=options, chosen=None) for each in ("first", "second", "third")]


def test_what_was_not_asked_for_is_not_computed_again() -> None:
    reference = Asking()
    spec = replace(RELU, readings=tuple(readings()))
    question = ask(spec, cast("ReferenceOperator", reference), CALL)
    for options in product("abc", repeat=3):
        (_, answer), *_ = question.answer(options)
        wanted = {"a": 0, "b": "abc".index(options[1]) + 1, "c": 5}[options[0]]
        assert answer.expected.array.tolist() == [1.0 + wanted, 2.0 + wanted]
        assert question.asks_for("second", options) is (options[0] == "b")
        assert not question.asks_for("third", options)
    assert len(reference.evaluated) == 5
    found = expectations_of(question)
    assert len(found) == 5
    assert len(reference.evaluated) == 5

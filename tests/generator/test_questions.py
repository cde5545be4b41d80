"""Questions to a reference: what it did not ask for changes nothing, and is not computed again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, cast

from generator.asking.calls import Call
from generator.asking.expectations import expectations_of
from generator.asking.questions import ask
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.readings.choices import Choice, remembering, stage
from reference.registry import find_operator
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


def test_what_a_stage_asked_for_counts_where_it_is_known_as_well() -> None:
    asked: list[str] = []
    made: list[str] = []

    def choices(*options: str) -> list[Choice[str]]:
        return [Choice(option, partial(asked.append, f"{at}{option}")) for at, option in enumerate(options)]

    def make(first: Choice[str], second: Choice[str]) -> str:
        made.append(first.ask() + (second.ask() if first.option == "a" else "-"))
        return made[-1]

    with remembering({}):
        for _ in range(2):
            assert stage("s", choices("a", "b"), make) == "ab"
            assert stage("s", choices("b", "b"), make) == "b-"
    assert made == ["ab", "b-"]
    assert asked == ["0a", "1b", "0b"] * 2
    assert stage("s", choices("a", "b"), make) == "ab", "nothing is kept of what is asked beside a question"
    assert made == ["ab", "b-", "ab"]


def test_what_is_known_of_a_call_is_what_it_is_alone() -> None:
    """Places and sums of GridSample are computed once; answers and what they ask for stay the same."""
    spec = load_spec(OperatorName("ai.onnx", "GridSample", 22))
    reference = find_operator(spec.operator, None)
    grid = [[[[-1.2, 0.3], [0.77, 6e-6]], [[1.1, -0.9], [0.2, 0.41]]]]
    for mode in ("linear", "cubic", "nearest"):
        attributes = {"mode": Attribute("string", mode)}
        X = tensor([[[[100, -120, 3], [7, 90, -1]]]], "int8")
        call = Call(attributes, (("X", X), ("grid", tensor(grid, "float16"))))
        question = ask(spec, reference, call)
        spread = list(product(*(reading.options for reading in question.open)))[::61]
        for options in spread:
            alone = ask(spec, reference, call)
            (_, found), (_, wanted) = question.answer(options)[0], alone.answer(options)[0]
            assert found.expected == wanted.expected
            assert repr(found.alternatives) == repr(wanted.alternatives)
            assert (found.allowed is None) == (wanted.allowed is None)
            assert found.allowed is None or (found.allowed == wanted.allowed).all()
            assert question.asked[options] == alone.asked[options]

"""Mistakes that are made with every operator alike: each does what it says, and none that is left open."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.judging.responses import Answered, Refused, Response
from generator.asking.calls import Call
from generator.trust.mutants.mistake import Mistaken
from generator.trust.mutants.mistakes_of_calls import make_mistakes
from generator.trust.mutants.mutants import make_mutants
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from specs.files.library import load_spec

OPERATORS = ("Abs-13", "Add-14", "And-7", "CenterCropPad-18", "Concat-13", "Gather-13", "TopK-24", "Where-16")

KINDS = {
    *("aligned shapes", "cut strings", "exchanged tensors", "kernel loops", "other arithmetic"),
    *("refused tensors", "special values", "taken attributes", "taken integers", "unfinished elements"),
}


def subject_of(name: str) -> MutatedOperator:
    operator = OperatorName.parse(f"ai.onnx::{name}")
    return MutatedOperator.of(load_spec(operator), find_operator(operator))


def planted(subject: MutatedOperator, kind: str, key: str) -> Mistaken:
    found = [
        mistake
        for mistake in make_mistakes(subject.spec)
        if mistake.kind == kind and mistake.mistake.key.startswith(key)
    ]
    assert found, (kind, key)
    return found[0]


def answer(name: str, kind: str, key: str, call: Call) -> Response:
    subject = subject_of(name)
    with subject.quick():
        right = subject.respond(call)
        mutant = planted(subject, kind, key)
        assert mutant.applies(subject, call, right)
        made = mutant.respond(subject, call)
        assert made == mutant.respond(subject, call, right)
        assert made != right
    return made


def first(response: Response) -> object:
    assert isinstance(response, Answered)
    (given, *_) = response.outputs
    assert isinstance(given, Tensor)
    return given.array.tolist()


def call(attributes: Mapping[str, Attribute] | None = None, **inputs: Tensor) -> Call:
    return Call(dict(attributes or {}), tuple(inputs.items()))


def test_every_kind_of_mistake_is_made_with_some_operator_and_each_once() -> None:
    kinds = set()
    for name in OPERATORS:
        made = list(make_mistakes(load_spec(OperatorName.parse(f"ai.onnx::{name}"))))
        assert len({mistaken.id for mistaken in made}) == len(made) > 5
        kinds |= {mistaken.kind for mistaken in made}
    assert kinds == KINDS


def test_shapes_are_aligned_from_the_left() -> None:
    square = call(A=tensor([[1, 2], [3, 4]], "float"), B=tensor([10, 20], "float"))
    assert first(answer("Add-14", "aligned shapes", "left", square)) == [[11, 12], [23, 24]]
    refused = answer("Add-14", "aligned shapes", "different ranks", square)
    assert isinstance(refused, Refused)


def test_special_values_are_lost() -> None:
    given = call(X=tensor([float("nan"), float("-inf"), 1], "float"))
    assert first(answer("Abs-13", "special values", "inputs NaN as zero", given))[0] == 0  # type: ignore[index]
    greatest = first(answer("Abs-13", "special values", "outputs infinity as greatest", given))
    assert greatest[1] == 3.4028234663852886e38  # type: ignore[index]


def test_elements_are_computed_in_other_types() -> None:
    double = call(X=tensor([-0.1], "double"))
    assert first(answer("Abs-13", "other arithmetic", "inputs double", double)) == [0.10000000149011612]
    unsigned = call(A=tensor([200], "uint8"), B=tensor([2], "uint8"))
    assert first(answer("Div-14", "other arithmetic", "unsigned as signed", unsigned)) == [228]
    wide = call(A=tensor([2**60 + 1], "int64"), B=tensor([0], "int64"))
    assert first(answer("Add-14", "other arithmetic", "inputs 64 bits", wide)) == [2**60]


def test_integers_inputs_and_outputs_are_taken_for_others() -> None:
    data, indices = tensor([1, 2, 3], "int32"), tensor([0, 2], "int64")
    given = call(data=data, indices=indices)
    assert first(answer("Gather-13", "taken integers", "indices other end", given)) == [3, 1]
    assert first(answer("Gather-13", "taken integers", "indices first", given)) == [1, 1]
    top = call(X=tensor([3, 1, 2], "float"), K=tensor([2], "int64"))
    assert first(answer("TopK-24", "exchanged tensors", "outputs turned", top)) == [0, 2]
    assert first(answer("TopK-24", "taken attributes", "largest=0", top)) == [1, 2]
    both = Call({"axis": Attribute("int", 0)}, (("inputs", data), ("inputs", tensor([4], "int32"))))
    assert first(answer("Concat-13", "exchanged tensors", "inputs turned", both)) == [4, 1, 2, 3]


def test_strings_are_cut_and_elements_left_out() -> None:
    words = call(condition=tensor([True], "bool"), X=tensor([b"a\0b"], "string"), Y=tensor([b"c"], "string"))
    assert first(answer("Where-16", "cut strings", "at NUL", words)) == [b"a"]
    five = call(X=tensor([1, 2, 3, 4, 5], "float"))
    assert first(answer("Abs-13", "unfinished elements", "rest of 4", five)) == [1, 2, 3, 4, 0]
    empty = call(X=tensor([], "float"))
    assert isinstance(answer("Abs-13", "refused tensors", "empty inputs", empty), Refused)


def test_a_refusal_that_is_left_open_is_no_mistake() -> None:
    subject, empty = subject_of("Unique-28"), call(X=tensor([], "float"))
    with subject.quick():
        right = subject.respond(empty)
        for key in ("empty inputs", "empty outputs"):
            assert not planted(subject, "refused tensors", key).applies(subject, empty, right)


def test_what_a_spec_leaves_open_is_no_mistake() -> None:
    keys = {
        mistake.mistake.key for mistake in make_mistakes(load_spec(OperatorName.parse("ai.onnx::Gather-13")))
    }
    assert "outputs negative zero as zero" not in keys
    assert "inputs NaN as zero" in keys


@pytest.mark.parametrize(
    ("operator", "wanted"),
    [
        ("And-7", ["np.logical_or(", "np.logical_xor("]),
        ("Not-1", ["Answer(Tensor(X.element_type, X.array))"]),
        ("BitwiseOr-18", ["np.bitwise_and(", "np.bitwise_xor("]),
        ("Floor-13", ["whole(X, 'ceil')", "whole(X, 'truncate')", "return X"]),
        ("Less-13", ["'less_or_equal')", "'greater')"]),
        ("ReduceSum-13", ["return product("]),
        ("Max-13", ["lesser_of(left"]),
    ],
)
def test_a_function_is_taken_for_its_neighbours(operator: str, wanted: list[str]) -> None:
    lines = [line for mutant in make_mutants(subject_of(operator)) for line in mutant.diff if line[0] == "+"]
    for text in wanted:
        assert any(text in line for line in lines), text


def test_a_variable_is_no_function() -> None:
    added = [
        line for mutant in make_mutants(subject_of("Equal-19")) for line in mutant.diff if line[0] == "+"
    ]
    assert not any("& ~equal" in line or "less | less" in line for line in added)

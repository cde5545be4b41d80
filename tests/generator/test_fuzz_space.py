"""What fuzzing takes for a call to try, and which calls it leaves."""

from __future__ import annotations

import pytest

from generator.asking.calls import Call
from generator.exploring.shrinking.known_space import growth, without_huge_numbers
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.tensors import Tensor, tensor
from tests.generator.fuzz_fakes import space_of

PAD, RESIZE = "com.microsoft::Pad-1", "ai.onnx::Resize-18"


def pad(pads: list[int], kind: str = "float", **attributes: Attribute) -> Call:
    return Call(attributes, (("data", tensor([1, 2, 3], kind)), ("pads", tensor(pads, "int64"))))


def resize(scales: list[float], **attributes: Attribute) -> Call:
    X: Tensor = tensor([1, 2, 3], "float")
    return Call(attributes, (("X", X), ("roi", None), ("scales", tensor(scales, "float"))))


def test_a_valid_call_breaks_no_rule() -> None:
    attempt = space_of(PAD).attempt(pad([1, 2]))
    assert attempt is not None
    assert attempt.breaks is None


@pytest.mark.parametrize(("most", "allowed"), [(2**63 - 1, True), (2**63, False), (2**64 + 1, False)])
def test_integers_of_attributes_have_64_bits(most: int, allowed: bool) -> None:
    call = Call({"value_ints": Attribute("ints", (1, most))}, ())
    assert (space_of("ai.onnx::Constant-25").attempt(call) is not None) is allowed


@pytest.mark.parametrize(
    ("operator", "broken", "rule"),
    [
        (PAD, pad([1, 2, 3]), "pads_length"),
        (PAD, Call({}, pad([1, 2]).inputs[:1]), "pads_given"),
        (RESIZE, resize([2.0], cubic_coeff_a=attribute("float", float("nan"))), "cubic_coeff_a_finite"),
        (RESIZE, resize([2.0], exclude_outside=attribute("int", 2)), "exclude_outside_value"),
    ],
)
def test_a_call_that_breaks_one_rule_needs_the_valid_one_beside_it(
    operator: str, broken: Call, rule: str
) -> None:
    valid = pad([1, 2]) if operator == PAD else resize([2.0])
    assert space_of(operator).attempt(broken) is None
    attempt = space_of(operator).attempt(broken, valid)
    assert attempt is not None
    assert attempt.breaks is not None
    assert attempt.breaks.id == rule


@pytest.mark.parametrize(
    ("operator", "call"),
    [
        (PAD, pad([1, 2, 3], mode=attribute("string", "mirror"))),  # two rules
        (PAD, Call({}, (*pad([1, 2]).inputs, ("more", tensor([1], "int64"))))),  # one that nobody knows
        (RESIZE, resize([2.0], extrapolation_value=attribute("int", 1))),  # an attribute of another kind
    ],
)
def test_what_no_document_speaks_of_is_left(operator: str, call: Call) -> None:
    assert space_of(operator).attempt(call, pad([1, 2]) if operator == PAD else resize([2.0])) is None


def test_growth_follows_lengths_factors_and_amounts() -> None:
    assert growth(pad([0, 30])) > 10 * growth(pad([0, 0]))
    assert growth(resize([40.0])) > 10 * growth(resize([2.0]))
    assert growth(resize([0.5])) == growth(resize([1.0]))


def test_huge_numbers_become_small_ones() -> None:
    assert without_huge_numbers(pad([1, -(2**62)])) is None
    modest = without_huge_numbers(pad([2**40, -5], axes=Attribute("ints", (2**33, 1))))
    assert modest is not None
    assert [int(each) for each in tensor_of(modest, "pads").array] == [3, -5]
    assert modest.attributes["axes"].value == (3, 1)


def tensor_of(call: Call, name: str) -> Tensor:
    found = call.input(name)
    assert found is not None
    return found

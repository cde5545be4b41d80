"""What no text says of NaN and of nothing: which answers are as good, and which calls may be refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Answered, Refused
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

NAN, INF = math.nan, math.inf


def case_of(name: str, attributes: dict[str, object], **inputs: Tensor) -> Case:
    workshop = open_workshop(OperatorName.parse(name), Options())
    kinds = {each: str(workshop.spec.attributes[each].kind) for each in attributes}
    given = {each: attribute(kinds[each], value) for each, value in attributes.items()}
    outputs = tuple(output.name for output in workshop.spec.outputs if output.option != "optional")
    return workshop.make_valid("cover", None, Call(given, tuple(inputs.items()), outputs=outputs))


def judged(case: Case, *outputs: Tensor) -> Judgement:
    return judge(case, Answered(outputs))


def made(kind: str, elements: Sequence[object], shape: Sequence[int]) -> Tensor:
    element_type = ELEMENT_TYPES[kind]
    return Tensor(element_type, np.array(elements, dtype=element_type.storage).reshape(shape))


def floats(*elements: float, shape: Sequence[int] | None = None) -> Tensor:
    return made("float", elements, (len(elements),) if shape is None else shape)


def booleans(*elements: bool) -> Tensor:
    return made("bool", elements, (len(elements),))


@pytest.mark.parametrize("name", ["Less-13", "LessOrEqual-16", "Greater-13", "GreaterOrEqual-16"])
def test_a_comparison_with_nan_fails_or_holds_and_nothing_else_changes(name: str) -> None:
    case = case_of(f"ai.onnx::{name}", {}, A=floats(NAN, 1, 2, NAN), B=floats(1, NAN, 2, NAN))
    equal = name in ("LessOrEqual-16", "GreaterOrEqual-16")
    assert judged(case, booleans(False, False, equal, False)).behaviours == {"nan_in_comparison": ("fails",)}
    assert judged(case, booleans(True, True, equal, True)).behaviours == {"nan_in_comparison": ("holds",)}
    assert judged(case, booleans(True, False, equal, True)).verdict == "mismatch"
    assert judged(case, booleans(False, False, not equal, False)).verdict == "mismatch"


def test_nan_equals_nothing() -> None:
    case = case_of("ai.onnx::Equal-19", {}, A=floats(NAN, 1), B=floats(NAN, 1))
    assert judged(case, booleans(False, True)).verdict == "pass"
    assert judged(case, booleans(True, True)).verdict == "mismatch"


def test_a_rectifier_keeps_nan_or_makes_zero_of_it() -> None:
    case = case_of("ai.onnx::ThresholdedRelu-22", {"alpha": 1.0}, X=floats(NAN, 3, -INF))
    assert judged(case, floats(0, 3, 0)).verdict == "pass"
    assert judged(case, floats(NAN, 3, 0)).verdict == "pass"
    assert judged(case, floats(NAN, 3, NAN)).verdict == "mismatch"
    shrunk = case_of("ai.onnx::Shrink-9", {"lambd": 1.0, "bias": 0.5}, input=floats(NAN, 3, INF))
    assert judged(shrunk, floats(0, 2.5, INF)).verdict == "pass"
    assert judged(shrunk, floats(NAN, 2.5, INF)).verdict == "pass"
    assert judged(shrunk, floats(NAN, 2.5, NAN)).verdict == "mismatch"


def test_of_nan_alone_each_is_the_maximum_or_none() -> None:
    case = case_of("ai.onnx::Hardmax-13", {}, input=floats(NAN, NAN, 1, 2, shape=(2, 2)))
    for first in itertools.product((0.0, 1.0), repeat=2):
        assert judged(case, floats(*first, 0, 1, shape=(2, 2))).verdict == "pass"
        assert judged(case, floats(*first, 1, 0, shape=(2, 2))).verdict == "mismatch"


@pytest.mark.parametrize("by", ["ReduceMax-20", "GlobalMaxPool-22", "MaxPool-22"])
def test_beside_nan_the_greatest_is_what_the_order_of_comparisons_makes_it(by: str) -> None:
    rows = [7.0, NAN, 5.0, 3.0, 4.0, 1.0]
    if by == "ReduceMax-20":
        axes = made("int64", (1,), (1,))
        case = case_of("ai.onnx::ReduceMax-20", {}, data=floats(*rows, shape=(2, 3)), axes=axes)
        shape: tuple[int, ...] = (2, 1)
    else:
        kernel: dict[str, object] = {} if by == "GlobalMaxPool-22" else {"kernel_shape": (3,)}
        case = case_of(f"ai.onnx::{by}", kernel, X=floats(*rows, shape=(1, 2, 3)))
        shape = (1, 2, 1)
    for beside in (NAN, 7.0, 5.0):
        assert judged(case, floats(beside, 4, shape=shape)).verdict == "pass"
    assert judged(case, floats(7, NAN, shape=shape)).verdict == "mismatch"
    assert judged(case, floats(7, 3, shape=shape)).verdict == "mismatch"


def test_between_the_elements_of_a_dilated_kernel_an_infinity_may_be_multiplied_with_zero() -> None:
    kernel = floats(1, 1, shape=(1, 1, 2))
    given = floats(1, INF, 2, 3, 4, shape=(1, 1, 5))
    case = case_of("ai.onnx::Conv-22", {"dilations": (2,)}, X=given, W=kernel)
    assert judged(case, floats(3, INF, 6, shape=(1, 1, 3))).verdict == "pass"
    assert judged(case, floats(NAN, INF, 6, shape=(1, 1, 3))).verdict == "pass"
    assert judged(case, floats(3, 4, 6, shape=(1, 1, 3))).verdict == "mismatch"
    assert judged(case, floats(NAN, INF, NAN, shape=(1, 1, 3))).verdict == "mismatch"


def test_a_complex_infinity_may_be_moved_or_multiplied_with_one() -> None:
    given = made("complex64", (complex(INF, 2), complex(1, 2)), (2,))
    case = case_of("ai.onnx::Expand-13", {}, input=given, shape=made("int64", (2,), (1,)))
    assert judged(case, given).verdict == "pass"
    multiplied = Tensor(given.element_type, np.array([complex(INF, NAN), 1 + 2j], np.complex64))
    assert judged(case, multiplied).verdict == "pass"
    other = Tensor(given.element_type, np.array([complex(INF, 2), complex(1, NAN)], np.complex64))
    assert judged(case, other).verdict == "mismatch"


@pytest.mark.parametrize(
    ("name", "attributes", "inputs", "leave"),
    [
        ("GlobalMaxPool-22", {}, {"X": floats(shape=(1, 0, 2))}, "no_images_or_channels"),
        ("GlobalMaxPool-22", {}, {"X": floats(1, 2, shape=(1, 1, 2))}, None),
        ("Unique-28", {}, {"X": floats(shape=(0,))}, "no_elements"),
        ("Unique-28", {}, {"X": made("string", (b"a",), (1,))}, None),
        ("Unique-28", {"axis": 0}, {"X": made("string", (b"a",), (1,))}, "strings_along_an_axis"),
        ("TopK-24", {}, {"X": floats(1, 2), "K": made("int64", (0,), (1,))}, "none_asked_for"),
        ("TopK-24", {}, {"X": floats(1, 2), "K": made("int64", (1,), (1,))}, None),
        (
            *("GatherElements-13", {"axis": -1}),
            {"data": floats(1, 2, shape=(2, 1)), "indices": made("int64", (0,), (1, 1))},
            "fewer_indices_than_data",
        ),
        (
            *("GatherElements-13", {"axis": 0}),
            {"data": floats(1, 2, shape=(2, 1)), "indices": made("int64", (0,), (1, 1))},
            None,
        ),
    ],
)
def test_what_may_be_refused(
    name: str, attributes: dict[str, object], inputs: dict[str, Tensor], leave: str | None
) -> None:
    case = case_of(f"ai.onnx::{name}", attributes, **inputs)
    assert case.may_refuse == leave
    refused = judge(case, Refused("Error", "no"))
    assert refused.verdict == ("rejected_valid" if leave is None else "observed")


@pytest.mark.parametrize(
    ("greatest", "accepted"),
    [
        ((NAN, NAN, INF), True),  # NaN spreads
        ((1, 2, INF), True),  # the number
        ((NAN, 2, INF), True),  # whichever comes first
        ((1, NAN, INF), True),  # whichever comes second
        ((1, 2, 3), False),
        ((NAN, 1, INF), False),
    ],
)
def test_of_two_of_which_one_is_nan_it_is_one_of_them_by_one_rule(
    greatest: Sequence[float], accepted: bool
) -> None:
    workshop = open_workshop(OperatorName.parse("ai.onnx::Max-13"), Options())
    pair = floats(NAN, 2, 3), floats(1, NAN, INF)
    case = workshop.make_valid("cover", None, Call({}, tuple(("data_0", each) for each in pair)))
    assert (judged(case, floats(*greatest)).verdict == "pass") is accepted

"""Identity: tensors, sequences and optionals come out as they went in; a case holds each tensor of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from conformance.suite.goldens import read_golden, write_golden
from generator.asking.calls import Call
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import parse_value_type

FIRST, SECOND = tensor(np.array([1.5, -2], np.float32)), tensor(np.array([3, 0], np.float32))
LENGTH, HELD, EMPTY = tensor(np.array(2, np.int64)), tensor(np.array(True)), tensor(np.array(False))


def case_of(kind: str, *parts: Tensor, empty: bool = False) -> Case:
    workshop = open_workshop(OperatorName.parse("ai.onnx::Identity-16"), Options())
    slot = Slot("input", tuple(range(len(parts))), parse_value_type(kind), empty)
    return workshop.make_valid("cover", None, Call({}, tuple(("input", part) for part in parts), (slot,)))


@pytest.mark.parametrize(
    ("kind", "parts", "held"),
    [
        ("seq(tensor(float))", (FIRST, SECOND), (LENGTH, FIRST, SECOND)),
        ("seq(tensor(float))", (), (tensor(np.array(0, np.int64)),)),
        ("optional(tensor(float))", (FIRST,), (HELD, FIRST)),
        ("optional(seq(tensor(float)))", (FIRST, SECOND), (HELD, LENGTH, FIRST, SECOND)),
    ],
)
def test_what_goes_in_comes_out(kind: str, parts: tuple[Tensor, ...], held: tuple[Tensor, ...]) -> None:
    case = case_of(kind, *parts)
    assert case.output_names == ("output",)
    assert {name: str(output_type) for name, output_type in case.output_types.items()} == {"output": kind}
    assert tuple(output.expected for output in case.expectations[0].outputs) == held
    assert judge(read_golden(write_golden(case)[0]), Answered(held)).verdict == "pass"
    assert judge(case, Answered(held[:-1])).verdict == "mismatch"
    other = replace(held[-1], array=np.asarray(held[-1].array + np.asarray(1, held[-1].array.dtype)))
    assert judge(case, Answered((*held[:-1], other))).verdict == "mismatch"


def test_an_optional_of_nothing_holds_nothing() -> None:
    case = case_of("optional(tensor(float))", empty=True)
    assert [output.expected for output in case.expectations[0].outputs] == [EMPTY]
    assert judge(case, Answered((EMPTY,))).verdict == "pass"
    assert judge(case, Answered((HELD, FIRST))).verdict == "mismatch"


def test_a_tensor_is_one_output() -> None:
    workshop = open_workshop(OperatorName.parse("ai.onnx::Identity-13"), Options())
    case = workshop.make_valid("cover", None, Call({}, (("input", FIRST),)))
    assert [output.expected for output in case.expectations[0].outputs] == [FIRST]
    assert case.output_types == {}

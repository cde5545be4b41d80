"""Errors between DequantizeLinear and QuantizeLinear: two integers beside a tie, one everywhere else."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from conformance.suite.cases import ExpectedOutput
from generator.models.chains.chain_cases import case_of_chain
from generator.models.chains.chains import Link, Weaver
from generator.models.chains.node_answers import Unpushed
from generator.models.chains.pushing import expectations_of_chain
from generator.models.chains.spreading import quantised as spread
from generator.models.neighbours.neighbour_suite import weave_in
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from tests.generator.neighbours.fused_programs import passes

WEAVE = partial(weave_in, 17)
F = np.float32


def restored(w: Weaver, values: list[int], scale: float) -> str:
    x = w.given(np.array([values], np.uint8))
    return w.node("DequantizeLinear", x, np.array(scale, F), np.array(3, np.uint8))


def quantised(w: Weaver, value: str, scale: float) -> ExpectedOutput:
    w.node("QuantizeLinear", value, np.array(scale, F), np.array(5, np.uint8))
    (expectation,) = expectations_of_chain(w.end("made_up", ""))
    return expectation.outputs[0]


def test_a_half_of_a_power_of_two_is_even() -> None:
    w = WEAVE()
    found = quantised(w, w.node("Relu", restored(w, [4, 5, 6, 8], 1.5)), 1.0)
    # 1.5, 3, 4.5 and 7.5, and 5 added.
    assert found.expected.array.tolist() == [[7, 8, 9, 13]]
    assert not found.alternatives


def test_beside_a_tie_both_of_its_sides_are_accepted_and_no_third() -> None:
    w = WEAVE()
    y = w.node("MatMul", restored(w, [4, 5, 6], 0.1), np.array([[1], [1], [2]], F))
    w.node("QuantizeLinear", y, np.array(0.2, F), np.array(5, np.uint8))
    case = case_of_chain(w.end("made_up", ""))
    # (1 + 2 + 6) x 0.1 / 0.2: a tie but for what the scales are rounded to.
    assert passes(case, np.array([[9]]))
    assert passes(case, np.array([[10]]))
    assert not passes(case, np.array([[8]]))
    assert not passes(case, np.array([[11]]))


def test_away_from_ties_one_integer_is_accepted() -> None:
    w = WEAVE()
    y = w.node("MatMul", restored(w, [4, 5, 6], 0.1), np.array([[1, 0], [1, 1], [1, 0]], F))
    found = quantised(w, y, 0.21)
    assert found.expected.array.tolist() == [[8, 6]]
    assert not found.alternatives


def test_an_error_goes_on_behind_dequantisation_alone() -> None:
    w = WEAVE()
    third = w.node("Div", w.given(np.array([[1, 2, 4]], F)), np.array(3, F))
    with pytest.raises(Unpushed, match="Add"):
        quantised(w, w.node("Add", restored(w, [4, 5, 6], 0.1), third), 0.25)


def test_operands_that_are_scaled_apart_are_right_where_their_sum_cancels() -> None:
    w = WEAVE()
    y = w.node("Sub", restored(w, [253, 254, 253], 1.0), restored(w, [252, 254, 250], 1.0))
    w.node("QuantizeLinear", w.node("Relu", y), np.array(2 / 3, F), np.array(5, np.uint8))
    case = case_of_chain(w.end("made_up", ""))
    # 1 / (2 / 3) is a half in decimals alone: 250 x 1.5 less 249 x 1.5 in float32 may lie on either side.
    for half in (6, 7):
        for last in (9, 10):
            assert passes(case, np.array([[half, 5, last]]))
    assert not passes(case, np.array([[6, 6, 9]]))
    assert not passes(case, np.array([[8, 5, 9]]))


def test_what_cancels_keeps_the_error_of_its_terms() -> None:
    w = WEAVE()
    x = restored(w, [253, 253], 0.1)
    y = w.node("MatMul", x, np.array([[1], [-1]], F))
    w.node("QuantizeLinear", y, np.array(1e-6, F), np.array(5, np.uint8))
    with pytest.raises(Unpushed, match="half a step"):
        expectations_of_chain(w.end("made_up", ""))


def test_scales_of_several_channels_have_their_own_steps() -> None:
    w = WEAVE()
    x = restored(w, [4, 5, 6], 1.5)
    w.node("QuantizeLinear", x, np.array([1, 0.3, 3], F), np.array([5, 6, 7], np.uint8), axis=1)
    case = case_of_chain(w.end("made_up", ""))
    assert passes(case, np.array([[7, 16, 9]])), "1.5 / 1, 3 / 0.3 and 4.5 / 3 = 1.5"
    assert passes(case, np.array([[7, 16, 8]])), "a quotient by 3 may be one by the reciprocal"
    assert not passes(case, np.array([[6, 16, 9]]))
    assert not passes(case, np.array([[7, 16, 10]]))


def test_an_error_beyond_all_numbers_goes_into_no_integer_and_nothing_is_warned_of() -> None:
    floats, scale = tensor(np.array([1.5, 4], F)), tensor(np.array(0.5, F))
    given = ExpectedOutput("x", floats, np.array([0, np.inf]), ())
    link = Link(OperatorName.parse("ai.onnx::QuantizeLinear-13"), {}, (), ())
    to = ExpectedOutput("y", tensor(np.array([3, 8], np.uint8)))
    with np.errstate(invalid="raise"), pytest.raises(Unpushed, match="half a step"):
        spread(link, (given, ExpectedOutput("scale", scale)), to)

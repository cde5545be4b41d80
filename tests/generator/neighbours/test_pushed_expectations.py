"""What goes through a chain and what does not: exact values, errors, accepted values, signs of zeros."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from conformance.models.case_models import build_model
from conformance.suite.cases import Case, ExpectedOutput
from conformance.suite.goldens import read_golden, write_golden
from generator.models.chains.chain_cases import case_of_chain, distinct_cases
from generator.models.chains.chains import Chain, Weaver
from generator.models.chains.node_answers import Unpushed
from generator.models.chains.pushing import expectations_of_chain
from generator.models.neighbours import neighbour_suite
from generator.models.neighbours.neighbour_suite import opset_of_neighbours, weave_in
from opcert.commands.suite_argument import resolve_suite
from opcert.vocabulary.errors import UserError
from tests.generator.neighbours.fused_programs import passes

WEAVE = partial(weave_in, 17)
THIRDS = np.array([[1, 2, 4], [5, 7, 8]], np.float32)


def last_of(w: Weaver, *outputs: str) -> ExpectedOutput:
    (expectation,) = expectations_of_chain(w.end("made_up", "", *outputs))
    return expectation.outputs[-1]


def third(w: Weaver) -> str:
    """Quotients that are not exact, each with an error of its own."""
    return w.node("Div", w.given(THIRDS), np.array(3, np.float32))


def allowed(one: ExpectedOutput) -> Sequence[Sequence[float]]:
    assert one.allowed is not None
    found: Sequence[Sequence[float]] = one.allowed.tolist()
    return found


def test_an_error_moves_with_its_element() -> None:
    w = WEAVE()
    before = third(w)
    w.node("Transpose", before, perm=[1, 0])
    (expectation,) = expectations_of_chain(w.end("made_up", "", "Z", before))
    after, quotient = expectation.outputs
    assert np.array_equal(np.asarray(after.allowed), np.asarray(quotient.allowed).T)
    assert np.all(np.asarray(after.allowed) > 0)


def test_what_is_padded_has_no_error() -> None:
    w = WEAVE()
    w.node("Pad", third(w), np.array([0, 1, 0, 0]), np.array(0.5, np.float32))
    padded = last_of(w)
    assert [row[0] for row in allowed(padded)] == [0, 0]
    assert all(number > 0 for row in allowed(padded) for number in row[1:])


def test_an_error_goes_through_relu_and_not_through_a_sum() -> None:
    w = WEAVE()
    w.node("Relu", third(w))
    assert min(map(min, allowed(last_of(w)))) > 0
    for operator in ("MatMul", "Add", "Exp"):
        w = WEAVE()
        w.node(operator, third(w), *([] if operator == "Exp" else [np.eye(3, dtype=np.float32)[:3]]))
        with pytest.raises(Unpushed, match=operator):
            last_of(w)


def test_accepted_values_go_element_by_element() -> None:
    w = WEAVE()
    w.node("Neg", w.node("Cast", w.given(np.array([1.5, 2, -0.5], np.float32)), to=6))
    case = case_of_chain(w.end("made_up", ""))
    for right in ([-1, -2, 0], [-2, -2, 0], [-1, -2, 1], [-2, -2, 1]):
        assert passes(case, np.array(right))
    for wrong in ([1, -2, 0], [-1, -3, 0], [-1, -2, -1]):
        assert not passes(case, np.array(wrong))


def test_the_sign_of_a_zero_that_is_open_does_not_decide_a_quotient() -> None:
    w = WEAVE()
    zeros = w.node("Mul", w.given(np.array([1, -1], np.float32)), np.array(0, np.float32))
    w.node("Div", np.array(1, np.float32), zeros)
    with pytest.raises(Unpushed, match="signs of zeros"):
        last_of(w)


def test_a_zero_that_is_moved_keeps_the_openness_of_its_sign() -> None:
    w = WEAVE()
    zeros = w.node("Mul", w.given(np.array([[1, -1]], np.float32)), np.array(0, np.float32))
    w.node("Transpose", zeros)
    case = case_of_chain(w.end("made_up", ""))
    assert passes(case, np.array([[0.0], [0.0]]))
    assert passes(case, np.array([[-0.0], [0.0]]))
    assert not passes(case, np.array([[0.0], [1.0]]))


def test_a_call_that_the_documents_do_not_define_is_no_chain() -> None:
    w = WEAVE()
    w.node("MatMul", w.node("Relu", w.given(THIRDS)), np.ones((2, 2), np.float32))
    with pytest.raises(Unpushed, match="MatMul"):
        last_of(w)


def chain_of_two(order: list[int]) -> Chain:
    w = WEAVE()
    w.node("Relu", w.node("Transpose", w.given(THIRDS - 4), perm=order))
    return w.end("made_up", "why", variant="one")


def test_a_case_of_a_chain_says_what_stands_beside_what() -> None:
    case = case_of_chain(chain_of_two([1, 0]))
    assert str(case.id).startswith("ai.onnx/Relu-14/pair/made_up-")
    assert case.levels == {"producer": "Transpose", "consumer": "Relu", "variant": "one"}
    assert case.id.digest == case.call_digest() != case_of_chain(chain_of_two([0, 1])).id.digest
    assert len(list(distinct_cases([chain_of_two([1, 0])] * 2))) == 1
    again = read_golden(write_golden(case)[0])
    assert isinstance(again, Case)
    assert (again.id, again.model, again.family) == (case.id, case.model, "pair")
    for form in ("inputs", "initializers", "dynamic", "strided"):
        assert build_model(case, form)


def test_a_node_that_the_opset_lacks_is_not_put_into_a_chain() -> None:
    w = WEAVE()
    with pytest.raises(ValueError, match="not in opset 17"):
        w.node("Gelu", w.given(THIRDS))


def test_names_of_suites_of_neighbours() -> None:
    assert opset_of_neighbours("neighbours") == 17
    assert opset_of_neighbours("neighbours-21") == 21
    assert opset_of_neighbours("neighbour") is None
    with pytest.raises(UserError, match="opset without neighbours"):
        opset_of_neighbours("neighbours-9")


def test_the_suite_is_made_once_and_found_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[int] = []

    def few(opset: int) -> Iterator[Case]:
        made.append(opset)
        return distinct_cases([chain_of_two([1, 0]), chain_of_two([0, 1])])

    monkeypatch.setattr(neighbour_suite, "neighbour_cases", few)
    told: list[str] = []
    first = neighbour_suite.neighbour_suite(17, told.append)
    assert neighbour_suite.neighbour_suite(17, told.append) == first
    with resolve_suite("neighbours") as suite:
        assert (suite.path, len(suite.case_ids)) == (first, 2)
    assert neighbour_suite.neighbour_suite(18, told.append) != first
    assert (made, len(told)) == ([17, 18], 2)

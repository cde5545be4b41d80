"""Answers whose factors are rounded to 11 bits, and sums in float: told by that, and what is wrong is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from generator.asking.calls import call_of
from generator.asking.expectations import expect
from generator.exploring.diagnosis.change_trials import FailingCase, explain
from generator.making.cases.sized_cases import add_kernel_sizes
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from tests.generator.test_kernel_sizes import Array, Kernel, cases_of, conv, failing, gemm, matmul, numbers
from tests.reference.linear_attention_programs import Unpacked, by_steps
from tests.reference.recurrent_programs import Cell, programs

Round = Callable[[Array], Array]
Program = Callable[[Case, Round, bool], Array]
"""The first output of a case by a program in float that rounds factors; a term may be left out."""


def tf32(given: Array) -> Array:
    """As the factors of products are on hardware of tf32: rounded to 11 bits, ties to even."""
    parts, exponents = np.frexp(given.astype(np.float32))
    return np.asarray(np.ldexp(np.rint(np.ldexp(parts, 11)), exponents - 11))


def by_half(given: Array) -> Array:
    """As hardware has them that multiplies float16 and adds up in float."""
    return given.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize(("name", "kernel"), [("MatMul-13", matmul), ("Gemm-13", gemm), ("Conv-22", conv)])
def test_a_sum_of_products_in_tf32_is_right_or_wrong(name: str, kernel: Kernel) -> None:
    """Right where the factors have few digits, and else wrong: no table of functions excuses a product."""

    def changed(change: Callable[[Array], Array], more: float = 1) -> set[str]:
        def made(given: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
            factors = [change(given[0].astype(np.float32)), tf32(given[1])]
            return kernel([*factors, *given[2:]], attributes).astype(np.float32) * np.float32(more)

        return words & set(failing(name, made))

    def shortened(given: Array) -> Array:
        given = np.array(given)
        given.reshape(-1)[-1] = 0
        return given

    words, rounded, unread = set(), set(), set()
    for case in cases_of(name):
        if case.element_type.name == "float":
            words.add(str(case.id.word))
            factors = [numbers(each) for _, each in case.inputs[:2] if each is not None]
            if any((tf32(factor) != factor).any() for factor in factors):
                rounded.add(str(case.id.word))
            given = [numbers(each) for _, each in case.inputs if each is not None]
            plain = {attribute: each.value for attribute, each in case.attributes.items()}
            if np.array_equal(kernel(given, plain), kernel([shortened(given[0]), *given[1:]], plain)):
                unread.add(str(case.id.word))  # behind the last step of a window
    assert changed(tf32) <= rounded
    assert changed(tf32, 1.01) == words
    assert changed(shortened) == words - unread
    assert len(unread) <= 2


@pytest.mark.parametrize(("name", "kernel"), [("MatMul-13", matmul), ("Gemm-13", gemm)])
def test_products_that_are_wrong_of_tf32_are_explained_by_it(name: str, kernel: Kernel) -> None:
    """By what comes out of rounded factors, not by how far off that is: of a lost term nothing is said."""

    def explained(lost: float) -> set[str | None]:
        failures = []
        for case in cases_of(name):
            given = [numbers(tensor) for _, tensor in case.inputs if tensor is not None]
            if case.element_type.name != "float" or max(each.size for each in given) > _FEW:
                continue
            first = tf32(given[0])
            first.reshape(-1)[-1] *= lost
            attributes = {key: attribute.value for key, attribute in case.attributes.items()}
            made = kernel([first, tf32(given[1]), *given[2:]], attributes).astype(np.float32)
            tensor = Tensor(case.element_type, made)
            if judge(case, Answered((tensor,))).verdict in FAILING:
                failures.append(FailingCase(case, (tensor,)))
        assert len(failures) > 1
        found = explain([str(failure.case.id) for failure in failures], failures)
        changes = (found.change, *found.either)
        return {change.key for change in changes if change is not None}

    assert explained(1) & {"elements float as tf32", "first two inputs as tf32"}
    assert not explained(0)


_FEW = 3000


def attended(
    case: Case,
    rounded: Callable[[Array], Array] = np.asarray,
    padding: int = 0,
    keys: int | None = None,
    turn: Callable[[Array], Array] = np.asarray,
) -> Array:
    """Attention on four axes in float; with keys of zero behind the last, so many alone, another mask."""
    given = {name: numbers(tensor).astype(np.float32) for name, tensor in case.inputs if tensor is not None}
    options: dict[str, Any] = {name: attribute.value for name, attribute in case.attributes.items()}
    Q, past = given["Q"], given["past_key"].shape[2] if "past_key" in given else 0
    K, V = (
        np.concatenate([given[behind], given[name]], 2) if past else given[name]
        for name, behind in (("K", "past_key"), ("V", "past_value"))
    )
    length = K.shape[2]
    K, V = (np.repeat(array, Q.shape[1] // array.shape[1], 1)[:, :, :keys] for array in (K, V))
    scores = rounded(Q) @ rounded(K).swapaxes(-1, -2) * np.float32(options.get("scale", Q.shape[-1] ** -0.5))
    cap = np.float32(options.get("softcap", 0))
    scores = cap * np.tanh(scores / cap) if cap else scores
    mask = given.get("attn_mask", np.zeros((Q.shape[2], length), np.float32))
    if options.get("is_causal"):
        mask = np.where(np.tril(np.ones(mask.shape, np.bool_), past), mask, -np.inf)
    raised = np.exp(scores + turn(mask)[..., :keys], dtype=np.float32)
    shares = raised / (raised.sum(-1, keepdims=True) + np.float32(padding) * np.exp(-cap))
    return np.asarray(rounded(shares) @ rounded(V)).astype(np.float32)


def judged(case: Case, made: Array) -> Judgement:
    kind = case.expectations[0].outputs[0].expected.element_type
    return judge(case, Answered((Tensor(kind, made),)))


def attentions(*starts: str) -> list[Case]:
    found = [case for case in cases_of("Attention-25") if str(case.id.word).startswith(starts)]
    assert all(any(str(case.id.word).startswith(start) for case in found) for start in starts)
    assert all(judged(case, attended(case)).verdict == "pass" for case in found)
    return found


@pytest.mark.nightly
@pytest.mark.slow
def test_keys_behind_the_last_do_not_take_part_under_a_softcap() -> None:
    """Padding of 65 keys to 128 whose scores are capped: they are not left out by an infinity."""
    for case in attentions("alone_softcap"):
        assert judged(case, attended(case, padding=63)).verdict in FAILING


@pytest.mark.nightly
@pytest.mark.slow
def test_attention_of_tf32_is_inexact_and_what_is_wrong_is_not() -> None:
    for case in attentions("inner", "alone_softcap", "alone_scale", "alone_is_causal"):
        for short in (tf32, by_half):
            found = judged(case, attended(case, short))
            assert found.verdict == "inexact"
            assert str(found.reason).startswith("as exact as tf32")
        assert judged(case, attended(case) * np.float32(1.01)).verdict in FAILING
        if not case.attributes.get("is_causal"):
            assert judged(case, attended(case, keys=-1)).verdict in FAILING


@pytest.mark.slow
def test_attention_under_another_mask_is_wrong() -> None:
    for case in attentions("alone_attn_mask_mixed", "alone_is_causal"):
        assert judged(case, attended(case, tf32)).verdict == "inexact"
        for turn in (np.zeros_like, lambda mask: mask[..., ::-1], lambda mask: mask[..., ::-1, :]):
            assert judged(case, attended(case, turn=turn)).verdict in FAILING


def caused(case: Case, short: Round, lost: bool) -> Array:
    """CausalConvWithState: what a kernel reaches over lies before the place, in the state, or is zero."""
    given = _in_float(case)
    data, weight = given["input"], given["weight"]
    reach = weight.shape[2]
    state = given.get("past_state", np.zeros((*data.shape[:2], reach - 1), np.float32))
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([state, data], 2), reach, 2)
    products = short(windows) * short(weight)[:, 0, None]
    found = products[..., int(lost) :].sum(-1, dtype=np.float32)
    found = found + given["bias"][:, None] if "bias" in given else found
    return np.asarray(found / (1 + np.exp(-found)))


def flexible(case: Case, short: Round, lost: bool) -> Array:
    return attended(case, short, keys=-1 if lost else None)


def remembered(case: Case, short: Round, lost: bool) -> Array:
    """LinearAttention, one token after the other."""
    call = Unpacked.of(_in_float(case), _options(case), lambda array: array.astype(np.float32))
    return by_steps(call, factor=short, fault="read before it is written" if lost else "")[0]


def recurrent(case: Case, short: Round, lost: bool) -> Array:
    plain = programs(np.float32)["matrices"]

    def dot(left: Array, right: Array) -> Array:
        left = np.array(short(left))
        left[:, -1] *= 0 if lost else 1
        return np.asarray(left @ short(right).T)

    found = Cell(case.operator.name, replace(plain, dot=dot), _options(case)).run(_in_float(case))
    return found[("Y", "Y_h", "Y_c").index(case.expectations[0].outputs[0].name)]


def _in_float(case: Case) -> Mapping[str, Array]:
    return {name: numbers(tensor).astype(np.float32) for name, tensor in case.inputs if tensor is not None}


def _options(case: Case) -> Mapping[str, Any]:
    return {name: attribute.value for name, attribute in case.attributes.items()}


def first_alone(case: Case) -> Case:
    """The case with its first output alone."""
    expectations = tuple(
        replace(expectation, outputs=expectation.outputs[:1]) for expectation in case.expectations
    )
    return replace(case, expectations=expectations)


@cache
def sized(name: str, starts: tuple[str, ...]) -> tuple[Case, ...]:
    """Cases in float at sizes of kernels; of CausalConvWithState with a function, and more digits."""
    workshop = open_workshop(OperatorName.parse(name), Options())
    add_kernel_sizes(workshop)
    found = []
    for case in workshop.cases.values():
        if case.element_type.name != "float" or not str(case.id.word).startswith(starts):
            continue
        if case.operator.name == "CausalConvWithState":
            call = call_of(case).with_attribute("activation", Attribute("string", "silu"))
            weight = (_in_float(case)["weight"] / 3).astype(np.float32)
            call = call.with_input("weight", Tensor(case.element_type, weight))
            expected = expect(workshop.spec, workshop.reference, call)
            case = replace(case, attributes=call.attributes, inputs=call.inputs, expectations=expected)
        found.append(first_alone(case))
    return tuple(found)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "starts", "program"),
    [
        ("ai.onnx.preview::FlexAttention-1", ("inner", "alone_scale"), flexible),
        ("ai.onnx::LinearAttention-27", ("inner_17",), remembered),
        ("ai.onnx::CausalConvWithState-27", ("inner",), caused),
        ("ai.onnx::LSTM-22", ("inner_I", "alone_direction_b", "alone_P"), recurrent),
        ("ai.onnx::GRU-22", ("inner_I",), recurrent),
        ("ai.onnx::RNN-22", ("inner_I",), recurrent),
    ],
)
def test_functions_of_sums_in_tf32_are_inexact(name: str, starts: tuple[str, ...], program: Program) -> None:
    """Whichever operator it is, or right; a hundredth more and a term left out are wrong in every case."""
    told = []
    for case in sized(name, starts):
        assert judged(case, program(case, np.asarray, False)).verdict == "pass", case.id
        found = judged(case, program(case, tf32, False))
        told.append(found.verdict)
        assert found.verdict == "pass" or str(found.reason).startswith("as exact as tf32"), case.id
        assert judged(case, program(case, tf32, False) * np.float32(1.01)).verdict in FAILING, case.id
        assert judged(case, program(case, tf32, True)).verdict in FAILING, case.id
    assert "inexact" in told
    assert set(told) <= {"inexact", "pass"}

"""The law of readings: an option that a reference has not asked for changes nothing that it answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import pytest

from generator.asking.calls import Call
from generator.asking.questions import Question, ask
from generator.asking.validity import find_violations
from generator.calls.data.draws import Draw
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, UnstableLength
from reference.numbers.numbers import bits_of, storage_of
from reference.registry import reference_of
from reference.registry.conversions import PRECISION
from reference.registry.reference_operator import ReferenceOperator
from tests.generator.declared import newest_operators, random_scopes, space_of

CALLS = int(os.environ.get("OPCERT_EXAMPLES", "4"))
SETTLED = 3
"""Combinations of options that each call is tried with, beside the first one of all."""


def _open_operators() -> list[OperatorName]:
    """The newest version of each operator whose document leaves something open."""
    return [newest_operator for newest_operator in newest_operators() if _is_open(space_of(newest_operator))]


def _is_open(space: CallSpace) -> bool:
    return any(reading.chosen is None for reading in space.spec.readings)


def _with_edges(call: Call, draw: Draw) -> Call:
    """The same call with some of its floats subnormal, or hardly normal."""
    return replace(
        call,
        inputs=tuple(
            (name, each if each is None else _edged(each, draw.child(f"{at}")))
            for at, (name, each) in enumerate(call.inputs)
        ),
    )


def _edged(given: Tensor, draw: Draw) -> Tensor:
    kind = given.element_type
    if not kind.is_float or kind.layout is None or not given.shape:
        # A single number may be the distance of elements, which then are too many.
        return given
    normal = 1 << (kind.layout.precision - 1)
    edges = (1, 3, normal // 2 + 1, normal - 1, normal, normal + 1, 2 * normal + 3)
    bits = bits_of(given.array).reshape(-1).copy()
    for at in range(bits.size):
        if draw.integer(0, 3) == 0:
            bits[at] = np.uint64(draw.choice(edges) | draw.integer(0, 1) << (kind.bits - 1))
    return Tensor(kind, storage_of(kind, bits).reshape(given.shape))


def _calls(space: CallSpace) -> Iterator[tuple[Call, Draw]]:
    for found, draw in random_scopes(space, CALLS, "unasked"):
        call = draw_call(space, found.scope, {}, draw)
        yield call, draw
        edged = _with_edges(call, draw.child("edges"))
        if not find_violations(space.spec, edged):
            yield edged, draw


def _differences(
    question: Question, options: tuple[str, ...], reference: ReferenceOperator
) -> Iterator[tuple[str, str]]:
    """The readings that were not asked for under some options, with an option that changes the answer."""
    found = _held(question, options)
    for place, reading in enumerate(question.open):
        if question.asks_for(reading.id, options):
            continue
        for option in reading.options:
            # Asked in a question of its own, which knows of no other answer.
            other = ask(question.spec, reference, question.call)
            changed = (*options[:place], option, *options[place + 1 :])
            if _held(other, changed) != found:
                yield reading.id, option


def _held(question: Question, options: tuple[str, ...]) -> list[object]:
    """All that a case would hold of the answers under some options."""
    return [
        (
            name,
            answer.expected,
            None if answer.allowed is None else answer.allowed.tolist(),
            repr(sorted((answer.alternatives or {}).items())),
            answer.unordered,
        )
        for name, answer in question.answer(options)
    ]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("operator", _open_operators(), ids=str)
def test_what_was_not_asked_for_changes_nothing(operator: OperatorName) -> None:
    space = space_of(operator)
    reference = reference_of(space.spec)
    tried = 0
    for call, draw in _calls(space):
        question = ask(space.spec, reference, call)
        every = [list(each.options) for each in question.open]
        drawn = [tuple(draw.choice(each) for each in every) for _ in range(SETTLED)]
        try:
            for options in (tuple(each[0] for each in every), *drawn):
                assert list(_differences(question, options, reference)) == []
                tried += 1
        except UnstableLength:
            continue
    assert tried


def _asks_for_precision(space: CallSpace) -> bool:
    return any(reading.id == PRECISION and reading.chosen is None for reading in space.spec.readings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "operator",
    [
        newest_operator
        for newest_operator in newest_operators()
        if _asks_for_precision(space_of(newest_operator))
    ],
    ids=str,
)
def test_a_precision_comes_to_the_same_with_the_first_one_known_and_without(operator: OperatorName) -> None:
    space = space_of(operator)
    reference = reference_of(space.spec)
    tried = 0
    for call, draw in _calls(space):
        knowing, alone = ask(space.spec, reference, call), ask(space.spec, reference, call)
        drawn = [draw.choice(list(each.options)) for each in knowing.open]
        first, other = (
            tuple(
                option if each.id == PRECISION else own for each, own in zip(knowing.open, drawn, strict=True)
            )
            for option in ("float32", "input")
        )
        try:
            knowing.answer(first)
            assert _held(knowing, other) == _held(alone, other)
        except UnstableLength:
            continue
        assert knowing.asked[other] == alone.asked[other]
        tried += 1
    assert tried


@dataclass
class Peeking:
    """A reference whose answer hangs on a reading that it does not ask for."""

    operator: OperatorName
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def evaluate(
        self, _: object, __: object, chosen: Mapping[str, str], asked: set[str], *___: object
    ) -> tuple[Answer, ...]:
        return (Answer(tensor([float(chosen["subnormals"] == "flushed")], "float")),)


def test_a_reference_that_does_not_ask_is_found() -> None:
    operator = OperatorName("ai.onnx", "Neg", 13)
    spec = space_of(operator).spec
    call = Call({}, (("X", tensor([1.0], "float")),))
    reference = cast(ReferenceOperator, Peeking(operator))  # of which a question needs no more
    question = ask(spec, reference, call)
    first = tuple(next(iter(reading.options)) for reading in question.open)
    assert ("subnormals", "flushed") in list(_differences(question, first, reference))

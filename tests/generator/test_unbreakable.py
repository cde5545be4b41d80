"""Rules that are said to be broken by nothing are broken by nothing, and looking for them is left out."""

from __future__ import annotations

from itertools import islice

import pytest

from generator.calls.borders import breaches
from generator.calls.borders.breach_attempts import (
    bases,
    beyond_allowed,
    broken_rules,
    changed_calls,
    with_rare_inputs,
)
from generator.calls.borders.breaches import find_breaches, unbreakable_rules
from generator.calls.data.draws import Draw
from generator.calls.space.space import CallSpace, open_space
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec

UNBREAKABLE = {
    "ai.onnx::Abs-13": {"X_shape"},
    "ai.onnx::Add-14": {"A_shape"},
    "ai.onnx::Concat-13": {"type_of_T"},
    "ai.onnx::Conv-22": set(),
    "ai.onnx::Flatten-25": {"input_shape", "type_of_T"},
    "ai.onnx::MatMul-13": set(),
    "ai.onnx::OptionalGetElement-18": set(),
    "ai.onnx::PRelu-16": {"X_shape"},
    "ai.onnx::Where-16": {"type_of_T", "condition_shape"},
}


def _space(name: str) -> CallSpace:
    return open_space(load_spec(OperatorName.parse(name)))


@pytest.mark.parametrize("name", UNBREAKABLE)
def test_no_changed_call_breaks_an_unbreakable_rule(name: str) -> None:
    space = _space(name)
    hopeless = unbreakable_rules(space.spec, beyond_allowed)
    assert hopeless == UNBREAKABLE[name]
    broken: set[str] = set()
    for base in islice(bases(space, Draw(f"{name}/unbreakable"), {}), 4):
        for changed in (*changed_calls(space, base, Draw(name)), *with_rare_inputs(space, base.call)):
            broken.update(broken_rules(space, changed))
    assert broken
    assert not broken & hopeless


@pytest.mark.parametrize("name", UNBREAKABLE)
def test_breaches_are_those_of_a_search_for_every_rule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[tuple[str, str, str]]:
        space = _space(name)
        operator = space.spec.operator
        return [
            (breach.constraint.id, breach.valid.digest(operator), breach.call.digest(operator))
            for breach in find_breaches(space, Draw(f"{name}/invalid"))
        ]

    without = found()
    monkeypatch.setattr(breaches, "unbreakable_rules", lambda *_: frozenset())
    assert found() == without

"""Rules that people wrote about numbers, which their kinds let stand, are broken alone where they hold."""

from __future__ import annotations

import pytest

from generator.calls.borders.breach_attempts import broken_rules
from generator.calls.borders.breaches import find_breaches
from generator.calls.data.draws import Draw
from generator.calls.kinds.real import forbidden
from generator.calls.solver.solving import Found
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from tests.generator.declared import space_of


@pytest.mark.parametrize("version", [9, 11, 13])
def test_factors_of_integers_are_broken_one_by_one(version: int) -> None:
    space = space_of(OperatorName("ai.onnx", "Gemm", version))
    found = [
        breach
        for breach in find_breaches(space, Draw("forbidden"))
        if breach.constraint.id == "integers_unscaled"
    ]
    changed = set()
    for each in found:
        assert broken_rules(space, each.valid) == []
        assert broken_rules(space, each.call) == ["integers_unscaled"]
        assert all(tensor.element_type.is_integer for _, tensor in each.call.inputs if tensor is not None)
        changed |= {
            name for name, value in each.call.attributes.items() if each.valid.attributes.get(name) != value
        }
    assert changed == {"alpha", "beta"}


def test_a_value_that_no_rule_speaks_of_is_not_forbidden() -> None:
    space = space_of(OperatorName("ai.onnx", "Gemm", 13))
    for kind in ELEMENT_TYPES.values():
        if kind.name not in space.spec.type_constraints["T"].types:
            continue
        solved = space.search.solve({"type_T": kind.name}, Draw(kind.name))
        assert isinstance(solved, Found)
        told = [rule for rule, _ in forbidden("alpha", (1.0, 2.0), solved.scope)]
        assert told == (["integers_unscaled"] if kind.is_integer else []), kind.name
        assert list(forbidden("transA", (0, 1), solved.scope)) == []

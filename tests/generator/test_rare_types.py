"""Element types that a declaration calls rare: they hide nothing of what others show."""

from __future__ import annotations

from collections import Counter

import pytest

from generator.calls.rows.covering_rows import make_rows
from opcert.vocabulary.names import OperatorName
from tests.generator.declared import space_of


@pytest.mark.slow
def test_most_rows_have_types_that_are_not_rare() -> None:
    space = space_of(OperatorName("ai.onnx", "QLinearMatMul", 21))
    assert space.spec.declared is not None
    rare = space.spec.declared.rare
    rows = make_rows(space, ())
    uses = {name: Counter(row.levels[name] for row in rows) for name in rare}
    for name, levels in rare.items():
        assert all(uses[name][level] >= 3 for level in levels)
        assert sum(uses[name][level] for level in levels) * 2 < len(rows)

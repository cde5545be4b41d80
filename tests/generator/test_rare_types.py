"""Element types that a declaration calls rare: they hide nothing of what others show."""

from __future__ import annotations

from collections import Counter

import pytest

from generator.calls.borders.edges import plain_call
from generator.calls.data.draws import Draw
from generator.calls.rows.covering_rows import make_rows
from generator.calls.solver.solving import Found
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


def test_a_plain_call_has_what_is_in_focus_and_nothing_rare() -> None:
    attention = space_of(OperatorName("com.microsoft", "MultiHeadAttention", 1))
    plain = plain_call(attention, Draw("plain"))
    assert plain is not None
    assert plain[0]["value"] == "given"
    assert space_of(OperatorName("ai.onnx", "SequenceInsert", 11)).plainest["form_position"] == "scalar"


def test_attention_goes_on_with_one_sequence_or_one_token() -> None:
    space = space_of(OperatorName("com.microsoft", "GroupQueryAttention", 1))
    levels = {"past_key": "given", "past_value": "given"}
    for turn in range(8):
        found = space.search.solve(levels, Draw(str(turn)))
        assert isinstance(found, Found)
        batch, tokens = found.scope.shape("query")[:2]
        assert 1 in (batch, tokens)


def test_trees_have_votes_that_are_no_negative_and_scores_far_from_zero() -> None:
    space = space_of(OperatorName("ai.onnx.ml", "TreeEnsembleClassifier", 3))
    votes = {}
    for level in ("shares", "far"):
        levels = {"weights": level, "post_transform": "LOGISTIC", "trees": 1, "numbers": "floats"}
        found = space.search.solve(levels, Draw("votes"))
        assert isinstance(found, Found)
        votes[level] = found.scope.find("class_weights")
    assert all(0 < each < 1 for each in votes["shares"])
    assert all(abs(each) >= 16 for each in votes["far"])

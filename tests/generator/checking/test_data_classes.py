"""Data of which no document says what comes of it is not asked of the calls of a model either."""

from __future__ import annotations

import pytest

from conformance.checked_models.model_calls import ModelCall
from generator.models.check.call_drawing import data_classes_of
from generator.models.check.node_calls import read_node
from tests.generator.checking.made_calls import call, fed, weight

LSTM = call("LSTM-14", [fed(None, None, 4), weight(1, 12, 4), weight(1, 12, 3)], hidden_size=3)


@pytest.mark.parametrize(
    ("made", "has_nonfinite"),
    [
        (LSTM, False),
        (call("Sigmoid-13", [fed(None, None)]), True),
        (call("GridSample-22", [fed(1, 1, 5), fed(1, 2, 1)], mode="nearest"), True),
        (call("Relu-14", [fed(None, None, of="int32")]), False),
    ],
)
def test_what_a_declaration_excludes_is_left_out(made: ModelCall, has_nonfinite: bool) -> None:
    classes = data_classes_of(read_node(made.first))
    assert "random" in classes
    assert ("nonfinite" in classes) is has_nonfinite


def test_a_condition_beside_the_class_is_held_against_the_call() -> None:
    """Upsample's is of many axes that are averaged; whether a model's are so many, is not looked at."""
    line = call("Upsample-9", [fed(1, 1, 5), weight(3)], mode="linear")
    nearest = call("Upsample-9", [fed(1, 1, 5), weight(3)], mode="nearest")
    assert "nonfinite" not in data_classes_of(read_node(line.first))
    assert "nonfinite" in data_classes_of(read_node(nearest.first))

"""Defaults as calls have them, beside what the documents print."""

from __future__ import annotations

import numpy as np
import pytest

from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec


@pytest.mark.parametrize(
    ("operator", "name", "printed", "value"),
    [
        ("ai.onnx::LeakyRelu-16", "alpha", 0.01, float(np.float32(0.01))),
        ("ai.onnx::MeanVarianceNormalization-13", "axes", [0, 2, 3], (0, 2, 3)),
        ("ai.onnx::Concat-13", "axis", None, None),
        ("ai.onnx::Resize-19", "mode", "nearest", "nearest"),
    ],
)
def test_a_default_is_what_a_call_has_where_it_is_written(
    operator: str, name: str, printed: object, value: object
) -> None:
    known = load_spec(OperatorName.parse(operator)).attributes[name]
    assert known.default == printed
    assert known.default_value == value
    if printed is not None:
        assert attribute(str(known.kind), printed).value == known.default_value

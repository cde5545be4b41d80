"""MaxRoiPool against two programs on random calls: both divide regions as Fast R-CNN does."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import make_case
from tests.conformance.runtime_checks import converse
from tests.reference.test_number_arrays import accepted
from tests.reference.test_regions_pooled import answer, some_call

CALLS = 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("onnxruntime", marks=pytest.mark.runtimes("onnxruntime")),
        pytest.param("openvino", marks=[pytest.mark.runtimes("openvino"), pytest.mark.nightly]),
    ],
)
def test_programs_answer_what_is_expected(name: str) -> None:
    random, otherwise = Random(name), 0
    with converse(load_adapter(name)) as runtime:
        for _ in range(CALLS):
            X, rois, shape, scale = some_call(random)
            attributes = {"pooled_shape": ("ints", shape), "spatial_scale": ("float", scale)}
            empty = tensor(np.zeros((len(rois), X.shape[1], *shape), np.float32))
            given = [("X", tensor(X)), ("rois", tensor(rois))]
            (got,) = runtime.call(make_case("ai.onnx::MaxRoiPool-1", given, attributes, empty))
            assert isinstance(got, Tensor)
            assert accepted(answer(X, rois, shape, scale), got.array).all()
            left_out = answer(X, rois, shape, scale, region_ends="left_out")
            otherwise += not accepted(left_out, got.array).all()
    assert otherwise > CALLS // 2  # the other reading is another

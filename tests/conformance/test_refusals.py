"""What is kept of the messages with which runtimes refuse: real ones, and any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.refusals import shorten

CONVERSION = """\
Exception from src/inference/src/cpp/core.cpp:105:
Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:
FrontEnd API failed with OpConversionFailure:
Model wasn't fully converted. Failed operations detailed log:
-- CenterCropPad-18 with a message:
While validating ONNX node '<Node(CenterCropPad): Y>': Exception from src/core/element_type.hpp:256:
Unknown type

Summary:
-- Conversion is failed for: CenterCropPad-18

"""
SCATTER = """\
Exception from src/inference/src/cpp/infer_request.cpp:224:
Exception from src/plugins/intel_cpu/src/graph.cpp:1628:
Node ScatterElementsUpdate_908556 of type ScatterElementsUpdate
Check 'idxValue < static_cast<int64_t>(srcDimAxis)' failed at src/nodes/scatter_update.cpp:913:
ScatterElementsUpdate node has indices that point to no element


"""
INTERPOLATE = """\
Exception from src/inference/src/cpp/infer_request.cpp:224:
[CPU] Interpolate node with name 'Y' Exception from src/plugins/intel_cpu/src/nodes/interpolate.cpp:2513:
[CPU] Interpolate node with name 'Y' only supports resize on spatial dimensions
"""
SCALES = """\
[ONNXRuntimeError] : 1 : FAIL : ScalesValidation 'Linear' mode only supports:
  * 2-D inputs or
  * 3-D inputs ('Bilinear', 'Trilinear') or
"""
KERNELS = """\
Could not find device for node: {{node BatchToSpaceND}}
All kernels registered for op BatchToSpaceND:
  device='CPU'; T in [DT_DOUBLE]
  device='CPU'; T in [DT_FLOAT]
  device='CPU'; T in [DT_HALF]
 [Op:BatchToSpaceND] name: """
TRACEBACK = """\
Traceback (most recent call last):
  File "op.py", line 3, in run
    self._run(x)
ValueError: could not broadcast
"""


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (CONVERSION, "FrontEnd API failed with OpConversionFailure: Unknown type"),
        (
            SCATTER,
            "Node ScatterElementsUpdate_908556 of type ScatterElementsUpdate ... "
            "ScatterElementsUpdate node has indices that point to no element",
        ),
        (INTERPOLATE, "[CPU] Interpolate node with name 'Y' only supports resize on spatial dimensions"),
        (
            SCALES,
            "[ONNXRuntimeError] : 1 : FAIL : ScalesValidation 'Linear' mode only supports: * 2-D inputs or",
        ),
        (KERNELS, "Could not find device for node: {{node BatchToSpaceND}}"),
        (TRACEBACK, "ValueError: could not broadcast"),
        ("tuple index out of range", "tuple index out of range"),
        ("no\nreason", "no"),
        ("Exception from a.cpp:1:\n", "Exception from a.cpp:1:"),
        (" \n", ""),
    ],
)
def test_what_tells_the_cause_is_kept(message: str, kept: str) -> None:
    assert shorten(message) == kept


def test_both_ends_of_a_long_line_are_kept() -> None:
    found = shorten("FAIL : in tensor.h:210 " + "template<T> " * 90 + "Tensor type mismatch")
    assert len(found) == 300
    assert found.startswith("FAIL : in tensor.h:210 ")
    assert found.endswith(" Tensor type mismatch")


@given(st.text(st.sampled_from("ab :\n\t'"), max_size=2000) | st.text())
def test_any_message_becomes_one_bounded_line(message: str) -> None:
    found = shorten(message)
    assert len(found) <= 300
    assert len(found.splitlines()) <= 1
    assert bool(found) == bool(message.split())

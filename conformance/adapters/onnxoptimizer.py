"""onnxoptimizer, and what the adapters of all optimisers of ONNX models have alike.

The subject is what an optimiser makes of a model: ONNX Runtime, its own optimisation off, runs the model
before and after. What was wrong before, and is the same after, is no fault of the optimiser.
"""

from __future__ import annotations

from conformance.adapters.onnxruntime import ADAPTER as ONNXRUNTIME
from conformance.runtimes.adapter import Adapter, UnsupportedRule

_BEFORE = (
    UnsupportedRule(
        "RefusedBefore: NotImplemented: [ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an "
        "implementation for Resize(18) node with name ''"
    ),
)


def optimizer(package: str, *unsupported: UnsupportedRule) -> Adapter:
    """The adapter of an optimiser that is a package of Python; `unsupported` are its own rules."""
    return Adapter(
        name=package,
        first_line=f"{package}: what it makes of ONNX models, run on ONNX Runtime before and after",
        requirements=(package, "onnxruntime", "onnx"),
        worker="optimizer_worker.py",
        options={"optimizer": (package,)},
        unsupported=(*_BEFORE, *unsupported, *ONNXRUNTIME.unsupported),
    )


ADAPTER = optimizer(
    "onnxoptimizer",
    UnsupportedRule("RuntimeError: no supported data type: 21", message="no supported data type: "),
    UnsupportedRule("RuntimeError: Unknown tensor data type", message="Unknown tensor data type"),
)

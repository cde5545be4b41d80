"""The reference evaluator of the onnx package: NumPy code beside the definitions of the operators."""

from __future__ import annotations

from conformance.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="onnx",
    first_line="the ONNX reference evaluator (onnx.reference.ReferenceEvaluator)",
    # Its older versions do not bring the package with the element types that numpy lacks.
    requirements=("onnx", "ml-dtypes"),
    worker="onnx_worker.py",
    unsupported=(
        UnsupportedRule(
            "NotImplementedError: Node type 'Pad' from domain 'com.microsoft' is unknown, known "
            "functions: [].",
            kind="NotImplementedError",
        ),
        UnsupportedRule(
            "RuntimeError: antilias=1 is not supported for mode='nearest'.",
            kind="RuntimeError",
            message="is not supported for mode=",
        ),
    ),
)

"""The reference evaluator of the onnx package: NumPy code beside the definitions of the operators."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="onnx",
    first_line="the ONNX reference evaluator (onnx.reference.ReferenceEvaluator)",
    issues="https://github.com/onnx/onnx/issues/new",
    # Its older versions do not bring the package with the element types that numpy lacks.
    requirements=("onnx", "ml-dtypes"),
    worker="onnx_worker.py",
    unsupported=(
        UnsupportedRule(
            "RuntimeError: LRN only applies on 4D tensors but shape is (2, 2, 0).",
            message=r"\w+ only applies on \dD tensors but shape is",
        ),
        UnsupportedRule(
            "RuntimeError: The convolution for X.shape=(1, 1, 1), W.shape=(1, 1, 3), kernel_shape=[3] is "
            "not implemented yet.",
            message="is not implemented yet",
        ),
        UnsupportedRule(
            "NotImplementedError: Node type 'Pad' from domain 'com.microsoft' is unknown, known "
            "functions: []."
        ),
        UnsupportedRule(
            "RuntimeError: antilias=1 is not supported for mode='nearest'.",
            message="is not supported for mode=",
        ),
        UnsupportedRule(
            "RuntimeImplementationError: No registered implementation for operator 'Scatter' and domain '', "
            "schema.has_function is False, schema.has_context_dependent_function is False.",
            message="No registered implementation for operator",
        ),
        UnsupportedRule(
            "ImportError: Pillow must be installed to use the reference implementation of the ImageDecoder "
            "operator",
            message="must be installed to use the reference implementation",
        ),
        UnsupportedRule(
            "AssertionError: ceil_mode is not supported with auto_pad",
            message="ceil_mode is not supported with auto_pad",
        ),
    ),
)

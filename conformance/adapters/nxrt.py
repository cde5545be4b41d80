"""nxrt, a runtime for ONNX models in Rust, from its Python package."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

_EITHER = "ValueError|RuntimeError"
"""At load, where kernels that depend on constants alone are run, and at run."""

ADAPTER = Adapter(
    name="nxrt",
    first_line="nxrt on the CPU (package nxrt): ONNX models through its InferenceSession",
    # Without ml-dtypes it takes no bfloat16.
    requirements=("nxrt", "numpy", "ml-dtypes"),
    worker="nxrt_worker.py",
    unsupported=(
        UnsupportedRule(
            "ValueError: unsupported operator ai.onnx::LSTM: no available execution provider has a kernel",
            kind=_EITHER,
            message=r"unsupported operator \S+: no available execution provider has a kernel",
        ),
        UnsupportedRule(
            "ValueError: failed to load ONNX model from <855 bytes>: unsupported ONNX model: operator "
            "ai.onnx::SequenceMap at node <unnamed node #1> carries a subgraph attribute 'body' "
            "(control-flow / nested-graph op) that this runtime cannot execute.",
            kind=_EITHER,
            message="carries a subgraph attribute .* that this runtime cannot execute",
        ),
        UnsupportedRule(
            "ValueError: failed to load ONNX model from <238 bytes>: kernel execution failed: Conv: "
            "requires matching rank-3 NCL or rank-4 NCHW tensors, got X=[2, 3, 4, 2, 1], W=[1, 3, 3, 3, "
            "3]",
            kind=_EITHER,
            message=r"requires matching rank-3 NCL or rank-4 NCHW tensors, got X=\[(\d+, ){4}",
        ),
        UnsupportedRule(
            "RuntimeError: kernel execution failed: Relu: unsupported element type Int32 (WHAT: this CPU "
            "kernel was asked to run Relu on a Int32 tensor).",
            kind=_EITHER,
            message=r"\w+: unsupported element type \w+ \(WHAT: this CPU kernel was asked to run ",
        ),
        UnsupportedRule(
            "RuntimeError: kernel execution failed: Conv: X, W, optional B, and Y must share f32, f16, or"
            " bf16 dtype",
            kind=_EITHER,
            message=r"must share \w+(, \w+)*,? or \w+ dtype",
        ),
        UnsupportedRule(
            "RuntimeError: kernel execution failed: Cast: unsupported target dtype Float8E5M2",
            kind=_EITHER,
            message=r"Cast: unsupported target dtype \w+",
        ),
        UnsupportedRule(
            "RuntimeError: invalid tensor view: dtype Int2 has no fixed-width byte layout",
            kind=_EITHER,
            message=r"dtype \w+ has no fixed-width byte layout",
        ),
        UnsupportedRule(
            "RuntimeError: kernel execution failed: DequantizeLinear: only Int8, Uint8, and Int32 "
            "quantized tensors are supported, got Int16",
            kind=_EITHER,
            message=r"only \w+(, \w+)*,? and \w+ quantized tensors are supported, got \w+",
        ),
        UnsupportedRule(
            "RuntimeError: kernel execution failed: Resize: WHAT: antialias=1 is not implemented by the "
            "native CPU kernel.",
            kind=_EITHER,
            message=r"\w+=\d+ is not implemented by the native CPU kernel",
        ),
        UnsupportedRule(
            "RuntimeError: kernel execution failed: BatchNormalization: training_mode=1 is unsupported by"
            " the inference-only CPU EP",
            kind=_EITHER,
            message=r"\w+=\d+ is unsupported by the inference-only CPU EP",
        ),
        UnsupportedRule(
            "TypeError: output tensor has dtype Complex64, which nxrt's Python binding cannot yet "
            "convert to a numpy array (supported: bool). This is a binding limitation, not a model error.",
            message=r"dtype \w+, which nxrt's Python binding cannot yet convert to a numpy array",
        ),
        UnsupportedRule(
            "RuntimeError: kernel execution failed: Constant: no supported value attribute",
            kind=_EITHER,
            message=r"kernel execution failed: Constant: no supported value attribute",
        ),
    ),
)

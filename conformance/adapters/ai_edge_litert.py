"""LiteRT on the CPU: TensorFlow's operators as builtins of TensorFlow Lite."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="ai-edge-litert",
    first_line="LiteRT on the CPU (package ai-edge-litert): TensorFlow's operators as TensorFlow Lite's",
    issues="https://github.com/google-ai-edge/LiteRT/issues/new",
    requirements=("ai-edge-litert", "numpy"),
    worker="ai_edge_litert_worker.py",
    options={"delegate": ("default", "none")},
    unsupported=(
        UnsupportedRule("ValueError: Invalid data-type for array", message="^Invalid data-type for array$"),
        UnsupportedRule(
            "RuntimeError: Type 10 is currently not supported by Exp.Node number 0 (EXP) failed to invoke.",
            message=r"^Type \d+ is currently not supported by \w+",
        ),
        UnsupportedRule(
            "RuntimeError: Div only supports FLOAT32, INT32 and quantized INT8, UINT8, INT16 now, got 10."
            "Node number 0 (DIV) failed to invoke.",
            message=r"^\w+ only supports \w+, .* now, got \d+",
        ),
        UnsupportedRule(
            "RuntimeError: tflite/kernels/batch_matmul.cc:342 lhs_data->type == kTfLiteFloat32 || "
            "lhs_data->type == kTfLiteInt8 || lhs_data->type == kTfLiteInt16 was not true.Node number 0 "
            "(BATCH_MATMUL) failed to prepare.",
            message=r"type == kTfLite\w+( \|\| \S+type == kTfLite\w+)+ was not true",
        ),
        UnsupportedRule(
            "RuntimeError: tflite/kernels/batch_to_space_nd.cc:66 op_context->block_shape->dims->data[0] != "
            "spatial_dims_num (1 != 2)Node number 0 (BATCH_TO_SPACE_ND) failed to invoke.",
            message=r"block_shape->dims->data\[0\] != spatial_dims_num \(",
        ),
        UnsupportedRule(
            "RuntimeError: Non-contiguous `axes` not supportedNode number 0 (REVERSE_V2) failed to invoke.",
            message="^Non-contiguous `axes` not supported",
        ),
        UnsupportedRule(
            "RuntimeError: tflite/kernels/pad.cc:420 op_context.dims <= "
            "reference_ops::PadKernelMaxDimensionCount() was not true.Node number 0 (PAD) failed to prepare.",
            message=r"op_context\.dims <= \S+MaxDimensionCount\(\) was not true",
        ),
        UnsupportedRule(
            "Unsupported: TensorFlow Lite has no builtin operator that is Acos", error_class="unsupported"
        ),
    ),
)

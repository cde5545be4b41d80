"""TensorFlow Lite Micro in its Python package: TensorFlow's operators as builtins of TensorFlow Lite."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

_AT_LOAD = "RuntimeError: TFLM failed to allocate tensors\n"
_AT_RUN = "RuntimeError: Interpreter invocation failed.\n"

ADAPTER = Adapter(
    name="tflite-micro",
    first_line="TensorFlow Lite Micro (package tflite-micro): TensorFlow's operators as TensorFlow Lite's",
    issues="https://github.com/tensorflow/tflite-micro/issues/new",
    requirements=("tflite-micro", "numpy", "ml-dtypes"),
    worker="tflite_micro_worker.py",
    unsupported=(
        UnsupportedRule(
            _AT_LOAD + "Didn't find op for builtin opcode 'ONE_HOT'",
            message="Didn't find op for builtin opcode '",
        ),
        UnsupportedRule(
            _AT_RUN + "Type INT64 (4) not supported.",
            message=r"(?i)\btype '?\w+'?( \(\d+\))? (is )?(currently )?not (currently )?supported",
        ),
        UnsupportedRule(
            _AT_LOAD + "Params of type 'INT32' are not supported by gather_nd.",
            message=r"of type '\w+' are not supported by \w+",
        ),
        UnsupportedRule(
            _AT_RUN + "Only float32 and int8 types are supported.",
            message=r"(?m)^Only \w+(, \w+)*,? and \w+ types are supported\.$",
        ),
        UnsupportedRule(
            _AT_RUN + "DIV only supports FLOAT32, INT32, quantized INT8 now, got type FLOAT16 (10).",
            message=r"only (currently )?supports \w+, .*, got (type )?\w+",
        ),
        UnsupportedRule(
            _AT_LOAD + "tensorflow/lite/micro/kernels/cumsum.cc:62 input->type == kTfLiteFloat32 || "
            "input->type == kTfLiteInt8 was not true.",
            message=r"type == kTfLite\w+( \|\| \S+type == kTfLite\w+)+ was not true",
        ),
        UnsupportedRule(
            _AT_RUN
            + "tensorflow/lite/micro/kernels/elementwise.cc:107 input->type != expected_type (FLOAT16 != "
            "FLOAT32)",
            message=r"input->type != \w+ \(\w+ != \w+\)",
        ),
        UnsupportedRule(
            _AT_LOAD + "tensorflow/lite/micro/kernels/add_common.cc:93 output->quantization.type != "
            "kTfLiteNoQuantization was not true.",
            message=r"quantization\.type != kTfLiteNoQuantization was not true",
        ),
        UnsupportedRule(
            _AT_LOAD + "tensorflow/lite/micro/kernels/batch_matmul.cc:95 lhs_rank <= 5 was not true.",
            message=r"(NumDimensions\(input\)|lhs_rank) <= \S+ was not true",
        ),
        UnsupportedRule(
            _AT_LOAD + "tensorflow/lite/micro/kernels/broadcast_to.cc BroadcastTo only supports 1-5D tensor.",
            message=r"only supports \d+D?-\d+D ",
        ),
        UnsupportedRule(
            _AT_LOAD + "Op#0 (ADD) of subgraph 0 has dynamic tensor #0\nDynamic tensors are not supported",
            message="(?m)^Dynamic tensors are not supported$",
        ),
        UnsupportedRule(
            _AT_LOAD + "tensorflow/lite/micro/kernels/transpose_common.cc Non-constant >perm< tensor is not "
            "supported",
            message=r"Non-constant >\w+< tensor is not supported",
        ),
        UnsupportedRule(
            _AT_RUN + "Non-contiguous `axes` not supported",
            message="(?m)^Non-contiguous `axes` not supported$",
        ),
        UnsupportedRule(
            "ValueError: Cannot set tensor: Got value of type NOTYPE but expected type UINT16 for input 0",
            message="^Cannot set tensor: Got value of type NOTYPE but expected type ",
        ),
        UnsupportedRule(
            "Unsupported: TensorFlow Lite has no builtin operator that is Acos", error_class="unsupported"
        ),
    ),
)

"""TensorFlow.js on Node.js: TensorFlow's operators on kernels in JavaScript."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="tfjs",
    first_line="TensorFlow.js on Node.js (npm package @tensorflow/tfjs), on the CPU: TensorFlow's graphs",
    issues="https://github.com/tensorflow/tfjs/issues/new",
    requirements=("@tensorflow/tfjs",),
    language="node",
    worker="tfjs_worker.mjs",
    unsupported=(
        UnsupportedRule(
            "TypeError: Unknown op 'TensorScatterSub'. File an issue at "
            "https://github.com/tensorflow/tfjs/issues so we can add it, or register a custom execution with "
            "tf.registerOp()",
            message=r"^Unknown op '\w+'\. File an issue at",
        ),
        UnsupportedRule(
            "Error: Argument 'x' passed to 'depthToSpace' must be float32 tensor, but got int32 tensor",
            message=r"^Argument '\w+' passed to '\w+' must be \w+ tensor, but got \w+ tensor$",
        ),
        UnsupportedRule(
            "Error: batchToSpaceND does not support complex64 tensors in the CPU backend.",
            message=r"does not support \w+ tensors in the CPU backend",
        ),
        UnsupportedRule(
            "Error: Only NHWC dataFormat supported on CPU for depthToSpace. Got NCHW",
            message=r"^Only \w+ dataFormat supported on CPU for \w+\. Got",
        ),
        UnsupportedRule(
            'Error: The ellipsis notation ("...") is not supported yet.',
            message=r"^The ellipsis notation \S+ is not supported yet",
        ),
        UnsupportedRule(
            "Error: Found duplicate axes in input component ii. Support for duplicate axes in input is not "
            "implemented yet.",
            message=r"Support for duplicate axes in input is not implemented yet",
        ),
        UnsupportedRule("Unsupported: TensorFlow.js has no int64", error_class="unsupported"),
    ),
)

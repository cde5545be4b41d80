"""TensorFlow on the CPU: its operators by their raw names."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="tensorflow",
    first_line="TensorFlow on the CPU (package tensorflow-cpu): tf.raw_ops, run eagerly",
    issues="https://github.com/tensorflow/tensorflow/issues/new",
    requirements=("tensorflow-cpu",),
    worker="tensorflow_worker.py",
    unsupported=(
        UnsupportedRule(
            "NotFoundError: Could not find device for node: {{node BatchToSpaceND}} = "
            "BatchToSpaceND[T=DT_STRING, Tblock_shape=DT_INT32, Tcrops=DT_INT32]\n"
            "All kernels registered for op BatchToSpaceND:\n  device='XLA_CPU_JIT'",
            message=r"All kernels registered for op|No OpKernel was registered",
        ),
        UnsupportedRule(
            "UnimplementedError: The Conv2D op currently only supports the NHWC tensor format on the CPU. "
            "The op was given the format: NCHW"
        ),
        UnsupportedRule(
            "InvalidArgumentError: Default AvgPoolingOp only supports NHWC on device type CPU [Op:AvgPool]",
            message=r"only supports N\w+ on device type CPU",
        ),
        UnsupportedRule("Unsupported: tf.raw_ops has no Foo", error_class="unsupported"),
    ),
)

"""wonnx on a Vulkan driver: ONNX models as shaders of WebGPU."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

_AT_LOAD = "Panic: called `Result::unwrap()` on an `Err` value: "

ADAPTER = Adapter(
    name="wonnx",
    first_line="wonnx on Vulkan (package wonnx, and a driver: of Mesa's lavapipe): ONNX models as shaders",
    issues="https://github.com/webonnx/wonnx/issues/new",
    requirements=("wonnx", "numpy", "onnx"),
    worker="wonnx_worker.py",
    options={"driver": ()},
    unsupported=(
        UnsupportedRule(
            _AT_LOAD + 'GpuError(CompileError { node: "Erf", error: UnimplementedOp("Erf") })',
            message=r'error: UnimplementedOp\("\w+"\)',
        ),
        UnsupportedRule(
            _AT_LOAD + 'GpuError(CompileError { node: "Cast", error: UnimplementedVariant { variant: '
            '"with data type i64 (WGSL limitation)", op: "Cast" } })',
            message=r"error: UnimplementedVariant \{ variant: ",
        ),
        UnsupportedRule(
            _AT_LOAD + "IrError(Type(NotSupported(BOOL)))",
            message=r"IrError\(Type\(NotSupported\(\w+\)\)\)",
        ),
        UnsupportedRule(
            _AT_LOAD + 'OpsetError(UnknownOpset("com.microsoft"))',
            message=r'OpsetError\(UnknownOpset\("\S+"\)\)',
        ),
        UnsupportedRule(
            _AT_LOAD + 'OptimizerError(Unsupported("data_type 1 for input constant_value to op Pad"))',
            message=r"OptimizerError\(Unsupported\(",
        ),
        UnsupportedRule(
            "Unsupported: wonnx's interface takes float32 alone, and X is none", error_class="unsupported"
        ),
    ),
)

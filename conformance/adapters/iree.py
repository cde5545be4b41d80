"""IREE on the CPU: its importer of ONNX models, compiled to machine code or for its own interpreter."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="iree",
    first_line="IREE on the CPU (packages iree-base-compiler, -runtime): ONNX models, compiled",
    requirements=("iree-base-compiler", "iree-base-runtime", "onnx", "numpy"),
    worker="iree_worker.py",
    options={"target": ("llvm-cpu", "vmvx")},
    issues="https://github.com/iree-org/iree/issues/new",
    unsupported=(
        UnsupportedRule(
            "CompilerToolError: failed to legalize operation 'torch.operator' that was explicitly marked "
            "illegal: onnx.NoSuch",
            message=r"(^|error: )failed to legalize operation 'torch\.",
        ),
    ),
)

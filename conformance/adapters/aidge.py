"""Aidge, the Eclipse project's framework for embedded networks, on its own kernels for the CPU."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="aidge",
    first_line="Aidge on the CPU (packages aidge-core, -backend-cpu, -onnx): ONNX models, run node by node",
    # The importer goes with the core of its own number; the first takes a version, the others fit it.
    requirements=("aidge-onnx", "aidge-core", "aidge-backend-cpu", "numpy", "onnx"),
    worker="aidge_worker.py",
    unsupported=(
        UnsupportedRule(
            "Unsupported: Aidge has no operator NoSuch: it is generic to it",
            message=r"Aidge has no operator \S+: it is generic to it",
            error_class="unsupported",
        ),
        UnsupportedRule(
            "RuntimeError: missing or invalid registrar key: uint16",
            message="missing or invalid registrar key",
        ),
        UnsupportedRule(
            "ValueError: ONNX DataType 14 has no Aidge equivalent.",
            message=r"^ONNX DataType \d+ has no Aidge equivalent\.",
        ),
    ),
)

"""ONNX Runtime from its npm package for browsers, as WebAssembly on Node.js."""

from __future__ import annotations

from conformance.adapters.onnxruntime_node import UNSUPPORTED
from conformance.runtimes.adapter import Adapter

ADAPTER = Adapter(
    name="onnxruntime-web",
    first_line="ONNX Runtime as WebAssembly (npm package onnxruntime-web), on Node.js",
    issues="https://github.com/microsoft/onnxruntime/issues/new",
    requirements=("onnxruntime-web",),
    language="node",
    worker="onnxruntime_js_worker.mjs",
    options={"optimization": ("all", "none", "basic", "extended")},
    unsupported=UNSUPPORTED,
)

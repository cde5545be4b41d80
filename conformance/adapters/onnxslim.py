"""onnxslim, an optimiser of ONNX models."""

from __future__ import annotations

from conformance.adapters.onnxoptimizer import optimizer

ADAPTER = optimizer("onnxslim")

"""emx-onnx-cgen: its class with ONNX's Backend interface, which compiles C (with cc, gcc or clang)."""

from __future__ import annotations

import shutil
from typing import Any

import emx_onnx_cgen.onnx_backend.backend

if not any(map(shutil.which, ("cc", "gcc", "clang"))):
    raise FileNotFoundError("no C compiler is found")


def prepare(model: Any) -> Any:
    prepared = emx_onnx_cgen.onnx_backend.backend.EmxOnnxCgenBackend.prepare(model, "CPU")
    return lambda inputs: list(prepared.run([inputs[each.name] for each in model.graph.input]))

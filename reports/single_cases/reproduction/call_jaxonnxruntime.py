"""JAX ONNX Runtime: its class with ONNX's Backend interface, set up as its own tests do it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

# Without the first one JAX takes numbers of 64 bits for ones of 32; without the last one axes, shapes and
# their like must be initializers.
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAXORT_ONLY_ALLOW_INITIALIZERS_AS_STATIC_ARGS"] = "0"
import jaxonnxruntime.backend


def prepare(model: Any) -> Any:
    prepared = jaxonnxruntime.backend.Backend.prepare(model, "cpu")

    def call(inputs: Any) -> Any:
        return [np.asarray(each) for each in prepared.run([inputs[each.name] for each in model.graph.input])]

    return call

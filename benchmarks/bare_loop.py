"""A bare loop over cases that lie ready as bytes, on ONNX Runtime: create the session, run, compare.

It runs in the environment of the runtime.

Usage: python bare_loop.py FOLDER, where FOLDER was written by main_job.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray


def main(folder: Path) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    cases = json.loads((folder / "cases.json").read_text())
    raw = (folder / "bytes").read_bytes()

    def read(described: tuple[str, list[int], list[int]]) -> NDArray[Any]:
        dtype, shape, (begin, length) = described
        return np.frombuffer(raw[begin : begin + length], dtype).reshape(shape)

    equal = 0
    for case in cases:
        begin, length = case["model"]
        try:
            session = onnxruntime.InferenceSession(raw[begin : begin + length], options)
            outputs = session.run(None, {name: read(each) for name, each in case["inputs"].items()})
        except Exception:  # noqa: BLE001 - whatever a call raises, the loop goes on
            continue
        expected = [read(each) for each in case["expected"] or ()]
        equal += len(outputs) == len(expected) and all(
            output.shape == wanted.shape and np.allclose(output, wanted, rtol=1e-3, atol=1e-7, equal_nan=True)
            for output, wanted in zip(outputs, expected, strict=True)
        )
    print(json.dumps({"cases": len(cases), "equal": equal}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

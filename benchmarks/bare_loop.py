"""A bare loop over cases on ONNX Runtime: create the session, run, compare.

It runs in the environment of the runtime.

Usage: python bare_loop.py FOLDER, where FOLDER was written by main_job.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime


def main(folder: Path) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    cases = json.loads((folder / "cases.json").read_text())
    arrays = np.load(folder / "arrays.npz")
    equal = 0
    for case in cases:
        inputs = {name: arrays[key] for name, key in case["inputs"].items()}
        try:
            session = onnxruntime.InferenceSession(arrays[case["model"]].tobytes(), options)
            (output,) = session.run(None, inputs)
        except Exception:  # noqa: BLE001 - whatever a call raises, the loop goes on
            continue
        expected = arrays[case["expected"]] if case["expected"] else output
        if output.shape == expected.shape:
            equal += bool(np.allclose(output, expected, rtol=1e-3, atol=1e-7, equal_nan=True))
    print(json.dumps({"cases": len(cases), "equal": equal}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

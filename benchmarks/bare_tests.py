"""A bare loop over tests in ONNX's layout on ONNX Runtime: read, create the session, run, compare.

It is what one writes by hand for such tests, with onnx to read tensors and numpy's assert_allclose to compare
them. It runs in an environment that holds both packages.

Usage: python bare_tests.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import numpy_helper


def read_tensors(files: list[Path]) -> list[tuple[str, NDArray[Any]]]:
    protos = [onnx.load_tensor(file) for file in files]
    return [(proto.name, numpy_helper.to_array(proto)) for proto in protos]


def main(folder: Path) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    models = sorted(folder.rglob("model.onnx"))
    equal = 0
    for model in models:
        data = model.parent / "test_data_set_0"
        inputs = dict(read_tensors(sorted(data.glob("input_*.pb"))))
        expected = read_tensors(sorted(data.glob("output_*.pb")))
        try:
            outputs = onnxruntime.InferenceSession(str(model), options).run(None, inputs)
        except Exception:  # noqa: BLE001 - whatever a call raises, the loop goes on
            continue
        try:
            for output, (_, wanted) in zip(outputs, expected, strict=True):
                np.testing.assert_allclose(output, wanted, rtol=1e-3, atol=1e-7)
        except (AssertionError, ValueError):
            continue
        equal += 1
    print(json.dumps({"cases": len(models), "equal": equal}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

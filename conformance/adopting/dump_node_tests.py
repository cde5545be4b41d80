"""Writes the node tests that the installed onnx package carries, in the layout of its backend tests.

Run by the interpreter of the package's environment, with a folder as its argument. It needs onnx and
numpy alone. The tolerances of each test go into `data.json` beside its model. Values that are no tensors
(sequences, optionals) are left out: the model's declared types say what they are.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def main() -> None:
    # Some tests overflow on purpose while they compute what they expect.
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    for test in collect_testcases(None):
        _write_test(test, folder / test.name)
    written = {"onnx": onnx.__version__, "numpy": np.__version__}
    (folder / "source.json").write_text(json.dumps(written), encoding="utf-8")


def _write_test(test: Any, folder: Path) -> None:
    folder.mkdir()
    (folder / "model.onnx").write_bytes(test.model.SerializeToString(deterministic=True))
    tolerances = {"rtol": test.rtol, "atol": test.atol}
    (folder / "data.json").write_text(json.dumps(tolerances), encoding="utf-8")
    for number, (inputs, outputs) in enumerate(test.data_sets):
        place = folder / f"test_data_set_{number}"
        place.mkdir()
        _write_values(place, "input", test.model.graph.input, inputs)
        _write_values(place, "output", test.model.graph.output, outputs)


def _write_values(folder: Path, side: str, declared: Sequence[Any], values: Sequence[Any]) -> None:
    for position, (declaration, value) in enumerate(zip(declared, values, strict=True)):
        if not declaration.type.HasField("tensor_type"):
            continue
        if not isinstance(value, TensorProto):
            value = numpy_helper.from_array(np.asarray(value), declaration.name)
        raw = value.SerializeToString(deterministic=True)
        (folder / f"{side}_{position}.pb").write_bytes(raw)


if __name__ == "__main__":
    main()

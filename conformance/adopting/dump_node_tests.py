"""Writes the node tests that the installed onnx package carries, in the layout of its backend tests.

Run by the interpreter of the package's environment, with a folder as its argument. It needs onnx and
numpy alone. The tolerances of each test go into `data.json` beside its model. Values are messages of the kind
that the model declares: TensorProto, SequenceProto, OptionalProto; maps are left out.
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
from onnx import OptionalProto, SequenceProto, TensorProto, TypeProto, numpy_helper
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
        message = _to_message(declaration.type, value)
        if message is not None:
            raw = message.SerializeToString(deterministic=True)
            (folder / f"{side}_{position}.pb").write_bytes(raw)


def _to_message(declared: TypeProto, value: Any) -> Any:
    """A value as the message of its declared type; None where that is another one than is carried."""
    if declared.HasField("optional_type"):
        return _to_optional(declared.optional_type.elem_type, value)
    if declared.HasField("sequence_type"):
        if not declared.sequence_type.elem_type.HasField("tensor_type"):
            return None
        elements = [_to_tensor(each) for each in value]
        return SequenceProto(elem_type=SequenceProto.TENSOR, tensor_values=elements)
    return _to_tensor(value) if declared.HasField("tensor_type") else None


def _to_optional(held: TypeProto, value: Any) -> OptionalProto | None:
    if value is None:
        return OptionalProto(elem_type=OptionalProto.UNDEFINED)
    if held.HasField("tensor_type"):
        return OptionalProto(elem_type=OptionalProto.TENSOR, tensor_value=_to_tensor(value))
    sequence = _to_message(held, value) if held.HasField("sequence_type") else None
    if sequence is None:
        return None
    return OptionalProto(elem_type=OptionalProto.SEQUENCE, sequence_value=sequence)


def _to_tensor(value: Any) -> TensorProto:
    return value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value))


if __name__ == "__main__":
    main()

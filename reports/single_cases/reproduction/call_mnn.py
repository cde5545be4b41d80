"""MNN: a model made its own by its converter, and run as a module on the CPU."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import MNN
import MNN.expr
import numpy as np
import onnx

TYPES = {"float32": MNN.expr.float, "int32": MNN.expr.int, "uint8": MNN.expr.uint8}


class NoSuchTensors(Exception):
    """MNN has tensors of float, int32 and bytes; constants of a model may have other types."""


class NoConverter(Exception):
    """MNN's package has a converter, a program beside Python or on the PATH."""


def prepare(model: Any) -> Any:
    for each in [*model.graph.input, *model.graph.output]:
        kind = onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type).name
        if kind not in TYPES:
            raise NoSuchTensors(f"MNN computes with no tensors of {kind}: {each.name} would be one")
    onnx.save(model, "case.onnx")
    words = ["-f", "ONNX", "--modelFile", "case.onnx", "--MNNModel", "case.mnn", "--bizCode", "case"]
    program = shutil.which("mnnconvert", path=Path(sys.executable).parent) or shutil.which("mnnconvert")
    if program is None:
        raise NoConverter("mnnconvert is neither beside Python nor on the PATH")
    Path("case.mnn").unlink(missing_ok=True)
    command = [program, *words, "--keepInputFormat", "1"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if not Path("case.mnn").exists():
        raise RuntimeError(told.stdout + told.stderr)  # what the converter printed
    names = [[each.name for each in ends] for ends in (model.graph.input, model.graph.output)]
    module = MNN.nn.load_module_from_file("case.mnn", *names)

    def given(array: Any) -> Any:
        shape, kind = list(array.shape), TYPES[array.dtype.name]
        if array.size == 0:  # such a constant it cannot read
            return MNN.expr.placeholder(shape, MNN.expr.NCHW, kind)
        return MNN.expr.const(array, shape, MNN.expr.NCHW, kind)

    def came(value: Any) -> Any:
        if value.data_format == MNN.expr.NC4HW4:
            value = MNN.expr.convert(value, MNN.expr.NCHW)
        if 0 in value.shape:  # such a one it cannot read, either
            kind = {"int": "int32", "float": "float32"}.get(str(value.dtype).split(".")[-1], "uint8")
            return np.zeros(value.shape, kind)
        return value.read()

    def call(inputs: Any) -> Any:
        arrays = [inputs[each.name] for each in model.graph.input]
        return [came(each) for each in module.forward([given(array) for array in arrays])]

    return call

"""Runtimes that take models of ONNX alone: ONNX's own evaluator, tract, OpenCV."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

if TYPE_CHECKING or __package__:
    from reports.single_cases.reproduction import case_values
    from reports.single_cases.reproduction.case_values import Inputs
else:
    import case_values
    from case_values import Inputs


def run_onnx(_: dict[str, Any], model: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    return [list(evaluator.run(None, dict(each))) for each in calls]


def run_tract(_: dict[str, Any], model: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    tract = import_module("tract")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"  # it reads models from files alone
        path.write_bytes(model)
        found = tract.onnx().load(path)
        order = [found.input_name(place) for place in range(found.input_count())]
        runnable = found.into_model().into_runnable()
    given = [dict(each) for each in calls]
    return [[out.to_numpy() for out in runnable.run([each[name] for name in order])] for each in given]


def run_opencv(case: dict[str, Any], model: bytes, calls: list[Inputs], threads: int) -> list[list[Any]]:
    cv2 = import_module("cv2")

    cv2.setNumThreads(threads)
    network, found = cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8)), []
    for inputs in calls:
        for name, array in inputs:
            network.setInput(array, name)
        found.append(list(network.forward([each for each in case["outputs"] if each])))
    return found


def lacks(array: Any) -> bool:
    return array.dtype.kind in "cO" or not case_values.has_plain_type(array)


RUNTIMES = {
    "onnx": case_values.BareRuntime(run_onnx, "onnx", takes_values=True),
    # Its Python interface takes no names of inputs that are not in the model.
    "tract": case_values.BareRuntime(run_tract, "tract", first_form="initializers", lacks=lacks),
    "opencv": case_values.BareRuntime(run_opencv, "cv2", chooses_threads=True, lacks=lacks),
}

"""Runtimes of ONNX models, called as their own pages call them: most by `prepare` of a file beside this."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

if TYPE_CHECKING or __package__:
    from reports.single_cases.reproduction import case_values
    from reports.single_cases.reproduction.case_values import Inputs, NotThere
else:
    import case_values
    from case_values import Inputs, NotThere

WITH_CONSTANTS = ("aidge", "apache-tvm", "emx-onnx-cgen", "mnn", "onnx2torch", "wonnx")
"""Those that take most as initializers, as in a run."""
NO_DRIVER = "No GPU found"
"""What wonnx says of a machine without a driver of Vulkan."""
_BESIDE = f"{__package__}." if __package__ else ""


def run(name: str, case: dict[str, Any], model: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    try:
        own = import_module(f"{_BESIDE}call_{name.replace('-', '_')}")
    except BaseException as error:
        raise NotThere(f"{type(error).__name__}: {error}") from error
    for pair in filter(None, case["now"]["options"].split(";")):
        option, _, value = pair.partition("=")
        setattr(own, option.upper(), str(Path(value).absolute()) if Path(value).exists() else value)
    before, own_folder = Path.cwd(), tempfile.mkdtemp(prefix="case-")
    os.chdir(own_folder)  # some read models from files alone
    try:
        call = own.prepare(onnx.load_from_string(model))
        return [list(call(dict(inputs))) for inputs in calls]
    except BaseException as error:
        if type(error).__module__ == own.__name__ or NO_DRIVER in str(error):
            raise NotThere(str(error)) from error
        if type(error).__name__ == "PanicException":  # Rust's, which is none of Python's Exceptions
            raise type("Panic", (Exception,), {})(str(error)) from error
        raise
    finally:
        os.chdir(before)
        shutil.rmtree(own_folder, ignore_errors=True)


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
    name: case_values.BareRuntime(
        partial(run, name),
        "onnx",  # its own module is looked for when it is called: some look at variables that are set before
        first_form="initializers" if name in WITH_CONSTANTS else "inputs",
        lacks=lacks,
    )
    for path in Path(__file__).parent.glob("call_*.py")
    for name in [path.stem.removeprefix("call_").replace("_", "-")]
} | {
    "onnx": case_values.BareRuntime(run_onnx, "onnx", takes_values=True),
    # Its Python interface takes no names of inputs that are not in the model.
    "tract": case_values.BareRuntime(run_tract, "tract", first_form="initializers", lacks=lacks),
    "opencv": case_values.BareRuntime(run_opencv, "cv2", chooses_threads=True, lacks=lacks),
}

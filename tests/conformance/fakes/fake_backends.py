"""Classes with ONNX's Backend interface that are wrong on purpose."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

__version__ = "0.9"


class Good:
    """Returns its input, as Identity does; the classes below answer otherwise."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"

    @classmethod
    def run_model(cls, _model: Any, inputs: Any, _device: str = "CPU") -> Any:
        return cls.answer(inputs)

    @classmethod
    def answer(cls, inputs: Any) -> Any:
        return (inputs[0],)


class Prepared(Good):
    """Has `prepare` too."""

    @classmethod
    def prepare(cls, _model: Any, _device: str = "CPU") -> Any:
        return cls()

    def run(self, inputs: Any) -> Any:
        return (inputs[0].copy(),)


class OtherDevice(Good):
    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "NPU"


class Old(Good):
    """Knows nothing that came after operator set 12, and makes float of whole numbers."""

    @classmethod
    def run_model(cls, model: Any, inputs: Any, _device: str = "CPU") -> Any:
        if model.opset_import[0].version > 12:
            raise NotImplementedError("operator sets up to 12 alone")
        return (inputs[0].astype(np.float32) if inputs[0].dtype == np.int64 else inputs[0],)


class Turns(Good):
    """Runs a Transpose that stands before the node, and hands on a view."""

    @classmethod
    def run_model(cls, model: Any, inputs: Any, _device: str = "CPU") -> Any:
        turned = model.graph.node[0].op_type == "Transpose"
        return (cls.identity(inputs[0].transpose() if turned else inputs[0]),)

    @classmethod
    def identity(cls, given: Any) -> Any:
        return given


class IgnoresStrides(Turns):
    """Takes whatever it is given for contiguous."""

    @classmethod
    def identity(cls, given: Any) -> Any:
        return given.ravel(order="K").reshape(given.shape)


class Raises(Good):
    @classmethod
    def answer(cls, _inputs: Any) -> Any:
        raise RuntimeError("kernel exploded")


class RefusesEverything(Good):
    @classmethod
    def answer(cls, _inputs: Any) -> Any:
        raise NotImplementedError("nothing is implemented")


class ReturnsNothing(Good):
    @classmethod
    def answer(cls, _inputs: Any) -> Any:
        return None


class ReturnsTwo(Good):
    @classmethod
    def answer(cls, inputs: Any) -> Any:
        return (inputs[0], inputs[0])


class ReturnsDouble(Good):
    @classmethod
    def answer(cls, inputs: Any) -> Any:
        return (inputs[0].astype(np.float64),)


class ReturnsList(Good):
    @classmethod
    def answer(cls, inputs: Any) -> Any:
        return (inputs[0].tolist(),)


class _ForeignArray:
    """What another package has for an array: numpy reads it by `__array__`."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.dtype, self.shape = array.dtype, array.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array


class ReturnsForeignArray(Good):
    @classmethod
    def answer(cls, inputs: Any) -> Any:
        return (_ForeignArray(inputs[0]),)


class ReturnsArray(Good):
    @classmethod
    def answer(cls, inputs: Any) -> Any:
        return inputs[0]


class Prints(Good):
    @classmethod
    def answer(cls, inputs: Any) -> Any:
        print("hello from the runtime", flush=True)
        os.write(1, b"x" * 100000)
        return (inputs[0],)


class Exits(Good):
    @classmethod
    def answer(cls, _inputs: Any) -> Any:
        os._exit(0)


class Sleeps(Good):
    @classmethod
    def answer(cls, _inputs: Any) -> Any:
        time.sleep(600)


class NoBackend:
    """Has nothing of the interface."""

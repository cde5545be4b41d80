"""As much of PyTorch as the worker of onnx2torch calls: tensors in the memory of numpy's arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

__version__ = "0"
bfloat16, uint16 = "bfloat16", "uint16"
trained = SimpleNamespace(gradients=True, operators=[])


class Tensor:
    def __init__(self, array: Any, dtype: str) -> None:
        self.array, self.dtype = array, dtype

    def view(self, dtype: str) -> Tensor:
        return Tensor(self.array, dtype)

    def numpy(self) -> Any:
        if self.dtype == "bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array


def from_numpy(array: Any) -> Tensor:
    if array.dtype == ml_dtypes.bfloat16 or not isinstance(array, np.ndarray):
        raise TypeError(f"can't convert np.ndarray of type {array.dtype.type}.")
    return Tensor(array, array.dtype.name)


def set_grad_enabled(mode: bool) -> None:
    trained.gradients = mode


class Library:
    def __init__(self, *names: str) -> None:
        trained.operators.append(names)

    def define(self, text: str) -> None:
        trained.operators.append(text)


library = SimpleNamespace(Library=Library)

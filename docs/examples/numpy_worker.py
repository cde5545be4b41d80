"""A whole runtime in one file: CenterCropPad in NumPy, as a program that speaks the worker protocol.

Beside worker_protocol.py and wire_arrays.py of conformance/workers it needs Python 3.9 and numpy:

    mkdir mine && cp conformance/workers/w*.py docs/examples/numpy_worker.py mine
    uv run opcert doctor "exec:python mine/numpy_worker.py"
    uv run opcert run "exec:python mine/numpy_worker.py" -k CenterCropPad
"""

from __future__ import annotations

import numpy as np
from wire_arrays import from_storage, to_storage
from worker_protocol import Unsupported, Worker, serve


class NumpyWorker(Worker):
    def __init__(self, options):  # called once, when standard output is put aside: import the runtime here
        del options  # what stands in brackets behind a built-in runtime's name

    def hello(self):
        return {
            "runtime": {"name": "numpy", "version": np.__version__},
            "domains": {"ai.onnx": "node"},  # "onnx" would ask for a ModelProto
            "forms": ["inputs"],
            "element_types": None,  # every one
        }

    def load(self, request):
        if request.name != "CenterCropPad":
            raise Unsupported(f"only CenterCropPad is here, not {request.name}")
        return request.attributes.get("axes")

    def run(self, axes, inputs):  # whatever is raised is the runtime's refusal
        if inputs["shape"].element_type not in ("int32", "int64"):
            raise TypeError("shape is neither int32 nor int64")
        data, shape = to_storage(inputs["input_data"]), to_storage(inputs["shape"])
        for position, axis in enumerate(range(data.ndim) if axes is None else axes):
            data = crop_or_pad(data, axis, int(shape[position]))
        return [from_storage(inputs["input_data"].element_type, data)]


def crop_or_pad(data, axis, wanted):
    """One axis brought to its wanted length about the centre."""
    missing = wanted - data.shape[axis]
    if missing < 0:
        first = -missing // 2
        return np.take(data, range(first, first + wanted), axis)
    widths = [(0, 0)] * data.ndim
    widths[axis] = (missing // 2, missing - missing // 2)
    return np.pad(data, widths, constant_values="" if data.dtype == object else 0)


if __name__ == "__main__":
    serve(NumpyWorker)

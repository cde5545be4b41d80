"""The worker for any class with ONNX's Backend interface: `module:Backend` on the command line.

The class is imported by the name in the option `backend` (`package.module:Class`). Models are prepared with
`prepare` where the class has it, else handed to `run_model`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    from conformance.workers.wire_arrays import from_numpy, to_numpy
    from conformance.workers.worker_protocol import (
        Header,
        LoadRequest,
        NotTensor,
        WireTensor,
        Worker,
        WorkerFault,
        serve,
    )
else:
    from wire_arrays import from_numpy, to_numpy
    from worker_protocol import NotTensor, Worker, WorkerFault, serve


class BackendWorker(Worker):
    """Runs models on a class with `run_model`, `prepare` and `supports_device`."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._onnx = import_module("onnx")
        self._name = options["backend"]
        self._device = options.get("device", "CPU")
        module_name, _, class_name = self._name.partition(":")
        try:
            self._module = import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not (module_name + ".").startswith(error.name + "."):
                raise  # something that the module itself wants is missing
            message = "no module %r for %s; set PYTHONPATH to its folder, or --python to one that has it"
            raise ModuleNotFoundError(message % (error.name, sys.executable)) from error
        found: Any = self._module
        for part in class_name.split("."):
            found = getattr(found, part)
        if not hasattr(found, "prepare") and not hasattr(found, "run_model"):
            raise TypeError("%s has neither `prepare` nor `run_model`" % self._name)
        if hasattr(found, "supports_device") and not found.supports_device(self._device):
            raise ValueError("%s does not support the device %s" % (self._name, self._device))
        self._backend = found

    def hello(self) -> Header:
        version = getattr(self._module, "__version__", None) or _version_of(self._module.__name__)
        return {
            "runtime": {"name": self._name, "version": str(version)},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided"],
            "devices": [self._device],
            "element_types": None,
        }

    def load(self, request: LoadRequest) -> Tuple[Any, Any]:
        if request.onnx is None:
            raise WorkerFault("no ONNX model in the request")
        model = self._onnx.load_model_from_string(request.onnx)
        order = [each.name for each in model.graph.input]
        if hasattr(self._backend, "prepare"):
            prepared = self._backend.prepare(model, self._device)
            if prepared is not None:
                return order, prepared.run
        return order, lambda inputs: self._backend.run_model(model, inputs, self._device)

    def run(self, model: Tuple[Any, Any], inputs: Dict[str, WireTensor]) -> Sequence[Any]:
        order, call = model
        returned = call([to_numpy(inputs[name]) for name in order])
        if isinstance(returned, (tuple, list)):
            return [from_numpy(each) for each in returned]
        return _single(returned)


def _single(returned: Any) -> List[Any]:
    """A Backend must return a sequence; what is none is shown as it is, a lone array too."""
    return [] if returned is None else [NotTensor(returned)]


def _version_of(module_name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(module_name.partition(".")[0])
    except PackageNotFoundError:
        return "unknown"


if __name__ == "__main__":
    serve(BackendWorker)

"""The worker for any class with ONNX's Backend interface: `module:Backend` on the command line.

The class is imported by the name in the option `backend` (`package.module:Class`). Models are prepared with
`prepare` where the class has it, else handed to `run_model`. A class that can be told how many threads are
to compute has a list of counts, `thread_counts`, the usual one first; `prepare` then gets one as `threads`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class _Model(NamedTuple):
    order: List[str]
    call: Any
    watch: watched_memory.Watch


class BackendWorker(protocol.Worker):
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
        self._threads: List[int] = list(getattr(found, "thread_counts", ()))

    def _forms(self) -> List[str]:
        """Without `prepare` there is no model that could run again; threads are a choice where it says so."""
        forms = ["inputs", "initializers", "dynamic", "strided"]
        if hasattr(self._backend, "prepare"):
            forms += ["again", "untouched"] + ["threads"] * (len(self._threads) > 1)
        return forms

    def hello(self) -> protocol.Header:
        version = getattr(self._module, "__version__", None) or _version_of(self._module.__name__)
        return {
            "runtime": {"name": self._name, "version": str(version)},
            "domains": {"*": "onnx"},
            "forms": self._forms(),
            "devices": [self._device],
            "threads": list(self._threads),
            "element_types": None,
            "loads": hasattr(self._backend, "prepare"),
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = self._onnx.load_model_from_string(request.demand_onnx())
        order = [value_info.name for value_info in model.graph.input]
        return _Model(order, self._prepare(model, request.threads), watched_memory.watch_for(request))

    def _prepare(self, model: Any, threads: Optional[int]) -> Any:
        """What runs a model on a list of arrays."""
        if hasattr(self._backend, "prepare"):
            further = {"threads": threads or self._threads[0]} if self._threads else {}
            prepared = self._backend.prepare(model, self._device, **further)
            if prepared is not None:
                return prepared.run
        return lambda inputs: self._backend.run_model(model, inputs, self._device)

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        arrays = {name: wire.to_numpy(inputs[name]) for name in model.order}
        model.watch.given(arrays)
        returned = model.call(list(arrays.values()))
        if not isinstance(returned, (tuple, list)):
            return _single(returned)
        outputs = [wire.from_numpy(_array_of(each)) for each in returned]
        return model.watch.returned(returned, outputs)


def _array_of(value: Any) -> Any:
    """An array of another package (JAX) as one of numpy's, as ONNX's own tests take it; all else as it is."""
    if isinstance(value, np.ndarray) or not all(
        hasattr(value, each) for each in ("__array__", "dtype", "shape")
    ):
        return value
    return np.asarray(value)


def _single(returned: Any) -> List[Any]:
    """A Backend must return a sequence; what is none is shown as it is, a lone array too."""
    return [] if returned is None else [protocol.NotTensor(returned)]


def _version_of(module_name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(module_name.partition(".")[0])
    except PackageNotFoundError:
        return "unknown"


if __name__ == "__main__":
    protocol.serve(BackendWorker)

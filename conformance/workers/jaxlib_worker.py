"""The worker for jaxlib: operators of ONNX as modules of StableHLO, compiled by XLA for the CPU."""

from __future__ import annotations

import os
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import stablehlo_modules, stablehlo_operators
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import stablehlo_modules
    import stablehlo_operators
    import wire_arrays as wire
    import worker_protocol as protocol


class _Model(NamedTuple):
    executable: Any
    names: List[str]
    constants: Dict[str, protocol.WireTensor]
    further: List[Any]


class JaxlibWorker(protocol.Worker):
    """Modules of one operator each; all inputs are arguments: nothing is worked out before the run."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        os.environ.update({"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"})
        self._jax = import_module("jax")  # arrays come and go through it
        self._library = import_module("jaxlib.xla_client")
        self._device = self._jax.local_devices()[0]

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "jaxlib", "version": metadata.version("jaxlib")},
            "domains": {"ai.onnx": "node"},
            "forms": ["initializers", "inputs"],
            "devices": ["CPU"],
            "element_types": list(stablehlo_modules.TYPES),
            "x_settings": {"jax": metadata.version("jax"), "dialect": "stablehlo"},
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        writer = stablehlo_operators.OPERATORS.get(request.name)
        if writer is None:
            raise protocol.Unsupported("StableHLO has no operation that is %s" % request.name)
        call = stablehlo_modules.WrittenCall(request)
        result = writer(call)
        call.done()
        text = call.module.text(result)
        devices = self._library.DeviceList((self._device,))
        executable = self._device.client.compile_and_load(text, devices, self._library.CompileOptions())
        return _Model(executable, call.names, request.constants, call.module.further)

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        given = [inputs.get(name) or model.constants[name] for name in model.names]
        arrays = [*map(wire.to_numpy, given), *model.further]
        returned = model.executable.execute([self._jax.device_put(each, self._device) for each in arrays])
        return [wire.from_numpy(np.asarray(each)) for each in returned]


if __name__ == "__main__":
    protocol.serve(JaxlibWorker)
